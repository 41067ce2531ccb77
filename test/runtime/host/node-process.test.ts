// The process of one node, from its first line on: without the cluster that started it it does not stay.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeHomes } from '../../../runtime/host/home.ts';
import { temporaryFolder } from './folders.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ENTRY = join(ROOT, 'runtime/host/node-process.ts');

function node(home: string, stdio: 'ipc' | 'ignore'): ChildProcess {
  const started = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', ENTRY, '--home', home], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit', stdio],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started;
}

const ended = (started: ChildProcess): Promise<'ended'> =>
  new Promise((done) => started.once('close', () => done('ended')));

test('a node whose cluster died before its first line, or a little later, ends', async () => {
  const homes = makeHomes(join(temporaryFolder(), 'net'), [0, 0, 0, 0, 0]);
  const ends = homes.map(async (home, i) => {
    const started = node(home, 'ipc');
    const end = ended(started);
    await sleep(i * 200);
    started.disconnect();
    return Promise.race([end, sleep(20_000, 'goes on')]);
  });
  expect(await Promise.all(ends)).toEqual(homes.map(() => 'ended'));
});

test('a node that was started by hand needs no cluster', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const started = node(home, 'ignore');
  const end = ended(started);
  await new Promise((said) => started.stdout?.once('data', said));
  expect(await Promise.race([end, sleep(500, 'goes on')])).toBe('goes on');
  started.kill('SIGTERM');
  expect(await end).toBe('ended');
});
