// Who takes part in a drawn play, from what fast-check drew: who may lie, who changes power, and who is healed at
// the end, so that the play is fair. The rules are the swarm's.

import fc from 'fast-check';
import { knowsRounds } from '../liars/index.ts';
import type { CastWords, LiarWords, NodeName } from '../scenario/play.ts';
import {
  coreAmong,
  liarsAmong,
  namesOf,
  type PowerChange,
  powersBy,
  safeChanges,
  spansOf,
} from '../swarm/people.ts';

const POWER_EQUAL = 10;
const POWER_MAX = 30;
const LIARS_MAX = 2;
const CANDIDATES_MAX = 2;
const CHANGES_MAX = 3;
/** Meshes thinner than full, from this size on. */
const MESH_SIZE_MIN = 5;
const MESH_DEGREE_MIN = 3;
/** Of any two clocks: at most twice this apart. */
const SKEW_MS_MAX = 5_000;
const DRIFT_PPM_MAX = 500;
const PPM_ALWAYS = 1_000_000;

export interface PeopleWanted {
  readonly validators: { readonly min: number; readonly max: number };
  readonly liars: readonly LiarWords['liar'][];
  readonly hasChanges: boolean;
  readonly hasClocks: boolean;
}

export interface People {
  readonly cast: CastWords;
  readonly names: readonly NodeName[];
  /** Together a third of the power at most, in every set that can come about. */
  readonly liars: readonly LiarWords[];
  /** Those that can come in any order, each or not. */
  readonly changes: readonly (PowerChange & { readonly atMs: number; readonly via: NodeName })[];
  /** Who is healed: more than two thirds of the power in every set that can come about. */
  readonly core: readonly NodeName[];
}

/** A node, wrapped around the cast: more than any cast has, and smaller than what fast-check makes small slowly. */
export const someNode = fc.nat({ max: 255 });

const powers = ({ min, max }: PeopleWanted['validators']): fc.Arbitrary<number[]> => {
  const length = { minLength: min, maxLength: max };
  const equal = fc.array(fc.constant(POWER_EQUAL), length);
  return fc.oneof(equal, equal, fc.array(fc.integer({ min: 1, max: POWER_MAX }), length));
};

interface Lie {
  readonly node: number;
  readonly liar: LiarWords['liar'];
  readonly to: readonly number[];
  readonly ppm: number;
  readonly isLate: boolean;
}

/** In every other play that may have them. */
function lies(kinds: PeopleWanted['liars']): fc.Arbitrary<readonly Lie[]> {
  if (kinds.length === 0) return fc.constant([]);
  const lie = fc.record({
    node: someNode,
    liar: fc.constantFrom(...kinds),
    to: fc.array(someNode, { minLength: 1, maxLength: 6 }),
    ppm: fc.constantFrom(PPM_ALWAYS, 300_000, 50_000),
    isLate: fc.boolean(),
  });
  return fc.oneof(fc.constant([]), fc.array(lie, { minLength: 1, maxLength: LIARS_MAX }));
}

const draft = (wanted: PeopleWanted) =>
  fc.record({
    powers: powers(wanted.validators),
    degree: fc.option(someNode, { freq: 2, nil: undefined }),
    lies: lies(wanted.liars),
    candidates: wanted.hasChanges ? fc.nat({ max: CANDIDATES_MAX }) : fc.constant(0),
    changes: fc.array(
      fc.record({
        node: someNode,
        power: fc.nat({ max: POWER_MAX }),
        atMs: fc.nat({ max: 2_000 }),
        via: someNode,
      }),
      { maxLength: wanted.hasChanges ? CHANGES_MAX : 0 },
    ),
    clocks: fc.array(
      fc.record({
        skewMs: fc.integer({ min: -SKEW_MS_MAX, max: SKEW_MS_MAX }),
        driftPpm: fc.integer({ min: -DRIFT_PPM_MAX, max: DRIFT_PPM_MAX }),
      }),
      { maxLength: wanted.hasClocks ? wanted.validators.max : 0 },
    ),
    /** Where the honest nodes begin to be counted for the core, and how many more than needed it takes. */
    first: someNode,
    spare: fc.option(fc.nat({ max: 2 }), { freq: 2, nil: undefined }),
  });

