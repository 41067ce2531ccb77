// A chain of one's own in the mill: any few nodes, any faults they must recover from, some of them lying.
import fc from 'fast-check';
import { bftProperty } from 'rehearsal/property';
import { everyone, height, liar, runScenario, scenario, validators } from 'rehearsal/sim';
import { expect, it } from 'vitest';
import { Counter } from './counter.ts';
import { HastyCounter } from './hasty-counter.ts';
import { coldFeet } from './liar.ts';
import { neverShrinks } from './oracle.ts';
import { orders } from './workload.ts';

const mine = { heights: 5, load: orders, oracles: [neverShrinks], liars: ['vote-equivocator', coldFeet] };

it('the counter keeps its promises, whatever happens', () => {
  fc.assert(bftProperty({ app: () => new Counter(), ...mine }), { numRuns: 20, seed: 1 });
}, 120_000);

it('a counter that counts too early is found', () => {
  const property = bftProperty({ app: () => new HastyCounter(), ...mine, validators: 4 });
  expect(() => fc.assert(property, { numRuns: 100, seed: 1 })).toThrow('Counterexample');
}, 120_000);

it('the same words make a single play', () => {
  const play = scenario('a liar gets cold feet', {
    cast: validators(4),
    app: () => new Counter(),
    load: orders,
    oracles: [neverShrinks],
    liars: [liar('v3', coldFeet, ['v0', 'v1'])],
    ends: everyone.decides(height(10), { within: '60s' }),
  });
  const { holds, faults } = runScenario(play, { seed: 1 });
  expect(holds).toBe(true);
  expect(faults['lie: cold feet']).toBeGreaterThan(0);
});
