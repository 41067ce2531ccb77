// Oracles that watch a long run keep what they compare, and not the buffers that it came in.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { BenchRun } from '../../../runtime/cli/bench/world.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** The stores of four nodes take 7.4 kB of buffers a height; one slab of 16 KiB that somebody keeps would be three times that. */
const BYTES_A_HEIGHT = 15_000;

it('a height costs the buffers of its stores, and no slab more', () => {
  const run = new BenchRun({ validators: 4, crypto: 'sim', memo: true, txs: 1, seed: '1' });
  const buffersAt = (height: number): number => {
    run.runTo(height);
    collect();
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = buffersAt(300);
  expect((buffersAt(600) - before) / 300).toBeLessThan(BYTES_A_HEIGHT);
});
