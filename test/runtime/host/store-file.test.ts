// Files that lmdb would crash at are refused before it sees them, and no healthy one is.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Write } from '../../../actors/turn.ts';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { whyNotLmdb } from '../../../runtime/host/disk/store-file.ts';
import { Choices } from '../../../sim/choices.ts';
import { bytesOf } from '../../compliance/bytes.ts';
import { child, temporaryFolder } from './folders.ts';

const PAGE = 4096;
const FLUSHED = { from: 2048, to: PAGE };

function whyNot(path: string): string | null {
  const file = fs.openSync(path, 'r');
  const why = whyNotLmdb(file, fs.fstatSync(file).size);
  fs.closeSync(file);
  return why;
}
const lastPageAt = (bytes: Buffer, head: number): number => Number(bytes.readBigUInt64LE(head + 144));

test('a healthy file is good after every commit, also where it ends before its last page', async () => {
  const folder = temporaryFolder();
  const chance = new Choices({ seed: 7 }, 'forget').stream('test');
  let short = 0;
  for (let life = 0; life < 4; life++) {
    const path = join(folder, `${life}.db`);
    const data = join(path, 'data.mdb');
    const store = openStore(path);
    let before: Buffer | null = null;
    for (let round = 0; round < 40; round++) {
      const writes: Write[] = [];
      for (let i = 0; i <= chance.draw(4); i++) {
        const key = bytesOf(`k${chance.draw(life % 2 ? 6 : 2_000)}`);
        const value = new Uint8Array(chance.draw(chance.draw(2) ? 400_000 : 3_000));
        writes.push({ key, value, remove: false });
        if (chance.draw(2)) writes.push({ key, value: new Uint8Array(0), remove: true });
      }
      await new Promise<void>((done) => store.write(writes, done));
      expect(whyNot(data)).toBe(null);
      const after = fs.readFileSync(data);
      const last = Math.max(...[0, FLUSHED.from, PAGE].map((head) => lastPageAt(after, head)));
      if ((last + 1) * PAGE > after.length) short++;
      if (before) {
        // A power cut between commit and flush: the head of the flushed commit is the one before.
        before.copy(after, FLUSHED.from, FLUSHED.from, FLUSHED.to);
        fs.writeFileSync(join(folder, 'cut'), after);
        expect(whyNot(join(folder, 'cut'))).toBe(null);
      }
      before = fs.readFileSync(data);
    }
    await store.close();
  }
  expect(short).toBeGreaterThan(10);
});

test('a file that is cut or damaged is refused with its name and what to do, and lmdb never crashes at it', async () => {
  const folder = temporaryFolder();
  const store = openStore(join(folder, 'whole.db'));
  for (let from = 0; from < 3_000; from += 500) {
    const writes = Array.from({ length: 500 }, (_, i) => {
      const value = new Uint8Array((from + i) % 100 === 0 ? 20_000 : 60).fill(i);
      return { key: bytesOf(`key ${from + i}`), value, remove: false };
    });
    await new Promise<void>((done) => store.write(writes, done));
  }
  await store.close();
  const whole = fs.readFileSync(join(folder, 'whole.db', 'data.mdb'));
  const pages = whole.length / PAGE;
  const rotten = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(whole);
    change(bytes);
    return bytes;
  };
  const heads = [0, FLUSHED.from, PAGE];
  const everyHead = (at: number, value: bigint) =>
    rotten((bytes) => {
      for (const head of heads) bytes.writeBigUInt64LE(value, head + at);
    });
  const harmed: Record<string, Buffer> = {
    'without its second half': whole.subarray(0, (pages >> 1) * PAGE),
    'without its last page': whole.subarray(0, whole.length - PAGE),
    'without its last byte': whole.subarray(0, whole.length - 1),
    'one page': whole.subarray(0, PAGE),
    'half of a head': whole.subarray(0, 100),
    'a second head of zeros': rotten((bytes) => bytes.fill(0, PAGE, 2 * PAGE)),
    'a second head of another version': rotten((bytes) => bytes.writeUInt32LE(999, PAGE + 28)),
    'pages of no bytes': rotten((bytes) => bytes.writeUInt32LE(0, 48)),
    'pages of an odd size': rotten((bytes) => bytes.writeUInt32LE(4097, 48)),
    'a root beyond the end': everyHead(136, 1_000_000n),
    'free pages beyond the end': everyHead(88, 1_000_000n),
    'a root that is a head': everyHead(136, 1n),
    'heads of zeros': rotten((bytes) => bytes.fill(0, 0, 2 * PAGE)),
    'a last page far beyond the end': everyHead(144, 2n ** 50n),
    'a last page before the root': everyHead(144, 2n),
    'a root of zeros': rotten((bytes) => {
      const root = Number(bytes.readBigUInt64LE(FLUSHED.from + 136)) * PAGE;
      bytes.fill(0, root, root + PAGE);
    }),
  };
  for (let cut = 2; cut < pages; cut += 7) harmed[`${cut} pages`] = whole.subarray(0, cut * PAGE);
  const paths = Object.values(harmed).map((bytes, i) => {
    const path = join(folder, `${i}.db`);
    fs.mkdirSync(path);
    fs.writeFileSync(join(path, 'data.mdb'), bytes);
    return path;
  });
  const reader = child('reader.ts', join(folder, 'whole.db'), ...paths);
  await reader.ended;
  const [good, ...said] = reader.lines;
  expect(good).toBe('read 3000');
  const told = Object.fromEntries(Object.keys(harmed).map((what, i) => [what, said[i] ?? 'lmdb crashed']));
  for (const [what, line] of Object.entries(told)) {
    const i = Object.keys(harmed).indexOf(what);
    expect([what, line]).toEqual([
      what,
      expect.stringMatching(new RegExp(`^${paths[i]}/data.mdb is .*; move it away or restore a copy$`)),
    ]);
  }
  expect(said.at(-1)).toBe('end');
});
