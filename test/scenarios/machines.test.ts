// What the verdict of a play does not say: where block time lies when clocks differ, and that a full pool
// loses nothing.

import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlock } from '../../protocol/wire/index.ts';
import { clockSkew } from '../../scenarios/clocks-and-disks.ts';
import { emptyBlocksAtIntervals, noEmptyBlocks } from '../../scenarios/empty-blocks.ts';
import { transactionStorm } from '../../scenarios/transactions.ts';
import { EPOCH_NS } from '../../sim/cast.ts';
import type { OracleMaker } from '../../sim/oracle.ts';
import { runScenario } from '../../sim/run.ts';
import { v0, when } from '../../sim/scenario/words.ts';

const BLOCK_FAMILY = 'b'.charCodeAt(0);
const BLOCK_KEY_BYTES = 9;
const SECOND = 1e9;

/**
 * By height: the block's time and the world's, when the first node stored it; both since the world began, in
 * seconds.
 */
function timesOf(play: typeof clockSkew, seed: number): { height: number; blockS: number; worldS: number }[] {
  const times = new Map<number, { height: number; blockS: number; worldS: number }>();
  const watch: OracleMaker = (_report, { now }) => ({
    name: 'times',
    effects: ['store'],
    leaving: (_at, _actor, effect) => {
      if (effect.type !== 'store' || effect.store !== 'chain') return;
      for (const { key, value } of effect.writes) {
        if (key[0] !== BLOCK_FAMILY || key.length !== BLOCK_KEY_BYTES || value.length === 0) continue;
        const block = decodeBlock(value);
        if (isRefusal(block)) continue;
        const height = Number(block.header.height);
        const blockS = Number(block.header.timeNs - EPOCH_NS) / SECOND;
        if (!times.has(height)) times.set(height, { height, blockS, worldS: now() / SECOND });
      }
    },
  });
  expect(runScenario(play, { seed, oracles: [watch] }).violations).toEqual([]);
  return [...times.values()].sort((a, b) => a.height - b.height);
}

describe('clock-skew', () => {
  it.each([1, 2, 3])('block time is that of the clocks in the middle, under seed %i', (seed) => {
    const times = timesOf(clockSkew, seed);
    expect(times.length).toBeGreaterThan(12);
    // Signed about a second before; v3's clock is right, v2's 5 s ahead; those of v0 and v1 are 15 s off.
    for (const { height, blockS, worldS } of times.slice(2)) {
      expect(blockS - worldS, `height ${height}`).toBeGreaterThan(-3);
      expect(blockS - worldS, `height ${height}`).toBeLessThan(5.1);
    }
  });
});

describe('transaction-storm', () => {
  it.each([1, 2, 3])('each transaction is refused or decided, under seed %i', (seed) => {
    const { transactions, faults } = runScenario(transactionStorm, { seed });
    expect(faults['transactions refused']).toBeGreaterThan(1_000);
    expect(transactions.committed + (faults['transactions refused'] ?? 0)).toBe(transactions.submitted);
  });
});

describe('chains without empty blocks', () => {
  const EMPTY = noEmptyBlocks.settings?.consensus;

  it('fail the play when empty blocks are made after all', () => {
    if (!EMPTY) throw new Error('the play has settings of consensus');
    const consensus = { ...EMPTY, createEmptyBlocks: true };
    const { holds } = runScenario({ ...noEmptyBlocks, settings: { consensus } }, { seed: 1 });
    expect(holds).toBe(false);
  });

  it('end half an hour after a trigger that never fires', () => {
    const verdict = runScenario({ ...noEmptyBlocks, act: [when(v0.crashes())] }, { seed: 1 });
    expect(verdict.violations.map(({ what }) => what)).toEqual(['directive 1 never fired: when v0 crashes']);
  });

  it('keep the distance that the settings say', () => {
    const times = timesOf(emptyBlocksAtIntervals, 1);
    const gaps = times.slice(3).map(({ worldS }, i) => worldS - (times[i + 2]?.worldS ?? 0));
    expect(gaps.length).toBeGreaterThan(5);
    for (const gap of gaps) expect(Math.round(gap)).toBe(6);
  });

  it('fail the play of intervals when they are shorter or longer', () => {
    for (const seconds of [3n, 8n]) {
      const settings = emptyBlocksAtIntervals.settings?.consensus;
      if (!settings) throw new Error('the play has settings of consensus');
      const consensus = { ...settings, createEmptyBlocksIntervalNs: seconds * 1_000_000_000n };
      expect(runScenario({ ...emptyBlocksAtIntervals, settings: { consensus } }, { seed: 1 }).holds).toBe(
        false,
      );
    }
  });
});
