// The codecs written by hand: the same bytes as the generated ones, lossless, and deaf to whatever is no
// message.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, concatBytes, hexOf } from '../../protocol/bytes.ts';
import * as abciGen from '../../protocol/gen/abci.ts';
import * as consensusGen from '../../protocol/gen/consensus.ts';
import { State } from '../../protocol/gen/state.ts';
import * as gen from '../../protocol/gen/types.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { EMPTY_BYTES, NIL_BLOCK_ID, ZERO_TIME_NS } from '../../protocol/types.ts';
import * as wire from '../../protocol/wire/index.ts';
import * as any from './arbitrary.ts';
import * as proto from './generated.ts';

const hex = (text: string): Uint8Array => bytesOfHex(text)!;

interface Codec<T> {
  readonly name: string;
  readonly values: fc.Arbitrary<T>;
  readonly encode: (value: T) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
  readonly oracle?: (value: T) => Uint8Array;
}
const codec = <T>(one: Codec<T>): Codec<unknown> => one as unknown as Codec<unknown>;

const codecs = [
  codec({
    name: 'BlockID',
    values: any.blockId,
    encode: wire.encodeBlockId,
    decode: wire.decodeBlockId,
    oracle: (id) => gen.BlockID.encode(proto.blockIdOf(id)).finish(),
  }),
  codec({
    name: 'Vote',
    values: any.vote,
    encode: wire.encodeVote,
    decode: wire.decodeVote,
    oracle: (vote) => gen.Vote.encode(proto.voteOf(vote)).finish(),
  }),
  codec({
    name: 'Proposal',
    values: any.proposal,
    encode: wire.encodeProposal,
    decode: wire.decodeProposal,
    oracle: (proposal) => gen.Proposal.encode(proto.proposalOf(proposal)).finish(),
  }),
  codec({
    name: 'CommitSig',
    values: any.commitSig,
    encode: wire.encodeCommitSig,
    decode: wire.decodeCommitSig,
    oracle: (sig) => gen.CommitSig.encode(proto.commitSigOf(sig)).finish(),
  }),
  codec({
    name: 'Commit',
    values: any.commit,
    encode: wire.encodeCommit,
    decode: wire.decodeCommit,
    oracle: (commit) => gen.Commit.encode(proto.commitOf(commit)).finish(),
  }),
  codec({
    name: 'ExtendedCommit',
    values: any.extendedCommit,
    encode: wire.encodeExtendedCommit,
    decode: wire.decodeExtendedCommit,
    oracle: (commit) => gen.ExtendedCommit.encode(proto.extendedCommitOf(commit)).finish(),
  }),
  codec({
    name: 'Part',
    values: any.part,
    encode: wire.encodePart,
    decode: wire.decodePart,
    oracle: (part) => gen.Part.encode(proto.partOf(part)).finish(),
  }),
  codec({
    name: 'Header',
    values: any.header,
    encode: wire.encodeHeader,
    decode: wire.decodeHeader,
    oracle: (header) => gen.Header.encode(proto.headerOf(header)).finish(),
  }),
  codec({
    name: 'Validator',
    values: any.validator,
    encode: wire.encodeValidator,
    decode: wire.decodeValidator,
    oracle: (validator) => gen.Validator.encode(proto.validatorOf(validator)).finish(),
  }),
  codec({
    name: 'ValidatorSet',
    values: any.validatorSet,
    encode: wire.encodeValidatorSet,
    decode: wire.decodeValidatorSet,
    oracle: (set) => gen.ValidatorSet.encode(proto.validatorSetOf(set)).finish(),
  }),
  codec({
    name: 'Evidence',
    values: any.evidence,
    encode: wire.encodeEvidence,
    decode: wire.decodeEvidence,
    oracle: (evidence) => gen.Evidence.encode(proto.evidenceOf(evidence)).finish(),
  }),
  codec({
    name: 'Block',
    values: any.block,
    encode: wire.encodeBlock,
    decode: wire.decodeBlock,
    oracle: (block) => gen.Block.encode(proto.blockOf(block)).finish(),
  }),
  codec({
    name: 'State',
    values: any.chainState,
    encode: wire.encodeChainState,
    decode: wire.decodeChainState,
    oracle: (state) => State.encode(proto.stateOf(state)).finish(),
  }),
  codec({
    name: 'ConsensusParams',
    values: any.params,
    encode: wire.encodeConsensusParams,
    decode: wire.decodeConsensusParams,
  }),
  codec({
    name: 'ExecTxResult',
    values: any.execTxResult,
    encode: wire.encodeExecTxResult,
    decode: wire.decodeExecTxResult,
    oracle: (result) =>
      abciGen.ExecTxResult.encode({ ...result, events: [...result.events] as abciGen.Event[] }).finish(),
  }),
  codec({
    name: 'ResponseFinalizeBlock',
    values: any.finalized,
    encode: wire.encodeResponseFinalizeBlock,
    decode: wire.decodeResponseFinalizeBlock,
  }),
];

