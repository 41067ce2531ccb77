// A chain whose first height is not 1: whatever is counted in heights, or looked up by them, begins there.

import { describe, expect, test } from 'vitest';
import { runScenario } from '../../sim/run.ts';
import type { Scenario } from '../../sim/scenario/play.ts';
import {
  anyone,
  at,
  block,
  crash,
  drop,
  everyone,
  height,
  never,
  nobody,
  scenario,
  v0,
  v3,
  validators,
} from '../../sim/scenario/words.ts';

const FIRST = 1000;
const cast = validators(4, { initialHeight: FIRST });
const play = (more: Partial<Scenario>): Scenario =>
  scenario('begins later', { cast, ends: everyone.decides(height(FIRST), { within: '60s' }), ...more });
const run = (more: Partial<Scenario>) => runScenario(play(more), { seed: 1 });

test('heights after the last directive count from the first one, where none was decided before it', () => {
  const ends = everyone.decides(height(FIRST), { within: '60s', afterwards: 4 });
  const verdict = run({ act: [at('0s', drop('proposals', { height: FIRST, round: 0 }))], ends });
  expect(verdict.violations).toEqual([]);
  expect(verdict.heights).toBeGreaterThanOrEqual(1003n);
});

describe('before its first block', () => {
  test('validators have their powers', () => {
    const verdict = run({ holds: [never(v3.proposes(), { while: v3.isWeakerThan(1) })] });
    expect(verdict.violations).toEqual([]);
    expect(verdict.unmet).toEqual([
      'no time at which it was so for "never: v3 proposes while v3 has less power than 1"',
    ]);
    const broken = run({ holds: [never(anyone.decides(), { while: v0.hasPower(10) })] });
    expect(broken.violations).toMatchObject([{ oracle: 'play', height: 1000n }]);
  });

  test('its first height is nothing that could not come', () => {
    const verdict = run({
      act: [at('0s', ...(['v0', 'v1'] as const).map((node) => crash(node)))],
      holds: [never(v3.prevotes(block(2), { height: FIRST }))],
      ends: nobody.decidesBeyond(height(FIRST), { for: '5s' }),
    });
    expect(verdict).toMatchObject({ violations: [], unmet: [], heights: 999n });
  });

  test('nothing is done, and later most of it', () => {
    const done = (more: Partial<Scenario>): number[] => {
      const told: number[] = [];
      runScenario(play(more), { seed: 1, watch: { progress: (part) => void told.push(part) } });
      return told;
    };
    const ends = everyone.decides(height(FIRST + 3), { within: '60s' });
    const whole = done({ ends });
    expect(whole).toEqual([...whole].sort());
    expect([whole[0], whole.every((part) => part >= 0 && part <= 1)]).toEqual([0, true]);
    expect(whole.at(-1)).toBeGreaterThan(0.5);
    const stands = nobody.decidesBeyond(height(FIRST - 1), { for: '5s' });
    const act = [at('0s', ...(['v0', 'v1'] as const).map((node) => crash(node)))];
    expect(new Set(done({ act, ends: stands }))).toEqual(new Set([0]));
  });
});
