// Tests the rules of validator sets: quorums, turns, updates, and that a refused update changes nothing.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareBytes } from '../../../protocol/bytes.ts';
import { validatorsHash } from '../../../protocol/hashes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { hasTwoThirds, moreThanThird, powerNeeded } from '../../../protocol/rules/quorum.ts';
import {
  applyUpdates,
  existingValidatorSet,
  hashOfSet,
  incrementPriority,
  indexByAddress,
  type Membership,
  makeValidatorSet,
  proposerAtRound,
  proposerOf,
  validatorByAddress,
} from '../../../protocol/rules/validator-set.ts';
import { type ValidatorSet, VOTES_MAX, VOTING_POWER_TOTAL_MAX } from '../../../protocol/types.ts';
import { members, okay, person, setOf } from './people.ts';

const power = fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 1_000_000_000_000n), fc.bigInt(1n, 1n << 52n));
const powers = fc.array(power, { minLength: 1, maxLength: 25 });
const update: fc.Arbitrary<Membership> = fc.record({
  publicKey: fc.nat(30).map((i) => person(i).publicKey),
  power: fc.oneof(fc.constant(0n), power, fc.bigInt(-5n, -1n)),
});

/** What is true of every set that the rules made. */
function expectSound(set: ValidatorSet): void {
  const { validators, powerTotal } = set;
  let priorities = 0n;
  let total = 0n;
  let least = validators[0]!.priority;
  let most = least;
  for (let i = 0; i < validators.length; i++) {
    const { priority, address, power } = validators[i]!;
    priorities += priority;
    total += power;
    if (priority < least) least = priority;
    if (priority > most) most = priority;
    expect(indexByAddress(set, address)).toBe(i);
    if (i === 0) continue;
    const before = validators[i - 1]!;
    expect(before.power > power || compareBytes(before.address, address) < 0).toBe(true);
  }
  expect(total).toBe(powerTotal);
  // Centred: the average, rounded down, is zero.
  expect(priorities >= 0n && priorities < BigInt(validators.length)).toBe(true);
  expect(most - least <= 2n * powerTotal + powerTotal).toBe(true);
}

const plain = (set: ValidatorSet) => structuredClone(set);

describe('quorum', () => {
  it('is strictly more than two thirds', () => {
    for (let total = 1n; total <= 100n; total++) {
      for (let sum = 0n; sum <= total; sum++) {
        expect(hasTwoThirds(sum, total)).toBe(sum >= powerNeeded(total));
        expect(hasTwoThirds(sum, total)).toBe(sum > (total * 2n) / 3n);
        expect(moreThanThird(sum, total)).toBe(sum > total / 3n);
      }
    }
  });

  it('two quorums share more than a third, at any power', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, VOTING_POWER_TOTAL_MAX), (total) => {
        const shared = 2n * powerNeeded(total) - total;
        expect(moreThanThird(shared, total)).toBe(true);
      }),
    );
  });
});

