// Chains that once stood still for good, with nobody at fault: clocks before the genesis time, and a large block to one who is behind.

import { expect, it } from 'vitest';
import { runScenario } from '../../sim/run.ts';
import {
  at,
  everyone,
  heal,
  height,
  isolate,
  scenario,
  submit,
  validators,
} from '../../sim/scenario/words.ts';

it('validators that start before the genesis time begin when it comes, with the block that they doubted', () => {
  // The first block is of the genesis time, a hundred seconds ahead: more than the tolerance of sixty.
  const early = { skewMs: -100_000 };
  const play = scenario('nodes start before the genesis time', {
    name: 'early',
    cast: validators(4, { clocks: { v0: early, v1: early, v2: early, v3: early } }),
    ends: everyone.decides(height(3), { within: '300s' }),
  });
  const { violations, rounds } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(rounds.max).toBeGreaterThan(3);
});

it.each([2, 3])('a block of twelve megabytes reaches a node behind on an idle chain, seed %i', (seed) => {
  const idle = { consensus: { createEmptyBlocks: false } };
  const txs = Array.from({ length: 12 }, (_, i) => String.fromCharCode(97 + i).repeat(1_000_000));
  const play = scenario('one is behind by a large block, and no other follows', {
    name: 'large-behind',
    cast: validators(4, { fullNodes: 1 }),
    app: 'noop',
    settings: idle,
    act: [
      at('0s', isolate('f0')),
      at('300ms', ...(['v0', 'v1', 'v2', 'v3'] as const).flatMap((to) => txs.map((tx) => submit(to, tx)))),
      at('2300ms', heal()),
    ],
    ends: everyone.decides(height(1), { within: '30s' }),
  });
  expect(runScenario(play, { seed }).violations).toEqual([]);
});
