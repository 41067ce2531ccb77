// Tests evidence: double votes and attacks on light clients, made by real keys and bent one fact at a time.

import { describe, expect, it } from 'vitest';
import { ed25519Sign } from '#platform';
import { headerHash } from '../../../protocol/hashes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import {
  byzantineValidators,
  type EvidenceFacts,
  evidenceHeight,
  isExpired,
  makeDuplicateVote,
  verifyDuplicateVote,
  verifyEvidence,
  verifyLightClientAttack,
} from '../../../protocol/rules/evidence.ts';
import { DEFAULT_PARAMS } from '../../../protocol/rules/params.ts';
import { misbehaviorOf } from '../../../protocol/rules/state.ts';
import { indexByAddress } from '../../../protocol/rules/validator-set.ts';
import { voteSignBytes } from '../../../protocol/sign-bytes.ts';
import { verifySignature } from '../../../protocol/signatures.ts';
import {
  type BlockId,
  type DuplicateVoteEvidence,
  EMPTY_BYTES,
  type Evidence,
  FLAG_COMMIT,
  type Header,
  type LightClientAttackEvidence,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  type SignedHeader,
  type Vote,
} from '../../../protocol/types.ts';
import {
  CHAIN_ID,
  chainOf,
  commitOf,
  type Link,
  okay,
  person,
  SECOND_NS,
  setOf,
  someBlockId,
} from './people.ts';

const why = (verdict: unknown): string => (isRefusal(verdict) ? verdict.refused : 'ok');

const links = chainOf([10n, 10n, 10n, 10n], 6);
const link = (height: number) => links[height - 1]!;
const set = link(3).before.validators;
const TIME_NS = link(3).block.header.timeNs;

function voteOf(i: number, blockId: BlockId, more: Partial<Vote> = {}): Vote {
  const { address, seed } = person(i);
  const vote: Vote = {
    type: PRECOMMIT,
    height: 3n,
    round: 0,
    blockId,
    timeNs: TIME_NS + SECOND_NS,
    validatorAddress: address,
    validatorIndex: indexByAddress(set, address),
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
    ...more,
  };
  return { ...vote, signature: ed25519Sign(seed, voteSignBytes(CHAIN_ID, vote)) };
}

const double = okay(
  makeDuplicateVote(voteOf(1, someBlockId('a')), voteOf(1, someBlockId('b')), TIME_NS, set),
);

const facts: EvidenceFacts = {
  state: link(6).after,
  heightLatest: 6n,
  header: (height) => links[Number(height) - 1]?.block.header ?? null,
  commit: (height) => (height < 6n ? (links[Number(height) - 1]?.commit ?? null) : null),
  validators: (height) => links[Number(height) - 1]?.before.validators ?? null,
};

const check = (evidence: Evidence): string => why(verifyEvidence(evidence, facts, verifySignature));

