// What peers say to each other (spec 3.2): the domain form of the consensus, mempool, evidence and blocksync channels.

import type {
  BitArray,
  Block,
  BlockId,
  Evidence,
  ExtendedCommit,
  Part,
  PartSetHeader,
  Proposal,
  Vote,
} from './types.ts';

/** Channel ids of the wire. */
export const CHANNEL_STATE = 0x20;
export const CHANNEL_DATA = 0x21;
export const CHANNEL_VOTE = 0x22;
export const CHANNEL_VOTE_SET_BITS = 0x23;
export const CHANNEL_MEMPOOL = 0x30;
export const CHANNEL_EVIDENCE = 0x38;
export const CHANNEL_BLOCKSYNC = 0x40;

export type ConsensusMessage =
  | {
      readonly type: 'new-round-step';
      readonly height: bigint;
      readonly round: number;
      readonly step: number;
      readonly secondsSinceStart: bigint;
      readonly lastCommitRound: number;
    }
  | {
      readonly type: 'new-valid-block';
      readonly height: bigint;
      readonly round: number;
      readonly parts: PartSetHeader;
      readonly have: BitArray | null;
      readonly isCommit: boolean;
    }
  | { readonly type: 'proposal'; readonly proposal: Proposal }
  | {
      readonly type: 'proposal-pol';
      readonly height: bigint;
      readonly polRound: number;
      readonly pol: BitArray;
    }
  | { readonly type: 'block-part'; readonly height: bigint; readonly round: number; readonly part: Part }
  | { readonly type: 'vote'; readonly vote: Vote }
  | {
      readonly type: 'has-vote';
      readonly height: bigint;
      readonly round: number;
      readonly voteType: number;
      readonly index: number;
    }
  | {
      readonly type: 'vote-set-maj23';
      readonly height: bigint;
      readonly round: number;
      readonly voteType: number;
      readonly blockId: BlockId;
    }
  | {
      readonly type: 'vote-set-bits';
      readonly height: bigint;
      readonly round: number;
      readonly voteType: number;
      readonly blockId: BlockId;
      readonly votes: BitArray;
    };

/** Where each of them belongs: on another channel it is no word. */
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

/** Of one of them (CometBFT consensus/reactor.go `maxMsgSize`). */
export const CONSENSUS_BYTES_MAX = 1_048_576;

export type MempoolMessage = { readonly type: 'txs'; readonly txs: readonly Uint8Array[] };

export type EvidenceMessage = { readonly type: 'evidence-list'; readonly evidence: readonly Evidence[] };

export type BlocksyncMessage =
  | { readonly type: 'block-request'; readonly height: bigint }
  | { readonly type: 'no-block-response'; readonly height: bigint }
  | { readonly type: 'block-response'; readonly block: Block; readonly extendedCommit: ExtendedCommit | null }
  | { readonly type: 'status-request' }
  | { readonly type: 'status-response'; readonly height: bigint; readonly base: bigint };
