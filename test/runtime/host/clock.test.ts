// What only the machine's own clocks can show: the system's time of day is set, and hrtime knows nothing of it.

import { expect, it, onTestFinished, vi } from 'vitest';
import { hostClock } from '../../../runtime/host/clock.ts';

const HOUR_MS = 3_600_000;

it('the wall follows the system when that is set, forwards and back, and the monotonic clock does not', () => {
  const machine = { nowMs: 1_700_000_000_000, monoNs: 5_000_000_000n };
  const wall = vi.spyOn(Date, 'now').mockImplementation(() => machine.nowMs);
  const mono = vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => machine.monoNs);
  onTestFinished(() => {
    wall.mockRestore();
    mono.mockRestore();
  });
  const clock = hostClock();
  const reads = (): bigint[] => [clock.wallNs() - 1_700_000_000_000_000_000n, clock.monoNs()];
  const hourNs = BigInt(HOUR_MS) * 1_000_000n;
  expect(reads()).toEqual([0n, 5_000_000_000n]);
  machine.monoNs += 7n;
  machine.nowMs += 1; // a tick of the coarser clock is no step of it
  expect(reads()).toEqual([7n, 5_000_000_007n]);
  for (const [hours, ns] of [
    [1, hourNs],
    [-1, -hourNs],
    [0, 0n],
  ] as const) {
    machine.nowMs = 1_700_000_000_000 + hours * HOUR_MS;
    expect(reads()).toEqual([ns, 5_000_000_007n]);
  }
  machine.monoNs += 7n;
  expect(reads()).toEqual([7n, 5_000_000_014n]);
});