describe('a double vote', () => {
  it('is the same proof whichever vote came first', () => {
    const turned = makeDuplicateVote(double.voteB, double.voteA, TIME_NS, set);
    expect(turned).toEqual(double);
    expect(check(double)).toBe('ok');
    expect(evidenceHeight(double)).toBe(3n);
  });

  it('may be for nil and a block', () => {
    const nil = okay(makeDuplicateVote(voteOf(2, someBlockId('a')), voteOf(2, NIL_BLOCK_ID), TIME_NS, set));
    expect(nil.voteA.blockId).toBe(NIL_BLOCK_ID);
    expect(check(nil)).toBe('ok');
  });

  it('may be for one hash and other parts: two ids are two votes', () => {
    const a = someBlockId('a');
    const split = { ...a, parts: someBlockId('b').parts };
    expect(check(okay(makeDuplicateVote(voteOf(1, a), voteOf(1, split), TIME_NS, set)))).toBe('ok');
  });

  it('is told to the application as the power of its height', () => {
    expect(misbehaviorOf([double])).toEqual([
      {
        type: 1,
        validator: { address: person(1).address, power: 10n },
        height: 3n,
        timeNs: TIME_NS,
        powerTotal: 40n,
      },
    ]);
  });

  const b = someBlockId('b');
  const rows: readonly [string, Partial<DuplicateVoteEvidence>, string][] = [
    ['another time', { timeNs: TIME_NS + 1n }, 'evidence-time'],
    ['another power', { validatorPower: 11n }, 'evidence-power'],
    ['another total', { powerTotal: 41n }, 'evidence-power'],
    ['the same block', { voteB: voteOf(1, double.voteA.blockId) }, 'evidence-not-conflicting'],
    ['another round', { voteB: voteOf(1, b, { round: 1 }) }, 'evidence-not-conflicting'],
    ['another kind', { voteB: voteOf(1, b, { type: PREVOTE }) }, 'evidence-not-conflicting'],
    ['another height', { voteB: voteOf(1, b, { height: 4n }) }, 'evidence-not-conflicting'],
    ['two voters', { voteB: voteOf(2, b) }, 'evidence-not-conflicting'],
    ['a stranger', { voteA: voteOf(9, b), voteB: voteOf(9, b) }, 'evidence-stranger'],
    [
      'a forged vote',
      { voteB: { ...double.voteB, signature: double.voteA.signature } },
      'evidence-signature',
    ],
    ['a height ahead', { voteA: voteOf(1, b, { height: 9n }) }, 'evidence-unknown-height'],
  ];
  for (const [name, change, refused] of rows) {
    it(`is refused with ${name}`, () => expect(check({ ...double, ...change })).toBe(refused));
  }

  it('is refused on another chain, and nobody outside the set can be accused', () => {
    expect(why(verifyDuplicateVote(double, 'elsewhere', set, verifySignature))).toBe('evidence-signature');
    const strange = makeDuplicateVote(voteOf(9, someBlockId('a')), voteOf(9, b), TIME_NS, set);
    expect(why(strange)).toBe('evidence-stranger');
  });

  it('expires only when too old in blocks and in time', () => {
    const { maxAgeBlocks, maxAgeNs } = DEFAULT_PARAMS.evidence;
    expect(isExpired(DEFAULT_PARAMS, maxAgeBlocks + 1n, maxAgeNs)).toBe(false);
    expect(isExpired(DEFAULT_PARAMS, maxAgeBlocks, maxAgeNs + 1n)).toBe(false);
    expect(isExpired(DEFAULT_PARAMS, maxAgeBlocks + 1n, maxAgeNs + 1n)).toBe(true);
  });
});

/** An attack at height 4 by all who `flags` names, seen from `common`. */
function attackOf(
  change: Partial<Header>,
  common: number,
  options: { round?: number; flags?: readonly number[]; on?: readonly Link[] } = {},
): { evidence: LightClientAttackEvidence; common: SignedHeader; trusted: SignedHeader } {
  const link = (height: number) => (options.on ?? links)[height - 1]!;
  const { block, before, commit } = link(4);
  const header: Header = { ...block.header, ...change };
  const blockId: BlockId = { hash: headerHash(header), parts: someBlockId('forged').parts };
  const signedHeader = { header, commit: commitOf(before.validators, blockId, 4n, options) };
  const trusted = { header: block.header, commit };
  const shared = { header: link(common).block.header, commit: link(common).commit };
  const evidence: LightClientAttackEvidence = {
    kind: 'light-client-attack',
    conflictingBlock: { signedHeader, validatorSet: before.validators },
    commonHeight: BigInt(common),
    byzantineValidators: [],
    powerTotal: 40n,
    timeNs: shared.header.timeNs,
  };
  const accused = byzantineValidators(evidence, link(common).before.validators, trusted);
  return { evidence: { ...evidence, byzantineValidators: accused }, common: shared, trusted };
}

