// Nothing that was told durable is lost when the writer is killed, or the file cut back to what was promised.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../../runtime/host/disk/log.ts';
import { openStore } from '../../../runtime/host/disk/store.ts';
import { textOf, textsOf } from '../../compliance/bytes.ts';
import { child, temporaryFolder } from './folders.ts';

const ROUNDS = 4;
const NOTHING = new Uint8Array(0);
const durableOf = (lines: readonly string[]): number =>
  Math.max(0, ...lines.map((line) => Number(/^durable (\d+)$/.exec(line)?.[1] ?? 0)));

/** The numbers that the writer gave its records: a run without holes. */
function numbersOf(texts: readonly string[]): number[] {
  const numbers = texts.map((text) => Number(text.split(' ')[0]));
  numbers.forEach((n, i) => {
    expect(n).toBe(numbers[0]! + i);
    expect(texts[i]!.length).toBe(`${n} `.length + ((n * 7919) % 5000));
  });
  return numbers;
}

async function killedWriter(
  what: 'log' | 'store',
  path: string,
  first: number,
  lifeMs: number,
): Promise<number> {
  const writer = child('writer.ts', what, path, `${first}`);
  await writer.line('durable');
  await sleep(lifeMs);
  writer.process.kill('SIGKILL');
  await writer.ended;
  return durableOf(writer.lines);
}

describe('log', () => {
  test('a killed writer: every synced record is found, and no other than it wrote, in order', async () => {
    const path = join(temporaryFolder(), 'x.log');
    let next = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const durable = await killedWriter('log', path, next, 60 + 130 * round);
      const log = openLog(path);
      const numbers = numbersOf(textsOf(log.read()));
      await log.close();
      next = numbers.at(-1)! + 1;
      expect(next).toBeGreaterThanOrEqual(durable);
    }
  });

  test('a killed writer whose file is cut anywhere behind the synced length', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.log');
    const durable = await killedWriter('log', path, 0, 300);
    const written = fs.readFileSync(path);
    // Killed between making the mark and writing it, the writer leaves an empty one: nothing is known.
    const mark = fs.existsSync(`${path}.synced`) ? fs.readFileSync(`${path}.synced`) : Buffer.alloc(0);
    const marked = mark.length === 12;
    const synced = marked ? Number(mark.readBigUInt64LE()) : written.length;
    expect(synced).toBeLessThanOrEqual(written.length);
    const step = Math.max(1, Math.floor((written.length - synced) / 25));
    for (let cut = synced; cut <= written.length; cut += step) {
      const copy = join(folder, `cut-${cut}.log`);
      fs.writeFileSync(copy, written.subarray(0, cut));
      if (marked) fs.copyFileSync(`${path}.synced`, `${copy}.synced`);
      const repairs: boolean[] = [];
      const log = openLog(copy, {
        refuseCorruption: true,
        onRepair: (repair) => repairs.push(repair.corruption),
      });
      expect(numbersOf(textsOf(log.read())).at(-1)! + 1).toBeGreaterThanOrEqual(durable);
      expect(repairs).not.toContain(true);
      await log.close();
    }
  });
});

describe('store', () => {
  const check = (path: string, durable: number) => {
    const store = openStore(path);
    const texts = (name: string) => {
      const from = new TextEncoder().encode(`${name} `);
      const to = new TextEncoder().encode(`${name}!`);
      return store.range(from, to, 1_000_000).map(({ value }) => textOf(value));
    };
    const numbers = numbersOf(texts('a'));
    expect(texts('b')).toEqual(texts('a'));
    expect(textOf(store.get(new TextEncoder().encode('last')) ?? NOTHING)).toBe(`${numbers.at(-1)}`);
    expect(numbers.at(-1)! + 1).toBeGreaterThanOrEqual(durable);
    return { store, last: numbers.at(-1)! };
  };

  test('a killed writer: every flushed batch is found, whole, and a prefix of the others', async () => {
    const path = join(temporaryFolder(), 'x.db');
    let next = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const durable = await killedWriter('store', path, next, 60 + 130 * round);
      const { store, last } = check(path, durable);
      next = last + 1;
      await store.close();
    }
  });

  test('the files of a stopped writer, as they are at any moment, open at a flushed batch', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.db');
    const writer = child('writer.ts', 'store', path, '0');
    await writer.line('durable');
    for (let round = 0; round < 12; round++) {
      await sleep(10 + 7 * round);
      writer.process.kill('SIGSTOP');
      await sleep(20); // its last lines arrive
      const durable = durableOf(writer.lines);
      const copy = join(folder, `copy-${round}.db`);
      fs.mkdirSync(copy);
      fs.copyFileSync(join(path, 'data.mdb'), join(copy, 'data.mdb'));
      writer.process.kill('SIGCONT');
      const { store } = check(copy, durable);
      await store.close();
      fs.rmSync(copy, { recursive: true });
    }
    writer.process.kill('SIGKILL');
    await writer.ended;
  });
});
