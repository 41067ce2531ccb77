// The inventor of attacks: light client attacks that nobody made, another one each time, wrong in one thing; or, with more than a third of the
// power, its own and true ones; with more than two thirds, another block in the place of one, in its round or a round later: this it tells its
// peers alone, and puts in no block. Plays may choose among what it invents, and have several sign together. It knows the validators of a chain that
// does not change them.

import { equalBytes } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { parseGenesis } from '../../protocol/json/genesis.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { hashOfSet } from '../../protocol/rules/validator-set.ts';
import {
  type Commit,
  type CommitSig,
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  type Header,
  type LightClientAttackEvidence,
  type Validator,
  type ValidatorSet,
  ZERO_TIME_NS,
} from '../../protocol/types.ts';
import { addressFor } from '../addresses.ts';
import type { Machine } from '../machine.ts';
import { accusing } from './accusing.ts';
import { type Liar, type LiarKit, signedAs, unsignedPrecommit } from './liar.ts';

const wrong = new Uint8Array(32).fill(0xee);
const ABSENT: CommitSig = {
  flag: FLAG_ABSENT,
  validatorAddress: EMPTY_BYTES,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY_BYTES,
};

/** What is known of a height: its block as light clients see it, and the height before. */
export interface Case {
  readonly header: Header;
  readonly commit: Commit;
  readonly set: ValidatorSet;
  /** Of all at the height before. */
  readonly powerBefore: bigint;
  readonly me: Validator;
  /** Who signs whatever it signs. */
  readonly accomplices: readonly Validator[];
  readonly before: Header;
  /** The liar signs a header for all of these, truly for itself and its accomplices alone. */
  readonly signed: (header: Header, by: readonly Validator[], round?: number) => Commit;
}

export type Invention = (about: Case) => LightClientAttackEvidence;

/** Of a header at its height, against these, since the height before. */
const attack = (
  { before, powerBefore: powerTotal }: Case,
  header: Header,
  commit: Commit,
  validatorSet: ValidatorSet,
  byzantineValidators: readonly Validator[],
): LightClientAttackEvidence => ({
  kind: 'light-client-attack',
  conflictingBlock: { signedHeader: { header, commit }, validatorSet },
  commonHeight: before.height,
  byzantineValidators,
  powerTotal,
  timeNs: before.timeNs,
});

const alone = (me: Validator): ValidatorSet => ({ validators: [me], proposer: me, powerTotal: me.power });

/** The chain's header but for this, and for its validators: the liar alone. */
function ofMySet(about: Case, me: Validator, change: Partial<Header>): LightClientAttackEvidence {
  const set = alone(me);
  const header = { ...about.header, ...change, validatorsHash: hashOfSet(set) };
  return attack(about, header, about.signed(header, set.validators), set, set.validators);
}

/** That would be an attack if it had more than a third. */
export const byMyself: Invention = (about) => ofMySet(about, about.me, { appHash: wrong });

/** The same, and its header is a nanosecond later than ours. */
export const byMyselfLater: Invention = (about) =>
  ofMySet(about, about.me, { appHash: wrong, timeNs: about.header.timeNs + 1n });

const atItsHeight = (
  { header, set: { powerTotal } }: Case,
  evidence: LightClientAttackEvidence,
): LightClientAttackEvidence => ({
  ...evidence,
  commonHeight: header.height,
  powerTotal,
  timeNs: header.timeNs,
});

const INVENTIONS: readonly Invention[] = [
  byMyself,
  // At the common height itself a header is not derived from anything else.
  (about) => atItsHeight(about, byMyself(about)),
  // Nobody else signed it.
  (about) => {
    const header = { ...about.header, appHash: wrong };
    const { validators } = about.set;
    return attack(about, header, about.signed(header, validators), about.set, validators);
  },
  // The same, of another block in the place of one.
  (about) => {
    const header = { ...about.header, dataHash: wrong };
    const commit = about.signed(header, about.set.validators);
    return atItsHeight(about, attack(about, header, commit, about.set, votersOf(about)));
  },
  // It is what the chain has.
  (about) => attack(about, about.header, about.commit, about.set, votersOf(about)),
  // Its commit is for another header: the one that the chain has.
  (about) => attack(about, { ...about.header, appHash: wrong }, about.commit, about.set, votersOf(about)),
  // Its one signature stands there for each third of a set that is the liar three times.
  (about) => {
    const { me } = about;
    const set = { validators: [me, me, me], proposer: me, powerTotal: 3n * me.power };
    const header = { ...about.header, appHash: wrong, validatorsHash: hashOfSet(set) };
    return attack(about, header, about.signed(header, set.validators), set, set.validators);
  },
];

const anotherThan = ({ me, set }: Case): Validator =>
  set.validators.find(({ address }) => address !== me.address) ?? me;

/** As of one's own attack, but for who is named. */
const naming =
  (change: (about: Case) => Partial<Validator>): Invention =>
  (about) => ({ ...byMyself(about), byzantineValidators: [{ ...about.me, ...change(about) }] });

