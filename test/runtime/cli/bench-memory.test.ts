import { join } from 'node:path';
import { expect, it } from 'vitest';
import { measureMemory, memoryLine } from '../../../runtime/cli/bench/memory.ts';
import { isBuilt, root } from './nodecli.ts';

it.skipIf(!isBuilt)('a network in a process of its own says what it took', async () => {
  const options = { dist: join(root, 'dist') };
  const found = await measureMemory({ validators: 5, deliveries: 2_000, memo: true }, options);
  expect(found).toMatchObject({ validators: 5 });
  expect(found.deliveries).toBeGreaterThanOrEqual(2_000);
  expect(found.heights).toBeGreaterThan(5);
  // Node itself takes more than 30 MB; kilobytes taken for bytes would be below that.
  expect(found.peakBytes).toBeGreaterThan(30e6);
  expect(found.peakBytes).toBeLessThan(2e9);
  // The limit was heard: V8 adds the young generation to it.
  expect(found.heapLimitBytes).toBeGreaterThanOrEqual(200 * 2 ** 20);
  expect(found.heapLimitBytes).toBeLessThan(250 * 2 ** 20);
  expect(memoryLine(found)).toMatch(
    /^5 validators, 2,\d{3} deliveries \(\d+ heights, [\d.]+ s\): [\d.]+ MB of memory at most, 2\d\d(\.\d)? MB of heap allowed$/,
  );
});
