// What only a real file can show: torn ends at every byte, rot, the mark of the synced length, rewriting.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLog, type Repair } from '../../../runtime/host/disk/log.ts';
import { bytesOf, textsOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from './folders.ts';

const FRAME = 8;
const synced = (log: { sync(done: () => void): void }) => new Promise<void>((done) => log.sync(done));
const markOf = (path: string): number => Number(fs.readFileSync(`${path}.synced`).readBigUInt64LE());

/** A closed log of these records. */
async function written(path: string, ...texts: string[]): Promise<Buffer> {
  const log = openLog(path);
  for (const text of texts) log.append(bytesOf(text));
  await log.close();
  return fs.readFileSync(path);
}

/** The log in `content`, opened as after a crash that left no mark. */
function reopened(path: string, content: Uint8Array): { texts: string[]; repairs: Repair[]; length: number } {
  fs.rmSync(`${path}.synced`, { force: true });
  fs.writeFileSync(path, content);
  const repairs: Repair[] = [];
  const log = openLog(path, { onRepair: (repair) => repairs.push(repair) });
  const texts = textsOf(log.read());
  void log.close();
  return { texts, repairs, length: fs.statSync(path).size };
}

describe('a torn end', () => {
  test('cut at every byte of the last record: the others remain, the rest is kept aside', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second', 'the last record');
    const start = content.length - FRAME - 'the last record'.length;
    for (let cut = start; cut <= content.length; cut++) {
      const { texts, repairs, length } = reopened(path, content.subarray(0, cut));
      if (cut === content.length) {
        expect(texts).toEqual(['first', 'second', 'the last record']);
        expect(repairs).toEqual([]);
        continue;
      }
      expect(texts).toEqual(['first', 'second']);
      expect(length).toBe(start);
      if (cut === start) {
        expect(repairs).toEqual([]);
        continue;
      }
      const savedAs = `${path}.torn-${cut - start}`;
      expect(repairs).toEqual([{ path, offset: start, bytesCut: cut - start, savedAs, corruption: false }]);
      expect(fs.readFileSync(savedAs).equals(content.subarray(start, cut))).toBe(true);
    }
  });

  test('every bit of the last record: a flip is found', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'abc');
    const start = content.length - FRAME - 3;
    for (let bit = start * 8; bit < content.length * 8; bit++) {
      const rotten = Buffer.from(content);
      rotten[bit >> 3]! ^= 1 << (bit & 7);
      expect(reopened(path, rotten).texts).toEqual(['first']);
    }
  });

  test('a rest of zeros, as file systems leave it, is no record', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first');
    for (const zeros of [1, 7, 8, 9, 16, 4096]) {
      const { texts, repairs } = reopened(path, Buffer.concat([content, Buffer.alloc(zeros)]));
      expect(texts).toEqual(['first']);
      expect(repairs).toHaveLength(1);
      expect(repairs[0]!.corruption).toBe(false);
    }
  });

  test('a length beyond the file is a torn end', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first');
    const { texts } = reopened(path, Buffer.concat([content, Buffer.alloc(300, 0xff)]));
    expect(texts).toEqual(['first']);
  });

  test('a file that is no log at all is emptied, and kept aside', () => {
    const path = join(temporaryFolder(), 'x.log');
    const { texts, repairs } = reopened(path, bytesOf('#!/bin/sh\necho this is not a log\n'));
    expect(texts).toEqual([]);
    expect(fs.readFileSync(repairs[0]!.savedAs, 'utf8')).toContain('not a log');
  });
});