/** Node's Buffers and fresh arrays alike are bytes here. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) =>
      one instanceof Uint8Array ? `bytes ${hexOf(one)}` : typeof one === 'bigint' ? `big ${one}` : one,
    ),
  );

describe.each(codecs)('$name', ({ values, encode, decode, oracle }) => {
  it('comes back as it went', () => {
    fc.assert(
      fc.property(values, (value) => void expect(plain(decode(encode(value)))).toEqual(plain(value))),
    );
  });

  it.runIf(oracle)('has the bytes that the generated code makes', () => {
    fc.assert(fc.property(values, (value) => void expect(hexOf(encode(value))).toBe(hexOf(oracle!(value)))));
  });

  it('decodes or refuses, and never throws', () => {
    const mangled = fc.tuple(values, fc.nat(), fc.nat(255), fc.boolean()).map(([value, at, byte, cut]) => {
      const bytes = encode(value).slice();
      if (bytes.length === 0) return bytes;
      if (cut) return bytes.subarray(0, at % bytes.length);
      bytes[at % bytes.length] = byte;
      return bytes;
    });
    fc.assert(
      fc.property(fc.oneof(mangled, any.bytes(60)), (bytes) => void decode(bytes)),
      { numRuns: 500 },
    );
  });
});

describe('what gogoproto does with odd bytes', () => {
  it('absent and empty times differ', () => {
    expect(wire.decodeVote(EMPTY_BYTES)).toMatchObject({ timeNs: ZERO_TIME_NS, blockId: NIL_BLOCK_ID });
    expect(wire.decodeVote(hex('2a00'))).toMatchObject({ timeNs: 0n });
  });
  it('skips unknown fields, groups too', () => {
    // Field 15 as a varint, as a group that holds field 1, as 4 bytes, and then round 5.
    expect(wire.decodeVote(hex('78017b08017c7d000000001805'))).toMatchObject({ round: 5 });
  });
  it('refuses a known field with another wire type', () => {
    expect(wire.decodeVote(hex('0a00'))).toMatchObject({ refused: 'malformed-bytes' });
  });
  it('takes the last of scalars and merges messages', () => {
    const id = 'aa'.repeat(32);
    const twice = hex(`180118022222 0a20${id}22041202 0807`.replaceAll(' ', ''));
    expect(wire.decodeVote(twice)).toMatchObject({
      round: 2,
      blockId: { hash: hex(id), parts: { total: 7 } },
    });
  });
  it.each([
    ['a varint without an end', '08ffffffffffffffffffff01'],
    ['a length beyond the end', '2205'],
    ['field number zero', '0001'],
    ['a group that ends first', '7c'],
    ['a group without an end', '7b0801'],
    ['nanoseconds of a whole second', '2a06108094ebdc03'],
    ['a time before year 1', '2a0b08ff91b8c398feffffff01'],
  ])('refuses %s', (_, text) => {
    expect(wire.decodeVote(hex(text))).toMatchObject({ refused: 'malformed-bytes' });
  });
  it('reads negative numbers of any length, as Go does', () => {
    expect(wire.decodeVote(hex('18ffffffffffffffffff01'))).toMatchObject({ round: -1 });
    expect(wire.decodeVote(hex('18ffffffff0f'))).toMatchObject({ round: -1 });
    expect(wire.decodeVote(hex('10ffffffff0f'))).toMatchObject({ height: 4_294_967_295n });
  });
  it('wants as many elements as a bit array has bits for', () => {
    expect(wire.decodeBitArray(hex('084012 0100'.replaceAll(' ', '')))).toEqual({ bits: 64, elems: [0n] });
    expect(wire.decodeBitArray(hex('0841120100'))).toMatchObject({ refused: 'malformed-bytes' });
    expect(wire.decodeBitArray(hex('08ffffffffffffffffff01'))).toMatchObject({ refused: 'malformed-bytes' });
    expect(wire.decodeBitArray(hex('08011005'))).toEqual({ bits: 1, elems: [5n] }); // not packed
  });
  it.each([
    [258, 2],
    [-254, 2],
    [256, 0],
    [-1, 255],
    [3, 3],
  ])('a block id flag of %i is %i, for CometBFT keeps one byte of it', (flag, kept) => {
    const sig = { flag, validatorAddress: new Uint8Array(20), timeNs: 7n, signature: Uint8Array.of(1) };
    const commit = { height: 5n, round: 0, blockId: NIL_BLOCK_ID, signatures: [sig] };
    const extended = { ...sig, extension: EMPTY_BYTES, extensionSignature: EMPTY_BYTES };
    const read = [
      wire.decodeCommitSig(wire.encodeCommitSig(sig)),
      wire.decodeCommit(wire.encodeCommit(commit)),
      wire.decodeExtendedCommit(wire.encodeExtendedCommit({ ...commit, signatures: [extended] })),
    ];
    const signatures = [{ flag: kept }];
    expect(read).toMatchObject([{ flag: kept }, { signatures }, { signatures }]);
  });
  it('the type of a vote is not cut: 258 is no precommit', () => {
    expect(wire.decodeVote(hex('088202'))).toMatchObject({ type: 258 });
  });
  it('gives the same object for the same block id', () => {
    const blockId = {
      hash: new Uint8Array(32).fill(1),
      parts: { total: 1, hash: new Uint8Array(32).fill(2) },
    };
    const vote = { ...(wire.decodeVote(EMPTY_BYTES) as never as object), blockId } as never;
    const [one, two] = [wire.decodeVote(wire.encodeVote(vote)), wire.decodeVote(wire.encodeVote(vote))];
    expect(isRefusal(one) || isRefusal(two) ? null : one.blockId === two.blockId).toBe(true);
  });
});

describe('long messages', () => {
  it('lengths of two to four bytes are framed right', () => {
    for (const size of [127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
      const tx = new Uint8Array(size).fill(size);
      const bytes = wire.encodeMempoolMessage({ type: 'txs', txs: [tx, tx] });
      expect(wire.decodeMempoolMessage(bytes)).toMatchObject({ txs: [{ length: size }, { length: size }] });
    }
  });
});

describe('consensus messages', () => {
  const part = splitIntoParts(new Uint8Array(70_000)).parts[1]!;
  const blockId = { hash: new Uint8Array(32).fill(1), parts: { total: 2, hash: new Uint8Array(32).fill(2) } };
  const bits = { bits: 2, elems: [3n] };
  const at = { height: 5n, round: 1 };
  const vote = {
    ...at,
    type: 2,
    blockId,
    timeNs: 7n,
    validatorAddress: new Uint8Array(20).fill(3),
    validatorIndex: 0,
    signature: new Uint8Array(64).fill(4),
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
  const proposal = { ...at, type: 32, polRound: -1, blockId, timeNs: 7n, signature: vote.signature };
  const sound = {
    'new-round-step': { ...at, step: 3, secondsSinceStart: -1n, lastCommitRound: 0 },
    'new-valid-block': { ...at, parts: blockId.parts, have: bits, isCommit: true },
    proposal: { proposal },
    'proposal-pol': { height: 5n, polRound: 0, pol: bits },
    'block-part': { ...at, part },
    vote: { vote },
    'has-vote': { ...at, voteType: 1, index: 0 },
    'vote-set-maj23': { ...at, voteType: 2, blockId },
    'vote-set-bits': { ...at, voteType: 2, blockId, votes: { bits: 0, elems: [] } },
  } as const;
  type Kind = keyof typeof sound;
  const message = (type: Kind, change: object = {}) => ({ type, ...sound[type], ...change }) as never;

  it.each(Object.keys(sound) as Kind[])('%s comes back', (type) => {
    const bytes = wire.encodeConsensusMessage(message(type));
    expect(wire.decodeConsensusMessage(bytes)).toStrictEqual(message(type));
    const again = consensusGen.Message.encode(consensusGen.Message.decode(bytes)).finish();
    expect(hexOf(again)).toBe(hexOf(bytes));
  });

  const malformed: readonly (readonly [Kind, object])[] = [
    ['new-round-step', { height: -1n }],
    ['new-round-step', { round: -1 }],
    ['new-round-step', { step: 0 }],
    ['new-round-step', { step: 9 }],
    ['new-round-step', { lastCommitRound: -2 }],
    ['new-valid-block', { have: null }],
    ['new-valid-block', { have: { bits: 3, elems: [0n] } }],
    ['new-valid-block', { parts: { total: 2, hash: new Uint8Array(31) } }],
    [
      'new-valid-block',
      { parts: { total: 1602, hash: blockId.hash }, have: { bits: 1602, elems: Array(26).fill(0n) } },
    ],
    ['proposal', { proposal: { ...proposal, type: 1 } }],
    ['proposal', { proposal: { ...proposal, polRound: -2 } }],
    ['proposal', { proposal: { ...proposal, blockId: NIL_BLOCK_ID } }],
    ['proposal', { proposal: { ...proposal, signature: EMPTY_BYTES } }],
    ['proposal-pol', { polRound: -1 }],
    ['proposal-pol', { pol: { bits: 0, elems: [] } }],
    ['proposal-pol', { pol: { bits: 10_001, elems: Array(157).fill(0n) } }],
    ['block-part', { part: { ...part, index: 0 } }],
    ['block-part', { part: { ...part, bytes: new Uint8Array(65_537) } }],
    ['block-part', { part: { ...part, proof: { ...part.proof, total: 3n } } }],
    ['block-part', { part: { ...part, proof: { ...part.proof, leafHash: EMPTY_BYTES } } }],
    ['vote', { vote: { ...vote, height: 0n } }],
    ['vote', { vote: { ...vote, type: 32 } }],
    ['vote', { vote: { ...vote, validatorIndex: -1 } }],
    ['vote', { vote: { ...vote, blockId: { ...blockId, hash: EMPTY_BYTES } } }],
    ['vote', { vote: { ...vote, validatorAddress: new Uint8Array(19) } }],
    ['vote', { vote: { ...vote, signature: new Uint8Array(3310) } }],
    ['vote', { vote: { ...vote, extension: new Uint8Array(1) } }],
    ['vote', { vote: { ...vote, type: 1, extensionSignature: new Uint8Array(64) } }],
    ['has-vote', { voteType: 32 }],
    ['has-vote', { index: -1 }],
    ['vote-set-maj23', { voteType: 0 }],
    ['vote-set-maj23', { blockId: { ...blockId, hash: new Uint8Array(5) } }],
    ['vote-set-bits', { votes: { bits: 10_001, elems: Array(157).fill(0n) } }],
  ];
  it.each(malformed)('%s, damaged, is refused ($#)', (type, change) => {
    expect(wire.decodeConsensusMessage(wire.encodeConsensusMessage(message(type, change)))).toHaveProperty(
      'refused',
    );
  });

  it('the round of vote-set-bits is not looked at', () => {
    const bytes = wire.encodeConsensusMessage(message('vote-set-bits', { round: -1 }));
    expect(wire.decodeConsensusMessage(bytes)).toMatchObject({ round: -1 });
  });
  it('refuses a message of no kind', () => {
    expect(wire.decodeConsensusMessage(EMPTY_BYTES)).toMatchObject({ refused: 'malformed-bytes' });
  });
});

describe('block sync, mempool and evidence messages', () => {
  it.each([
    { type: 'block-request', height: 0n },
    { type: 'no-block-response', height: 7n },
    { type: 'status-request' },
    { type: 'status-response', height: 9n, base: 3n },
  ] as const)('$type comes back', (message) => {
    expect(wire.decodeBlocksyncMessage(wire.encodeBlocksyncMessage(message))).toStrictEqual(message);
  });
  it.each([
    { type: 'block-request', height: -1n },
    { type: 'status-response', height: 2n, base: 3n },
    { type: 'status-response', height: 2n, base: -1n },
  ] as const)('$type of nonsense is refused', (message) => {
    expect(wire.decodeBlocksyncMessage(wire.encodeBlocksyncMessage(message))).toHaveProperty('refused');
  });
  it('refuses empty transactions and none', () => {
    for (const txs of [[], [EMPTY_BYTES]]) {
      expect(wire.decodeMempoolMessage(wire.encodeMempoolMessage({ type: 'txs', txs }))).toHaveProperty(
        'refused',
      );
    }
  });
  it('refuses malformed evidence', () => {
    fc.assert(
      fc.property(any.evidence, (evidence) => {
        const bytes = wire.encodeEvidenceMessage({ type: 'evidence-list', evidence: [evidence] });
        expect(wire.decodeEvidenceMessage(bytes)).toHaveProperty('refused');
        expect(wire.decodeEvidenceMessage(concatBytes(bytes, bytes))).toHaveProperty('refused');
      }),
      { numRuns: 30 },
    );
  });
});
