// What plays order: again and again, after chaos, and where heights are large.

import { describe, expect, it } from 'vitest';
import { runScenario } from '../../sim/run.ts';
import { fromJson, toJson } from '../../sim/scenario/json.ts';
import {
  after,
  at,
  core,
  crash,
  empower,
  everyone,
  heal,
  height,
  pause,
  scenario,
  v0,
  v1,
  v3,
  validators,
  when,
  whenever,
} from '../../sim/scenario/words.ts';

const tenHeights = everyone.decides(height(10), { within: '200s', afterwards: 3 });

describe('whenever', () => {
  it('acts each time, and holds up no ending', () => {
    const play = scenario('a node dies at every height', {
      cast: validators(4),
      act: [whenever(v3.decides(), crash('v3', { restart: '100ms' })), after('1s')],
      ends: tenHeights,
    });
    const { violations, faults, heights } = runScenario(play, { seed: 1 });
    expect(violations).toEqual([]);
    expect(faults.crashes).toBeGreaterThanOrEqual(8);
    expect(heights).toBeGreaterThanOrEqual(10n);
  });

  it('begins after the directive before it, and ends when chaos does', () => {
    const play = scenario('from height 3 to 6', {
      cast: validators(4),
      act: [
        when(v0.decides(height(3))),
        whenever(v0.decides(), pause('v3', '50ms')),
        when(v1.decides(height(6)), core('v0', 'v1', 'v2', 'v3')),
      ],
      ends: tenHeights,
    });
    const { violations, faults } = runScenario(play, { seed: 1 });
    expect(violations).toEqual([]);
    expect(faults.pauses).toBeGreaterThanOrEqual(2); // 4, 5, and 6 if v0 decided it before v1
    expect(faults.pauses).toBeLessThanOrEqual(3);
  });

  it('of everyone: when the last has done it, and then again', () => {
    const play = scenario('all of them', {
      cast: validators(4),
      act: [whenever(everyone.decides(), pause('v3', '50ms'))],
      ends: everyone.decides(height(6), { within: '200s' }),
    });
    expect(runScenario(play, { seed: 1 }).faults.pauses).toBeGreaterThanOrEqual(5);
  });

  it('acts once a moment, even on what it brings about', () => {
    const play = scenario('dies as it starts', {
      cast: validators(4),
      act: [whenever(v3.starts(), crash('v3', { restart: '0ms' })), at('5s', core('v0', 'v1', 'v2', 'v3'))],
      ends: tenHeights,
    });
    const { violations, faults } = runScenario(play, { seed: 1 });
    expect(violations).toEqual([]);
    expect(faults.crashes).toBeGreaterThan(0);
  });

  it('that never comes is told', () => {
    const play = scenario('never', {
      cast: validators(4),
      act: [whenever(v0.decides(height(99)), heal())],
      ends: everyone.decides(height(2), { within: '20s' }),
    });
    expect(runScenario(play, { seed: 1 }).violations[0]?.what).toContain(
      'directive 1 never fired: whenever v0 decides height 99',
    );
  });

  it('comes back from JSON as it was', () => {
    const play = scenario('again and again', {
      cast: validators(4),
      act: [whenever(v0.decides(), pause('v3', '50ms'))],
      ends: tenHeights,
    });
    expect(fromJson(toJson(play) as string)).toEqual(play);
  });
});

it('one standing order does not wait for another', () => {
  const play = scenario('two standing orders', {
    cast: validators(4),
    act: [
      whenever(v0.decides(height(8)), pause('v1', '50ms')),
      whenever(v0.decides(), pause('v3', '50ms')),
      whenever(v3.starts(), pause('v3', '1ms')),
    ],
    ends: tenHeights,
  });
  const { violations, faults } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(faults.pauses).toBeGreaterThanOrEqual(10);
});

it('one standing order sees what another brings about', () => {
  const play = scenario('one dies of the other', {
    cast: validators(7),
    act: [
      at('1s', crash('v0', { restart: '1s' })),
      whenever(v0.crashes(), crash('v1', { restart: '1s' })),
      whenever(v1.crashes(), pause('v3', '50ms')),
    ],
    ends: tenHeights,
  });
  const { violations } = runScenario(play, { seed: 1 });
  expect(violations.map(({ what }) => what)).toEqual(['directive 2 never fired: whenever v0 crashes']);
  const inTime = { ...play, act: [...play.act.slice(1), ...play.act.slice(0, 1)] };
  const { violations: none, faults } = runScenario(inTime, { seed: 1 });
  expect(none).toEqual([]);
  expect([faults.crashes, faults.pauses]).toEqual([2, 1]);
});

it('what does not come because chaos is over is told', () => {
  const play = scenario('too late', {
    cast: validators(4),
    act: [
      at('3s', core('v0', 'v1', 'v2', 'v3')),
      at('5s', crash('v3', { restart: '2s' })),
      whenever(v3.starts(), pause('v0', '1ms')),
    ],
    ends: tenHeights,
  });
  const { holds, unmet } = runScenario(play, { seed: 1 });
  expect(holds).toBe(true);
  expect(unmet).toEqual([
    'no directive 2, chaos was over: at 5000 ms',
    'no directive 3, chaos was over: whenever v3 starts',
  ]);
});

it('what another standing order began, or core itself, comes after chaos', () => {
  const play = scenario('one that never comes', {
    cast: validators(4),
    act: [
      whenever(v0.decides(height(900)), pause('v1', '50ms')),
      whenever(v0.decides(height(2)), pause('v3', '50ms')),
      when(v0.decides(height(3)), core('v0', 'v1', 'v2', 'v3')),
      after('2s', crash('v3', { restart: '1s' })),
    ],
    ends: tenHeights,
  });
  const { violations, unmet, faults } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(unmet).toEqual(['no directive 1, chaos was over: whenever v0 decides height 900']);
  expect(faults.crashes).toBe(1);
});

/** All power changes hands, so a light client cannot go from the first to the last height in one step. */
it.each([1, 2 ** 30, 2 ** 31 - 5, 2 ** 52])('light clients find their way from height %s on', (first) => {
  const each = ['0', '1', '2', '3'] as const;
  const play = scenario('power changes hands', {
    cast: validators(4, { candidates: 4, initialHeight: first }),
    act: [
      at('1s', ...each.map((i) => empower(`c${i}`, 1000))),
      at('3s', ...each.map((i) => empower(`v${i}`, 0))),
    ],
    ends: everyone.decides(height(first + 20), { within: '120s' }),
  });
  expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
});
