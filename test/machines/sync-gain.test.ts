// Whether block sync gains on the chain, and who may keep it from ending.

import { expect, it } from 'vitest';
import { DEFAULT_SYNC } from '../../machines/sync/config.ts';
import { SyncPool } from '../../machines/sync/pool.ts';
import { Progress } from '../../machines/sync/progress.ts';
import type { Fetched } from '../../machines/sync/wanted.ts';

const S = 1_000_000_000n;

/** Of a chain of one a second. */
const block = (from: string, height: bigint): Fetched => {
  const bytes = Uint8Array.of(Number(height % 250n));
  return { from, bytes, lastCommit: bytes, timeNs: height * S };
};

/** How long a pool syncs that begins 50 blocks behind a chain of one a second, and why it ends; null: not within an hour. */
function syncAmongFlappers(liars: number, everySeconds: bigint) {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  const names = Array.from({ length: liars }, (_, i) => `liar${i}`);
  const tip = (nowNs: bigint): bigint => 50n + nowNs / S;
  const comes = (liar: string, nowNs: bigint): void => pool.range(liar, 1n, tip(nowNs) + 1_000n, nowNs);
  for (const liar of names) comes(liar, 0n);
  for (let step = 0n; step < 4n * 3_600n; step++) {
    const nowNs = (step * S) / 4n;
    if (step % 40n === 0n) {
      pool.asksReports(['honest', ...names], nowNs);
      pool.range('honest', 1n, tip(nowNs), nowNs);
      for (const liar of names) comes(liar, nowNs);
    }
    for (const [i, liar] of names.entries())
      if (step % (4n * everySeconds) === 2n + 2n * everySeconds * BigInt(i)) {
        pool.remove(liar);
        comes(liar, nowNs);
      }
    if (step % 4n === 0n) pool.removeQuiet(nowNs);
    if (pool.isCaughtUp()) return { seconds: step / 4n, ends: 'caught up' };
    if (pool.isStalled(nowNs)) return { seconds: step / 4n, ends: 'stalled' };
    for (const { peer, height } of pool.plan(nowNs))
      if (peer === 'honest' && height <= tip(nowNs)) pool.gave(peer, height, block(peer, height), nowNs);
    for (let next = pool.handOver(); next; next = pool.handOver()) pool.applied(next.height, nowNs);
  }
  return null;
}

it.each([1, 2, 5])(
  'who keeps pace with the chain does not wait for what %d liars claim that come and go',
  (liars) => {
    for (const everySeconds of [5n, 12n, 30n])
      expect(syncAmongFlappers(liars, everySeconds)?.seconds).toBeLessThanOrEqual(90n);
  },
);

/** Seconds per block of the chain as its headers tell, and of who syncs; whether it goes on for ten minutes. */
const paces: readonly { readonly chain: number; readonly own: number; readonly goesOn: boolean }[] = [
  { chain: 1, own: 0.01, goesOn: true },
  { chain: 1, own: 0.95, goesOn: true },
  { chain: 1, own: 1, goesOn: false },
  { chain: 1, own: 1.05, goesOn: false },
  { chain: 30, own: 28, goesOn: true },
  { chain: 30, own: 30.01, goesOn: false },
];

it.each(paces)('$own s for a block that took $chain s: it goes on: $goesOn', ({ chain, own, goesOn }) => {
  for (const skewNs of [-86_400n * S, 0n, 86_400n * S]) {
    const progress = new Progress(DEFAULT_SYNC.stallNs, 0n);
    let isStalled = false;
    for (let i = 1; i * own < 600; i++) {
      const nowNs = BigInt(Math.round(i * own * 1e9));
      isStalled ||= progress.isStalled(nowNs);
      progress.applied(skewNs + BigInt(Math.round(i * chain * 1e9)), nowNs);
    }
    expect(isStalled).toBe(!goesOn);
  }
});

it('rounds that fail and an outage are no gain, and what is caught up afterwards is', () => {
  const progress = new Progress(DEFAULT_SYNC.stallNs, 0n);
  progress.applied(1_000n * S, 1n * S);
  // At the tip, 1 to 40 seconds behind it by turns.
  for (let second = 2n; second < 60n; second++)
    progress.applied((999n + second - (second % 4n) * 10n) * S, second * S);
  expect([progress.isStalled(60n * S), progress.isStalled(61n * S)]).toEqual([false, true]);
  progress.begin(600n * S);
  for (let second = 600n; second < 660n; second++)
    progress.applied((1_060n + (second - 600n) * 2n) * S, second * S);
  expect(progress.isStalled(660n * S)).toBe(false);
});

it('one block that takes long, of a chain that is gained on fast, is no reason to end', () => {
  for (const slow of [40n, 61n, 600n]) {
    const progress = new Progress(DEFAULT_SYNC.stallNs, 0n);
    let nowNs = 0n;
    for (let height = 1n; height < 20_000n; height++) {
      nowNs += height === 400n ? slow * S : S / 2n;
      progress.applied(height * S, nowNs);
      expect(progress.isStalled(nowNs)).toBe(false);
    }
  }
  // But each of them being slow is.
  const progress = new Progress(DEFAULT_SYNC.stallNs, 0n);
  for (let height = 1n; height < 6n; height++) progress.applied(height * S, height * 20n * S);
  expect(progress.isStalled(100n * S)).toBe(true);
});

it('evasions are not forgotten while a peer is away', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  const reports = (nowNs: bigint): void => {
    pool.asksReports(['a'], nowNs);
    pool.range('a', 1n, 9n, nowNs + 1n);
  };
  pool.range('a', 1n, 9n, 0n);
  for (const nowNs of [10n * S, 20n * S, 30n * S]) {
    pool.plan(nowNs - S);
    reports(nowNs);
    pool.remove('a');
    pool.range('a', 1n, 9n, nowNs + 2n);
    pool.range('a', 1n, 9n, nowNs + 3n); // nobody asked: that is no answer
  }
  expect(pool.claimedHeight).toBe(0n);
});
