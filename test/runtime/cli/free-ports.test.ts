// Ports that are held are nobody else's.

import { expect, test } from 'vitest';
import { drawnPort, holdPorts } from '../../../runtime/cli/free-ports.ts';

test('two networks that look from one port on find different ones; what was let go is free again', async () => {
  const first = drawnPort();
  const one = await holdPorts(first, 4);
  const other = await holdPorts(first, 4);
  expect(new Set([...one.ports, ...other.ports]).size).toBe(8);
  await Promise.all([one.free(), other.free()]);
  const again = await holdPorts(first, 4);
  expect(again.ports).toEqual(one.ports);
  await again.free();
});

test('where to look is drawn anew each time, below what the system lends', () => {
  const drawn = Array.from({ length: 20 }, drawnPort);
  expect(new Set(drawn).size).toBeGreaterThan(10);
  expect(Math.max(...drawn)).toBeLessThan(32_768 - 64);
});
