// The oracle `waiting` blames no mempool that hears of a block a moment after what it tells of.

import { expect, it } from 'vitest';
import { DEFAULT_MEMPOOL } from '../../../../machines/mempool/config.ts';
import { txHash } from '../../../../protocol/hashes.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { waitingOracle } from '../../../../sim/oracles/consensus/waiting.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';

const MOMENT_NS = 100_000;

/** A node without empty blocks is told of a block, and a moment later tells of a transaction that came so long before. */
function tells(checkedBeforeNs: number): string[] {
  const reports: string[] = [];
  let now = 1e9;
  const node = {
    name: 'v0',
    index: 0,
    height: 0n,
    heldUntilNs: -1,
    node: { isPaused: false },
    config: {
      mempool: DEFAULT_MEMPOOL,
      consensus: { createEmptyBlocks: false, createEmptyBlocksIntervalNs: 0n },
    },
  } as never;
  const ghost = new GhostChain(makeCast({ powers: [1n] }).genesis);
  const about = { now: () => now, machines: [node], isHonest: () => true } as never;
  const oracle = waitingOracle(ghost)((what) => void reports.push(what), about);
  const tell = (message: object): void =>
    oracle.leaving?.(node, 'mempool', { type: 'tell', to: 'app', message } as never);
  const tx = Uint8Array.of(1);
  tell({ type: 'request', from: 'mempool', tag: 1, request: { type: 'check-tx', value: { tx, type: 0 } } });
  tell({ type: 'answer', tag: 1, response: { type: 'check-tx', value: { code: 0, gasWanted: 0n } } });
  now += checkedBeforeNs;
  tell({ type: 'committed', height: 0n, txs: [], codes: [], blockTxBytesMax: 1_000n, gasMax: -1n });
  now += MOMENT_NS;
  oracle.published?.(node, 'mempool', { type: 'checked', hash: txHash(tx), code: 0, because: '' } as never);
  tell({ type: 'txs-available' });
  return reports;
}

it('what was accepted right before a block is told right behind it', () => {
  expect(tells(MOMENT_NS)).toEqual([]);
});

it('what was accepted long before is told when it is accepted anew', () => {
  expect(tells(1e9)).toEqual([
    'v0 tells its validator of transactions, and has none that its application accepts after the last block',
  ]);
});
