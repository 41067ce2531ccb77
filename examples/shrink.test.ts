// A failing run as a few directives, and the story of it: `sim shrink`, for a play with functions of its own.
import { at, crash, everyone, explainRun, height, links, scenario, shrink, validators } from 'rehearsal/sim';
import { expect, it } from 'vitest';
import { HastyCounter } from './hasty-counter.ts';
import { orders } from './workload.ts';

const hasty = scenario('a counter that counts too early', {
  cast: validators(5),
  app: () => new HastyCounter(),
  load: orders,
  act: [
    at('1s', links({ lossPpm: 50_000, reorderPpm: 20_000 })),
    at('3s', crash('v2', { restart: '2s' }), crash('v4', { restart: '3s' })),
  ],
  ends: everyone.decides(height(20), { within: '120s' }),
});

it('a failing run is made small', () => {
  const small = shrink(hasty, { seed: '1' });
  if (!small) throw new Error('it holds');
  console.log(small.what, explainRun(small.scenario, { seed: small.seed })?.story);
  expect(small.directives).toEqual({ before: 3, after: 1 });
}, 120_000);
