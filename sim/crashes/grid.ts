// Owns the grid of all crashes: every point where a node's life can end at its disk or its signer, times what the crash takes, times when
// it comes back.

import { unreachable } from '../../protocol/refusal.ts';
import type { CrashHow, DiskPoint, MediumName } from '../disk-door.ts';
import { MILLISECOND } from '../latency.ts';
import type { Machine } from '../machine.ts';
import { runScenario } from '../run.ts';
import type { CrashPoint, NodeName } from '../scenario/play.ts';
import { everyone, height, scenario } from '../scenario/words.ts';
import type { Verdict } from '../verdict.ts';
import type { World } from '../world.ts';
import { type Place, Places } from './places.ts';
import { type GridOptions, HEIGHT_MS_MAX, stageOf } from './stage.ts';

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

export interface GridPoint {
  /** `v0/append/consensus/17/torn/5`. */
  readonly id: string;
  readonly node: NodeName;
  readonly op: GridOp;
  readonly column: Column;
  readonly restart: Restart;
  readonly strike: Strike & { readonly on?: MediumName; readonly nth: number };
  /** Where the node stood, and which operation of its kind it was from there on; null: in no step that can be named. */
  readonly place: (Place & { readonly nth: number }) | null;
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

type Moment = Pick<GridPoint, 'place' | 'atMs' | 'othersAt' | 'anybodyAt'>;

/** All moments of one node's life at which a crash can be placed, by `when op on`, in order. */
type Life = Map<string, Moment[]>;

const keyOf = (at: string, op: string, on: MediumName | null): string => `${at} ${op} ${on ?? ''}`;

function recordLives(world: World, names: readonly NodeName[]): Map<NodeName, Life> {
  const lives = new Map<NodeName, Life>(names.map((name) => [name, new Map()]));
  const places = new Places(world);
  const note = (machine: Machine, key: string): void => {
    const life = lives.get(machine.name as NodeName);
    if (!life) return;
    const moments = life.get(key) ?? [];
    life.set(key, moments);
    let others = 0n;
    for (const each of world.machines) if (each !== machine && each.height > others) others = each.height;
    const anybody = machine.height > others ? machine.height : others;
    const atMs = Math.floor(world.agenda.now / MILLISECOND);
    const place = places.of(machine);
    const before = moments.at(-1)?.place;
    const nth =
      before && place && before.height === place.height && before.step === place.step ? before.nth + 1 : 1;
    moments.push({
      place: place && { ...place, nth },
      atMs,
      othersAt: Number(others),
      anybodyAt: Number(anybody),
    });
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

/** Runs the play without a crash, and counts what its nodes do. Each run with crashes is this one up to its first. */
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
