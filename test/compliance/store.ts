// What every keeper of the Store port promises: bytewise order, atomic batches, reads of all that was
// written, and what a crash may take.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Which, Write } from '../../actors/turn.ts';
import type { Store } from '../../runtime/kernel/ports.ts';
import { bytesOf, pattern, textOf } from './bytes.ts';

/**
 * `clean`: closed in good order, nothing is lost. `lose-unflushed`: what was flushed remains, and any
 * prefix of the batches after it.
 */
export type StoreCrash = 'clean' | 'lose-unflushed';

export interface StoreWorld {
  /** The store of the present life. */
  readonly store: Store;
  /** Until every `flushed` asked for so far is answered. */
  settle(): Promise<void>;
  /**
   * Ends this life, inside the call (answers that come later are not counted); the store opened again is
   * the answer, and `store` from now on.
   */
  crash(how: StoreCrash): Promise<Store>;
  close(): Promise<void>;
}

const NOTHING = new Uint8Array(0);
const put = (key: string | Uint8Array, value: string | Uint8Array): Write => ({
  key: typeof key === 'string' ? bytesOf(key) : key,
  value: typeof value === 'string' ? bytesOf(value) : value,
  remove: false,
});
const remove = (key: string): Write => ({ key: bytesOf(key), value: NOTHING, remove: true });

