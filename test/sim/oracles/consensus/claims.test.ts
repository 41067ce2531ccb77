// What a node says of itself, word by word: which round decided the height before, whether its own is decided, and what it lacks.

import { describe, expect, it, test } from 'vitest';
import { bitArrayOf } from '../../../../protocol/bit-array.ts';
import { PRECOMMIT, PREVOTE, type Vote } from '../../../../protocol/types.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Claims } from '../../../../sim/oracles/consensus/claims.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { HeardHeight } from '../../../../sim/oracles/ghost/tally.ts';
import { STEP } from '../../../../sim/steps.ts';

const hash = new Uint8Array(32).fill(1);
const blockId = { hash, parts: { total: 1, hash } };
const set = new GhostChain(makeCast({ powers: [10n, 10n, 10n, 10n] }).genesis).set(1n) as never;
const vote = (index: number, type: number, round = 0): Vote =>
  ({ type, height: 7n, round, blockId, validatorIndex: index }) as Vote;

describe('which round decided the height before, and when this one began', () => {
  const says = (
    claims: Claims,
    height: bigint,
    lastCommitRound: number,
    secondsSinceStart = 0n,
  ): string | null =>
    claims.falsehoodIn(
      {
        type: 'new-round-step',
        height,
        round: 0,
        step: STEP.newHeight,
        secondsSinceStart,
        lastCommitRound,
      },
      () => null,
      5_900_000_000,
    );

  test.each<[string, bigint, number, number | null, boolean]>([
    ['none before the first', 7n, -1, null, true],
    ['not even the first', 7n, 0, null, false],
    ['one after it', 8n, 0, null, true],
    ['none after it', 8n, -1, null, false],
    ['as the disk has it', 8n, 2, 2, true],
    ['another than the disk has', 8n, 0, 2, false],
  ])('%s', (_, height, round, onDisk, isTrue) => {
    expect(says(new Claims(7n, () => onDisk), height, round) === null).toBe(isTrue);
  });

  test.each([
    [0n, true],
    [5n, true],
    [6n, false],
    [-1n, false],
  ])('a clock that has run 5.9 s, and a height that began %s s ago: %s', (seconds, isTrue) => {
    expect(says(new Claims(7n, () => null), 7n, -1, seconds) === null).toBe(isTrue);
  });

  test('is what two thirds are said to have precommitted in', () => {
    const claims = new Claims(1n, (height) => (height === 5n ? 4 : null));
    const says = (height: bigint, round: number, voteType = PRECOMMIT): string | null =>
      claims.falsehoodIn({ type: 'vote-set-maj23', height, round, voteType, blockId }, () => null, 0);
    expect(says(6n, 0)).toBeNull(); // it has not begun
    claims.decides(6n, 2);
    expect(says(6n, 2)).toBeNull();
    expect(says(6n, 3)).toBe('that two thirds precommitted in round 3 of height 6, and it was round 2');
    expect(says(6n, 3, PREVOTE)).toBeNull(); // of prevotes it says nothing
    expect([says(5n, 4), says(4n, 9), says(7n, 0)]).toEqual([null, null, null]);
    expect(says(5n, 3)).toContain('and it was round 4');
  });

  test('is what this life has seen', () => {
    const claims = new Claims(7n, () => 2);
    claims.decides(7n, 1);
    expect(says(claims, 8n, 1)).toBeNull();
    expect(says(claims, 8n, 2)).toContain('it was round 1');
  });
});

describe('of its own height', () => {
  const at = (step: number): { claims: Claims; heard: HeardHeight } => {
    const claims = new Claims(1n, () => null);
    claims.stands(7n, 0, step);
    return { claims, heard: new HeardHeight(7n, set, '') };
  };
  const bits = (round: number, indexes: readonly number[]) =>
    ({
      type: 'vote-set-bits',
      height: 7n,
      round,
      voteType: PREVOTE,
      blockId,
      votes: bitArrayOf(4, indexes),
    }) as const;

  it.each<[string, number, number, boolean, boolean]>([
    ['decided, by two thirds', STEP.precommit, 3, true, true],
    ['decided, by fewer', STEP.precommit, 2, true, false],
    ['not decided', STEP.precommit, 2, false, true],
    ['not decided, and it is', STEP.commit, 3, false, false],
  ])('%s', (_, step, votes, isCommit, isTrue) => {
    const { claims, heard } = at(step);
    for (let i = 0; i < votes; i++) heard.addVote(vote(i, 2));
    const message = {
      type: 'new-valid-block',
      height: 7n,
      round: 0,
      parts: blockId.parts,
      have: null,
      isCommit,
    } as const;
    expect(claims.falsehoodIn(message as never, () => heard, 0) === null).toBe(isTrue);
  });

  it('has what it has sent, until it is over or its life is', () => {
    const { claims, heard } = at(STEP.prevote);
    heard.addVote(vote(0, PREVOTE));
    heard.addVote(vote(2, PREVOTE));
    const isTrue = (round: number, indexes: readonly number[]): boolean =>
      claims.falsehoodIn(bits(round, indexes), () => heard, 0) === null;
    claims.sends({ type: 'vote', vote: vote(2, PREVOTE) });
    claims.sends({ type: 'vote', vote: vote(2, PREVOTE, 5) }); // of a round that it may let go
    expect(isTrue(0, [0, 2])).toBe(true);
    expect(isTrue(0, [2])).toBe(true);
    expect(isTrue(0, [0])).toBe(false);
    expect(isTrue(1, [])).toBe(true);
    expect(isTrue(5, [])).toBe(true);
    claims.startsLife();
    claims.stands(7n, 0, STEP.prevote);
    expect(isTrue(0, [])).toBe(true);
  });
});
