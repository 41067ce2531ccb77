// What a large network takes in memory: a process of its own performs it, and the system says what that took
// at most.

import { BenchRun } from './bench-world.ts';
import { bytesName, counted, grouped } from './telling.ts';
import { type Worker, type WorkerOptions, withWorkers } from './workers.ts';

export interface MemoryJob {
  readonly memory: { readonly validators: number; readonly deliveries: number; readonly memo: boolean };
}

export interface MemoryResult {
  readonly validators: number;
  readonly heights: number;
  readonly deliveries: number;
  /** The most that the process had in memory, the engine and its garbage included. */
  readonly peakBytes: number;
  readonly seconds: number;
}

export function performMemory({ memory: { validators, deliveries, memo } }: MemoryJob): MemoryResult {
  const startedMs = performance.now();
  const run = new BenchRun({ validators, crypto: 'sim', memo, txs: 1, seed: '1' });
  let heights = 0;
  while (run.world.deliveriesSoFar < deliveries) run.runTo(++heights);
  return {
    validators,
    heights,
    deliveries: run.world.deliveriesSoFar,
    peakBytes: process.resourceUsage().maxRSS * 1024, // Node gives kilobytes everywhere
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
  };
}

export const measureMemory = (job: MemoryJob['memory'], options: WorkerOptions = {}): Promise<MemoryResult> =>
  withWorkers(1, options, ([worker]) => (worker as Worker).memory({ memory: job }));

export const memoryLine = ({ validators, heights, deliveries, peakBytes, seconds }: MemoryResult): string =>
  `${validators} validators, ${grouped(deliveries)} deliveries (${counted(heights, 'height')}, ${seconds} s): ` +
  `${bytesName(peakBytes)} of memory at most`;
