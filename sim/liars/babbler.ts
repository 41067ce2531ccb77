// The babbler: beside each prevote of its own something that is no word of any channel, or one that cannot be meant: another one each time.

import type { Payload } from '../../actors/turn.ts';
import { bitArrayOf } from '../../protocol/bit-array.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import {
  type BlocksyncMessage,
  CHANNEL_BLOCKSYNC,
  CHANNEL_DATA,
  CHANNEL_EVIDENCE,
  CHANNEL_MEMPOOL,
  CHANNEL_STATE,
  CHANNEL_VOTE,
  CHANNEL_VOTE_SET_BITS,
  type ConsensusMessage,
} from '../../protocol/messages.ts';
import {
  type BitArray,
  BLOCK_PART_BYTES,
  BLOCK_PARTS_MAX,
  type Block,
  type BlockId,
  MERKLE_AUNTS_MAX,
  NIL_BLOCK_ID,
  type Part,
  PREVOTE,
  PROPOSAL,
  type Proposal,
  SIGNATURE_BYTES_MAX,
  VOTES_MAX,
  type Vote,
} from '../../protocol/types.ts';
import {
  encodeBlocksyncMessage,
  encodeConsensusMessage,
  encodeMempoolMessage,
} from '../../protocol/wire/index.ts';
import { encodeWith } from '../../protocol/wire/writer.ts';
import type { Liar } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** What it babbles from: its prevote, and a block of the chain, if there is one. */
interface Heard {
  readonly vote: Vote;
  readonly block: Block | null;
}

type Babble = (heard: Heard) => Payload;
type Of<T extends ConsensusMessage['type']> = Extract<ConsensusMessage, { type: T }>;

const MEBIBYTE = 1_048_576;
const hash = new Uint8Array(32).fill(0xbb);
const signature = new Uint8Array(64).fill(0xbb);
const someId: BlockId = { hash, parts: { total: 1, hash } };

/** One that is broken off, and one with a field that no message has. */
const BROKEN_OFF = Uint8Array.of(0x0a, 0x7f, 0x01);
const UNKNOWN_FIELD = Uint8Array.of(0x7a, 0x00);
/** That it has a prevote: the height stands there as bytes, or is a number of eleven bytes. */
const HEIGHT_IN_BYTES = Uint8Array.of(0x3a, 0x04, 0x0a, 0x00, 0x18, 0x01);
const LONG_ZERO = new Uint8Array(11).fill(0x80, 0, 10);
const ELEVEN_BYTES_OF_HEIGHT = Uint8Array.of(0x3a, 0x0e, 0x08, ...LONG_ZERO, 0x18, 0x01);
const NS_PER_SECOND = 1_000_000_000n;
/** The years 1 and 10000. */
const BEGINNING_OF_TIME_NS = -62_135_596_800n * NS_PER_SECOND;
const END_OF_TIME_NS = 253_402_300_800n * NS_PER_SECOND;
/** A proposal that has a time and nothing else: -1 nanoseconds, in ten bytes. */
const MINUS_ONE = [...new Uint8Array(9).fill(0xff), 0x01];
const NANOS_BELOW_ZERO = Uint8Array.of(0x1a, 0x0f, 0x0a, 0x0d, 0x32, 0x0b, 0x10, ...MINUS_ONE);

const raw =
  (channel: number, bytes: Uint8Array): Babble =>
  () => ({ channel, bytes });

/** Of a channel that nobody has. */
const CHANNEL_OF_NOBODY = 0x99;

const says =
  (channel: number, message: (heard: Heard) => ConsensusMessage): Babble =>
  (heard) => ({ channel, bytes: encodeConsensusMessage(message(heard)) });

const hasVote = (change: Partial<Of<'has-vote'>>, channel = CHANNEL_STATE): Babble =>
  says(channel, ({ vote: { height, round } }) => ({
    type: 'has-vote',
    height,
    round,
    voteType: PREVOTE,
    index: 0,
    ...change,
  }));

const stands = (change: Partial<Of<'new-round-step'>>): Babble =>
  says(CHANNEL_STATE, ({ vote: { height, round } }) => ({
    type: 'new-round-step',
    height,
    round,
    step: 4,
    secondsSinceStart: 0n,
    lastCommitRound: height > 1n ? 0 : -1,
    ...change,
  }));

