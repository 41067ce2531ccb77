// Owns the grid of all crashes: every point where a node's life can end at its disk or its signer,
// times what the crash takes, times when it comes back; the play of each point, and what each must show.

import { utf8Encode } from '#platform';
import { unreachable } from '../protocol/refusal.ts';
import type { CrashHow, DiskPoint, MediumName } from './disk-door.ts';
import type { Machine } from './machine.ts';
import { type Rejoined, rejoin } from './rejoin.ts';
import { runScenario } from './run.ts';
import type { Action, CrashPoint, Directive, NodeName, Scenario } from './scenario/play.ts';
import {
  anyone,
  everyone,
  heal,
  height,
  isolate,
  node,
  scenario,
  txs,
  validators,
  when,
} from './scenario/words.ts';
import type { Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** What a crash leaves of the operation it strikes. */
export const COLUMNS = ['before', 'torn', 'unsynced', 'after'] as const;
export type Column = (typeof COLUMNS)[number];
/** What the node was doing. `flush`: of a store; that of a log answers its `sync`. */
export const OPS = ['append', 'sync', 'write', 'flush', 'trim', 'sign'] as const;
export type GridOp = (typeof OPS)[number];
/**
 * It comes back at once, or when the others have decided one height more, or five. `needed`: at once, and so
 * many others are cut off as it dies that nothing is decided without it: the round stands still and asks for
 * its vote again.
 */
export const RESTARTS = ['now', '1', '5', 'needed'] as const;
export type Restart = (typeof RESTARTS)[number];

type Strike = Pick<CrashPoint, 'when' | 'op'> & { readonly how: CrashHow };

/** Something is done in memory, and nobody has asked for it to be durable. */
const WRITTEN = {
  before: (op) => ({ op, when: 'before', how: 'lose' }),
  torn: (op) => ({ op, when: 'inside', how: 'clean' }),
  unsynced: (op) => ({ op, when: 'after', how: 'lose' }),
  after: (op) => ({ op, when: 'after', how: 'clean' }),
} satisfies Record<Column, (op: GridOp) => Strike>;

/** The device's work: half of what was pending is there, nothing, or all of it and nobody was told. */
const FLUSHED: Partial<Record<Column, Strike>> = {
  torn: { op: 'flush', when: 'inside', how: 'half' },
  unsynced: { op: 'flush', when: 'inside', how: 'lose' },
  after: { op: 'flush', when: 'after', how: 'lose' },
};

/** A batch of a store is atomic: a torn one leaves nothing of itself and all that came before. */
const written = (op: GridOp): Partial<Record<Column, Strike>> => ({
  before: WRITTEN.before(op),
  torn: WRITTEN.torn(op),
  unsynced: WRITTEN.unsynced(op),
  after: WRITTEN.after(op),
});

/** What leaves at once or not at all cannot be torn. */
const whole = (op: GridOp): Partial<Record<Column, Strike>> => ({
  before: WRITTEN.before(op),
  unsynced: WRITTEN.unsynced(op),
  after: WRITTEN.after(op),
});

export const STRIKES: Readonly<Record<GridOp, Partial<Record<Column, Strike>>>> = {
  append: written('append'),
  sync: { before: WRITTEN.before('sync'), ...FLUSHED },
  write: written('write'),
  flush: FLUSHED,
  trim: whole('trim'),
  sign: whole('sign'),
};

const LOGS: readonly MediumName[] = ['consensus', 'privval'];
const STORES: readonly MediumName[] = ['chain', 'app'];
/** Which logs or stores an operation is of; null: of none. */
const MEDIA: Readonly<Record<GridOp, readonly (MediumName | null)[]>> = {
  append: LOGS,
  sync: LOGS,
  write: STORES,
  flush: STORES,
  trim: LOGS,
  sign: [null],
};

export interface GridOptions {
  readonly heights: number;
  readonly validators: number;
  readonly seed: string;
  /** Whose lives. */
  readonly nodes: readonly NodeName[];
}

export interface GridPoint {
  /** `v0/append/consensus/17/torn/5`. */
  readonly id: string;
  readonly node: NodeName;
  readonly op: GridOp;
  readonly column: Column;
  readonly restart: Restart;
  readonly strike: Strike & { readonly on?: MediumName; readonly nth: number };
  /** When it strikes, and the highest height decided then: by the others, and by anybody. */
  readonly atMs: number;
  readonly othersAt: number;
  readonly anybodyAt: number;
}

export interface Grid {
  readonly options: GridOptions;
  readonly points: readonly GridPoint[];
  /** The run without a crash. */
  readonly calm: Verdict;
}

// --- the life without a crash ------------------------------------------------------------------------------

type Moment = Pick<GridPoint, 'atMs' | 'othersAt' | 'anybodyAt'>;

/** All moments of one node's life at which a crash can be placed, by `when op on`, in order. */
type Life = Map<string, Moment[]>;

const keyOf = (at: string, op: string, on: MediumName | null): string => `${at} ${op} ${on ?? ''}`;

function recordLives(world: World, names: readonly NodeName[]): Map<NodeName, Life> {
  const lives = new Map<NodeName, Life>(names.map((name) => [name, new Map()]));
  const note = (machine: Machine, key: string): void => {
    const life = lives.get(machine.name as NodeName);
    if (!life) return;
    const moments = life.get(key) ?? [];
    life.set(key, moments);
    let others = 0n;
    for (const each of world.machines) if (each !== machine && each.height > others) others = each.height;
    const anybody = machine.height > others ? machine.height : others;
    const atMs = Math.floor(world.agenda.now / NS_PER_MS);
    moments.push({ atMs, othersAt: Number(others), anybodyAt: Number(anybody) });
  };
  for (const name of names) {
    const machine = world.machine(name);
    machine.disk.watch = ({ when: at, op, on }: DiskPoint) => note(machine, keyOf(at, op, on));
  }
  world.crashHere = (machine, _actor, { type }) => {
    if (type === 'sign') {
      note(machine, keyOf('before', type, null));
      note(machine, keyOf('after', type, null));
    }
    return false;
  };
  return lives;
}

/** All points of these lives, in the order of operations. */
function pointsOf(name: NodeName, life: Life): GridPoint[] {
  const points: GridPoint[] = [];
  for (const op of OPS) {
    for (const on of MEDIA[op]) {
      for (const column of COLUMNS) {
        const strike = STRIKES[op][column];
        if (!strike) continue;
        const moments = life.get(keyOf(strike.when, strike.op, on)) ?? [];
        moments.forEach((moment, i) => {
          const nth = i + 1;
          for (const restart of RESTARTS) {
            const id = [name, op, ...(on === null ? [] : [on]), nth, column, restart].join('/');
            points.push({
              id,
              node: name,
              op,
              column,
              restart,
              strike: { ...strike, nth, ...(on !== null && { on }) },
              ...moment,
            });
          }
        });
      }
    }
  }
  return points;
}

/** Runs the play without a crash, and counts what its nodes do. The prefix of each point's run is this one. */
export function crashGrid(options: GridOptions): Grid {
  let lives = new Map<NodeName, Life>();
  const play = scenario('a life without a crash', {
    ...stageOf(options, null),
    act: [{ atMs: 0, actions: [] }],
    ends: everyone.decides(height(options.heights), { within: `${options.heights * HEIGHT_MS_MAX}ms` }),
  });
  const calm = runScenario(play, {
    seed: options.seed,
    onWorld: (world) => {
      lives = recordLives(world, options.nodes);
    },
  });
  const points = options.nodes.flatMap((name) =>
    pointsOf(name, lives.get(name) ?? unreachable('a life of each was recorded')),
  );
  return { options, points, calm };
}

// --- the play of a point -----------------------------------------------------------------------------------

const NS_PER_MS = 1_000_000;
/** A height that takes longer is stuck: some rounds of it. */
const HEIGHT_MS_MAX = 30_000;
/** From the crash to the end: five heights of the others, the way back, and what follows. */
const RETURN_MS_MAX = 90_000;
/** After the node takes part again, all of them decide so many more. */
const AFTERWARDS = 2;
/** One node may die with what it was given: a client that gives it to two loses nothing. */
const COPIES = 2;
const TX_BYTES = 32;

const stageOf = (options: GridOptions, count: number | null) => ({
  cast: validators(options.validators),
  load: txs({ perBlock: 1, size: TX_BYTES, copies: COPIES, ...(count !== null && { count }) }),
});

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

export function playOf(options: GridOptions, point: GridPoint): Scenario {
  const isAtOnce = point.restart === 'now' || point.restart === 'needed';
  const crash: Action = {
    do: 'crash-at',
    node: point.node,
    ...point.strike,
    ...(isAtOnce && { restartMs: 0 }),
  };
  return scenario(point.id, {
    ...stageOf(options, loadOf(point)),
    act: [{ atMs: 0, actions: [crash] }, ...afterCrash(options, point)],
    ends: everyone.decides(height(1), { within: `${point.atMs + RETURN_MS_MAX}ms`, afterwards: AFTERWARDS }),
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
  readonly rejoinNs: number | null;
  readonly heights: number;
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

export function performPoint(options: GridOptions, point: GridPoint): PointResult {
  const rejoined: Rejoined = { slowestNs: null };
  let world: World | null = null;
  const { when: at, op } = point.strike;
  const verdict = runScenario(playOf(options, point), {
    seed: options.seed,
    oracles: [rejoin(rejoined)],
    onWorld: (made) => {
      world = made;
    },
  });
  const isHit = verdict.faults[`crashed ${at} ${op}`] === 1 && verdict.faults['restarts'] === 1;
  const first = verdict.violations[0];
  const state = verdict.holds ? stateRefusal(world ?? unreachable('a run has a world'), loadOf(point)) : null;
  const violation = first
    ? { oracle: first.oracle, what: first.what }
    : state === null
      ? null
      : { oracle: 'state', what: state };
  return {
    id: point.id,
    holds: violation === null && isHit,
    isHit,
    violation,
    rejoinNs: rejoined.slowestNs,
    heights: Number(verdict.heights),
  };
}
