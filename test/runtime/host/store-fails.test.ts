// A database whose disk fails: it says so, answers nothing more, and can still be closed.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { bytesOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from './folders.ts';

vi.mock('lmdb', async (original) => {
  const real = await original<typeof import('lmdb')>();
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  const failing = () => Promise.reject(Object.assign(new Error('failed'), { commitError: full }));
  const open = (...args: Parameters<typeof real.open>): object => {
    const database = real.open(...args);
    return new Proxy(database, {
      get(_, name) {
        if (name === 'batch') return failing;
        const value: unknown = Reflect.get(database, name, database);
        return typeof value === 'function' ? value.bind(database) : value;
      },
    });
  };
  return { ...real, open };
});

const put = { key: bytesOf('k'), value: bytesOf('v'), remove: false };

it('is told once, with what to do, and nothing is answered any more', async () => {
  const told: string[] = [];
  const store = openStore(join(temporaryFolder(), 'x.db'), { onFatal: (error) => told.push(error.message) });
  let answers = 0;
  store.write([put], () => answers++);
  await vi.waitFor(() => expect(told).toHaveLength(1));
  store.write([], () => answers++);
  await sleep(30);
  expect(told).toEqual([expect.stringMatching(/cannot write the database .*the disk is full/)]);
  expect(answers).toBe(0);
  await store.close();
});

it('can be closed while it fails', async () => {
  const told: string[] = [];
  const store = openStore(join(temporaryFolder(), 'x.db'), { onFatal: (error) => told.push(error.message) });
  store.write([put], () => undefined);
  await store.close();
  expect(told).toHaveLength(1);
});