const hasParts = (total: number, bits: number | null, of = hash): Babble =>
  says(CHANNEL_STATE, ({ vote: { height, round } }) => ({
    type: 'new-valid-block',
    height,
    round,
    parts: { total, hash: of },
    have: bits === null ? null : bitArrayOf(bits, [0]),
    isCommit: false,
  }));

const claims = (blockId: BlockId): Babble =>
  says(CHANNEL_STATE, ({ vote: { height, round } }) => ({
    type: 'vote-set-maj23',
    height,
    round,
    voteType: PREVOTE,
    blockId,
  }));

const holds = (blockId: BlockId, votes: BitArray): Babble =>
  says(CHANNEL_VOTE_SET_BITS, ({ vote: { height, round } }) => ({
    type: 'vote-set-bits',
    height,
    round,
    voteType: PREVOTE,
    blockId,
    votes,
  }));

const proposes = (change: Partial<Proposal>): Babble =>
  says(CHANNEL_DATA, ({ vote: { height, round, timeNs } }) => ({
    type: 'proposal',
    proposal: {
      type: PROPOSAL,
      height,
      round,
      polRound: -1,
      blockId: someId,
      timeNs,
      signature,
      ...change,
    },
  }));

const polka = (polRound: number, bits: number): Babble =>
  says(CHANNEL_DATA, ({ vote: { height } }) => ({
    type: 'proposal-pol',
    height,
    polRound,
    pol: bitArrayOf(bits, []),
  }));

const part = (change: Partial<Part>, proof: Partial<Part['proof']> = {}): Babble =>
  says(CHANNEL_DATA, ({ vote: { height, round } }) => ({
    type: 'block-part',
    height,
    round,
    part: {
      index: 0,
      bytes: hash,
      proof: { total: 1n, index: 0n, leafHash: hash, aunts: [], ...proof },
      ...change,
    },
  }));

const votes = (change: Partial<Vote>): Babble =>
  says(CHANNEL_VOTE, ({ vote }) => ({ type: 'vote', vote: { ...vote, ...change } }));

/** With a field behind it that nobody knows. */
const stretched =
  (babble: Babble, bytes: number): Babble =>
  (heard) => {
    const { channel, bytes: said } = babble(heard);
    const field = encodeWith((writer, size) => writer.bytes(0x7a, new Uint8Array(size)), bytes);
    return { channel, bytes: concatBytes(said, field) };
  };

const txs = (...sizes: readonly number[]): Babble =>
  raw(
    CHANNEL_MEMPOOL,
    encodeMempoolMessage({ type: 'txs', txs: sizes.map((size) => new Uint8Array(size).fill(0x62)) }),
  );

const aboutBlocks = (message: BlocksyncMessage): Babble =>
  raw(CHANNEL_BLOCKSYNC, encodeBlocksyncMessage(message));

/** Before there is a block, a request for one that no chain has. */
const gives =
  (change: (block: Block) => Partial<Extract<BlocksyncMessage, { type: 'block-response' }>>): Babble =>
  (heard) => {
    const { block } = heard;
    if (!block) return aboutBlocks({ type: 'block-request', height: -7n })(heard);
    const message = { type: 'block-response', block, extendedCommit: null, ...change(block) } as const;
    return { channel: CHANNEL_BLOCKSYNC, bytes: encodeBlocksyncMessage(message) };
  };

