import { expect, it } from 'vitest';
import { blockIdOfSignBytes, timeOfSignBytes } from '../../machines/privval/canonical.ts';
import {
  judgeSigning,
  type LastSign,
  type SignRequest,
  STEP_PRECOMMIT,
  STEP_PREVOTE,
  STEP_PROPOSE,
  stepOfVote,
} from '../../machines/privval/last-sign.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { proposalSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import {
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  PROPOSAL,
} from '../../protocol/types.ts';

const blockId = (fill: number): BlockId => ({
  hash: new Uint8Array(32).fill(fill),
  parts: { total: 1, hash: new Uint8Array(32).fill(fill) },
});

interface At {
  readonly height?: bigint;
  readonly round?: number;
  readonly step?: number;
  readonly timeNs?: bigint;
  readonly block?: BlockId;
}

function request({
  height = 5n,
  round = 2,
  step = STEP_PREVOTE,
  timeNs = 1_000n,
  block = blockId(1),
}: At): SignRequest {
  const signBytesAt = (at: bigint): Uint8Array =>
    step === STEP_PROPOSE
      ? proposalSignBytes('c', { type: PROPOSAL, height, round, polRound: -1, blockId: block, timeNs: at })
      : voteSignBytes('c', {
          type: step === STEP_PREVOTE ? PREVOTE : PRECOMMIT,
          height,
          round,
          blockId: block,
          timeNs: at,
        });
  return { height, round, step, timeNs, signBytesAt };
}

const SIGNATURE = new Uint8Array(64).fill(9);

function signed(at: At): LastSign {
  const { height, round, step, timeNs, signBytesAt } = request(at);
  return { height, round, step, signBytes: signBytesAt(timeNs), signature: SIGNATURE };
}

const rows: readonly { last: LastSign | null; asked: At; says: string }[] = [
  { last: null, asked: {}, says: 'sign' },
  { last: signed({}), asked: { height: 6n, round: 0, step: STEP_PROPOSE }, says: 'sign' },
  { last: signed({}), asked: { round: 3, step: STEP_PROPOSE }, says: 'sign' },
  { last: signed({}), asked: { step: STEP_PRECOMMIT }, says: 'sign' },
  { last: signed({}), asked: { height: 4n, round: 9 }, says: 'height regression. Got 4, last height 5' },
  { last: signed({}), asked: { round: 1 }, says: 'round regression at height 5. Got 1, last round 2' },
  { last: signed({}), asked: { step: 1 }, says: 'step regression at height 5 round 2. Got 1, last step 2' },
  { last: signed({}), asked: {}, says: 'reuse 1000' },
  { last: signed({}), asked: { timeNs: 2_000n }, says: 'reuse 1000' },
  { last: signed({}), asked: { block: blockId(2) }, says: 'conflicting data' },
  { last: signed({}), asked: { block: NIL_BLOCK_ID }, says: 'conflicting data' },
  { last: signed({ block: NIL_BLOCK_ID }), asked: { block: NIL_BLOCK_ID, timeNs: 7n }, says: 'reuse 1000' },
  { last: signed({ step: STEP_PROPOSE }), asked: { step: STEP_PROPOSE, timeNs: 5n }, says: 'reuse 1000' },
  {
    last: signed({ step: STEP_PROPOSE }),
    asked: { step: STEP_PROPOSE, block: blockId(2) },
    says: 'conflicting data',
  },
  { last: { ...signed({}), signBytes: EMPTY_BYTES }, asked: {}, says: 'no SignBytes found' },
  {
    last: { ...signed({}), signature: EMPTY_BYTES },
    asked: {},
    says: 'Signature is nil but SignBytes is not!',
  },
  { last: { ...signed({}), signBytes: Uint8Array.from([1, 2, 3]) }, asked: {}, says: 'conflicting data' },
];

it.each(rows)('$says', ({ last, asked, says }) => {
  const verdict = judgeSigning(last, request(asked));
  if (isRefusal(verdict)) expect(verdict.because).toBe(says);
  else if (verdict.verdict === 'reuse') {
    expect(`reuse ${verdict.timeNs}`).toBe(says);
    expect(verdict.signature).toBe(SIGNATURE);
  } else {
    expect('sign').toBe(says);
    expect(hexOf(verdict.signBytes)).toBe(hexOf(request(asked).signBytesAt(1_000n)));
  }
});

it('finds the time in sign bytes, and nothing in other bytes', () => {
  for (const timeNs of [0n, 1n, 1_700_000_000_123_456_789n, -1n, -62_135_596_800_000_000_000n]) {
    expect(timeOfSignBytes(request({}).signBytesAt(timeNs), 'vote')).toBe(timeNs);
    expect(timeOfSignBytes(request({ step: STEP_PROPOSE }).signBytesAt(timeNs), 'proposal')).toBe(timeNs);
  }
  for (const bytes of [EMPTY_BYTES, Uint8Array.of(0), Uint8Array.of(200), Uint8Array.of(2, 0x2a, 9)]) {
    expect(timeOfSignBytes(bytes, 'vote')).toBe(null);
  }
});

it('finds the block that a vote is for in its sign bytes', () => {
  for (const block of [blockId(1), blockId(7), NIL_BLOCK_ID])
    for (const step of [STEP_PREVOTE, STEP_PRECOMMIT])
      expect(blockIdOfSignBytes(request({ step, block }).signBytesAt(1_000n))).toEqual(block);
  for (const bytes of [Uint8Array.of(2, 0x22, 9), Uint8Array.of(3, 0x22, 1, 0x0a)])
    expect(blockIdOfSignBytes(bytes)).toBe(null);
});

it('numbers steps as CometBFT does', () => {
  expect([stepOfVote({ type: PREVOTE }), stepOfVote({ type: PRECOMMIT })]).toEqual([2, 3]);
});
