// Clocks that drift, step and freeze, and the timers that follow them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Agenda } from '../../sim/agenda.ts';
import { drifted, MachineClock } from '../../sim/clock.ts';

const EPOCH = 1_700_000_000_000_000_000n;
const machine = (driftPpm = 0, skewNs = 0n) => {
  const agenda = new Agenda();
  const machineClock = new MachineClock(agenda, { epochNs: EPOCH, skewNs, driftPpm });
  const life = agenda.beginLife();
  return { agenda, machineClock, life, clock: machineClock.open(life) };
};

describe('clock', () => {
  test('drift is exact integer arithmetic over all of virtual time', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: -999_999, max: 1_000_000 }), (ns, ppm) => {
        const exact = BigInt(ns) + floorDiv(BigInt(ns) * BigInt(ppm), 1_000_000n);
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) expect(BigInt(drifted(ns, ppm))).toBe(exact);
      }),
    );
  });
  const floorDiv = (a: bigint, b: bigint) => (a >= 0n || a % b === 0n ? a / b : a / b - 1n);

  test('wall time is epoch, skew and the drifting count', () => {
    const { agenda, clock } = machine(500, -1000n);
    expect(clock.wallNs()).toBe(EPOCH - 1000n);
    agenda.runUntil(2_000_000);
    expect(clock.monoNs()).toBe(2_001_000n);
    expect(clock.wallNs()).toBe(EPOCH - 1000n + 2_001_000n);
  });
  test('steps and freezes move the wall clock alone', () => {
    const { agenda, clock, machineClock } = machine();
    agenda.runUntil(1000);
    machineClock.stepWall(-5000n);
    expect(clock.wallNs()).toBe(EPOCH - 4000n);
    machineClock.freezeWall();
    agenda.runUntil(3000);
    expect([clock.wallNs(), clock.monoNs()]).toEqual([EPOCH - 4000n, 3000n]);
    machineClock.thawWall();
    agenda.runUntil(3100);
    expect(clock.wallNs()).toBe(EPOCH - 3900n);
  });
  test('a change of drift moves pending timers, and time never goes back', () => {
    const { agenda, clock, machineClock } = machine();
    let firedAt = -1;
    clock.after(1_000_000n, () => {
      firedAt = agenda.now;
    });
    agenda.runUntil(500_000);
    const before = clock.monoNs();
    machineClock.setDrift(1_000_000); // twice as fast
    expect(clock.monoNs()).toBe(before);
    agenda.runUntil(2_000_000);
    expect(firedAt).toBe(750_000);
    machineClock.setDrift(-500_000);
    agenda.runUntil(2_000_100);
    expect(clock.monoNs()).toBe(500_000n + 3_000_000n + 50n);
  });
  test('no drift makes a timer early, nor later than the next nanosecond or two', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.bigInt({ min: 0n, max: 10_000_000_000n }),
        fc.nat(1_000_000_000),
        (ppm, delay, start) => {
          const { agenda, clock } = machine(ppm);
          agenda.runUntil(start);
          const from = clock.monoNs();
          let late = -1n;
          clock.after(delay, () => {
            late = clock.monoNs() - from - delay;
          });
          while (agenda.next());
          expect(late >= 0n && late <= 2n, `late by ${late} ns`).toBe(true);
        },
      ),
    );
  });
  test('a crash takes the timers; what was due in the old life never comes', () => {
    const { agenda, clock, machineClock, life } = machine();
    let fired = 0;
    clock.after(10n, () => fired++);
    clock.after(20n, () => fired++).cancel();
    expect(machineClock.timersPending).toBe(1);
    agenda.endLife(life);
    machineClock.crash();
    expect(machineClock.timersPending).toBe(0);
    machineClock.open(agenda.beginLife()).after(30n, () => fired++);
    while (agenda.next());
    expect(fired).toBe(1);
    expect(machineClock.timersPending).toBe(0);
  });
});

test('a drift that begins moves every timer, also behind one that has fired', () => {
  const { agenda, clock, machineClock } = machine();
  clock.after(1n, () => undefined);
  let firedAt = -1;
  clock.after(1_000_000n, () => {
    firedAt = agenda.now;
  });
  agenda.runUntil(500_000);
  machineClock.setDrift(1_000_000);
  agenda.runUntil(5_000_000);
  expect(firedAt).toBe(750_000);
});

test('a step while it is frozen is a step', () => {
  const { agenda, clock, machineClock } = machine();
  agenda.runUntil(1000);
  machineClock.freezeWall();
  machineClock.stepWall(5_000n);
  expect(clock.wallNs()).toBe(EPOCH + 6_000n);
  agenda.runUntil(3000);
  machineClock.thawWall();
  expect(clock.wallNs()).toBe(EPOCH + 6_000n);
  agenda.runUntil(4000);
  expect(clock.wallNs()).toBe(EPOCH + 7_000n);
});
