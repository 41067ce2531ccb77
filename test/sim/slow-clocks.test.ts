// A node whose oscillator is slow does all later that it times itself, and is not to blame for that.

import { expect, it } from 'vitest';
import {
  at,
  crash,
  drop,
  everyone,
  heal,
  height,
  liar,
  restart,
  runScenario,
  scenario,
  these,
  validators,
} from '../../sim/index.ts';
import { QUICK } from '../../sim/swarm/index.ts';

const half = { driftPpm: -500_000 };

it('its rounds take longer, and the bound with them', () => {
  const slow = { driftPpm: -700_000 };
  const play = scenario('all are slow', {
    cast: validators(4, { clocks: { v0: slow, v1: slow, v2: slow, v3: slow } }),
    ends: everyone.decides(height(6), { within: '300s' }),
  });
  expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
});

it('it dials again later', () => {
  const play = scenario('one is slow to dial', {
    cast: validators(4, { clocks: { v1: half } }),
    act: [at('3s', crash('v0')), at('180s', restart('v0'))],
    ends: these('v2').decides(height(80), { within: '400s' }),
  });
  expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
});

it('it says again later what it can prove', () => {
  const play = scenario('one is slow to accuse', {
    cast: validators(4, { fullNodes: 1, clocks: { f0: half } }),
    settings: { consensus: QUICK },
    liars: [liar('v3', 'double-voter', ['f0'], { fromHeight: 3, toHeight: 3, times: 1 })],
    act: [at('0s', drop('evidence', { from: ['f0'] })), at('8s', heal())],
    ends: everyone.decides(height(120), { within: '900s' }),
  });
  expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
});
