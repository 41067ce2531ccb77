// The numbers of the protocol as CometBFT 0.38 has them, written a second time: a build whose nodes agree on another one is at one with itself,
// and with nobody else.

import type { ConsensusMessage } from '../../../protocol/messages.ts';

// --- versions --------------------------------------------------------------------------------------------------------

export const BLOCK_PROTOCOL = 11n;
export const P2P_PROTOCOL = 8n;
export const ABCI_VERSION = '2.0.0';
/** Of CometBFT, whose words nodes speak. */
export const NODE_VERSION = '0.38.26';

// --- channels --------------------------------------------------------------------------------------------------------

export const CHANNEL_STATE = 0x20;
export const CHANNEL_DATA = 0x21;
export const CHANNEL_VOTE = 0x22;
export const CHANNEL_VOTE_SET_BITS = 0x23;
export const CHANNEL_MEMPOOL = 0x30;
export const CHANNEL_EVIDENCE = 0x38;
export const CHANNEL_BLOCKSYNC = 0x40;

/** Where each word of consensus belongs. */
export const CHANNEL_OF: Readonly<Record<ConsensusMessage['type'], number>> = {
  'new-round-step': CHANNEL_STATE,
  'new-valid-block': CHANNEL_STATE,
  'has-vote': CHANNEL_STATE,
  'vote-set-maj23': CHANNEL_STATE,
  proposal: CHANNEL_DATA,
  'proposal-pol': CHANNEL_DATA,
  'block-part': CHANNEL_DATA,
  vote: CHANNEL_VOTE,
  'vote-set-bits': CHANNEL_VOTE_SET_BITS,
};

/** Where each actor of a node speaks; greetings have a channel of our own. */
export const CHANNELS_OF_ACTOR: Readonly<Record<string, readonly number[]>> = {
  validator: [CHANNEL_STATE, CHANNEL_DATA, CHANNEL_VOTE, CHANNEL_VOTE_SET_BITS, CHANNEL_EVIDENCE],
  mempool: [CHANNEL_MEMPOOL],
  blocksync: [CHANNEL_BLOCKSYNC],
};

/** All that a node greets with. */
export const CHANNELS: readonly number[] = Object.values(CHANNELS_OF_ACTOR).flat();

// --- votes and commits -----------------------------------------------------------------------------------------------

/** SignedMsgType. */
export const PREVOTE = 1;
export const PRECOMMIT = 2;

/** BlockIDFlag. */
export const FLAG_ABSENT = 1;
export const FLAG_COMMIT = 2;

/** 0001-01-01T00:00:00Z, Go's zero time: of who is absent. */
export const ZERO_TIME_NS = -62_135_596_800_000_000_000n;

// --- sizes -----------------------------------------------------------------------------------------------------------

/** Of a word of consensus. */
export const CONSENSUS_BYTES_MAX = 1_048_576;
/** Of a block where the parameters name no bound, and of a part of one. */
export const BLOCK_BYTES_MAX = 104_857_600n;
export const BLOCK_PART_BYTES = 65_536;
/** What a block has room for beside its transactions: frame, header, commit, and a signature of each validator in it. */
export const BLOCK_OVERHEAD_BYTES_MAX = 11n;
export const HEADER_BYTES_MAX = 626n;
export const COMMIT_OVERHEAD_BYTES_MAX = 94n;
export const COMMIT_SIG_BYTES_MAX = 3355n;

// --- what applications are told --------------------------------------------------------------------------------------

export const MISBEHAVIOR_DUPLICATE_VOTE = 1;
export const MISBEHAVIOR_LIGHT_CLIENT_ATTACK = 2;

/** CheckTxType: of a transaction that comes in; all others are asked about again. */
export const CHECK_TX_NEW = 0;

/** ProposalStatus. */
export const PROCESS_PROPOSAL_ACCEPT = 1;
