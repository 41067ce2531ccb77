// What the swarm makes of a second: which runs are measured, and that a shortfall is said.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureSwarm, mostTroubled, swarmLines } from '../../../runtime/cli/bench/swarm.ts';
import { SWARM_FAULTS } from '../../../sim/swarm/coverage.ts';
import { isBuilt, root } from './nodecli.ts';

const run = (heights: number, laterThanFirst: number) => ({ heights, laterThanFirst });

describe('the runs that are measured', () => {
  it.each([
    ['all, when all have trouble enough', [run(10, 3), run(10, 9)], [run(10, 9), run(10, 3)]],
    ['calm ones while the troubled make up for them', [run(10, 0), run(10, 6)], [run(10, 6), run(10, 0)]],
    ['no calm one more', [run(10, 0), run(10, 5)], [run(10, 5)]],
    ['the most troubled, when none is troubled enough', [run(10, 1), run(10, 2)], [run(10, 2)]],
  ])('are %s', (_, runs, chosen) => {
    expect(mostTroubled(runs)).toEqual(chosen);
  });
});

it('a shortfall stands beside the figure', () => {
  const figure = { virtualToWall: 80, perCore: 40, cores: 2, seeds: 40, runs: 9, heights: 90, seconds: 1.1 };
  const good = { ...figure, laterRoundShare: 0.3, laterRoundShareOfAll: 0.14, faultsMissing: [] };
  expect(swarmLines(good).join('\n')).not.toContain('SHORT');
  expect(swarmLines({ ...good, laterRoundShare: 0.299 }).at(-1)).toMatch(/SHORT OF 30\.0 %/);
  expect(swarmLines({ ...good, faultsMissing: ['pauses', 'crashes'] }).at(-1)).toMatch(/: pauses; crashes$/);
});

it.skipIf(!isBuilt)('measures a few runs', async () => {
  const options = { dist: join(root, 'dist') };
  const figure = await measureSwarm({ seeds: 6, warmUp: 1, cores: 1, memo: true }, options);
  expect(figure).toMatchObject({ cores: 1, seeds: 6 });
  expect(figure.runs).toBeGreaterThan(0);
  expect(figure.runs).toBeLessThanOrEqual(6);
  expect(figure.heights).toBeGreaterThan(0);
  expect(figure.virtualToWall).toBe(figure.perCore);
  expect(figure.virtualToWall).toBeGreaterThan(0);
  expect(figure.faultsMissing.length).toBeGreaterThan(0);
  expect(SWARM_FAULTS).toEqual(expect.arrayContaining([...figure.faultsMissing]));
});
