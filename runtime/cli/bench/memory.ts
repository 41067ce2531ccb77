// What a large network takes in memory: a process of its own performs it, with little room for garbage, and the
// system says what that took at most.

import { getHeapStatistics } from 'node:v8';
import { bytesName, counted, grouped } from '../telling.ts';
import { type Worker, type WorkerOptions, withWorkers } from '../workers/workers.ts';
import type { MemoryJob, MemoryResult } from './memory-job.ts';
import { BenchRun } from './world.ts';

/**
 * How much memory a run needs, not how much V8 takes where it may: without a limit it puts off collecting on a large machine. What old
 * objects may take, and each half of the young ones, in MiB.
 */
const HEAP = { old: 200, semiSpace: 4 } as const;
const FLAGS = [`--max-old-space-size=${HEAP.old}`, `--max-semi-space-size=${HEAP.semiSpace}`];

export function performMemory({ memory: { validators, deliveries, memo } }: MemoryJob): MemoryResult {
  const startedMs = performance.now();
  const run = new BenchRun({ validators, crypto: 'sim', memo, txs: 1, seed: '1' });
  let heights = 0;
  while (run.world.deliveries < deliveries) run.runTo(++heights);
  return {
    validators,
    heights,
    deliveries: run.world.deliveries,
    peakBytes: process.resourceUsage().maxRSS * 1024, // Node gives kilobytes everywhere
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
  };
}

export const measureMemory = (job: MemoryJob['memory'], options: WorkerOptions = {}): Promise<MemoryResult> =>
  withWorkers(1, { ...options, flags: FLAGS }, ([worker]) => (worker as Worker).memory({ memory: job }));

export const memoryLine = (result: MemoryResult): string => {
  const { validators, heights, deliveries, peakBytes, heapLimitBytes, seconds } = result;
  return (
    `${validators} validators, ${grouped(deliveries)} deliveries (${counted(heights, 'height')}, ${seconds} s): ` +
    `${bytesName(peakBytes)} of memory at most, ${bytesName(heapLimitBytes)} of heap allowed`
  );
};
