// The process of one node, from its first line on: without the cluster that started it it does not stay.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeHomes, usualPaths } from '../../../runtime/host/home/home.ts';
import { NODE_EXIT } from '../../../runtime/host/process/process-words.ts';
import { child, temporaryFolder } from './folders.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ENTRY = join(ROOT, 'runtime/host/process/node-process.ts');

function node(home: string, stdio: 'ipc' | 'ignore', errors: 'inherit' | 'pipe' = 'inherit'): ChildProcess {
  const started = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', ENTRY, '--home', home], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', errors, stdio],
    serialization: 'advanced',
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started;
}

const ended = (started: ChildProcess): Promise<'ended'> =>
  new Promise((done) => started.once('exit', () => done('ended')));

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

test('a node whose chain has not begun waits for the time that its genesis names, and ends when it is told to', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const { genesis } = usualPaths(home);
  const beginsAt = (ms: number): void => {
    const document = JSON.parse(readFileSync(genesis, 'utf8'));
    writeFileSync(genesis, JSON.stringify({ ...document, genesis_time: new Date(ms).toISOString() }));
  };
  beginsAt(Date.now() + 3_600_000);
  const early = node(home, 'ipc');
  const end = ended(early);
  await new Promise<void>((waits) =>
    early.stdout?.on('data', (text) => {
      if (String(text).includes('waits until its chain begins')) waits();
    }),
  );
  early.send({ type: 'stop' });
  expect(await end).toBe('ended');
  const beginsMs = Date.now() + 10_000;
  beginsAt(beginsMs);
  const late = node(home, 'ipc');
  let said = '';
  late.stdout?.on('data', (text) => {
    said += text;
  });
  await new Promise<void>((isUp) =>
    late.on('message', (word: { type: string }) => {
      if (word.type === 'up') isUp();
    }),
  );
  expect(Date.now()).toBeGreaterThanOrEqual(beginsMs);
  expect(said).toContain('waits until its chain begins');
  late.kill('SIGKILL');
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

test('a node that cannot stop in order tells its cluster why, and not only the screen', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const { signState } = usualPaths(home);
  const started = node(home, 'ipc', 'pipe');
  const end = ended(started);
  const words: { type: string; because?: string }[] = [];
  await new Promise<void>((hasSigned) =>
    started.on('message', (word: (typeof words)[number]) => {
      words.push(word);
      if (word.type === 'committed') hasSigned();
    }),
  );
  rmSync(signState);
  mkdirSync(signState);
  started.send({ type: 'stop' });
  expect(await end).toBe('ended');
  expect(started.exitCode).toBe(NODE_EXIT.refused);
  expect(words.find(({ type }) => type === 'fatal')).toEqual({
    type: 'fatal',
    because: expect.stringContaining(`cannot write ${signState}: it is a folder`),
    isTaken: false,
  });
});

test('a node that is told to stop while it begins, and then cannot begin, ends as one that was refused', async () => {
  const { lines, ended, process: late } = child('refused-late.ts');
  await ended;
  expect([lines, late.exitCode]).toEqual([
    ['asked to stop', 'refused: the port is in use'],
    NODE_EXIT.refused,
  ]);
});
