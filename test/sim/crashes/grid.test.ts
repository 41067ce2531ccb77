// The grid of all crashes: no point of a life is missing, each is hit, and what a node owes after it came back
// can be broken.

import { describe, expect, it } from 'vitest';
import { DEFAULT_NODE } from '../../../actors/node.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { COLUMNS, crashGrid, type GridPoint, OPS, RESTARTS, STRIKES } from '../../../sim/crashes/grid.ts';
import { performRun, stateRefusal, type Together } from '../../../sim/crashes/perform.ts';
import { rejoin, rejoinBoundNs } from '../../../sim/crashes/rejoin.ts';
import { runsOf } from '../../../sim/crashes/runs.ts';
import type { OracleMaker } from '../../../sim/oracle.ts';
import { runScenario } from '../../../sim/run.ts';
import {
  at,
  crash,
  everyone,
  height,
  isolate,
  restart,
  scenario,
  these,
  txs,
  validators,
} from '../../../sim/scenario/words.ts';
import type { World } from '../../../sim/world.ts';

const options = { heights: 3, validators: 4, seed: '1', nodes: ['v0'] } as const;
const grid = crashGrid(options);

/** Effects of v0 that leave it in the run without a crash, counted by an oracle. */
function effectsOfV0(): { readonly counts: Map<string, number>; readonly world: World } {
  const counts = new Map<string, number>();
  let world: World | null = null;
  const counter: OracleMaker = () => ({
    name: 'counter',
    leaving({ name }, _actor, { type }) {
      if (name === 'v0') counts.set(type, (counts.get(type) ?? 0) + 1);
    },
  });
  const play = scenario('a life without a crash', {
    cast: validators(4),
    load: txs({ perBlock: 1, size: 32, copies: 2 }),
    act: [{ atMs: 0, actions: [] }],
    ends: everyone.decides(height(3), { within: '60s' }),
  });
  const verdict = runScenario(play, { seed: 1, oracles: [counter], onWorld: (made) => (world = made) });
  expect(verdict.digest).toBe(grid.calm.digest);
  return { counts, world: world ?? unreachable('a run has a world') };
}

describe('the grid', () => {
  it('holds every effect and every flush of a life, in every column, with every return', () => {
    const { counts, world } = effectsOfV0();
    const times = (op: string, column: string): number =>
      grid.points.filter((point) => point.op === op && point.column === column && point.restart === '5')
        .length;
    for (const op of ['append', 'sync', 'sign'] as const) {
      expect(counts.get(op)).toBeGreaterThan(3);
      expect(times(op, 'before')).toBe(counts.get(op));
    }
    expect(times('write', 'before')).toBe(counts.get('store'));
    const { logs, stores } = world.machine('v0').disk.image();
    const flushes = (media: ReadonlyMap<string, { readonly flushes: number }>): number =>
      [...media.values()].reduce((sum, medium) => sum + medium.flushes, 0);
    for (const column of ['torn', 'unsynced', 'after']) {
      expect(times('sync', column)).toBe(flushes(logs));
      expect(times('flush', column)).toBe(flushes(stores));
    }
    const columns = Object.values(STRIKES).flatMap((of) => COLUMNS.filter((column) => of[column]));
    expect(columns).toHaveLength(21);
    expect(new Set(grid.points.map(({ id }) => id)).size).toBe(grid.points.length);
  });

  it('is hit where it says, and all comes back: one point of every cell, each return in turn', () => {
    const cells = OPS.flatMap((op) =>
      COLUMNS.flatMap((column) => (STRIKES[op][column] ? [{ op, column }] : [])),
    );
    const chosen = cells.map(({ op, column }, i) => {
      const ofOne = grid.points.filter(
        (point) =>
          point.op === op && point.column === column && point.restart === RESTARTS[i % RESTARTS.length],
      );
      return ofOne[(i * 5) % ofOne.length] ?? unreachable('every cell has points of each return');
    });
    expect(chosen).toHaveLength(21);
    for (const point of chosen) {
      const [result] = performRun(options, [point]);
      const { id, heights, rejoinNs, ...rest } = result ?? unreachable('one point, one result');
      expect({ id, ...rest }).toEqual({ id: point.id, holds: true, isHit: true, violation: null });
      expect(rejoinNs).toBeGreaterThan(0);
      expect(heights).toBeGreaterThan(point.anybodyAt);
    }
  });

  it('says so when a point is not hit', () => {
    const point = grid.points[0] ?? unreachable('a grid has points');
    const beyond = { ...point, strike: { ...point.strike, nth: 1_000_000 } };
    expect(performRun(options, [beyond])).toMatchObject([{ holds: false, isHit: false }]);
  });
});

