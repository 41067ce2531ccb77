// A database whose disk fails: it says so, answers nothing more, and can still be closed.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { bytesOf } from '../../compliance/bytes.ts';
import { child, filesUpTo, hasFileLimits, temporaryFolder } from './folders.ts';

/** Of the errors that lmdb gives as its reasons, as it gives them: the code is a number. */
const reasons: Error[] = [];
/** Given instead when something is read after a commit that went well, as far as lmdb said. */
let panic: Error | null = null;
vi.mock('lmdb', async (original) => {
  const real = await original<typeof import('lmdb')>();
  const failing = () => {
    const commitError = new Promise((_, reject) => {
      const reason = reasons[0];
      if (reason) setImmediate(() => reject(reason));
    });
    return Promise.reject(Object.assign(new Error('Commit failed'), { commitError }));
  };
  const open = (...args: Parameters<typeof real.open>): object => {
    const database = real.open(...args);
    return new Proxy(database, {
      get(_, name) {
        if (name === 'batch' && panic === null) return failing;
        if (name === 'doesExist' && panic !== null)
          return () => {
            throw panic;
          };
        if (name === 'close') return () => new Promise(() => {}); // it waits for the flush of what failed
        const value: unknown = Reflect.get(database, name, database);
        return typeof value === 'function' ? value.bind(database) : value;
      },
    });
  };
  return { ...real, open };
});

const NO_SPACE = Object.assign(new Error('No space left on device'), { code: 28 });
const IO = Object.assign(new Error('Input/output error'), { code: 5 });
const put = { key: bytesOf('k'), value: bytesOf('v'), remove: false };

it('is told once, with what to do, and nothing is answered any more', async () => {
  reasons[0] = NO_SPACE;
  const told: string[] = [];
  const store = openStore(join(temporaryFolder(), 'x.db'), { onFatal: (error) => told.push(error.message) });
  let answers = 0;
  store.write([put], () => answers++);
  await vi.waitFor(() => expect(told).toHaveLength(1));
  store.write([], () => answers++);
  await sleep(30);
  expect(told).toEqual([expect.stringMatching(/cannot write the database .*the disk is full.*\(ENOSPC\)/)]);
  expect(answers).toBe(0);
  await store.close();
});

it('is told when the head of what was committed could not be written, which lmdb says to the next reader alone', async () => {
  panic = new Error('MDB_PANIC: Update of meta page failed or environment had fatal error');
  onTestFinished(() => {
    panic = null;
  });
  const told: string[] = [];
  const store = openStore(join(temporaryFolder(), 'x.db'), { onFatal: (error) => told.push(error.message) });
  let answers = 0;
  store.write([put], () => answers++);
  await vi.waitFor(() => expect(told).toHaveLength(1));
  expect(told).toEqual([expect.stringMatching(/cannot write the database .*x\.db.*: MDB_PANIC/)]);
  await sleep(30);
  expect(answers).toBe(0);
});

it('can be closed while it fails', async () => {
  reasons[0] = IO;
  const told: string[] = [];
  const store = openStore(join(temporaryFolder(), 'x.db'), { onFatal: (error) => told.push(error.message) });
  store.write([put], () => undefined);
  await store.close();
  expect(told).toEqual([expect.stringMatching(/x\.db \(is its disk full\?\): the disk failed; .*\(EIO\)/)]);
});

it('is told also where lmdb never says why', async () => {
  reasons.length = 0;
  const told: string[] = [];
  const store = openStore(join(temporaryFolder(), 'x.db'), { onFatal: (error) => told.push(error.message) });
  store.write([put], () => undefined);
  await store.close();
  expect(told).toEqual([expect.stringMatching(/cannot write the database .*x\.db: Commit failed/)]);
});

it.skipIf(!hasFileLimits)(
  'a real file that cannot grow (needs sh with ulimit -f) fails in the same way',
  async () => {
    const { lines, ended, process } = child('full-store.ts', filesUpTo(400), join(temporaryFolder(), 'x.db'));
    await ended;
    expect(lines).toEqual([
      expect.stringMatching(/^failed: cannot write the database .*x\.db.*: .* \(E[A-Z]+\)$/),
      'closed',
    ]);
    expect(process.exitCode).toBe(0);
  },
);
