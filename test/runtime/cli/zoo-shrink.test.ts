// What `sim zoo --shrink` asks of all that it made small.

import { describe, expect, it } from 'vitest';
import { type Small, shortfallsOf } from '../../../runtime/cli/zoo/shrink.ts';

describe('what is asked of runs that were made small', () => {
  const small = (i: number, more: Partial<Small> = {}): Small => ({
    mutant: `M${i}`,
    play: 'swarm',
    seed: '1',
    promise: 'chain',
    directives: 6,
    height: 2,
    isMinimal: true,
    holdsWithoutAny: true,
    survives: { seeds: 20, fails: 16 },
    holdsWithout: true,
    ms: 1,
    ...more,
  });
  const all = (more: Partial<Small> = {}): Small[] => Array.from({ length: 10 }, (_, i) => small(i, more));

  it('is asked of many bugs together', () => {
    expect(shortfallsOf(all())).toEqual([]);
    expect(shortfallsOf([...all(), small(0, { directives: 90, height: 9 })])).toEqual([]);
    const survives = { seeds: 20, fails: 15 };
    expect(shortfallsOf(all({ directives: 7, height: 3, survives }))).toEqual([
      'half of them have more than 6 directives',
      'half of them break after height 2',
      'fewer than 80 % of the runs under other seeds fail',
    ]);
    for (const one of [{ directives: 7 }, { height: 3 }, { survives }]) {
      expect(shortfallsOf(all(one))).toHaveLength(1);
      expect(shortfallsOf(all(one).slice(1))).toEqual([]);
    }
  });
});