describe('crashes that share a run', () => {
  const long = { ...options, heights: 14 };
  const { points } = crashGrid(long);
  const runs = runsOf(points);
  const of = (id: string): GridPoint => points.find((point) => point.id === id) ?? unreachable(`no ${id}`);

  /** Heights that a node has to itself after each way back, at least. */
  const HEIGHTS_ALIVE = { now: 4, '1': 5, '5': 8, needed: 4 };

  it('hold each point once, of one node and one return, one after the other', () => {
    expect(runs.flat().map(({ id }) => id)).toHaveLength(points.length);
    expect(new Set(runs.flat())).toEqual(new Set(points));
    for (const run of runs) {
      expect(new Set(run.map(({ node, restart }) => `${node} ${restart}`)).size).toBe(1);
      run.slice(1).forEach(({ place }, i) => {
        expect(place?.height).toBeGreaterThan(
          (run[i]?.anybodyAt ?? 0) + HEIGHTS_ALIVE[run[i]?.restart ?? 'now'],
        );
      });
    }
    expect(Math.max(...runs.map(({ length }) => length))).toBe(4);
  });

  it('come each where it was to come, or are left for another run; in most all come', () => {
    for (const restart of RESTARTS) {
      const all = runs.filter((each) => each.length > 1 && each[0]?.restart === restart);
      const shared = all.filter((_, i) => i % 100 === 50);
      const whole = shared.filter((run) => {
        const results = performRun(long, run);
        const came = run.filter((_, i) => results[i] !== null);
        expect(results.filter((each) => each !== null)).toMatchObject(
          came.map(({ id }) => ({ id, holds: true, isHit: true })),
        );
        return came.length === run.length;
      });
      expect(whole.length).toBeGreaterThan(shared.length / 2);
    }
  });

  it('what came elsewhere is left for another run, and those after it are not', () => {
    const run = runs.find(({ length }) => length === 3) ?? unreachable('some share a run');
    const [first, second, third] = run as [GridPoint, GridPoint, GridPoint];
    const place = second.place ?? unreachable('it stands somewhere');
    const astray = { ...second, place: { ...place, nth: place.nth + 4 } };
    const came = performRun(long, [first, astray, third]);
    expect(came).toMatchObject([{ id: first.id, holds: true }, null, { id: third.id, holds: true }]);
  });

  it('where one cannot come any more, those after it are left, too', () => {
    const run = runs.find(({ length }) => length === 3) ?? unreachable('some share a run');
    const [first, second, third] = run as [GridPoint, GridPoint, GridPoint];
    const place = { ...(second.place ?? unreachable('it stands somewhere')), nth: 9999 };
    const came = performRun(long, [first, { ...second, place }, third]);
    expect(came).toMatchObject([{ id: first.id, holds: true }, null, null]);
  });

  it('a promise broken in company only is told of with the company', () => {
    const run = [of('v0/sign/1/before/now'), of('v0/sign/21/before/now')];
    const violation = { oracle: 'agreement', what: 'two blocks' };
    const performed: string[][] = [];
    const stub = (_: unknown, some: readonly GridPoint[]): Together => {
      performed.push(some.map(({ id }) => id));
      const holds = some.length === 1;
      const rest = { isHit: true, violation: holds ? null : violation, rejoinNs: 1, heights: 2 };
      return { results: some.map(({ id }) => ({ id, holds, ...rest })), struck: some.length };
    };
    const ids = run.map(({ id }) => id);
    expect(performRun(long, run, stub)).toMatchObject([
      { id: ids[0], holds: false, violation, company: ids },
      { id: ids[1], holds: true, violation: null },
    ]);
    expect(performed).toEqual([ids, [ids[0]], [ids[1]]]);
  });
});

describe('what is owed afterwards', () => {
  it('a node that cannot come back in time is told of, and one that never does', () => {
    const cutOff = scenario('comes back and hears nobody', {
      cast: validators(4),
      act: [at('3s', crash('v0')), at('5s', restart('v0'), isolate('v0'))],
      ends: these('v1', 'v2', 'v3').decides(height(60), { within: '100s' }),
      liveness: 'waived',
    });
    const late = runScenario(cutOff, { seed: 1, oracles: [rejoin({ slowestNs: null })] });
    expect(late.violations).toMatchObject([{ oracle: 'rejoin', node: 'v0' }]);
    expect(late.virtualNs).toBeGreaterThan(5e9 + rejoinBoundNs(DEFAULT_NODE));
    const short = { ...cutOff, ends: these('v1', 'v2', 'v3').decides(height(8), { within: '100s' }) };
    const never = runScenario(short, { seed: 1, oracles: [rejoin({ slowestNs: null })] });
    expect(never.violations).toMatchObject([{ oracle: 'rejoin', what: 'v0 came back and did not rejoin' }]);
  });

  it('a transaction too few or too many in the state is told of', () => {
    const { world } = effectsOfV0();
    expect(stateRefusal(world, 2)).toBeNull();
    expect(stateRefusal(world, 3)).toMatch(/lacks transaction t2, one of 3/);
    expect(stateRefusal(world, 1)).toMatch(/holds 1 pairs that nobody gave/);
  });
});