type Draft = ReturnType<typeof draft> extends fc.Arbitrary<infer Drawn> ? Drawn : never;

export const people = (wanted: PeopleWanted): fc.Arbitrary<People> => draft(wanted).map(peopleOf);

function peopleOf(drawn: Draft): People {
  const { candidates } = drawn;
  const validators = drawn.powers.map((_, i): NodeName => `v${i}`);
  const names = namesOf(drawn.powers, candidates);
  const nameOf = (i: number): NodeName => names[i % names.length] as NodeName;
  const powerOf = powersBy(drawn.powers);
  const wanting = [
    ...new Set(drawn.lies.map(({ node }) => validators[node % validators.length] as NodeName)),
  ];
  const liars = names.length > 1 ? liarsAmong(wanting, LIARS_MAX, validators, drawn.powers) : [];
  const honest = names.filter((name) => !liars.includes(name));
  const asked = drawn.changes.map(({ node: i, power, atMs, via }) => {
    const node = honest[i % honest.length] as NodeName;
    // Who is no validator cannot be removed: an application that asks for it stops the chain.
    return { atMs, node, power: powerOf(node) > 0 ? power : Math.max(1, power), via: nameOf(via) };
  });
  const each = asked.filter(({ node }, i) => asked.findIndex((other) => other.node === node) === i);
  const safe = new Set(safeChanges(each, names, liars, powerOf));
  const changes = each.filter((change) => safe.has(change));
  const turn = drawn.first % honest.length;
  const order = [...honest.slice(turn), ...honest.slice(0, turn)];
  const spans = spansOf(names, changes, powerOf);
  const spare = drawn.spare ?? order.length;
  return {
    cast: castOf(drawn, names),
    names,
    liars: liars.map((node) => liarWords(drawn, node, names, validators)),
    changes,
    core: isThin(drawn, names) ? names : notAlone(coreAmong(order, spare, spans), [...order, ...liars]),
  };
}

/**
 * A node that has to sync waits for somebody to tell it what there is, so one by itself may wait for ever, however
 * strong.
 */
const notAlone = (core: readonly NodeName[] | null, names: readonly NodeName[]): readonly NodeName[] =>
  core === null ? names : core.length > 1 ? core : names.slice(0, 2);

/** In a thin mesh a core may hang together by others only, so there all are healed. */
const isThin = ({ degree }: Draft, names: readonly NodeName[]): boolean =>
  degree !== undefined && names.length >= MESH_SIZE_MIN;

function castOf(drawn: Draft, names: readonly NodeName[]): CastWords {
  const { powers, candidates, degree = 0, clocks } = drawn;
  const most = names.length - 2;
  const wrong = clocks.slice(0, names.length).map((clock, i) => [names[i] as NodeName, clock] as const);
  return {
    powers,
    ...(candidates > 0 && { candidates }),
    ...(isThin(drawn, names) && { degree: MESH_DEGREE_MIN + (degree % (most - MESH_DEGREE_MIN + 1)) }),
    ...(wrong.length > 0 && { clocks: Object.fromEntries(wrong) }),
  };
}

function liarWords(
  { lies }: Draft,
  node: NodeName,
  names: readonly NodeName[],
  validators: readonly NodeName[],
): LiarWords {
  const drawn = lies.find(
    (lie) => validators[lie.node % validators.length] === node,
  ) as Draft['lies'][number];
  const others = names.filter((name) => name !== node);
  const to = [...new Set(drawn.to.map((i) => others[i % others.length] as NodeName))];
  const { liar, ppm, isLate } = drawn;
  return {
    node,
    liar,
    to,
    ...(ppm < PPM_ALWAYS && { ppm }),
    ...(isLate && knowsRounds(liar) && { fromRound: 1 }),
  };
}