/** One thing wrong each, so that each check of whoever hears it is needed (`validateConsensusMessage` and its like, spec 4.6). */
const BABBLE: readonly Babble[] = [
  raw(CHANNEL_STATE, BROKEN_OFF),
  raw(CHANNEL_VOTE, UNKNOWN_FIELD),
  hasVote({ height: -3n }),
  hasVote({ round: -3 }),
  hasVote({ voteType: 3 }),
  hasVote({ index: -3 }),
  hasVote({}, CHANNEL_VOTE),
  hasVote({}, CHANNEL_OF_NOBODY),
  stretched(hasVote({}), MEBIBYTE),
  stands({ step: 9 }),
  stands({ lastCommitRound: -2 }),
  hasParts(1, null),
  hasParts(1, 2),
  hasParts(BLOCK_PARTS_MAX + 1, BLOCK_PARTS_MAX + 1),
  claims({ ...someId, hash: hash.subarray(1) }),
  claims({ ...someId, parts: { total: 1, hash: hash.subarray(1) } }),
  holds(someId, bitArrayOf(VOTES_MAX + 1, [0])),
  proposes({ type: PREVOTE }),
  proposes({ height: -1n }),
  proposes({ round: -1 }),
  proposes({ polRound: -2 }),
  proposes({ blockId: NIL_BLOCK_ID }),
  proposes({ signature: new Uint8Array(0) }),
  proposes({ signature: new Uint8Array(SIGNATURE_BYTES_MAX + 1) }),
  polka(-1, 4),
  polka(0, 0),
  polka(0, VOTES_MAX + 1),
  part({ bytes: new Uint8Array(BLOCK_PART_BYTES + 1) }),
  part({}, { total: 2n, aunts: [hash] }),
  part({}, { index: -1n }),
  part({}, { leafHash: hash.subarray(1) }),
  votes({ type: 3 as Vote['type'] }),
  votes({ height: 0n }),
  votes({ round: -1 }),
  votes({ blockId: { ...someId, parts: NIL_BLOCK_ID.parts } }),
  votes({ validatorIndex: -1 }),
  votes({ validatorAddress: hash.subarray(13) }),
  votes({ signature: new Uint8Array(0) }),
  votes({ signature: new Uint8Array(SIGNATURE_BYTES_MAX + 1) }),
  votes({ extension: hash }),
  votes({ extensionSignature: signature }),
  raw(CHANNEL_MEMPOOL, BROKEN_OFF),
  txs(),
  txs(40, 0),
  txs(MEBIBYTE + 1),
  txs(MEBIBYTE / 2, MEBIBYTE / 2, 1),
  raw(CHANNEL_EVIDENCE, BROKEN_OFF),
  raw(CHANNEL_EVIDENCE, new Uint8Array(MEBIBYTE + 1)),
  raw(CHANNEL_BLOCKSYNC, BROKEN_OFF),
  raw(CHANNEL_BLOCKSYNC, UNKNOWN_FIELD),
  aboutBlocks({ type: 'block-request', height: -7n }),
  aboutBlocks({ type: 'status-response', height: 1n, base: -1n }),
  aboutBlocks({ type: 'status-response', height: 1n, base: 2n }),
  gives(({ header, ...block }) => ({ block: { ...block, header: { ...header, dataHash: hash } } })),
  gives(({ header: { height } }) => ({
    extendedCommit: { height: height + 1n, round: 0, blockId: someId, signatures: [] },
  })),
  stands({ step: 0 }),
  hasParts(1, 1, hash.subarray(1)),
  holds({ ...someId, hash: hash.subarray(2) }, bitArrayOf(1, [0])),
  part({}, { aunts: Array.from({ length: MERKLE_AUNTS_MAX + 1 }, () => hash) }),
  part({}, { aunts: [hash.subarray(1)] }),
  // As much as a full batch of the shortest transactions, and more.
  stretched(txs(40), 3 * MEBIBYTE + 65_536),
  holds(someId, { bits: 1, elems: [1n, 1n] }),
  raw(CHANNEL_STATE, HEIGHT_IN_BYTES),
  raw(CHANNEL_STATE, ELEVEN_BYTES_OF_HEIGHT),
  votes({ timeNs: END_OF_TIME_NS }),
  votes({ timeNs: BEGINNING_OF_TIME_NS - NS_PER_SECOND }),
  raw(CHANNEL_DATA, NANOS_BELOW_ZERO),
];

export const babbler: Liar = (kit) => {
  let said = 0;
  return aboutOwnVotes(kit, 'lie: what is no word', (vote, payload) => {
    if (vote.type !== PREVOTE) return null;
    const babble = BABBLE[said++ % BABBLE.length] as Babble;
    return [payload, babble({ vote, block: kit.decided(vote.height - 1n) })];
  });
};
