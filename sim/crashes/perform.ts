// Performs crashes of a grid, one after the other in a run, and judges: the play of them, and what each must show.

import { utf8Encode } from '#platform';
import { unreachable } from '../../protocol/refusal.ts';
import type { Machine } from '../machine.ts';
import type { OracleMaker } from '../oracle.ts';
import { runScenario } from '../run.ts';
import type { Action, Directive, NodeName, Scenario } from '../scenario/play.ts';
import { anyone, everyone, heal, height, isolate, node, scenario, when } from '../scenario/words.ts';
import type { World } from '../world.ts';
import type { GridPoint, Restart } from './grid.ts';
import { Places } from './places.ts';
import { type Rejoined, rejoin } from './rejoin.ts';
import { HEIGHTS_UNTIL_NEXT } from './runs.ts';
import { type GridOptions, stageOf, TX_BYTES } from './stage.ts';

/** From a crash on: five heights of the others, the way back, and what follows. */
const RETURN_MS_MAX = 90_000;
/** What a crash adds to a run that goes on to the next one. A run that is later than all of them has missed one. */
const RETURN_MS_USUAL = 15_000;
/**
 * After the node takes part again, all of them decide so many more. What somebody was given as it was cut off is offered again
 * within five seconds, and a height takes one at least.
 */
const AFTERWARDS: Readonly<Record<Restart, number>> = { now: 2, '1': 2, '5': 2, needed: 8 };

/** With the height of the crash the load ends, so that all of it is in blocks when the run is over. */
const loadOf = ({ anybodyAt }: GridPoint): number => Math.max(1, anybodyAt);

/** What happens between the crash and the end: who is cut off, when it comes back, when all is whole again. */
function afterCrash(
  options: GridOptions,
  { node: name, restart, othersAt, anybodyAt }: GridPoint,
): Directive[] {
  const it = node(name);
  if (restart === 'now') return [when(it.crashes()), when(it.joins())];
  if (restart === 'needed') {
    const cuts = absentees(options, name).map((other) => isolate(other));
    return [when(it.crashes(), ...cuts), when(it.joins()), when(it.decides(height(anybodyAt + 1)), heal())];
  }
  const later = height(othersAt + Number(restart));
  return [when(it.crashes()), when(anyone.decides(later), { do: 'restart', node: name }), when(it.joins())];
}

/** As many of the others as can be away while the rest, with this one, are more than two thirds. */
function absentees({ validators: count }: GridOptions, name: NodeName): NodeName[] {
  const quorum = Math.floor((count * 2) / 3) + 1;
  const others = Array.from({ length: count }, (_, i): NodeName => `v${i}`).filter((each) => each !== name);
  return others.slice(quorum - 1);
}

function crashOf({ node: name, restart, strike }: GridPoint, nth: number): Action {
  const isAtOnce = restart === 'now' || restart === 'needed';
  return { do: 'crash-at', node: name, ...strike, nth, ...(isAtOnce && { restartMs: 0 }) };
}

/** The first crash is counted from the beginning of life, those after it from the place where the node stands. */
function crashing(options: GridOptions, point: GridPoint, before: GridPoint | undefined): Directive[] {
  const after = afterCrash(options, point);
  if (!before) return [{ atMs: 0, actions: [crashOf(point, point.strike.nth)] }, ...after];
  const { step, height: at, nth } = point.place ?? unreachable('only who stands somewhere keeps company');
  const aftermath = before.anybodyAt + HEIGHTS_UNTIL_NEXT[before.restart] - 1;
  return [
    when(everyone.decides(height(aftermath))),
    when(node(point.node).enters(step, { height: at, round: 0 }), crashOf(point, nth)),
    ...after,
  ];
}

/** One point, or several that may share a run (`runs.ts`). */
export function playOf(options: GridOptions, points: readonly GridPoint[]): Scenario {
  const last = points.at(-1) ?? unreachable('a play of one crash at least');
  return scenario(points.map(({ id }) => id).join(' '), {
    ...stageOf(options, loadOf(last)),
    act: points.flatMap((point, i) => crashing(options, point, points[i - 1])),
    ends: everyone.decides(height(1), {
      within: `${last.atMs + RETURN_MS_MAX + (points.length - 1) * RETURN_MS_USUAL}ms`,
      afterwards: AFTERWARDS[last.restart],
    }),
  });
}

// --- performing and judging --------------------------------------------------------------------------------

export interface PointResult {
  readonly id: string;
  readonly holds: boolean;
  /** The node died there. */
  readonly isHit: boolean;
  /** What was broken first, and who says so. */
  readonly violation: { readonly oracle: string; readonly what: string } | null;
  /** Of the slowest return in its run. */
  readonly rejoinNs: number | null;
  readonly heights: number;
  /** The points whose run it shared, itself included, when it holds alone and not with them. */
  readonly company?: readonly string[];
}

const PAIRS_FROM = utf8Encode('kvPairKey:');
const PAIRS_TO = utf8Encode('kvPairKey;');

/** Everything that this machine's application has been told to keep, written or durable. */
function pairsOf(machine: Machine): Set<string> {
  const store = machine.disk.image().stores.get('app');
  const pairs = store?.range(PAIRS_FROM, PAIRS_TO, Number.MAX_SAFE_INTEGER) ?? [];
  return new Set(
    pairs.map(({ key, value }) => `${String.fromCharCode(...key)}=${String.fromCharCode(...value)}`),
  );
}

