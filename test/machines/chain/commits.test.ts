// The commit that a proposal carries: all precommits, unless some for nil would hold the time of the chain back.

import { describe, expect, it } from 'vitest';
import { commitOf, timelyCommit } from '../../../machines/chain/commits.ts';
import { VoteTally } from '../../../machines/consensus/votes.ts';
import { medianTime } from '../../../protocol/rules/median-time.ts';
import { type Commit, FLAG_ABSENT, FLAG_COMMIT, FLAG_NIL, PRECOMMIT } from '../../../protocol/types.ts';
import { setOf } from '../../protocol/rules/people.ts';
import { FOUR, idOf, voteOf } from '../consensus/seat.ts';

const BLOCK_TIME = 100n;
const EARLY = 90n;
const LATER = 110n;

/** One signature for each member, as (for what, when). */
function commitWith(...said: readonly (readonly [flag: number, timeNs: bigint])[]) {
  const validators = setOf(...said.map(() => 1n));
  const signatures = said.map(([flag, timeNs], i) => ({
    flag,
    timeNs,
    validatorAddress: validators.validators[i]!.address,
    signature: new Uint8Array(64),
  }));
  const commit = { height: 5n, round: 0, signatures } as unknown as Commit;
  return { commit, carried: timelyCommit(commit, validators, BLOCK_TIME), validators };
}

const yes = [FLAG_COMMIT, LATER] as const;
const liar = [FLAG_COMMIT, EARLY] as const;
const slowNil = [FLAG_NIL, EARLY] as const;

describe('the commit that a proposal carries', () => {
  it('holds votes for nil while the median is after the block', () => {
    const { commit, carried } = commitWith(yes, yes, yes, slowNil);
    expect(carried).toBe(commit);
  });

  it('is without them where a liar and slow clocks would hold the time back', () => {
    const { commit, carried, validators } = commitWith(yes, yes, yes, yes, liar, slowNil, slowNil);
    expect(medianTime(commit, validators)).toBe(EARLY); // not after the block: no valid proposal
    expect(carried.signatures.map(({ flag }) => flag)).toEqual([2, 2, 2, 2, 2, FLAG_ABSENT, FLAG_ABSENT]);
    expect(medianTime(carried, validators)).toBe(LATER);
  });

  it('is as it was where that does not help', () => {
    const { commit, carried } = commitWith(yes, yes, liar, slowNil);
    expect(carried).toBe(commit);
  });

  it('is empty at the initial height', () => {
    const none = { height: 0n, round: 0, signatures: [] } as unknown as Commit;
    expect(timelyCommit(none, setOf(1n), BLOCK_TIME)).toBe(none);
  });
});

it('a precommit for the hash of the block and other parts is no signature of its commit', () => {
  const tally = new VoteTally(FOUR);
  const other = { ...idOf('B'), parts: idOf('Big').parts };
  const votes = [0, 1, 2, 3].map((index) => voteOf(PRECOMMIT, 'B', 0, index));
  for (const vote of [...votes.slice(0, 3), { ...votes[3]!, blockId: other }]) tally.tally(vote, 10n);
  const { signatures } = commitOf(tally, 1n, 0, idOf('B'));
  expect(signatures.map(({ flag }) => flag)).toEqual([FLAG_COMMIT, FLAG_COMMIT, FLAG_COMMIT, FLAG_ABSENT]);
});