/** Of an attack that is its own: others are to be punished with it, or itself once more. */
export const BESIDE_ITSELF: readonly Invention[] = [
  // Somebody honest stands behind itself among those who are named.
  (about) => ({ ...byMyself(about), byzantineValidators: [about.me, anotherThan(about)] }),
  // Its own signature is enough, and a false one of somebody honest comes after it.
  (about) => {
    const { me } = about;
    const other = anotherThan(about);
    const set = { validators: [me, { ...other, power: 1n }], proposer: me, powerTotal: me.power + 1n };
    const header = { ...about.header, appHash: wrong, validatorsHash: hashOfSet(set) };
    return attack(about, header, about.signed(header, set.validators), set, [me, other]);
  },
  // Of the height before, and attacker and victim are to have agreed after it: with each height that it names it would be another attack.
  (about) => atItsHeight(about, ofMySet(about, about.me, { ...about.before, appHash: wrong })),
];

/** Who has more than a third tells the truth of itself alone, and then says that it was another, or of another weight. */
const ABOVE_A_THIRD: readonly Invention[] = [
  byMyself,
  naming((about) => ({ publicKey: anotherThan(about).publicKey })),
  naming((about) => ({ ...anotherThan(about), power: about.me.power })),
  naming(({ me }) => ({ power: me.power + 1n })),
  (about) => ({ ...byMyself(about), powerTotal: about.set.powerTotal + 1n }),
  // Nothing is wrong with the header but its validators, and it is named by its power among those.
  (about) => ofMySet(about, { ...about.me, power: about.me.power + 1n }, {}),
  // Nothing is wrong with the validators that the header names, and it shows itself alone for them: it stands first among both.
  (about) => {
    const header = { ...about.header, dataHash: wrong };
    const set = alone(about.me);
    return attack(about, header, about.signed(header, set.validators), set, set.validators);
  },
  ...BESIDE_ITSELF,
];

/** Another block in the place of one, signed by these alone: so many rounds after that one was decided. */
function ofThese(
  about: Case,
  by: readonly Validator[],
  later: number,
  change: Partial<Header>,
): LightClientAttackEvidence {
  return atItsHeight(about, sinceBefore(about, by, later, change));
}

/** That, shown to who had last agreed on the block before. */
function sinceBefore(
  about: Case,
  by: readonly Validator[],
  later: number,
  change: Partial<Header>,
): LightClientAttackEvidence {
  const { set } = about;
  const header = { ...about.header, ...change };
  const commit = about.signed(header, set.validators, about.commit.round + later);
  const signatures = commit.signatures.map((each) =>
    by.some(({ address }) => equalBytes(each.validatorAddress, address)) ? each : ABSENT,
  );
  return attack(about, header, { ...commit, signatures }, set, by);
}

/** Who signed both blocks is named with the power that it has at their height, be it another than before. */
export const inItsPlaceSinceBefore: Invention = (about) =>
  sinceBefore(about, [about.me], 0, { dataHash: wrong });

const inItsPlace =
  (later: number, change: Partial<Header> = { dataHash: wrong }): Invention =>
  (about) =>
    ofThese(about, [about.me], later, change);

/** Each is wrong in one hash that the state before the block says: what no state leads to is nothing in the place of a block. */
export const OF_NO_STATE: readonly Invention[] = [
  inItsPlace(0, { nextValidatorsHash: wrong }),
  inItsPlace(0, { consensusHash: wrong }),
  inItsPlace(0, { appHash: wrong }),
  inItsPlace(0, { lastResultsHash: wrong }),
];

/** Who signs two blocks in one round lies. In two rounds it may have had a reason (amnesia). */
const ABOVE_TWO_THIRDS: readonly Invention[] = [inItsPlace(0), inItsPlace(1), ...OF_NO_STATE];

const isAboveTwoThirds = ({ me, set }: Case): boolean => me.power * 3n > set.powerTotal * 2n;

function inventionsOf(about: Case): readonly Invention[] {
  if (isAboveTwoThirds(about)) return ABOVE_TWO_THIRDS;
  return about.me.power * 3n > about.set.powerTotal ? ABOVE_A_THIRD : INVENTIONS;
}

const votersOf = ({ commit, set }: Case): readonly Validator[] =>
  set.validators.filter((_, i) => commit.signatures[i]?.flag === FLAG_COMMIT);

/** By all that have agreed to it, in the place of a block: an accomplice that did not vote for that one signed one block alone. */
const together: Invention = (about) =>
  ofThese(about, inOrder([about.me, ...about.accomplices]), 0, { dataHash: wrong });

/** By a set of the same with their order reversed, which is that of its signatures. */
const reversed: Invention = (about) => {
  const validators = inOrder([about.me, ...about.accomplices]).toReversed();
  const powerTotal = validators.reduce((sum, { power }) => sum + power, 0n);
  const set = { validators, proposer: about.me, powerTotal };
  const header = { ...about.header, appHash: wrong, validatorsHash: hashOfSet(set) };
  return attack(about, header, about.signed(header, validators), set, validators);
};

