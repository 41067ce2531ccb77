// What only lmdb can show: when a batch is durable, which state a crashed database opens at, bad files.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { bytesOf, textOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from './folders.ts';

const disk = vi.hoisted(() => ({
  /** While true, lmdb's `flushed` waits for `release`. */
  held: false,
  release: null as (() => void) | null,
}));

vi.mock('lmdb', async (original) => {
  const real = await original<typeof import('lmdb')>();
  const open = (...args: Parameters<typeof real.open>) => {
    const database = real.open(...args);
    const flushed = async () => {
      await database.flushed;
      if (disk.held) await new Promise<void>((done) => Object.assign(disk, { release: done }));
    };
    return new Proxy(database, {
      get: (target, name) => {
        if (name === 'flushed') return flushed();
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  return { ...real, open };
});

const put = (key: string, value: string) => ({ key: bytesOf(key), value: bytesOf(value), remove: false });
const FROM = new Uint8Array(0);

beforeEach(() => {
  disk.held = false;
  disk.release = null;
});

/** lmdb has flushed, but holds the news back. */
const held = () => vi.waitFor(() => expect(disk.release).not.toBeNull(), { timeout: 10_000, interval: 1 });

describe('durable', () => {
  test('a committed batch is not durable before lmdb has flushed it, but can be read', async () => {
    const store = openStore(join(temporaryFolder(), 'x.db'));
    disk.held = true;
    let flushed = 0;
    store.write([put('a', '1')], () => flushed++);
    await held();
    await sleep(20);
    expect(flushed).toBe(0);
    expect(textOf(store.get(bytesOf('a'))!)).toBe('1');
    disk.held = false;
    disk.release!();
    await vi.waitFor(() => expect(flushed).toBe(1));
    await store.close();
  });

  test('batches written while another is on its way are read at once, and answered after it', async () => {
    const store = openStore(join(temporaryFolder(), 'x.db'));
    disk.held = true;
    const order: string[] = [];
    store.write([put('a', '1')], () => order.push('a'));
    await held();
    store.write([put('a', '2'), put('b', '2')], () => order.push('b'));
    store.write([{ key: bytesOf('a'), value: FROM, remove: true }], () => order.push('c'));
    disk.held = false;
    const read = () => store.range(FROM, FROM, 10).map(({ key, value }) => `${textOf(key)}=${textOf(value)}`);
    expect(read()).toEqual(['b=2']);
    store.write([put('d', '3')], () => order.push('d'));
    disk.release!();
    while (order.length < 4) {
      expect(read()).toEqual(['b=2', 'd=3']);
      await new Promise((done) => setImmediate(done));
    }
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    expect(read()).toEqual(['b=2', 'd=3']);
    await store.close();
  });
});

/**
 * lmdb-js keeps three heads: two that alternate with commits (at 40 and 4136 of the file), and that of the
 * last flushed commit in the second half of page 0. A power cut between commit and flush leaves the third one old.
 */
const FLUSHED_HEAD = { from: 2048, to: 4096 };

test('a database whose last commit was never flushed opens at the one before', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'x.db');
  const data = join(path, 'data.mdb');
  const store = openStore(path);
  const flushed = (key: string) => new Promise<void>((done) => store.write([put(key, key)], done));
  await flushed('first');
  const before = fs.readFileSync(data);
  await flushed('second');
  const after = fs.readFileSync(data);
  await store.close();

  const cut = Buffer.from(after);
  before.copy(cut, FLUSHED_HEAD.from, FLUSHED_HEAD.from, FLUSHED_HEAD.to);
  for (const [name, content, keys] of [
    ['whole', after, ['first', 'second']],
    ['cut', cut, ['first']],
  ] as const) {
    const copy = join(folder, name);
    fs.mkdirSync(copy);
    fs.writeFileSync(join(copy, 'data.mdb'), content);
    const found = openStore(copy);
    expect(found.range(FROM, FROM, 10).map(({ key }) => textOf(key))).toEqual(keys);
    await new Promise<void>((done) => found.write([put('third', 'x')], done));
    expect(found.range(FROM, FROM, 10).map(({ key }) => textOf(key))).toEqual([...keys, 'third']);
    await found.close();
  }
});

describe('bad input', () => {
  test('a path that is a file: the error names it', () => {
    const path = join(temporaryFolder(), 'file');
    fs.writeFileSync(path, '');
    expect(() => openStore(join(path, 'x.db'))).toThrow(
      /cannot make the folder .*file\/x\.db.*a file, not a folder/,
    );
  });
  test('a file that is no database, or of another version: the error names it', async () => {
    const path = join(temporaryFolder(), 'x.db');
    const data = join(path, 'data.mdb');
    await openStore(path).close();
    const other = fs.readFileSync(data);
    other.writeUInt32LE(999, 28);
    for (const content of ['x'.repeat(10_000), 'x', Buffer.alloc(20_000), other]) {
      fs.writeFileSync(data, content);
      expect(() => openStore(path)).toThrow(`${data} is not an LMDB database`);
    }
    fs.writeFileSync(data, '');
    await openStore(path).close();
  });
  test('a folder where a file belongs: the error says so', () => {
    for (const name of ['lock.mdb', 'data.mdb']) {
      const path = join(temporaryFolder(), 'x.db');
      fs.mkdirSync(join(path, name), { recursive: true });
      expect(() => openStore(path)).toThrow(/cannot open the database .*: it is a folder; name a file/);
    }
  });
  test('a key too long, or empty, is a bug', async () => {
    const store = openStore(join(temporaryFolder(), 'x.db'));
    for (const length of [0, 1979]) {
      const key = new Uint8Array(length);
      expect(() => store.write([{ key, value: FROM, remove: false }])).toThrow(/a key has 1 to 1978 bytes/);
    }
    await store.close();
  });
});
