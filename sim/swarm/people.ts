// Draws who takes part in a swarm run: how many validators, how strong, who of them lies, who changes power,
// and who is healed at the end.

import type { Stream } from '../choices.ts';
import type { CastWords, NodeName } from '../scenario/play.ts';

/**
 * How many of two hundred runs have 1, 2, ... 10 validators. Of the bugs that a swarm sees rarely, a run of four finds as many as a run
 * of ten, in a third of the time (docs/zoo.md).
 */
const RUNS_BY_SIZE = [12, 30, 74, 76, 3, 1, 1, 1, 1, 1];
const SIZES = RUNS_BY_SIZE.flatMap((runs, i) => Array.from({ length: runs }, () => i + 1));
const POWER_USUAL = 1_000;
const LIARS_MAX = 2;
/** Meshes thinner than full, from this size on. */
const MESH_SIZE_MIN = 5;
const MESH_DEGREE_MIN = 3;

/** One of its two ages is passed at once; evidence stays good as long as the other is not. */
const EVIDENCE_AGES = [{ maxAgeBlocks: 1 }, { maxAgeMs: 1 }];
/** A tyrant has so many times the power of all others, until it is overthrown. */
const TYRANNY = 10;

/** A validator-set change that a client asks for during chaos. */
export interface PowerChange {
  readonly node: NodeName;
  readonly power: number;
}

export interface People {
  readonly cast: CastWords;
  readonly names: readonly NodeName[];
  /** Together a third of the power at most, in every set that can come about. */
  readonly liars: readonly NodeName[];
  readonly changes: readonly PowerChange[];
  /** Who is healed: more than two thirds of the power in every set that can come about. */
  readonly core: readonly NodeName[];
}

/** The least and the most power that a node may have in this run. */
export interface Span {
  readonly least: number;
  readonly most: number;
}

export interface PeopleWanted {
  readonly hasLiars: boolean;
  readonly hasChanges: boolean;
  readonly isMeshThin: boolean;
}

export function drawPeople(stream: Stream, wanted: PeopleWanted): People {
  const size = stream.pick(SIZES);
  const powers = drawPowers(stream, size);
  const tyrant = wanted.hasChanges && size > 2 && stream.chance(1, 5) ? stream.draw(size) : -1;
  if (tyrant >= 0) powers[tyrant] = TYRANNY * (sum(powers) - (powers[tyrant] ?? 0));
  const candidates = wanted.hasChanges ? stream.draw(2) : 0;
  const validators = powers.map((_, i): NodeName => `v${i}`);
  const names = namesOf(powers, candidates);
  const powerOf = powersBy(powers);
  const liars = wanted.hasLiars ? drawLiars(stream, validators, powers) : [];
  const honest = names.filter((name) => !liars.includes(name));
  const fall = tyrant < 0 ? [] : [{ node: `v${tyrant}` as NodeName, power: stream.between(1, POWER_USUAL) }];
  const free = honest.filter((name) => fall[0]?.node !== name);
  const drawn = wanted.hasChanges ? [...fall, ...drawChanges(stream, free, powerOf)] : [];
  const changes = safeChanges(drawn, names, liars, powerOf);
  const spans = spansOf(names, changes, powerOf);
  const isThin = wanted.isMeshThin && names.length >= MESH_SIZE_MIN;
  return {
    cast: {
      powers,
      ...(candidates > 0 && { candidates }),
      ...(liars.length > 0 && stream.chance(1, 2) && { evidence: stream.pick(EVIDENCE_AGES) }),
      ...(isThin && { degree: stream.between(MESH_DEGREE_MIN, names.length - 2) }),
    },
    names,
    liars,
    changes,
    // In a thin mesh the core might hang together by those who are left out: there everybody heals.
    core: isThin ? names : drawCore(stream, honest, liars, spans),
  };
}

// --- powers ------------------------------------------------------------------------------------------------

/** Equal, skewed, or one that is heavy; every other time with a total that three divides. */
function drawPowers(stream: Stream, size: number): number[] {
  const kind = stream.draw(4);
  const powers = Array.from({ length: size }, () => {
    if (kind === 2) return stream.between(100, 3_000);
    if (kind === 3) return stream.between(1, 5);
    return POWER_USUAL;
  });
  if (kind === 1 && size > 2) powers[stream.draw(size)] = stream.between(1, POWER_USUAL * (size - 2));
  if (stream.chance(1, 2)) powers[0] = (powers[0] ?? 0) + ((3 - (sum(powers) % 3)) % 3);
  return powers;
}

/** Validators with these powers, and so many who wait to become some. */
export const namesOf = (powers: readonly number[], candidates: number): NodeName[] => [
  ...powers.map((_, i): NodeName => `v${i}`),
  ...Array.from({ length: candidates }, (_, i): NodeName => `c${i}`),
];