describe('rot in the middle', () => {
  test('is cut there and reported with its place as more than a torn end', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second', 'third', 'fourth');
    const start = FRAME + 'first'.length;
    content[start + FRAME + 2]! ^= 0x10;
    const { texts, repairs } = reopened(path, content);
    expect(texts).toEqual(['first']);
    expect(repairs).toEqual([
      { path, offset: start, bytesCut: content.length - start, savedAs: `${path}.torn-1`, corruption: true },
    ]);
  });

  test('a log that must not be cut stays as it is, and the error says where and what to do', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second', 'third');
    content[FRAME + 'first'.length + FRAME]! ^= 1;
    fs.writeFileSync(path, content);
    expect(() => openLog(path, { refuseCorruption: true })).toThrow(/x\.log is damaged at byte 13/);
    expect(fs.readFileSync(path).equals(content)).toBe(true);
    expect(fs.existsSync(`${path}.torn-1`)).toBe(false);
  });

  test('without a mark all of a log was durable: whole records behind the damage are refused, a torn end is not', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second', 'third');
    const rotten = Buffer.from(content);
    rotten[FRAME + 'first'.length + FRAME]! ^= 1;
    for (const mark of [null, new Uint8Array(0), new Uint8Array(12)]) {
      fs.writeFileSync(path, rotten);
      fs.rmSync(`${path}.synced`);
      if (mark) fs.writeFileSync(`${path}.synced`, mark);
      expect(() => openLog(path, { refuseCorruption: true })).toThrow(
        /x\.log is damaged at byte 13, and whole records stand behind .*no mark .*x\.log\.synced.*may sign twice/,
      );
      expect(fs.readFileSync(path).equals(rotten)).toBe(true);
      expect(fs.existsSync(`${path}.torn-1`)).toBe(false);
      fs.writeFileSync(path, content.subarray(0, content.length - 1));
      const log = openLog(path, { refuseCorruption: true });
      expect(textsOf(log.read())).toEqual(['first', 'second']);
      await log.close();
      fs.rmSync(`${path}.torn-1`);
    }
  });

  test('what was not durable may be damaged anywhere: it is cut, and the mark stays until a new one is written', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const first = await written(path, 'first');
    const mark = fs.readFileSync(`${path}.synced`);
    const content = await written(path, 'second', 'third');
    content[first.length + FRAME]! ^= 1;
    fs.writeFileSync(path, content);
    fs.writeFileSync(`${path}.synced`, mark); // as if the power failed before the second sync
    const marks: Buffer[] = [];
    const onRepair = (): void => void marks.push(fs.readFileSync(`${path}.synced`));
    const log = openLog(path, { refuseCorruption: true, onRepair });
    expect(textsOf(log.read())).toEqual(['first']);
    expect(marks).toEqual([mark]);
    await log.close();
  });

  test('a log that lost synced records without a trace is found by its mark', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second');
    fs.writeFileSync(path, content.subarray(0, FRAME + 'first'.length));
    expect(() => openLog(path, { refuseCorruption: true })).toThrow(
      /damaged at byte 13, .*mark .*x\.log\.synced says 27 bytes, the log has 13 and is whole\)/,
    );
    const repairs: Repair[] = [];
    const log = openLog(path, { onRepair: (repair) => repairs.push(repair) });
    expect(repairs).toEqual([{ path, offset: 13, bytesCut: 0, savedAs: '', corruption: true }]);
    await log.close();
    expect(markOf(path)).toBe(13);
  });
});

describe('the mark of the synced length', () => {
  test('covers what was synced before its answer, and never more than the file', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    let expected = 0;
    for (let i = 0; i < 20; i++) {
      log.append(bytesOf('x'.repeat(i)));
      expected += FRAME + i;
      const marked = new Promise<number>((done) => log.sync(() => done(markOf(path))));
      log.append(bytesOf('not asked'));
      expected += FRAME + 9;
      const mark = await marked;
      expect(mark).toBeGreaterThanOrEqual(expected - FRAME - 9);
      expect(mark).toBeLessThanOrEqual(fs.statSync(path).size);
    }
    await log.close();
    expect(markOf(path)).toBe(expected);
  });

  test('a mark that cannot be read is no mark', async () => {
    const path = join(temporaryFolder(), 'x.log');
    await written(path, 'first');
    for (const rest of [bytesOf('rubbish'), new Uint8Array(0), new Uint8Array(12), new Uint8Array(13)]) {
      fs.writeFileSync(`${path}.synced`, rest); // empty, zeros: what a power failure leaves
      const log = openLog(path, { refuseCorruption: true });
      expect(textsOf(log.read())).toEqual(['first']);
      await log.close();
      expect(fs.statSync(`${path}.synced`).size).toBe(12);
    }
  });

  test('where nobody can say whether there is one, the log stays as it is', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second');
    fs.truncateSync(path, content.length - 1);
    fs.rmSync(`${path}.synced`);
    fs.mkdirSync(`${path}.synced`);
    expect(() => openLog(path, { refuseCorruption: true })).toThrow(/x\.log.*EISDIR/);
    expect(fs.statSync(path).size).toBe(content.length - 1);
  });

  const oldMark = (length: bigint): Buffer => {
    const mark = Buffer.alloc(8);
    mark.writeBigUInt64LE(length);
    return mark;
  };

  test('a mark of an earlier version, without a checksum, is believed', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second');
    fs.writeFileSync(`${path}.synced`, oldMark(BigInt(content.length)));
    await openLog(path, { refuseCorruption: true }).close();
    fs.writeFileSync(`${path}.synced`, oldMark(BigInt(content.length)));
    fs.truncateSync(path, content.length - 1);
    const refused = () => openLog(path, { refuseCorruption: true });
    expect(refused).toThrow(/x\.log is damaged at byte 13/);
    fs.truncateSync(path, 13); // whole, so it may be the mark that is wrong
    expect(refused).toThrow(/synced says 27 bytes, the log has 13 and is whole: .* or the mark is damaged/);
  });

  test('a damaged mark is not taken for a damaged log: the error names it, and how much there is', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second');
    const rotten = fs.readFileSync(`${path}.synced`);
    rotten[2]! ^= 0x40;
    for (const mark of [rotten, oldMark(2n ** 53n), oldMark(2n ** 64n - 1n)]) {
      fs.writeFileSync(`${path}.synced`, mark);
      const refused = () => openLog(path, { refuseCorruption: true });
      expect(refused).toThrow(
        `the mark ${path}.synced says ${mark.readBigUInt64LE()} bytes, the log has 27 and is whole: the mark is damaged`,
      );
      expect(refused).not.toThrow(/log is damaged|log .* away/);
      expect(fs.readFileSync(path).equals(content)).toBe(true);
      expect(fs.readFileSync(`${path}.synced`).equals(mark)).toBe(true);
    }
    const log = openLog(path); // another log than that of a signer goes on with what is there
    expect(textsOf(log.read())).toEqual(['first', 'second']);
    await log.close();
    await openLog(path, { refuseCorruption: true }).close();
  });

  test('no advice about the log of a signer leaves unsaid that the key may sign twice', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const content = await written(path, 'first', 'second');
    const mark = fs.readFileSync(`${path}.synced`);
    for (const [log, synced] of [
      [content.subarray(0, 13), mark],
      [content.subarray(0, 20), mark],
      [content, oldMark(2n ** 60n)],
    ] as const) {
      fs.writeFileSync(path, log);
      fs.writeFileSync(`${path}.synced`, synced);
      expect(() => openLog(path, { refuseCorruption: true })).toThrow(
        /keeps the key from signing twice.*may sign twice/,
      );
    }
  });
});