describe('a validator set', () => {
  it('stays sound through turns and updates; a refused update leaves it as it was', () => {
    fc.assert(
      fc.property(
        powers,
        fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.array(update, { maxLength: 6 })), {
          maxLength: 8,
        }),
        (start, steps) => {
          let set = setOf(...start);
          expectSound(set);
          for (const step of steps) {
            const before = plain(set);
            const next = typeof step === 'number' ? incrementPriority(set, step) : applyUpdates(set, step);
            expect(plain(set)).toEqual(before);
            if (isRefusal(next)) continue;
            expectSound(next);
            expect(hashOfSet(next)).toEqual(validatorsHash(next));
            set = next;
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('lets each propose in proportion to power', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(1n, 9n), { minLength: 1, maxLength: 7 }), (start) => {
        let set = setOf(...start);
        const turns = new Map<string, bigint>();
        for (let turn = 0n; turn < set.powerTotal; turn++) {
          const who = proposerOf(set).address.join();
          turns.set(who, (turns.get(who) ?? 0n) + 1n);
          set = incrementPriority(set, 1);
        }
        for (const { address, power } of set.validators) {
          const difference = (turns.get(address.join()) ?? 0n) - power;
          expect(difference >= -1n && difference <= 1n).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('names the proposer of a round as that many turns do, in any order asked', () => {
    fc.assert(
      fc.property(powers, fc.array(fc.nat(12), { maxLength: 6 }), (start, rounds) => {
        const set = setOf(...start);
        for (const round of rounds) {
          const expected = round === 0 ? set : incrementPriority(set, round);
          const proposer = proposerAtRound(set, round);
          expect(proposer.address).toEqual(proposerOf(expected).address);
          expect(round === 0 || set.validators.includes(proposer)).toBe(true);
        }
      }),
      { numRuns: 80 },
    );
  });

  it('finds members by address, few or many', () => {
    for (const count of [1, 15, 16, 40]) {
      const set = setOf(...Array.from({ length: count }, (_, i) => BigInt(1 + (i % 5))));
      for (let i = 0; i < count; i++) {
        expect(validatorByAddress(set, person(i).address)?.publicKey).toEqual(person(i).publicKey);
      }
      expect(indexByAddress(set, person(999).address)).toBe(-1);
      expect(validatorByAddress(incrementPriority(set, 1), person(999).address)).toBeNull();
    }
  });

  it('keeps its cached proposer through an update, even a removed one, until the next turn', () => {
    const set = setOf(10n, 1n, 1n);
    const first = proposerOf(set);
    const without = okay(applyUpdates(set, [{ publicKey: first.publicKey, power: 0n }]));
    expect(proposerOf(without)).toBe(first);
    expect(indexByAddress(without, first.address)).toBe(-1);
    expect(indexByAddress(without, proposerOf(incrementPriority(without, 1)).address)).not.toBe(-1);
  });

  it('survives priorities that no honest set has', () => {
    const set = setOf(5n, 3n, 2n);
    const most = 9_223_372_036_854_775_807n;
    const hostile = [most, -most - 1n, most];
    const validators = set.validators.map((one, i) => ({ ...one, priority: hostile[i]! }));
    const next = incrementPriority({ ...set, validators }, 3);
    for (const { priority } of next.validators) expect(priority <= most && priority >= -most - 1n).toBe(true);
  });

  it('has an empty form', () => {
    const set = okay(makeValidatorSet([]));
    expect(set).toEqual({ validators: [], proposer: null, powerTotal: 0n });
    expect(() => incrementPriority(set, 1)).toThrow();
    expect(() => proposerOf(set)).toThrow();
  });
});

describe('an update is refused', () => {
  const set = setOf(10n, 20n, 30n);
  const key = (i: number) => person(i).publicKey;
  const strangers = (count: number): Membership[] =>
    Array.from({ length: count }, (_, i) => {
      const bytes = new Uint8Array(32);
      new DataView(bytes.buffer).setUint32(0, i + 1);
      return { publicKey: { type: 'ed25519', bytes }, power: 1n };
    });
  const rows: readonly [string, Membership[]][] = [
    ['duplicate-validator', [...members([1n]), ...members([2n])]],
    ['negative-power', [{ publicKey: key(0), power: -1n }]],
    ['power-too-big', [{ publicKey: key(0), power: VOTING_POWER_TOTAL_MAX + 1n }]],
    ['power-total-too-big', [{ publicKey: key(3), power: VOTING_POWER_TOTAL_MAX - 59n }]],
    ['unknown-validator', [{ publicKey: key(7), power: 0n }]],
    ['empty-set', members([0n, 0n, 0n])],
    ['too-many-validators', strangers(VOTES_MAX - 2)],
  ];
  for (const [why, updates] of rows) {
    it(`as ${why}`, () => {
      const before = plain(set);
      expect(applyUpdates(set, updates)).toMatchObject({ refused: why });
      expect(plain(set)).toEqual(before);
    });
  }

  it('but not where a commit has just the room', () => {
    expect(okay(applyUpdates(set, strangers(VOTES_MAX - 3))).validators).toHaveLength(VOTES_MAX);
    okay(applyUpdates(set, [{ publicKey: key(0), power: 0n }, ...strangers(VOTES_MAX - 2)]));
  });

  it('but not at the limit of total power, nor where removals make room', () => {
    okay(applyUpdates(set, [{ publicKey: key(3), power: VOTING_POWER_TOTAL_MAX - 60n }]));
    okay(
      applyUpdates(set, [
        { publicKey: key(3), power: VOTING_POWER_TOTAL_MAX - 30n },
        { publicKey: key(2), power: 0n },
      ]),
    );
  });

  it('and no set starts with a member without power', () => {
    expect(makeValidatorSet(members([5n, 0n]))).toMatchObject({ refused: 'zero-power' });
  });
});

describe('a set as somebody else tells it', () => {
  const proposer = (priorities: readonly bigint[]) => {
    const { validators } = setOf(...priorities.map(() => 10n));
    const told = validators.map((each, i) => ({ ...each, priority: priorities[i] as bigint }));
    const set = okay(existingValidatorSet(told));
    return validators.findIndex(({ address }) => compareBytes(address, okay(set).proposer!.address) === 0);
  };
  it('was last proposed by who has the lowest priority, of equals by the last', () => {
    expect(proposer([2n, -2n, 0n])).toBe(1);
    expect(proposer([-1n, 2n, -1n])).toBe(2);
  });
});