/** The power that each begins with: those of the genesis, in order; a candidate and a full node have none. */
export const powersBy =
  (powers: readonly number[]) =>
  (name: NodeName): number =>
    name[0] === 'v' ? (powers[Number(name.slice(1))] ?? 0) : 0;

const sum = (list: readonly number[]): number => list.reduce((total, each) => total + each, 0);

/** As many as a third of the power allows, two at most: exactly a third is allowed. */
function drawLiars(stream: Stream, names: readonly NodeName[], powers: readonly number[]): NodeName[] {
  const wanted = stream.between(1, LIARS_MAX);
  return liarsAmong(stream.shuffle([...names]), wanted, names, powers);
}

/** The first so many of this order that hold a third of the power at most, together. */
export function liarsAmong(
  order: readonly NodeName[],
  most: number,
  names: readonly NodeName[],
  powers: readonly number[],
): NodeName[] {
  const total = sum(powers);
  const liars: NodeName[] = [];
  let power = 0;
  for (const name of order) {
    const more = powers[names.indexOf(name)] ?? 0;
    if (liars.length === most || 3 * (power + more) > total) continue;
    liars.push(name);
    power += more;
  }
  return liars;
}

// --- changes -----------------------------------------------------------------------------------------------

/** Candidates join, validators leave, gain or lose power: each node once. */
function drawChanges(
  stream: Stream,
  honest: readonly NodeName[],
  powerOf: (name: NodeName) => number,
): PowerChange[] {
  const chosen = stream.shuffle([...honest]).slice(0, stream.between(1, 4));
  return chosen.map((node) => {
    const now = powerOf(node);
    const like = now === 0 ? POWER_USUAL : now;
    const power = now > 0 && stream.chance(1, 4) ? 0 : stream.between(Math.ceil(like / 2), like * 2);
    return { node, power };
  });
}

/**
 * Those that can come in any order, each or not, and leave liars a third at most and somebody to validate. A
 * change that could break that is left out.
 */
export function safeChanges(
  drawn: readonly PowerChange[],
  names: readonly NodeName[],
  liars: readonly NodeName[],
  powerOf: (name: NodeName) => number,
): PowerChange[] {
  const kept: PowerChange[] = [];
  for (const change of drawn) {
    const spans = spansOf(names, [...kept, change], powerOf);
    const least = sum([...spans.values()].map((span) => span.least));
    const lying = sum(liars.map((name) => spans.get(name)?.most ?? 0));
    if (least > 0 && 3 * lying <= least) kept.push(change);
  }
  return kept;
}

export function spansOf(
  names: readonly NodeName[],
  changes: readonly PowerChange[],
  powerOf: (name: NodeName) => number,
): Map<NodeName, Span> {
  return new Map(
    names.map((name) => {
      const all = [powerOf(name), ...changes.filter(({ node }) => node === name).map(({ power }) => power)];
      return [name, { least: Math.min(...all), most: Math.max(...all) }];
    }),
  );
}

// --- the core ----------------------------------------------------------------------------------------------

/**
 * Honest nodes enough to decide whatever the others do, and often a few more. Where liars hold exactly a third
 * there is no such core without them: then they are in it, and repent.
 */
function drawCore(
  stream: Stream,
  honest: readonly NodeName[],
  liars: readonly NodeName[],
  spans: ReadonlyMap<NodeName, Span>,
): NodeName[] {
  const order = stream.shuffle([...honest]);
  const spare = stream.chance(1, 3) ? stream.draw(3) : order.length;
  return coreAmong(order, spare, spans) ?? [...honest, ...liars];
}

/** One alone, however strong, may wait for what others have, and they need not answer. */
const CORE_MIN = 2;

/** The first of these that are enough whatever the others do, and so many more; null: all together are not. */
export function coreAmong(
  order: readonly NodeName[],
  spare: number,
  spans: ReadonlyMap<NodeName, Span>,
): NodeName[] | null {
  const core: NodeName[] = [];
  let missing = spare;
  for (const name of order) {
    if (core.length >= CORE_MIN && isEnough(core, spans) && missing-- <= 0) break;
    core.push(name);
  }
  return core.length >= Math.min(CORE_MIN, spans.size) && isEnough(core, spans) ? core : null;
}

function isEnough(core: readonly NodeName[], spans: ReadonlyMap<NodeName, Span>): boolean {
  let mine = 0;
  let others = 0;
  for (const [name, { least, most }] of spans) {
    if (core.includes(name)) mine += least;
    else others += most;
  }
  return mine > 2 * others;
}