/** As they are to be named: the strongest first. */
const inOrder = (validators: readonly Validator[]): Validator[] =>
  validators.toSorted((a, b) => Number(b.power - a.power));

const named =
  (invention: Invention, who: (named: readonly Validator[]) => readonly Validator[]): Invention =>
  (about) => {
    const evidence = invention(about);
    return { ...evidence, byzantineValidators: who(evidence.byzantineValidators) };
  };

/** Of several that sign together: a lie, and then the truth about the same at another height. */
export const OF_SEVERAL: readonly Invention[] = [
  together,
  named(together, ([strongest]) => (strongest ? [strongest] : [])),
  reversed,
  named(reversed, inOrder),
];

/**
 * By all that have agreed to it, and one of them goes by the address of another of its weight: the hash of a set covers keys and powers, and no
 * signature covers whose it is.
 */
export const underAnothersName: Invention = (about) => {
  const evidence = together(about);
  const { signedHeader, validatorSet } = evidence.conflictingBlock;
  const liars = [about.me, ...about.accomplices];
  const others = about.set.validators.filter((each) =>
    liars.every(({ address }) => !equalBytes(address, each.address)),
  );
  const one = liars.find(({ power }) => others.some((other) => other.power === power));
  const other = others.find(({ power }) => power === one?.power);
  if (!one || !other) return evidence;
  const exchanged = (address: Uint8Array): Uint8Array =>
    equalBytes(address, one.address)
      ? other.address
      : equalBytes(address, other.address)
        ? one.address
        : address;
  const validators = validatorSet.validators.map((each) => ({ ...each, address: exchanged(each.address) }));
  const signatures = signedHeader.commit.signatures.map((each) => ({
    ...each,
    validatorAddress: exchanged(each.validatorAddress),
  }));
  return {
    ...evidence,
    conflictingBlock: {
      signedHeader: { ...signedHeader, commit: { ...signedHeader.commit, signatures } },
      validatorSet: { ...validatorSet, validators },
    },
    byzantineValidators: evidence.byzantineValidators.map((each) =>
      equalBytes(each.address, one.address) ? other : each,
    ),
  };
};

/** Another one of these each time. */
export const inventing =
  (of: (about: Case) => readonly Invention[]): Liar =>
  (kit) => {
    const source = (isInBlock: boolean) => {
      let next = 0;
      return (height: bigint): readonly LightClientAttackEvidence[] => {
        const about = caseOf(kit, height);
        // Its false block would be refused, and its votes alone decide the true one.
        if (!about || (isInBlock && isAboveTwoThirds(about))) return [];
        const inventions = of(about);
        return [(inventions[next++ % inventions.length] as Invention)(about)];
      };
    };
    return accusing(kit, source(true), source(false));
  };

export const attackInventor = inventing(inventionsOf);

function caseOf(kit: LiarKit, height: bigint): Case | null {
  const [block, before] = [kit.decided(height), kit.decided(height - 1n)];
  const commit = kit.decided(height + 1n)?.lastCommit;
  const set = setOf(kit, height);
  const memberOf = (machine: Machine): Validator | undefined =>
    set.validators.find(({ address }) => equalBytes(address, addressFor(machine)));
  const me = memberOf(kit.machine);
  if (!block || !before || !commit || !me) return null;
  const signed = (header: Header, by: readonly Validator[], round = commit.round): Commit => {
    const blockId = { hash: headerHash(header), parts: { total: 1, hash: wrong } };
    const signatures = by.map((validator, validatorIndex): CommitSig => {
      const { timeNs } = header;
      const { address: validatorAddress } = validator;
      const said = { height: header.height, round, blockId, timeNs, validatorAddress, validatorIndex };
      const signer = kit.accomplices.find((each) => equalBytes(addressFor(each), validatorAddress));
      const { signature } = signedAs({ ...kit, machine: signer ?? kit.machine }, unsignedPrecommit(said));
      return { flag: FLAG_COMMIT, validatorAddress, timeNs, signature };
    });
    return { height: header.height, round, blockId, signatures };
  };
  const accomplices = kit.accomplices.flatMap((each) => memberOf(each) ?? []);
  const { powerTotal: powerBefore } = setOf(kit, height - 1n);
  return { header: block.header, commit, set, powerBefore, me, accomplices, before: before.header, signed };
}

function setOf({ machine, validators }: LiarKit, height: bigint): ValidatorSet {
  const genesis = parseGenesis(machine.config.genesis);
  if (isRefusal(genesis)) return unreachable('its own node lives by it');
  const all = validators(height).flatMap(({ address, power }): Validator[] => {
    const member = genesis.validators.find((each) => equalBytes(each.address, address));
    return member ? [{ address, power, publicKey: member.publicKey, priority: 0n }] : [];
  });
  const powerTotal = all.reduce((sum, { power }) => sum + power, 0n);
  return { validators: all, proposer: all[0] ?? null, powerTotal };
}