describe('an attack on light clients', () => {
  const lunatic = attackOf({ appHash: Uint8Array.of(6, 6, 6) }, 2);
  const equivocation = attackOf({ dataHash: someBlockId('x').hash }, 4);

  it('is proven by a lunatic header of an earlier common height', () => {
    expect(lunatic.evidence.byzantineValidators.length).toBe(4);
    expect(check(lunatic.evidence)).toBe('ok');
    expect(misbehaviorOf([lunatic.evidence]).map(({ height, type }) => [height, type])).toEqual(
      Array(4).fill([2n, 2]),
    );
  });

  it('is proven by another header of the same round, by those who signed both', () => {
    const flags = [1, FLAG_COMMIT, FLAG_COMMIT, FLAG_COMMIT];
    const three = attackOf({ dataHash: someBlockId('x').hash }, 4, { flags });
    expect(three.evidence.byzantineValidators.length).toBe(3);
    expect(check(three.evidence)).toBe('ok');
    expect(check(equivocation.evidence)).toBe('ok');
  });

  it('is never proven by amnesia, whoever is listed', () => {
    const amnesia = attackOf({ dataHash: someBlockId('x').hash }, 4, { round: 1 });
    expect(amnesia.evidence.byzantineValidators).toEqual([]);
    expect(check(amnesia.evidence)).toBe('evidence-byzantine-validators');
    const listed = { ...amnesia.evidence, byzantineValidators: set.validators };
    expect(check(listed)).toBe('evidence-byzantine-validators');
  });

  const madeUp = new Uint8Array(32).fill(6);
  it.each(['validatorsHash', 'nextValidatorsHash', 'consensusHash', 'appHash', 'lastResultsHash'] as const)(
    'is proven by a made-up %s, though it was decided in another round',
    (field) => {
      const { evidence } = attackOf({ [field]: madeUp }, 2, { round: 1 });
      expect(evidence.byzantineValidators).toHaveLength(4);
      expect(check(evidence)).toBe('ok');
    },
  );

  it('lists its attackers by the power that they had at the common height', () => {
    const swapped = [40n, 30n].map((power, i) => ({ publicKey: person(2 + i).publicKey, power }));
    const on = chainOf([10n, 20n, 30n, 40n], 4, (height) =>
      height === 1n ? { validatorUpdates: swapped } : {},
    );
    const { evidence, trusted } = attackOf({ appHash: madeUp }, 2, { on });
    const [before, then] = [on[1]!.before.validators, on[3]!.before.validators];
    const order = [3, 2, 1, 0].map((i) => person(i).address);
    expect(then.validators.map(({ address }) => address).slice(0, 2)).toEqual([order[1], order[0]]);
    const listed = byzantineValidators(evidence, before, trusted);
    expect(listed.map(({ address }) => address)).toEqual(order);
    expect(listed.map(({ power }) => power)).toEqual([40n, 30n, 20n, 10n]);
  });

  it('cannot be turned on an innocent by swapping a key', () => {
    const byzantine = lunatic.evidence.byzantineValidators.map((one, i) =>
      i === 0 ? { ...one, publicKey: person(9).publicKey } : one,
    );
    expect(check({ ...lunatic.evidence, byzantineValidators: byzantine })).toBe(
      'evidence-byzantine-validators',
    );
  });

  it('lists exactly the attackers, in order, with their power', () => {
    const listed = lunatic.evidence.byzantineValidators;
    const wrong = [
      [],
      listed.slice(1),
      [...listed].reverse(),
      listed.map((one) => ({ ...one, power: one.power + 1n })),
    ];
    for (const byzantine of wrong) {
      expect(check({ ...lunatic.evidence, byzantineValidators: byzantine })).toBe(
        'evidence-byzantine-validators',
      );
    }
  });

  it('is refused with another total, the true header, or too few signers', () => {
    expect(check({ ...lunatic.evidence, powerTotal: 39n })).toBe('evidence-power');
    const { block, before, commit } = link(4);
    const same: LightClientAttackEvidence = {
      ...lunatic.evidence,
      conflictingBlock: {
        signedHeader: { header: block.header, commit },
        validatorSet: before.validators,
      },
    };
    expect(check(same)).toBe('evidence-header');
    const few = attackOf({ appHash: Uint8Array.of(6) }, 2, { flags: [1, 1] });
    expect(check(few.evidence)).toBe('evidence-commit');
    const fewer = attackOf({ appHash: Uint8Array.of(6) }, 2, { flags: [1, 1, 1] });
    expect(check(fewer.evidence)).toBe('evidence-commit');
  });

  it('must be derived from the chain when it says that the chain is common', () => {
    expect(check(attackOf({ appHash: Uint8Array.of(6) }, 4).evidence)).toBe('evidence-header');
  });

  it('is refused at the latest height, whose commit is not in a block yet', () => {
    const late = { ...lunatic.evidence, commonHeight: 6n, timeNs: link(6).block.header.timeNs };
    expect(check(late)).toBe('evidence-unknown-height');
  });

  it('ahead of us must break the order of time', () => {
    const { evidence, common } = lunatic;
    const behind: SignedHeader = { header: link(3).block.header, commit: link(3).commit };
    const verdict = verifyLightClientAttack(evidence, common, behind, set, verifySignature);
    expect(why(verdict)).toBe('evidence-time');
    expect(setOf(10n, 10n, 10n, 10n).powerTotal).toBe(evidence.powerTotal);
  });
});
