// What is left of a temporary network when its command ends.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leftOf, openNetwork } from '../../../runtime/cli/cluster/run.ts';
import { EXIT } from '../../../runtime/cli/usage.ts';
import * as home from '../../../runtime/host/home/home.ts';

vi.mock('../../../runtime/host/home/home.ts', { spy: true });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rehearsal-network-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

test.each([
  ['holds', EXIT.holds, [5n, 5n], false],
  ['found no port', EXIT.usage, [0n, 0n], false],
  ['lost a folder on its way', EXIT.usage, [5n, 0n], true],
  ['broke a promise', EXIT.violated, [5n, 5n], true],
  ['was interrupted before a block', EXIT.violated, [0n, 0n], true],
] as const)('one that %s', (_, exit, heights, isKept) => {
  const nodes = heights.map((height) => ({ height }));
  const network = { folder, homes: ['node0', 'node1'], isTemporary: true, about: [] };
  const said = leftOf(network, nodes, exit);
  expect([said !== null, existsSync(folder)]).toEqual([isKept, isKept]);
  if (isKept) expect(said).toContain(`${folder} (keys, logs and blocks of each node)`);
});

test('a folder that somebody named stays, and he knows where it is', () => {
  const network = { folder, homes: ['node0'], isTemporary: false, about: [] };
  for (const exit of Object.values(EXIT)) expect(leftOf(network, [{ height: 0n }], exit)).toBeNull();
  expect(existsSync(folder)).toBe(true);
});

test('one that cannot be made leaves nothing', async () => {
  vi.stubEnv('TMPDIR', folder);
  vi.mocked(home.makeHomes).mockImplementationOnce((network) => {
    writeFileSync(join(network, 'node0'), '');
    throw new Error('the disk is full');
  });
  await expect(openNetwork(2, {})).rejects.toThrow('the disk is full');
  expect(readdirSync(folder)).toEqual([]);
});
