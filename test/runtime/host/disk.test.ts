// A log on a disk that the test holds by the hand: when fsync answers, and what happens when it fails.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { openLog } from '../../../runtime/host/disk/log.ts';
import { bytesOf, textsOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from './folders.ts';

type Answer = (error: Error | null) => void;
const disk = vi.hoisted(() => ({
  /** fdatasync calls not answered yet. */
  waiting: [] as Answer[],
  syncs: 0,
  writeError: null as Error | null,
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const fdatasync = (file: number, answer: Answer) => {
    disk.syncs++;
    real.fdatasync(file, () => disk.waiting.push(answer));
  };
  const writeSync = (...args: Parameters<typeof real.writeSync>) => {
    if (disk.writeError) throw disk.writeError;
    return real.writeSync(...args);
  };
  return { ...real, fdatasync, writeSync, default: { ...real, fdatasync, writeSync } };
});

const failure = (code: string) => Object.assign(new Error(`${code}: failed`), { code });
const begun = () => vi.waitFor(() => expect(disk.waiting).toHaveLength(1), { timeout: 10_000, interval: 1 });
/** Answers the fsync that is under way, and lets what follows from it happen. */
const answerOne = async (error: Error | null = null) => {
  await begun();
  disk.waiting.shift()!(error);
  for (let i = 0; i < 5; i++) await new Promise((done) => setImmediate(done));
};

beforeEach(() => {
  disk.waiting.length = 0;
  disk.syncs = 0;
  disk.writeError = null;
});

test('no answer before the disk has answered, and the mark only moves then', async () => {
  const path = join(temporaryFolder(), 'x.log');
  const log = openLog(path);
  let answered = false;
  log.append(bytesOf('a'));
  log.sync(() => {
    answered = true;
  });
  await begun();
  await sleep(20);
  expect(answered).toBe(false);
  expect(fs.statSync(path).size).toBe(9);
  expect(fs.readFileSync(`${path}.synced`).readBigUInt64LE()).toBe(0n);
  await answerOne();
  expect(answered).toBe(true);
  expect(fs.readFileSync(`${path}.synced`).readBigUInt64LE()).toBe(9n);
  await log.close();
});

test('one fsync serves all that asked while another was under way', async () => {
  const log = openLog(join(temporaryFolder(), 'x.log'));
  const order: number[] = [];
  const ask = (i: number) => {
    log.append(bytesOf(`${i}`));
    log.sync(() => order.push(i));
  };
  ask(0);
  await begun();
  for (let i = 1; i <= 100; i++) ask(i);
  await answerOne();
  expect(order).toEqual([0]);
  await answerOne();
  expect(order).toEqual(Array.from({ length: 101 }, (_, i) => i));
  expect(disk.syncs).toBe(2);
  await log.close();
});

test('a record appended after the fsync began is not durable by it', async () => {
  const log = openLog(join(temporaryFolder(), 'x.log'));
  const order: string[] = [];
  log.append(bytesOf('a'));
  log.sync(() => order.push('a'));
  await begun();
  log.append(bytesOf('b'));
  log.sync(() => order.push('b'));
  await answerOne();
  expect(order).toEqual(['a']);
  await answerOne();
  expect(order).toEqual(['a', 'b']);
  await log.close();
});

test('a failed fsync is fatal: told once, nothing is answered, and it is not tried again', async () => {
  const path = join(temporaryFolder(), 'x.log');
  const fatal: string[] = [];
  const log = openLog(path, { onFatal: (error) => fatal.push(error.message) });
  let answers = 0;
  log.append(bytesOf('a'));
  log.sync(() => answers++);
  await answerOne(failure('EIO'));
  log.append(bytesOf('b'));
  log.sync(() => answers++);
  await sleep(10);
  expect(fatal).toEqual([
    `cannot write the log ${path}: the disk failed; check it before starting again (EIO)`,
  ]);
  expect([answers, disk.syncs]).toEqual([0, 1]);
  await log.close();
});

test('a disk that fails as a log is closed is told, and the closing ends', async () => {
  const fatal: string[] = [];
  const path = join(temporaryFolder(), 'x.log');
  const log = openLog(path, { onFatal: (error) => fatal.push(error.message) });
  log.append(bytesOf('a'));
  const closed = log.close();
  await answerOne(failure('EIO'));
  await closed;
  expect(fatal).toEqual([expect.stringContaining('the disk failed')]);
});

test('a full disk is fatal, and what was durable is found later', async () => {
  const path = join(temporaryFolder(), 'x.log');
  const fatal: string[] = [];
  const log = openLog(path, { onFatal: (error) => fatal.push(error.message) });
  log.append(bytesOf('a'));
  log.sync(() => {});
  await answerOne();
  disk.writeError = failure('ENOSPC');
  log.append(bytesOf('b'));
  log.sync(() => {});
  await sleep(10);
  expect(fatal).toEqual([
    `cannot write the log ${path}: the disk is full; free some space and start again (ENOSPC)`,
  ]);
  await log.close();
  disk.writeError = null;
  const again = openLog(path);
  expect(textsOf(again.read())).toEqual(['a']);
  await again.close();
});