export function storeCompliance(name: string, open: () => StoreWorld | Promise<StoreWorld>): void {
  describe(`store: ${name}`, () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.close());

    const write = (...writes: Write[]) => world.store.write(writes);
    const writeFlushed = async (...writes: Write[]) => {
      world.store.write(writes, () => {});
      await world.settle();
    };
    const get = (key: string) => {
      const value = world.store.get(bytesOf(key));
      return value && textOf(value);
    };
    const range = (from: string, to: string, limit = 1000, which: Which = 'first') =>
      world.store
        .range(bytesOf(from), bytesOf(to), limit, which)
        .map(({ key, value }) => `${textOf(key)}=${textOf(value)}`);

    describe('get', () => {
      test('of a key never written is undefined', () => {
        expect(get('a')).toBeUndefined();
      });
      test('sees a batch at once, before it is flushed', () => {
        write(put('a', '1'), put('b', '2'));
        expect([get('a'), get('b')]).toEqual(['1', '2']);
      });
      test('sees the last value written', () => {
        write(put('a', '1'));
        write(put('a', '2'));
        expect(get('a')).toBe('2');
      });
      test('does not see a removed key', () => {
        write(put('a', '1'), put('b', '2'));
        write(remove('a'));
        expect([get('a'), get('b')]).toEqual([undefined, '2']);
      });
      test('sees batches that are written while others become durable', async () => {
        for (let i = 0; i < 60; i++) {
          world.store.write([put(`${i}`, 'x'), remove(`${i - 20}`)], () => {});
          const present = Array.from({ length: i + 1 }, (_, j) => get(`${j}`) === 'x');
          expect(present).toEqual(present.map((_, j) => j > i - 20));
          await new Promise((later) => setImmediate(later));
        }
      });
      test('removing a key that is not there changes nothing', () => {
        write(put('a', '1'), remove('b'));
        expect(get('a')).toBe('1');
      });
      test('inside a batch the later write of a key counts', () => {
        write(put('a', '1'), put('a', '2'), put('b', '1'), remove('b'), remove('c'), put('c', '3'));
        expect([get('a'), get('b'), get('c')]).toEqual(['2', undefined, '3']);
      });
      test('an empty value is not an absent one', async () => {
        await writeFlushed(put('a', ''));
        expect(get('a')).toBe('');
        await world.crash('lose-unflushed');
        expect(get('a')).toBe('');
        expect(range('', '')).toEqual(['a=']);
      });
      test('gives a plain Uint8Array that later writes do not change', () => {
        write(put('a', 'first'), put('b', 'other'));
        const first = world.store.get(bytesOf('a'))!;
        const found = world.store.range(bytesOf('a'), bytesOf('b'), 1)[0]!;
        write(put('a', 'second, and longer'), remove('b'));
        world.store.get(bytesOf('a'));
        expect(Object.getPrototypeOf(first)).toBe(Uint8Array.prototype);
        expect(textOf(first)).toBe('first');
        expect([textOf(found.key), textOf(found.value)]).toEqual(['a', 'first']);
      });
      test('a value of 1 MiB survives', async () => {
        const big = pattern(1 << 20);
        await writeFlushed(put('big', big));
        await world.crash('lose-unflushed');
        expect(Buffer.compare(world.store.get(bytesOf('big'))!, big)).toBe(0);
      });
      test('every byte value survives in keys and values', async () => {
        const all = Uint8Array.from({ length: 256 }, (_, i) => i);
        await writeFlushed(put(all, all));
        await world.crash('lose-unflushed');
        expect(world.store.get(all)).toEqual(all);
        expect(world.store.range(NOTHING, NOTHING, 10)).toEqual([{ key: all, value: all }]);
      });
    });

    describe('range', () => {
      beforeEach(() => write(put('b', '2'), put('d', '4'), put('a', '1'), put('c', '3')));

      test('ascends', () => {
        expect(range('', '')).toEqual(['a=1', 'b=2', 'c=3', 'd=4']);
      });
      test('takes `from` and leaves `to`', () => {
        expect(range('b', 'd')).toEqual(['b=2', 'c=3']);
      });
      test('an empty `to` is open', () => {
        expect(range('c', '')).toEqual(['c=3', 'd=4']);
      });
      test('bounds need not be keys', () => {
        expect(range('aa', 'cc')).toEqual(['b=2', 'c=3']);
      });
      test('stops at the limit', () => {
        expect(range('', '', 2)).toEqual(['a=1', 'b=2']);
        expect(range('', '', 0)).toEqual([]);
        expect(range('', '', 4)).toHaveLength(4);
      });
      test('or gives the last of them', () => {
        expect(range('', '', 2, 'last')).toEqual(['c=3', 'd=4']);
        expect(range('b', 'd', 1, 'last')).toEqual(['c=3']);
        expect(range('bb', 'cc', 9, 'last')).toEqual(['c=3']);
        expect(range('a', 'e', 3, 'last')).toEqual(['b=2', 'c=3', 'd=4']);
        expect(range('', '', 0, 'last')).toEqual([]);
        expect(range('d', 'a', 9, 'last')).toEqual([]);
        expect([range('e', '', 9, 'last'), range('', 'a', 9, 'last')]).toEqual([[], []]);
      });
      test('the first and the last of what is there, flushed or not, as anybody would count them', async () => {
        const model = new Map(['a=1', 'b=2', 'c=3', 'd=4'].map((entry) => [entry[0]!, entry]));
        const name = (i: number) => String.fromCharCode(97 + ((i * 7) % 23));
        for (let i = 0; i < 60; i++) {
          const key = name(i);
          const batch = i % 3 === 2 ? remove(key) : put(key, `${i}`);
          if (i % 3 === 2) model.delete(key);
          else model.set(key, `${key}=${i}`);
          if (i % 5 === 0) await writeFlushed(batch);
          else write(batch);
          const [from, to, limit] = [name(i * 3), name(i * 5 + 1), i % 6];
          const within = [...model].sort().filter(([each]) => each >= from && each < to);
          const entries = within.map(([, entry]) => entry);
          expect(range(from, to, limit)).toEqual(entries.slice(0, limit));
          expect(range(from, to, limit, 'last')).toEqual(limit === 0 ? [] : entries.slice(-limit));
        }
      });
      test('from >= to is empty', () => {
        expect(range('c', 'c')).toEqual([]);
        expect(range('d', 'a')).toEqual([]);
      });
      test('outside the keys is empty', () => {
        expect(range('e', '')).toEqual([]);
        expect(range('', 'a')).toEqual([]);
      });
      test('sees writes and removals at once', () => {
        write(remove('b'), put('bb', 'new'), put('c', 'changed'));
        expect(range('a', 'd')).toEqual(['a=1', 'bb=new', 'c=changed']);
      });
      test('order is bytewise: a prefix first, bytes from 0x80 last, length does not matter', () => {
        const keys = [
          [0],
          [0, 0],
          [0, 1],
          [1],
          [0x7f],
          [0x7f, 0xff],
          [0x80],
          [0xff],
          [0xff, 0],
          [0xff, 0xff],
        ].map((k) => Uint8Array.from(k));
        world.store.write([remove('a'), remove('b'), remove('c'), remove('d')]);
        world.store.write([7, 2, 9, 0, 5, 3, 8, 1, 6, 4].map((i) => put(keys[i]!, `${i}`)));
        expect(world.store.range(NOTHING, NOTHING, 100).map(({ key }) => key)).toEqual(keys);
        expect(world.store.range(keys[2]!, keys[7]!, 100).map(({ key }) => key)).toEqual(keys.slice(2, 7));
      });
      test('keys of 400 bytes that differ at their end', () => {
        const key = (end: string) => `${'k'.repeat(400)}${end}`;
        write(put(key('2'), 'y'), put(key('1'), 'x'), put(key(''), 'w'));
        expect(range('k', '').map((entry) => entry.slice(400))).toEqual(['=w', '1=x', '2=y']);
      });
      test('of 3,000 keys, by pages', () => {
        const name = (i: number) => `key ${String(i).padStart(5, '0')}`;
        write(...Array.from({ length: 3000 }, (_, i) => put(name((i * 7919) % 3000), `${i}`)));
        const seen: string[] = [];
        for (let from = 'key '; ; from = `${seen.at(-1)}\0`) {
          const page = range(from, 'key~', 512).map((entry) => entry.split('=')[0]!);
          if (page.length === 0) break;
          seen.push(...page);
        }
        expect(seen).toEqual(Array.from({ length: 3000 }, (_, i) => name(i)));
      });
    });

    describe('flushed', () => {
      test('is called once, and not inside the call', async () => {
        let calls = 0;
        world.store.write([put('a', '1')], () => calls++);
        expect(calls).toBe(0);
        await world.settle();
        await world.settle();
        expect(calls).toBe(1);
      });
      test('is called for an empty batch', async () => {
        let calls = 0;
        world.store.write([], () => calls++);
        expect(calls).toBe(0);
        await world.settle();
        expect(calls).toBe(1);
      });
      test('is called in the order of the batches', async () => {
        const order: number[] = [];
        for (let i = 0; i < 100; i++) {
          const flushed = () => void order.push(i);
          if (i % 3 === 0) write(put(`${i}`, 'no answer asked'));
          else if (i % 7 === 0) world.store.write([], flushed);
          else world.store.write([put(`${i % 5}`, `${i}`)], flushed);
        }
        await world.settle();
        expect(order).toEqual(Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 3 !== 0));
      });
      test('may write again', async () => {
        const order: string[] = [];
        world.store.write([put('a', '1')], () => {
          order.push('first');
          world.store.write([put('b', '2')], () => order.push('second'));
        });
        await world.settle();
        await world.settle();
        expect(order).toEqual(['first', 'second']);
        await world.crash('lose-unflushed');
        expect([get('a'), get('b')]).toEqual(['1', '2']);
      });
    });

    describe('crash', () => {
      test('of an empty store leaves it empty', async () => {
        await world.crash('lose-unflushed');
        expect(range('', '')).toEqual([]);
      });
      test('closed in good order, nothing is lost', async () => {
        write(put('a', '1'));
        write(put('b', '2'), remove('a'));
        await world.crash('clean');
        expect(range('', '')).toEqual(['b=2']);
      });
      test('what was flushed survives', async () => {
        await writeFlushed(put('a', '1'), put('b', '2'));
        await writeFlushed(remove('a'), put('c', '3'));
        await world.crash('lose-unflushed');
        expect(range('', '')).toEqual(['b=2', 'c=3']);
      });
      test('a flush covers every batch before it', async () => {
        write(put('a', '1'));
        write(put('b', '2'));
        await writeFlushed(put('c', '3'));
        await world.crash('lose-unflushed');
        expect(range('', '')).toEqual(['a=1', 'b=2', 'c=3']);
      });
      test('unflushed batches vanish newest first', async () => {
        await writeFlushed(put('0', 'x'));
        for (let i = 1; i < 8; i++) write(put(`${i}`, 'x'));
        await world.crash('lose-unflushed');
        const left = range('', '');
        expect(left.length).toBeGreaterThanOrEqual(1);
        expect(left).toEqual(Array.from({ length: left.length }, (_, i) => `${i}=x`));
      });
      test('a batch survives whole or not at all', async () => {
        await writeFlushed(...Array.from({ length: 100 }, (_, i) => put(`${i}`, 'old')));
        write(...Array.from({ length: 100 }, (_, i) => (i % 4 === 0 ? remove(`${i}`) : put(`${i}`, 'new'))));
        await world.crash('lose-unflushed');
        const left = range('', '');
        const values = new Set(left.map((entry) => entry.split('=')[1]));
        expect(values.size).toBe(1);
        expect(left).toHaveLength(values.has('old') ? 100 : 75);
      });
      test('what was found at opening is durable', async () => {
        await writeFlushed(put('a', '1'));
        write(put('b', '2'));
        write(put('c', '3'));
        await world.crash('lose-unflushed');
        const left = range('', '');
        await world.crash('lose-unflushed');
        expect(range('', '')).toEqual(left);
      });
      test('many lives add up', async () => {
        const all: string[] = [];
        for (let life = 0; life < 5; life++) {
          await writeFlushed(put(`life ${life}`, 'x'), put('last', `${life}`));
          all.push(`life ${life}=x`);
          await world.crash('lose-unflushed');
          expect(range('life', '')).toEqual(all);
          expect(get('last')).toBe(`${life}`);
        }
      });
      test('with a flush pending: a prefix of the batches that holds all that was answered', async () => {
        let answered = -1;
        for (let i = 0; i < 10; i++) {
          world.store.write([put(`${i}`, 'x')], () => {
            answered = i;
          });
        }
        const crashed = world.crash('lose-unflushed');
        const answeredInLife = answered;
        await crashed;
        const left = range('', '');
        expect(left.length).toBeGreaterThan(answeredInLife);
        expect(left).toEqual(Array.from({ length: left.length }, (_, i) => `${i}=x`));
      });
    });

    type Step =
      | { do: 'write'; writes: Write[]; ask: boolean }
      | { do: 'settle' }
      | { do: 'crash'; how: StoreCrash };
    const key = fc.constantFrom('a', 'ab', 'b', 'c', 'd', '\0', '~', 'é');
    const aWrite = fc.oneof(
      { weight: 3, arbitrary: fc.tuple(key, fc.string({ maxLength: 20 })).map(([k, v]) => put(k, v)) },
      { weight: 1, arbitrary: key.map(remove) },
    );
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('write' as const),
          writes: fc.array(aWrite, { maxLength: 6 }),
          ask: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: fc.constant({ do: 'settle' as const }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('crash' as const),
          how: fc.constantFrom<StoreCrash>('clean', 'lose-unflushed'),
        }),
      },
    );

    /** The model: the content after each batch of this life, and how many of them are flushed. */
    async function holdsAfter(steps: readonly Step[]): Promise<void> {
      await world.close();
      world = await open();
      let states: Map<string, string>[] = [new Map()];
      let durable = 0;
      const apply = (writes: readonly Write[]) => {
        const next = new Map(states.at(-1));
        for (const one of writes) {
          if (one.remove) next.delete(textOf(one.key));
          else next.set(textOf(one.key), textOf(one.value));
        }
        states.push(next);
      };
      const sorted = (content: ReadonlyMap<string, string>) =>
        [...content].sort(([a], [b]) => Buffer.compare(bytesOf(a), bytesOf(b))).map(([k, v]) => `${k}=${v}`);
      for (const now of steps) {
        if (now.do === 'write') {
          apply(now.writes);
          const life = states;
          const at = states.length - 1;
          const flushed = () => {
            if (life === states) durable = at;
          };
          if (now.ask) world.store.write(now.writes, flushed);
          else world.store.write(now.writes);
          expect(range('', '')).toEqual(sorted(states.at(-1)!));
        } else if (now.do === 'settle') {
          await world.settle();
        } else {
          const crashed = world.crash(now.how);
          const durableInLife = now.how === 'clean' ? states.length - 1 : durable;
          await crashed;
          const left = range('', '');
          const allowed = states.slice(durableInLife).map(sorted);
          expect(allowed).toContainEqual(left);
          states = [
            new Map(
              left.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
            ),
          ];
          durable = 0;
        }
      }
    }
    test('any history: a crash leaves a prefix of the batches, with all that was flushed', async () => {
      await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), holdsAfter), { numRuns: 25 });
    });
  });
}
