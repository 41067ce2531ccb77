import { describe, expect, test } from 'vitest';
import { Ticking } from '../../machines/consensus/ticking.ts';

const PERIOD = 100n;
const PER_OFFER = 10;

/** The periods that ended with a tick, over `periods` of them, when the ticks in `telling` had something to say. */
function ticksOver(periods: number, telling: readonly number[] = []): number[] {
  const ticking = new Ticking();
  const ticked: number[] = [];
  for (let now = 0n; now < BigInt(periods) * PERIOD; ) {
    now += BigInt(ticking.next(now, PERIOD, PER_OFFER) ?? 0) * PERIOD;
    const period = ticking.fired();
    ticking.told(telling.includes(period));
    ticked.push(period);
  }
  return ticked;
}

describe('ticks of gossip', () => {
  test('two that say nothing, then one for each offer', () => {
    expect(ticksOver(30)).toEqual([1, 2, 10, 20, 30]);
  });

  test('whoever was told something is looked after for two ticks more', () => {
    expect(ticksOver(20, [1, 2, 10])).toEqual([1, 2, 3, 4, 10, 11, 12, 20]);
  });

  test('something new brings the next tick within a period, and the periods before it count', () => {
    const ticking = new Ticking();
    ticking.next(0n, PERIOD, PER_OFFER);
    for (let tick = 0; tick < 2; tick++) {
      ticking.fired();
      ticking.told(false);
      ticking.next(200n, PERIOD, PER_OFFER);
    }
    expect(ticking.runs).toBe('idle');
    expect(ticking.next(560n, PERIOD, PER_OFFER)).toBeNull();
    ticking.stir();
    expect(ticking.next(560n, PERIOD, PER_OFFER)).toBe(1);
    expect(ticking.fired()).toBe(6); // 1 and 2, three while idle, and its own
  });

  test('a height that is decided begins anew', () => {
    const ticking = new Ticking();
    for (let tick = 0; tick < 3; tick++) {
      ticking.next(0n, PERIOD, PER_OFFER);
      ticking.fired();
      ticking.told(false);
    }
    ticking.rest();
    expect(ticking.next(0n, PERIOD, PER_OFFER)).toBe(1);
    expect(ticking.fired()).toBe(1);
  });
});
