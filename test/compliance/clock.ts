// What every keeper of the Clock port promises: a monotonic clock that never goes back, and timers that are
// never early.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../runtime/kernel/ports.ts';

export interface ClockWorld {
  readonly clock: Clock;
  /** Lets at least so much monotonic time of this clock pass, with the timers due in it fired. */
  pass(ns: bigint): Promise<void>;
  close(): Promise<void>;
}

const MS = 1_000_000n;

export function clockCompliance(name: string, open: () => ClockWorld | Promise<ClockWorld>): void {
  describe(`clock: ${name}`, () => {
    let world: ClockWorld;
    let clock: Clock;
    beforeEach(async () => {
      world = await open();
      clock = world.clock;
    });
    afterEach(() => world.close());

    test('monotonic time never goes back, and passes', async () => {
      let last = clock.monoNs();
      const first = last;
      for (let i = 0; i < 1000; i++) {
        const now = clock.monoNs();
        expect(now).toBeGreaterThanOrEqual(last);
        last = now;
      }
      await world.pass(5n * MS);
      expect(clock.monoNs() - first).toBeGreaterThanOrEqual(5n * MS);
    });
    test('wall time is nanoseconds since 1970', async () => {
      expect(typeof clock.wallNs()).toBe('bigint');
      expect(clock.wallNs()).toBeGreaterThan(1_500_000_000n * 1_000_000_000n);
      expect(clock.wallNs()).toBeLessThan(5_000_000_000n * 1_000_000_000n);
    });
    test('wall time passes too', async () => {
      const before = clock.wallNs();
      await world.pass(20n * MS);
      expect(clock.wallNs()).toBeGreaterThan(before);
    });
    test('a timer fires once, not early, not inside the call', async () => {
      const fired: bigint[] = [];
      const start = clock.monoNs();
      clock.after(10n * MS, () => fired.push(clock.monoNs()));
      expect(fired).toEqual([]);
      await world.pass(30n * MS);
      await world.pass(30n * MS);
      expect(fired).toHaveLength(1);
      expect(fired[0]! - start).toBeGreaterThanOrEqual(10n * MS);
    });
    test('a timer of nothing fires, and not inside the call', async () => {
      let fired = 0;
      clock.after(0n, () => fired++);
      expect(fired).toBe(0);
      await world.pass(10n * MS);
      expect(fired).toBe(1);
    });
    test('no timer is early, whatever the fraction of a millisecond', async () => {
      const early: bigint[] = [];
      let fired = 0;
      for (let i = 0n; i < 200n; i++) {
        const delay = i * 137_911n;
        const start = clock.monoNs();
        clock.after(delay, () => {
          fired++;
          if (clock.monoNs() - start < delay) early.push(delay);
        });
      }
      await world.pass(60n * MS);
      expect(fired).toBe(200);
      expect(early).toEqual([]);
    });
    test('timers that are far apart fire in the order they are due', async () => {
      const order: string[] = [];
      clock.after(40n * MS, () => order.push('40'));
      clock.after(1n * MS, () => order.push('1'));
      clock.after(20n * MS, () => order.push('20'));
      await world.pass(70n * MS);
      expect(order).toEqual(['1', '20', '40']);
    });
    test('a cancelled timer does not fire', async () => {
      let fired = 0;
      const timer = clock.after(5n * MS, () => fired++);
      clock.after(0n, () => fired++).cancel();
      timer.cancel();
      timer.cancel();
      await world.pass(20n * MS);
      expect(fired).toBe(0);
    });
    test('cancelling a timer that has fired does nothing', async () => {
      let fired = 0;
      const timer = clock.after(1n * MS, () => fired++);
      await world.pass(20n * MS);
      timer.cancel();
      await world.pass(5n * MS);
      expect(fired).toBe(1);
    });
    test('a timer may cancel another, and start one', async () => {
      const order: string[] = [];
      const late = clock.after(30n * MS, () => order.push('cancelled'));
      clock.after(1n * MS, () => {
        late.cancel();
        clock.after(5n * MS, () => order.push('started'));
      });
      await world.pass(60n * MS);
      expect(order).toEqual(['started']);
    });
    test('a timer may be months away', async () => {
      let fired = 0;
      const timers = [25n, 60n, 400n, 1_000_000n].map((days) =>
        clock.after(days * 86_400_000n * MS, () => fired++),
      );
      await world.pass(20n * MS);
      expect(fired).toBe(0);
      for (const timer of timers) timer.cancel();
    });
  });
}
