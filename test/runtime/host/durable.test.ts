// What reaches the disk, and in which order: the calls that a power cut would tell apart, which the death of a process does not.

import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { writeFileAtomic } from '../../../runtime/host/disk/files.ts';
import { lockFolder } from '../../../runtime/host/disk/lock.ts';
import { type HostLog, openLog } from '../../../runtime/host/disk/log.ts';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { bytesOf, textsOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from './folders.ts';

const disk = vi.hoisted(() => ({
  calls: [] as string[],
  /** The system may write less than it is given. */
  writesLittle: false,
  atRename: null as ((from: string) => void) | null,
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const nameOf = (path: string): string => basename(path).replace(/\.[0-9]+\.tmp$/, '.tmp');
  const nameAt = (file: number): string => nameOf(real.readlinkSync(`/proc/self/fd/${file}`));
  const little = (length: number, most: number): number =>
    disk.writesLittle ? Math.min(length, most) : length;
  const watched = {
    openSync(path: string, flags: string | number, mode?: number) {
      if (flags === 'w') disk.calls.push(`open ${nameOf(path)} ${(mode ?? 0o666).toString(8)}`);
      return real.openSync(path, flags, mode);
    },
    writeSync(file: number, bytes: Uint8Array, at = 0, length = bytes.length - at, position?: number | null) {
      return real.writeSync(file, bytes, at, little(length, 3), position);
    },
    write(
      file: number,
      bytes: Uint8Array,
      at: number,
      length: number,
      position: number | null,
      done: (error: Error | null, written: number) => void,
    ) {
      real.write(file, bytes, at, little(length, 70_000), position, done);
    },
    fsyncSync(file: number) {
      disk.calls.push(`fsync ${nameAt(file)}`);
      real.fsyncSync(file);
    },
    fdatasyncSync(file: number) {
      disk.calls.push(`fdatasync ${nameAt(file)}`);
      real.fdatasyncSync(file);
    },
    fdatasync(file: number, done: (error: Error | null) => void) {
      disk.calls.push(`fdatasync ${nameAt(file)}`);
      real.fdatasync(file, done);
    },
    fsync(file: number, done: (error: Error | null) => void) {
      disk.calls.push(`fsync ${nameAt(file)}`);
      real.fsync(file, done);
    },
    renameSync(from: string, to: string) {
      disk.calls.push(`rename ${nameOf(from)} ${nameOf(to)}`);
      disk.atRename?.(from);
      real.renameSync(from, to);
    },
  };
  return { ...real, ...watched, default: { ...real, ...watched } };
});

beforeEach(() => {
  disk.calls.length = 0;
  disk.writesLittle = false;
  disk.atRename = null;
});

const isLinux = process.platform === 'linux';
if (!isLinux) console.log('skipped: the calls of files are told by /proc, which only Linux has');
const synced = (log: HostLog) => new Promise<void>((done) => log.sync(done));

describe.skipIf(!isLinux)('a file that takes the place of another', () => {
  it('is durable before it has its name, and nobody else may read it meanwhile', () => {
    const folder = temporaryFolder();
    writeFileAtomic(join(folder, 'key'), 'secret', 0o600);
    expect(disk.calls).toEqual([
      'open key.tmp 600',
      'fsync key.tmp',
      'rename key.tmp key',
      `fsync ${basename(folder)}`,
    ]);
  });

  it('is whole, however little the system writes at once', () => {
    disk.writesLittle = true;
    const path = join(temporaryFolder(), 'x');
    writeFileAtomic(path, 'a text longer than three bytes');
    expect(fs.readFileSync(path, 'utf8')).toBe('a text longer than three bytes');
  });
});

describe.skipIf(!isLinux)('a folder in use', () => {
  /** The first process of the system: it lives, and is not ours. */
  function first(): string {
    const stat = fs.readFileSync('/proc/1/stat', 'utf8');
    return `1 ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  }

  it('stays so when its process is somebody else’s', async () => {
    const folder = temporaryFolder();
    fs.writeFileSync(join(folder, 'LOCK'), first());
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    try {
      await expect(lockFolder(folder)).rejects.toThrow(/in use by process 1/);
    } finally {
      kill.mockRestore();
    }
  });

  it('stays so when it was taken as the lock of a dead one was put aside', async () => {
    const folder = temporaryFolder();
    const lock = join(folder, 'LOCK');
    fs.writeFileSync(lock, '999999999 1');
    disk.atRename = (from) => {
      if (from !== lock) return;
      disk.atRename = null;
      fs.writeFileSync(lock, first());
    };
    await expect(lockFolder(folder)).rejects.toThrow(/in use by process 1/);
    expect(fs.readFileSync(lock, 'utf8')).toBe(first());
  });
});

describe.skipIf(!isLinux)('a log', () => {
  it('makes durable what it finds, before anybody builds on it', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.log');
    const log = openLog(path);
    log.append(bytesOf('a'));
    await log.close();
    disk.calls.length = 0;
    const again = openLog(path);
    // Its content, its mark, and its name.
    expect(disk.calls).toEqual(['fdatasync x.log', 'fsync x.log.synced', `fsync ${basename(folder)}`]);
    await again.close();
  });

  it('has a mark, for good, before anything is appended: without one, all that stands in it is durable', async () => {
    const folder = temporaryFolder();
    const log = openLog(join(folder, 'x.log'));
    expect(disk.calls).toEqual(['fdatasync x.log', 'fsync x.log.synced', `fsync ${basename(folder)}`]);
    await log.close();
  });

  it('is durable before its mark goes', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    for (let i = 0; i < 300; i++) log.append(new Uint8Array(10_000));
    await Promise.resolve(); // written, and not synced
    expect(fs.statSync(path).size).toBeGreaterThan(3_000_000);
    disk.calls.length = 0;
    log.trim(10);
    await synced(log);
    expect(disk.calls.slice(0, 2)).toEqual(['fsync x.log.new', 'fdatasync x.log']);
    await log.close();
  });

  it('has every record, however little the system writes at once', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    disk.writesLittle = true;
    log.append(bytesOf('first'));
    log.append(bytesOf('second'));
    await log.close();
    const again = openLog(path);
    expect(textsOf(again.read())).toEqual(['first', 'second']);
    await again.close();
  });

  it('is rewritten durably, without a mark of the other file, and leaves no file open', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.log');
    const log = openLog(path);
    disk.writesLittle = true;
    const open = (): number => fs.readdirSync('/proc/self/fd').length;
    const before = open();
    let hadMark: boolean | null = null;
    disk.atRename = () => {
      hadMark = fs.existsSync(`${path}.synced`);
    };
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 300; i++) log.append(new Uint8Array(10_000).fill(i));
      disk.calls.length = 0;
      log.trim(10);
      await synced(log);
    }
    const ofFolder = `fsync ${basename(folder)}`;
    expect(disk.calls).toEqual([
      ...['fsync x.log.new', ofFolder, 'rename x.log.new x.log', ofFolder],
      ...['fsync x.log.synced', ofFolder],
    ]);
    expect([hadMark, open(), fs.existsSync(`${path}.synced`)]).toEqual([false, before, true]);
    await log.close();
    const again = openLog(path);
    expect(again.read()).toHaveLength(10);
    await again.close();
  });
});

it.skipIf(!isLinux)('a new database is in its folder for good', async () => {
  const folder = temporaryFolder();
  const store = openStore(join(folder, 'x.db'));
  expect(disk.calls).toEqual(['fsync x.db', `fsync ${basename(folder)}`]);
  await store.close();
});
