// A chain that makes empty blocks only at intervals owes the next height all the same.

import { expect, it } from 'vitest';
import { runScenario } from '../../../sim/run.ts';
import { everyone, height, scenario, validators } from '../../../sim/scenario/words.ts';

const INTERVAL_NS = 3_000_000_000n;

it.each([true, false])('createEmptyBlocks %s, with an interval', (createEmptyBlocks) => {
  const play = scenario('waits', {
    cast: validators(4),
    settings: { consensus: { createEmptyBlocks, createEmptyBlocksIntervalNs: INTERVAL_NS } },
    ends: everyone.decides(height(5), { within: '60s' }),
  });
  const { holds, liveness } = runScenario(play, { seed: 1 });
  expect(holds).toBe(true);
  expect(liveness?.tookNs).toBeGreaterThan(Number(INTERVAL_NS));
});

it('without one it may wait for ever', () => {
  const play = scenario('waits', {
    cast: validators(4),
    settings: { consensus: { createEmptyBlocks: false } },
    ends: everyone.decides(height(1), { within: '60s', afterwards: 1 }),
  });
  const { liveness } = runScenario(play, { seed: 1 });
  expect(liveness?.tookNs ?? 0).toBeLessThan(Number(INTERVAL_NS));
});
