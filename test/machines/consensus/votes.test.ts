import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commitOf, tallyOf } from '../../../machines/chain/commits.ts';
import { VoteTally } from '../../../machines/consensus/votes.ts';
import { hasTwoThirds } from '../../../protocol/rules/quorum.ts';
import {
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  FLAG_NIL,
  PRECOMMIT,
  PREVOTE,
} from '../../../protocol/types.ts';
import { setOf } from '../../protocol/rules/people.ts';
import { FOUR, idOf, nameOf, voteOf } from './seat.ts';

const votesOf = (set = FOUR) => {
  const tally = new VoteTally(set);
  const add = (index: number, name: string) =>
    tally.tally(voteOf(PREVOTE, name, 0, index, 1n, set), set.validators[index]!.power);
  return { tally, add };
};

it('strictly more than two thirds, by power and not by heads', () => {
  const { tally, add } = votesOf(setOf(30n, 20n, 10n, 1n)); // total 61, needed 41
  add(0, 'B');
  add(2, 'B');
  expect([tally.sumFor(idOf('B')), tally.twoThirds]).toEqual([40n, null]);
  add(3, 'B');
  expect(nameOf(tally.twoThirds!)).toBe('B');
  expect([tally.count, tally.hasAll, tally.hasTwoThirdsAny]).toEqual([3, false, true]);
});

it('votes for anything add up for the wait, and not for a block', () => {
  const { tally, add } = votesOf();
  add(0, 'A');
  add(1, 'B');
  expect(tally.hasTwoThirdsAny).toBe(false);
  add(2, 'nil');
  expect([tally.hasTwoThirdsAny, tally.twoThirds, tally.isNilTwoThirds]).toEqual([true, null, false]);
});

it('a second vote of a validator is a conflict, kept only where somebody stands or a peer claims two thirds', () => {
  const { tally, add } = votesOf();
  expect(add(0, 'A')).toEqual({ tally: 'added' });
  expect(add(0, 'A')).toEqual({ tally: 'known' });
  expect(add(0, 'B')).toMatchObject({ tally: 'conflict', kept: false });
  expect(tally.votesFor(idOf('B'))).toBeUndefined();
  expect(tally.claim('peer', idOf('B'))).toBe(true);
  expect(add(0, 'B')).toMatchObject({ tally: 'conflict', kept: true, first: { validatorIndex: 0 } });
  expect(add(0, 'B')).toEqual({ tally: 'known' });
  expect([tally.count, tally.sumAny, tally.sumFor(idOf('B'))]).toEqual([1, 10n, 10n]);
  add(1, 'B');
  add(2, 'B');
  expect(nameOf(tally.twoThirds!)).toBe('B'); // with the equivocator's second vote
});

it('a peer claims two thirds once; what it alone claimed goes with it', () => {
  const { tally, add } = votesOf();
  expect(tally.claim('liar', idOf('A'))).toBe(true);
  expect(tally.claim('liar', idOf('A'))).toBe(true);
  expect(tally.claim('liar', idOf('B'))).toBe(false);
  tally.forgetClaim('liar');
  expect(tally.votesFor(idOf('A'))).toBeUndefined();
  tally.claim('one', idOf('A'));
  tally.claim('two', idOf('A'));
  tally.forgetClaim('one');
  expect(tally.votesFor(idOf('A'))).toBeDefined();
  add(0, 'A');
  tally.forgetClaim('two');
  tally.forgetClaim('nobody');
  expect(tally.sumFor(idOf('A'))).toBe(10n); // votes stay
});

it('sums are those of the votes, whatever comes in whatever order', () => {
  const powers = fc.array(fc.bigInt(1n, 1000n), { minLength: 1, maxLength: 7 });
  const votes = fc.array(fc.tuple(fc.nat(6), fc.constantFrom('A', 'B', 'nil')), { maxLength: 30 });
  fc.assert(
    fc.property(powers, votes, (list, said) => {
      const set = setOf(...list);
      const { tally, add } = votesOf(set);
      let first: string | null = null;
      for (const [at, name] of said) {
        add(at % list.length, name);
        for (const each of ['A', 'B', 'nil'])
          if (first === null && hasTwoThirds(tally.sumFor(idOf(each)), set.powerTotal)) first = each;
        expect(tally.twoThirds && nameOf(tally.twoThirds)).toBe(first);
      }
      const power = (index: number): bigint => set.validators[index]!.power;
      const voters = new Set(said.map(([at]) => at % list.length));
      expect(tally.sumAny).toBe([...voters].reduce((sum, index) => sum + power(index), 0n));
      expect(tally.count).toBe(voters.size);
      for (const name of ['A', 'B', 'nil']) {
        const stand = (tally.votesFor(idOf(name)) ?? []).map((vote, i) => (vote ? power(i) : 0n));
        expect(tally.sumFor(idOf(name))).toBe(stand.reduce((sum, each) => sum + each, 0n));
      }
    }),
    { numRuns: 300 },
  );
});

// --- commits -----------------------------------------------------------------------------------------------------------

it('a commit: votes for the block, for nil as nil, other blocks and the silent as absent (VoteSet.MakeCommit)', () => {
  const set = setOf(10n, 10n, 10n, 10n, 10n, 10n, 10n);
  const tally = new VoteTally(set);
  const names = ['B', 'nil', 'A', '', 'B', 'B', ''];
  names.forEach((name, i) => {
    if (name)
      tally.tally(
        { ...voteOf(PRECOMMIT, name, 2, i, 7n, set), timeNs: BigInt(i), signature: Uint8Array.of(i) },
        10n,
      );
  });
  const commit = commitOf(tally, 7n, 2, idOf('B'));
  expect(commit).toMatchObject({ height: 7n, round: 2, blockId: idOf('B') });
  expect(commit.signatures.map(({ flag }) => flag)).toEqual([
    FLAG_COMMIT,
    FLAG_NIL,
    FLAG_ABSENT,
    FLAG_ABSENT,
    FLAG_COMMIT,
    FLAG_COMMIT,
    FLAG_ABSENT,
  ]);
  expect(commit.signatures[5]).toEqual({
    flag: FLAG_COMMIT,
    validatorAddress: set.validators[5]!.address,
    timeNs: 5n,
    signature: Uint8Array.of(5),
  });
  expect(commit.signatures[2]?.signature).toEqual(EMPTY_BYTES);

  const again = tallyOf(commit, set);
  expect(again.sumFor(idOf('B'))).toBe(30n);
  expect(again.count).toBe(4);
  expect(commitOf(again, 7n, 2, idOf('B'))).toEqual(commit);
});

it("an equivocator's vote for the block stands in its commit, though it came second", () => {
  const tally = new VoteTally(FOUR);
  for (const [index, name] of [
    [0, 'A'],
    [1, 'B'],
    [0, 'B'],
    [2, 'B'],
  ] as const)
    tally.tally(voteOf(PRECOMMIT, name, 0, index), 10n);
  expect(nameOf(tally.twoThirds!)).toBe('B');
  const flags = commitOf(tally, 1n, 0, idOf('B')).signatures.map(({ flag }) => flag);
  expect(flags).toEqual([FLAG_COMMIT, FLAG_COMMIT, FLAG_COMMIT, FLAG_ABSENT]);
});