/**
 * The same committed state as without a crash: a run that loses nothing ends with the pairs of all
 * transactions that were given, in every node, and nothing else. (Which block holds which, and so the hashes
 * of blocks, may differ. That no transaction is in two blocks, and that all nodes have the same state at each
 * height, oracles watch all the time.)
 */
export function stateRefusal(world: World, given: number): string | null {
  for (const machine of world.machines) {
    const pairs = pairsOf(machine);
    for (let i = 0; i < given; i++) {
      const key = `t${i}`;
      const pair = `kvPairKey:${key}=${'x'.repeat(Math.max(1, TX_BYTES - key.length - 1))}`;
      if (!pairs.delete(pair)) return `${machine.name} lacks transaction ${key}, one of ${given}`;
    }
    if (pairs.size > 0) return `${machine.name} holds ${pairs.size} pairs that nobody gave`;
  }
  return null;
}

/** Ends a run whose next crash cannot come any more: those after it would not, either. */
const MISSED = 'missed';

/**
 * Notes of each crash, in order, whether it came where it was planned: an earlier one may have changed what the node does there. The place of the
 * first is counted from the node's birth: up to it the run is the one without a crash.
 */
const strikes =
  (points: readonly GridPoint[], hits: boolean[], where: () => Places): OracleMaker =>
  (report) => {
    const ends = (at: Machine): void => report(`crash ${hits.length + 1} of ${points.length}`, at, at.height);
    return {
      name: MISSED,
      effects: [],
      crashed(at) {
        const next = points[hits.length];
        if (next === undefined) return ends(at);
        const place = where().of(at);
        hits.push(
          hits.length === 0 || (place?.height === next.place?.height && place?.step === next.place?.step),
        );
      },
      published(at, _actor, event) {
        const next = points[hits.length];
        if (event.type !== 'step' || hits.length === 0 || next?.place == null || at.name !== next.node)
          return;
        // What was to strike in a place may strike soon after it; later than that nobody waits for it.
        if (event.height > BigInt(next.place.height + 1)) ends(at);
      },
    };
  };

/** Each struck, there or soon after, and was followed by a life, and nothing else did. */
function isAllThatStruck(points: readonly GridPoint[], faults: Readonly<Record<string, number>>): boolean {
  const kinds = points.map(({ strike }) => `crashed ${strike.when} ${strike.op}`);
  const isOfKind = kinds.every((kind) => faults[kind] === kinds.filter((each) => each === kind).length);
  return isOfKind && faults['crashes'] === points.length && faults['restarts'] === points.length;
}

export interface Together {
  readonly results: readonly PointResult[];
  /** So many struck; less than all: the run ended because the next one could not come any more, and nothing is said of those before. */
  readonly struck: number;
}

/** All of them in one run, in this order; what is found is said of each. */
function performTogether(options: GridOptions, points: readonly GridPoint[]): Together {
  const rejoined: Rejoined = { slowestNs: null };
  const hits: boolean[] = [];
  let world: World | null = null;
  let places: Places | null = null;
  const verdict = runScenario(playOf(options, points), {
    seed: options.seed,
    shape: false,
    oracles: [rejoin(rejoined), strikes(points, hits, () => places ?? unreachable('a run has a world'))],
    onWorld: (made) => {
      world = made;
      places = new Places(made);
    },
  });
  const isWhole = isAllThatStruck(points, verdict.faults);
  const first = verdict.violations.find(({ oracle }) => oracle !== MISSED);
  const last = points.at(-1) ?? unreachable('one crash at least');
  const state = verdict.holds ? stateRefusal(world ?? unreachable('a run has a world'), loadOf(last)) : null;
  const violation = first
    ? { oracle: first.oracle, what: first.what }
    : state === null
      ? null
      : { oracle: 'state', what: state };
  const results = points.map(({ id }, i) => {
    const isHit = isWhole && hits[i] === true;
    const holds = violation === null && isHit;
    return { id, holds, isHit, violation, rejoinNs: rejoined.slowestNs, heights: Number(verdict.heights) };
  });
  return { results, struck: hits.length };
}

/**
 * In one run. Null: crashes before it changed what the node did, and it came elsewhere or not at all; it is to be tried again, sooner in a
 * run (the first always comes). Where a promise was broken each is tried alone, and what holds alone and not in company is told
 * of with its company.
 */
export function performRun(
  options: GridOptions,
  points: readonly GridPoint[],
  together: (options: GridOptions, points: readonly GridPoint[]) => Together = performTogether,
): readonly (PointResult | null)[] {
  const { results, struck } = together(options, points);
  if (points.length === 1) return results;
  const [first] = results;
  const violation = first?.violation ?? null;
  if (violation === null && struck > 0 && struck < points.length)
    return [
      ...performRun(options, points.slice(0, struck), together),
      ...points.slice(struck).map(() => null),
    ];
  if (violation === null && first?.isHit) return results.map((result) => (result.isHit ? result : null));
  const alone = points.flatMap((point) => together(options, [point]).results);
  if (alone.some(({ holds }) => !holds)) return alone;
  const company = points.map(({ id }) => id);
  return alone.map((each, i) => (i > 0 ? each : { ...each, holds: false, violation, company }));
}
