// What every keeper of the Log port promises: order, sync, and what a crash may take.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../../runtime/kernel/ports.ts';
import { bytesOf, pattern, textOf, textsOf } from './bytes.ts';
import { historyHolds, logStep } from './log-history.ts';

/**
 * `clean`: closed in good order, nothing is lost. `lose-unsynced`: exactly what was synced remains.
 * `torn`: what was synced remains, and any part of the rest, cut anywhere, also inside a record.
 */
export type LogCrash = 'clean' | 'lose-unsynced' | 'torn';

export interface LogWorld {
  /** The log of the present life. */
  readonly log: Log;
  /** Until every sync and trim asked for so far is done. */
  settle(): Promise<void>;
  /**
   * Ends this life, inside the call (answers that come later are not counted); the log opened again is the
   * answer, and `log` from now on.
   */
  crash(how: LogCrash): Promise<Log>;
  close(): Promise<void>;
}

export function logCompliance(name: string, open: () => LogWorld | Promise<LogWorld>): void {
  describe(`log: ${name}`, () => {
    let world: LogWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.close());

    const append = (...texts: string[]) => {
      for (const text of texts) world.log.append(bytesOf(text));
    };
    const sync = () => world.log.sync(() => {});
    const appendSynced = async (...texts: string[]) => {
      append(...texts);
      sync();
      await world.settle();
    };
    const found = () => textsOf(world.log.read());

    describe('append and read', () => {
      test('a new log is empty', () => {
        expect(world.log.read()).toEqual([]);
      });
      test('a record can be read at once, before any sync', () => {
        append('a');
        expect(found()).toEqual(['a']);
      });
      test('records come back in the order of their appends', () => {
        append('a', 'b', 'c', 'a');
        expect(found()).toEqual(['a', 'b', 'c', 'a']);
      });
      test('an empty record is a record', async () => {
        await appendSynced('a', '', 'b', '');
        await world.crash('lose-unsynced');
        expect(found()).toEqual(['a', '', 'b', '']);
      });
      test('every byte value survives', async () => {
        const all = Uint8Array.from({ length: 256 }, (_, i) => i);
        world.log.append(all);
        sync();
        await world.settle();
        await world.crash('lose-unsynced');
        expect(world.log.read()[0]).toEqual(all);
      });
      test('records are Uint8Array, not something else with bytes in it', async () => {
        await appendSynced('a');
        await world.crash('clean');
        expect(Object.getPrototypeOf(world.log.read()[0])).toBe(Uint8Array.prototype);
      });
      test('a record of 1 MiB survives', async () => {
        const big = pattern(1 << 20);
        world.log.append(big);
        sync();
        await world.settle();
        await world.crash('lose-unsynced');
        expect(world.log.read()).toHaveLength(1);
        expect(Buffer.compare(world.log.read()[0]!, big)).toBe(0);
      });
      test('5,000 records keep their order over a crash', async () => {
        const texts = Array.from({ length: 5000 }, (_, i) => `record ${i}`);
        await appendSynced(...texts);
        await world.crash('lose-unsynced');
        expect(found()).toEqual(texts);
      });
    });

    describe('sync', () => {
      test('is answered once', async () => {
        let done = 0;
        append('a');
        world.log.sync(() => done++);
        await world.settle();
        await world.settle();
        expect(done).toBe(1);
      });
      test('is not answered inside the call', async () => {
        let done = false;
        append('a');
        world.log.sync(() => {
          done = true;
        });
        expect(done).toBe(false);
        await world.settle();
        expect(done).toBe(true);
      });
      test('of an empty log is answered, and not inside the call', async () => {
        let done = false;
        world.log.sync(() => {
          done = true;
        });
        expect(done).toBe(false);
        await world.settle();
        expect(done).toBe(true);
      });
      test('with nothing new is answered', async () => {
        await appendSynced('a');
        let done = false;
        world.log.sync(() => {
          done = true;
        });
        await world.settle();
        expect(done).toBe(true);
      });
      test('syncs are answered in the order they were asked', async () => {
        const order: number[] = [];
        for (let i = 0; i < 200; i++) {
          if (i % 3 !== 2) append(`record ${i}`);
          world.log.sync(() => order.push(i));
        }
        await world.settle();
        expect(order).toEqual(Array.from({ length: 200 }, (_, i) => i));
      });
      test('an answer may append and sync again', async () => {
        const order: string[] = [];
        append('a');
        world.log.sync(() => {
          order.push('first');
          append('b');
          world.log.sync(() => order.push('second'));
        });
        await world.settle();
        await world.settle();
        expect(order).toEqual(['first', 'second']);
        await world.crash('lose-unsynced');
        expect(found()).toEqual(['a', 'b']);
      });
      test('does not wait for records that come after it', async () => {
        const order: string[] = [];
        append('a');
        world.log.sync(() => order.push('a is durable'));
        append('b');
        await world.settle();
        expect(order).toEqual(['a is durable']);
      });
    });

    describe('crash', () => {
      test('of a log without records leaves it empty', async () => {
        for (const how of ['clean', 'lose-unsynced', 'torn'] as const) {
          await world.crash(how);
          expect(found()).toEqual([]);
        }
      });
      test('closed in good order, nothing is lost', async () => {
        append('a', 'b');
        await world.crash('clean');
        expect(found()).toEqual(['a', 'b']);
      });
      test('what was synced survives', async () => {
        await appendSynced('a', 'b');
        await world.crash('lose-unsynced');
        expect(found()).toEqual(['a', 'b']);
      });
      test('losing the unsynced tail leaves exactly what was synced', async () => {
        await appendSynced('a', 'b');
        append('c', 'd');
        await world.crash('lose-unsynced');
        expect(found()).toEqual(['a', 'b']);
      });
      test('a torn tail leaves a prefix that holds all that was synced', async () => {
        const texts = Array.from({ length: 40 }, (_, i) => `record ${i} ${'x'.repeat(i * 7)}`);
        await appendSynced(...texts.slice(0, 10));
        append(...texts.slice(10));
        await world.crash('torn');
        const left = found();
        expect(left.length).toBeGreaterThanOrEqual(10);
        expect(left).toEqual(texts.slice(0, left.length));
      });
      test('with a sync pending: a prefix that holds all that was answered', async () => {
        await appendSynced('a', 'b');
        let answered = 2;
        append('c');
        world.log.sync(() => {
          answered = 3;
        });
        append('d');
        const crashed = world.crash('torn');
        const answeredInLife = answered;
        await crashed;
        const left = found();
        expect(left.length).toBeGreaterThanOrEqual(answeredInLife);
        expect(left).toEqual(['a', 'b', 'c', 'd'].slice(0, left.length));
      });
      test('after a torn tail the log goes on where it was cut', async () => {
        await appendSynced('a', 'b');
        append('c', 'd');
        await world.crash('torn');
        const left = found();
        await appendSynced('e', 'f');
        expect(found()).toEqual([...left, 'e', 'f']);
        await world.crash('lose-unsynced');
        expect(found()).toEqual([...left, 'e', 'f']);
      });
      test('what was found at opening is durable', async () => {
        await appendSynced('a');
        append('b', 'c');
        await world.crash('torn');
        const left = found();
        await world.crash('lose-unsynced');
        expect(found()).toEqual(left);
      });
      test('many lives add up', async () => {
        const all: string[] = [];
        for (let life = 0; life < 5; life++) {
          append(`life ${life}`);
          all.push(`life ${life}`);
          sync();
          await world.settle();
          append('never synced');
          await world.crash('lose-unsynced');
          expect(found()).toEqual(all);
        }
      });
    });

    describe('trim', () => {
      const endsWith = (texts: readonly string[], tail: readonly string[]) => {
        expect(texts.slice(texts.length - tail.length)).toEqual(tail);
      };
      test('keeps the last records', async () => {
        await appendSynced('a', 'b', 'c', 'd');
        world.log.trim(2);
        endsWith(found(), ['c', 'd']);
        await world.settle();
        await world.crash('lose-unsynced');
        endsWith(found(), ['c', 'd']);
      });
      test('to nothing is allowed, and what follows is kept', async () => {
        await appendSynced('a', 'b');
        world.log.trim(0);
        await appendSynced('c');
        await world.crash('lose-unsynced');
        endsWith(found(), ['c']);
      });
      test('to more than there is changes nothing', async () => {
        await appendSynced('a', 'b');
        world.log.trim(100);
        await world.settle();
        expect(found()).toEqual(['a', 'b']);
        await world.crash('lose-unsynced');
        expect(found()).toEqual(['a', 'b']);
      });
      test('of an empty log changes nothing', async () => {
        world.log.trim(0);
        await appendSynced('a');
        expect(found()).toEqual(['a']);
      });
      test('survives a crash as a whole or not at all, and never takes what was kept', async () => {
        const texts = Array.from({ length: 400 }, (_, i) => `record ${i} ${'x'.repeat(10_000)}`);
        await appendSynced(...texts);
        world.log.trim(10);
        append('unsynced');
        await world.crash('lose-unsynced');
        const left = found().filter((text) => text !== 'unsynced');
        expect([400, 10]).toContain(left.length);
        expect(left).toEqual(texts.slice(400 - left.length));
      });
      test('of a long log, then more records, then a crash', async () => {
        const texts = Array.from({ length: 400 }, (_, i) => `record ${i} ${'x'.repeat(10_000)}`);
        await appendSynced(...texts);
        world.log.trim(10);
        await world.settle();
        await appendSynced('after');
        append('unsynced');
        await world.crash('lose-unsynced');
        endsWith(found(), [...texts.slice(390), 'after']);
        await appendSynced('next life');
        await world.crash('torn');
        endsWith(found(), [...texts.slice(390), 'after', 'next life']);
      });
      test('keeps every answer of sync, in order, and every record appended meanwhile', async () => {
        const order: number[] = [];
        for (let i = 0; i < 60; i++) {
          append(`record ${i} ${'x'.repeat(100_000)}`);
          world.log.sync(() => order.push(i));
          if (i % 20 === 19) world.log.trim(2);
        }
        await world.settle();
        await world.settle();
        expect(order).toEqual(Array.from({ length: 60 }, (_, i) => i));
        await world.crash('lose-unsynced');
        endsWith(
          found().map((text) => text.split(' ')[1]!),
          ['58', '59'],
        );
      });
      test('again and again', async () => {
        for (let i = 0; i < 300; i++) {
          append(`record ${i}`);
          sync();
          world.log.trim(3);
        }
        await world.settle();
        endsWith(found(), ['record 297', 'record 298', 'record 299']);
        await world.crash('lose-unsynced');
        endsWith(found(), ['record 297', 'record 298', 'record 299']);
      });
    });

    test('any history: a crash leaves a run of the records, with all that was synced and kept', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(logStep, { maxLength: 30 }), (steps) => historyHolds(open, steps)),
        { numRuns: 25 },
      );
    });

    test('one world does not see the records of another', async () => {
      await appendSynced('mine');
      const other = await open();
      try {
        expect(other.log.read().map(textOf)).toEqual([]);
      } finally {
        await other.close();
      }
    });
  });
}
