// The trace that outlives a killed node: torn ends, rot, full disks, files of others.

import everyFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { crc32c } from '../../../protocol/crc32c.ts';
import { Writer } from '../../../protocol/words.ts';
import { bootNow, UNKNOWN } from '../../../runtime/host/disk/boot.ts';
import { SetupError, TakenError } from '../../../runtime/host/disk/files.ts';
import { openRecorder } from '../../../runtime/host/disk/recorder.ts';
import { TraceReader } from '../../../runtime/kernel/trace.ts';
import { temporaryFolder } from './folders.ts';

describe('the recorder', () => {
  const NODE = { id: 'n', name: 'node0' };
  const digest = new Uint8Array(32).fill(7);
  const stop = (name: string): Uint8Array => {
    const writer = new Writer(64);
    writer.u8(3);
    writer.text(name);
    return writer.peek().slice();
  };
  const read = (path: string): number => {
    const reader = new TraceReader();
    const items = [...reader.push(fs.readFileSync(path))];
    expect(reader.end()).toBe(null);
    expect(items.every((item) => 'kind' in item)).toBe(true);
    return items.length;
  };

  test('a new life goes on in the same file, behind the last whole record', () => {
    const path = join(temporaryFolder(), 'traces', 'node0.trace');
    const first = openRecorder(path, NODE, 'c', 'h');
    for (let i = 0; i < 10; i++) first.write(stop(`actor ${i}`), digest);
    expect(first.records).toBe(11);
    first.close();
    const whole = fs.readFileSync(path);
    for (const cut of [whole.length, whole.length - 1, whole.length - 9, whole.length - 30]) {
      fs.writeFileSync(path, whole.subarray(0, cut));
      const next = openRecorder(path, NODE, 'c', 'h');
      const kept = next.records;
      next.write(stop('more'), digest);
      next.close();
      expect(read(path)).toBe(kept); // the header is no record of a turn, and one was added
    }
  });

  test('a tail of zeros, as a power failure leaves it, is cut, and a replay reads what comes next', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const first = openRecorder(path, NODE, 'c', 'h');
    for (let i = 0; i < 3; i++) first.write(stop(`actor ${i}`), digest);
    first.close();
    const whole = fs.readFileSync(path);
    for (const zeros of [1, 8, 9, 64, 5000, 3 << 20]) {
      fs.writeFileSync(path, Buffer.concat([whole, Buffer.alloc(zeros)]));
      const cuts: [number, number][] = [];
      const next = openRecorder(path, NODE, 'c', 'h', (cut) => cuts.push([cut.offset, cut.bytesCut]));
      expect([cuts, next.records]).toEqual([[[whole.length, zeros]], 4]);
      next.write(stop('more'), digest);
      next.close();
      expect(read(path)).toBe(4);
    }
  });

  test('damage with whole records behind it is refused, and stays as it is; a torn last record is cut', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const first = openRecorder(path, NODE, 'c', 'h');
    const ends: number[] = [];
    for (let i = 0; i < 4; i++) {
      first.write(stop(`actor ${i} ${'x'.repeat(i * 700_000)}`), digest);
      ends.push(fs.statSync(path).size);
    }
    first.close();
    fs.rmSync(`${path}.mark`, { force: true }); // as of a boot before: what it says would be believed
    const whole = fs.readFileSync(path);
    for (const [at, harm] of [
      [ends[0]! + 1, 1], // its length
      [ends[0]! + 6, 0xff], // its checksum
      [ends[1]! + 500_000, 0x10],
    ] as const) {
      const rotten = Buffer.from(whole);
      rotten[at]! ^= harm;
      fs.writeFileSync(path, rotten);
      const refused = () => openRecorder(path, NODE, 'c', 'h');
      expect(refused).toThrow(
        /node0\.trace is damaged at byte \d+, and whole records .* record to another folder/,
      );
      expect(refused).toThrow(SetupError);
      expect(fs.readFileSync(path).equals(rotten)).toBe(true);
    }
    const rotten = Buffer.from(whole);
    rotten[ends[2]! + 900_000]! ^= 1;
    fs.writeFileSync(path, rotten);
    const cuts: number[] = [];
    openRecorder(path, NODE, 'c', 'h', ({ bytesCut }) => cuts.push(bytesCut)).close();
    expect(cuts).toEqual([whole.length - ends[2]!]);
    expect(read(path)).toBe(3);
  });

  /** What `open` reads of the trace. */
  const bytesReadBy = (open: () => void): number => {
    let bytes = 0;
    const { readSync } = everyFs;
    const spy = vi.spyOn(everyFs, 'readSync').mockImplementation(((...args: Parameters<typeof readSync>) => {
      const got = readSync(...args);
      bytes += got;
      return got;
    }) as typeof readSync);
    syncBuiltinESMExports();
    try {
      open();
    } finally {
      spy.mockRestore();
      syncBuiltinESMExports();
    }
    return bytes;
  };

  const longTrace = (): { path: string; whole: Buffer } => {
    const path = join(temporaryFolder(), 'node0.trace');
    const first = openRecorder(path, NODE, 'c', 'h');
    for (let i = 0; i < 160; i++) first.write(stop(`actor ${i} ${'x'.repeat(100_000)}`), digest);
    // Not closed, as a killed node leaves it.
    return { path, whole: fs.readFileSync(path) };
  };

  /** There is no telling boots apart but on Linux, and no mark. */
  const marked = test.skipIf(bootNow() === UNKNOWN);

  marked('what a killed node recorded is not read again: a mark says up to where it is whole', () => {
    const { path, whole } = longTrace();
    const mark = fs.readFileSync(`${path}.mark`);
    for (const cut of [0, 1, 50_000, 250_000]) {
      fs.writeFileSync(path, whole.subarray(0, whole.length - cut));
      fs.writeFileSync(`${path}.mark`, mark);
      let records = 0;
      const readBytes = bytesReadBy(() => {
        const next = openRecorder(path, NODE, 'c', 'h');
        records = next.records;
        next.write(stop('more'), digest);
      });
      expect(readBytes).toBeLessThan(4_000_000);
      expect(records).toBe(161 - Math.ceil(cut / 100_050));
      expect(read(path)).toBe(records);
    }
  });

  /** With the checksum that belongs to it: only the boot is another. */
  const ofBoot = (boot: string, mark: string): string => {
    const text = [boot, ...mark.split(' ').slice(1, -1)].join(' ');
    return `${text} ${crc32c(new TextEncoder().encode(text))}\n`;
  };

  marked('this boot is told as its mark tells it', () => {
    const { path } = longTrace();
    const mark = fs.readFileSync(`${path}.mark`, 'latin1');
    expect(ofBoot(bootNow(), mark)).toBe(mark);
  });

  marked('however short lives are', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const bytes: number[] = [];
    for (let life = 0; life < 20; life++) {
      bytes.push(
        bytesReadBy(() => {
          const next = openRecorder(path, NODE, 'c', 'h');
          expect(next.records).toBe(1 + 6 * life);
          for (let i = 0; i < 6; i++) next.write(stop('x'.repeat(100_000)), digest);
        }),
      );
    }
    expect(Math.max(...bytes)).toBeLessThan(2_500_000);
  });

  marked('a mark that an older file of this name left is gone', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const older = openRecorder(path, NODE, 'c', 'h');
    for (const bytes of [100, 50]) older.write(stop('x'.repeat(bytes)), digest);
    older.close();
    fs.rmSync(path);
    const newer = openRecorder(path, NODE, 'c', 'h');
    for (const bytes of [38, 33, 50, 1]) newer.write(stop('x'.repeat(bytes)), digest);
    expect(openRecorder(path, NODE, 'c', 'h').records).toBe(5);
  });

  marked.each([
    ['another boot', (mark: string) => ofBoot('00000000-0000-0000-0000-000000000000', mark)],
    ['a line that was torn', (mark: string) => mark.slice(0, -3)],
    ['one digit more', (mark: string) => mark.replace(/^(\S+) /, '$1 1')],
    ['nothing', () => ''],
  ])('a mark of %s is not believed: all is read', (_what, other) => {
    const { path, whole } = longTrace();
    fs.writeFileSync(`${path}.mark`, other(fs.readFileSync(`${path}.mark`, 'latin1')));
    const rotten = Buffer.from(whole);
    rotten[3_000_000]! ^= 1;
    fs.writeFileSync(path, rotten);
    expect(() => openRecorder(path, NODE, 'c', 'h')).toThrow(/damaged at byte 2\d+/);
  });

  marked('a mark beside another trace of this node is not believed', () => {
    const { path } = longTrace();
    const mark = fs.readFileSync(`${path}.mark`);
    const other = join(temporaryFolder(), 'node0.trace');
    const shorter = openRecorder(other, NODE, 'c', 'h');
    for (let i = 0; i < 30_000; i++)
      shorter.write(stop(`somebody else, ${i}: ${'y'.repeat(i % 997)}`), digest);
    shorter.close();
    fs.writeFileSync(`${other}.mark`, mark);
    const next = openRecorder(other, NODE, 'c', 'h');
    expect(next.records).toBe(30_001);
    next.write(stop('more'), digest);
    next.close();
    expect(read(other)).toBe(30_001);
  });

  test('a disk that fills up is named, with what to do', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const recorder = openRecorder(path, NODE, 'c', 'h');
    const full = vi.spyOn(everyFs, 'writeSync').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      full.mockRestore();
      syncBuiltinESMExports();
    });
    const write = () => recorder.write(stop('a'), digest);
    expect(write).toThrow(/^cannot record to .*node0\.trace: the disk is full; free some space/);
    expect(write).toThrow(SetupError);
    recorder.close();
  });

  test('what a trace has no place for is refused before anything is written', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const recorder = openRecorder(path, NODE, 'c', 'h');
    const size = fs.statSync(path).size;
    const says = /^cannot record to .*: a node takes 268435441 bytes at once, .*; start it without --record$/;
    expect(() => recorder.write(new Uint8Array(256 * 1024 * 1024 - 15), digest)).toThrow(says);
    recorder.write(stop('more'), digest);
    recorder.close();
    expect([fs.statSync(path).size > size, read(path)]).toEqual([true, 1]);
  });
  test('a header that was torn is written anew', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    openRecorder(path, NODE, 'c', 'h').close();
    fs.truncateSync(path, 20);
    const next = openRecorder(path, NODE, 'c', 'h');
    next.write(stop('a'), digest);
    next.close();
    expect(read(path)).toBe(1);
  });

  test('a trace by another build is refused and stays as it is: none could replay all of it', () => {
    const path = join(temporaryFolder(), 'node0.trace');
    const first = openRecorder(path, NODE, 'c0ffee', 'h');
    first.write(stop('a'), digest);
    first.close();
    const before = fs.readFileSync(path);
    const refused = () => openRecorder(path, NODE, 'decade-dirty-1', 'h');
    expect(refused).toThrow(TakenError);
    expect(refused).toThrow(
      /node0\.trace is there .* by commit c0ffee, where this is commit decade-dirty-1, .*: record to another folder/,
    );
    expect(fs.readFileSync(path)).toEqual(before);
  });

  test("another node's trace, and a file that is none, are refused and stay as they are", () => {
    const path = join(temporaryFolder(), 'node0.trace');
    openRecorder(path, NODE, 'c', 'h').close();
    const before = fs.readFileSync(path);
    expect(() => openRecorder(path, { ...NODE, name: 'node1' }, 'c', 'h')).toThrow(
      /is not a trace of this node/,
    );
    expect(fs.readFileSync(path)).toEqual(before);
    fs.writeFileSync(path, 'a letter to my mother, which is longer than a frame of eight bytes');
    expect(() => openRecorder(path, NODE, 'c', 'h')).toThrow(/is not a trace of this node/);
    expect(fs.readFileSync(path, 'utf8')).toMatch(/^a letter/);
  });
});