describe('trim', () => {
  test('gives the space back, and the mark is of the new file', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    for (let i = 0; i < 300; i++) log.append(new Uint8Array(10_000));
    await synced(log);
    const before = fs.statSync(path).size;
    log.trim(10);
    await synced(log);
    const after = fs.statSync(path).size;
    expect(before).toBe(300 * (FRAME + 10_000));
    expect(after).toBe(10 * (FRAME + 10_000));
    expect(markOf(path)).toBe(after);
    await log.close();
  });

  test('what lives may be written in several pieces, and the mark covers all of them', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    for (let i = 0; i < 1_000; i++) log.append(new Uint8Array(10_000));
    log.trim(320);
    await synced(log);
    const size = (): number => fs.statSync(path).size;
    expect([size(), markOf(path)]).toEqual(Array(2).fill(320 * (FRAME + 10_000)));
    log.append(bytesOf('more'));
    await log.close();
    expect(markOf(path)).toBe(size());
    const again = openLog(path, { refuseCorruption: true });
    expect(again.read()).toHaveLength(321);
    await again.close();
    expect(markOf(path)).toBe(size());
  });

  test('leaves a file that is written at its end, whoever wrote there meanwhile', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    for (let i = 0; i < 300; i++) log.append(new Uint8Array(10_000));
    log.trim(10);
    await synced(log);
    const other = bytesOf('of who took the folder as this process stood still');
    fs.appendFileSync(path, other);
    log.append(bytesOf('late'));
    await log.close();
    const content = fs.readFileSync(path);
    const rewritten = 10 * (FRAME + 10_000);
    expect(content.subarray(rewritten, rewritten + other.length)).toEqual(Buffer.from(other));
    expect(content.length).toBe(rewritten + other.length + FRAME + 4);
  });

  test('does not rewrite for little', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    for (let i = 0; i < 1000; i++) log.append(new Uint8Array(100));
    log.trim(1);
    await synced(log);
    expect(fs.statSync(path).size).toBe(1000 * (FRAME + 100));
    await log.close();
  });

  test('what a crash leaves of a rewrite is swept away', async () => {
    const path = join(temporaryFolder(), 'x.log');
    await written(path, 'first');
    fs.writeFileSync(`${path}.new`, 'half a file');
    const log = openLog(path);
    expect(textsOf(log.read())).toEqual(['first']);
    expect(fs.existsSync(`${path}.new`)).toBe(false);
    await log.close();
  });

  test('under load the file stays near what lives in it', async () => {
    const path = join(temporaryFolder(), 'x.log');
    const log = openLog(path);
    for (let i = 0; i < 3000; i++) {
      for (let k = 0; k < 5; k++) log.append(new Uint8Array(2000));
      log.trim(20);
      if (i % 10 === 0) await synced(log);
    }
    await log.close();
    expect(fs.statSync(path).size).toBeLessThan(3_000_000);
  });
});

test('a path that cannot be opened: the error names it and says what to do', () => {
  const folder = temporaryFolder();
  expect(() => openLog(folder)).toThrow(/cannot open the log .*it is a folder; name a file \(EISDIR\)/);
  expect(() => openLog(join(folder, 'none', 'x.log'))).toThrow(/none\/x\.log: there is no such file/);
});
