import { expect, it } from 'vitest';
import type { Effect } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { type Codec, Writer } from '../../../protocol/words.ts';
import { writeEffect } from '../../../runtime/kernel/effects.ts';
import { words } from './world.ts';

const one = Uint8Array.of(1);
const two = Uint8Array.of(2);
const none = new Uint8Array(0);
const write = (key: Uint8Array, value: Uint8Array, remove: boolean) => ({ key, value, remove });

type Of<T extends Effect['type']> = Extract<Effect, { type: T }>;
/** An effect, and for each of its fields what else may stand there: the table is complete, or it does not compile. */
type Row<T extends Effect['type']> = readonly [
  Of<T>,
  { readonly [F in Exclude<keyof Of<T>, 'type'>]: readonly Of<T>[F][] },
];

const rows: { readonly [T in Effect['type']]: Row<T> } = {
  append: [
    { type: 'append', log: 'consensus', record: one },
    { log: ['privval'], record: [two, none] },
  ],
  sync: [{ type: 'sync', log: 'consensus' }, { log: ['privval'] }],
  trim: [
    { type: 'trim', log: 'consensus', keep: 1 },
    { log: ['privval'], keep: [2, 0x1_0001] },
  ],
  store: [
    { type: 'store', store: 'chain', durable: true, writes: [write(one, two, false)] },
    {
      store: ['app'],
      durable: [false],
      writes: [
        [],
        [write(two, two, false)],
        [write(one, one, false)],
        [write(one, two, true)],
        [write(none, Uint8Array.of(1, 2), false)],
        [write(one, two, false), write(one, two, false)],
        [write(one, two, false), write(two, two, false)],
      ],
    },
  ],
  load: [
    { type: 'load', store: 'chain', from: one, to: two, limit: 1, which: 'first', tag: 1 },
    {
      store: ['app'],
      from: [two, none],
      to: [one, none],
      limit: [2, 0x1_0001],
      which: ['last'],
      tag: [2, 0x1_0001],
    },
  ],
  sign: [
    { type: 'sign', bytes: one, tag: 1 },
    { bytes: [two, none], tag: [2, 0x1_0001] },
  ],
  send: [
    { type: 'send', to: ['p'], payloads: [{ channel: 1, bytes: one }] },
    {
      to: [[], ['q'], ['p', 'q'], ['p', 'p']],
      payloads: [
        [],
        [{ channel: 2, bytes: one }],
        [{ channel: 1, bytes: two }],
        [
          { channel: 1, bytes: one },
          { channel: 1, bytes: one },
        ],
        [
          { channel: 1, bytes: one },
          { channel: 1, bytes: two },
        ],
      ],
    },
  ],
  tell: [
    { type: 'tell', to: 'a', message: { type: 'go', n: 1 } },
    { to: ['b', 'gone'], message: [{ type: 'go', n: 2 }, { type: 'connected' }] },
  ],
  schedule: [
    { type: 'schedule', timer: 't', afterNs: 1n },
    { timer: ['u'], afterNs: [2n, 2n ** 32n + 1n] },
  ],
  cancel: [{ type: 'cancel', timer: 't' }, { timer: ['u'] }],
  publish: [
    { type: 'publish', event: { type: 'warning', what: 'a' } },
    {
      event: [
        { type: 'warning', what: 'b' },
        { type: 'halted', what: 'a' },
      ],
    },
  ],
  score: [
    { type: 'score', peer: 'p', because: 'b', drop: true },
    { peer: ['q'], because: ['c'], drop: [false] },
  ],
  dial: [
    { type: 'dial', peer: 'p', address: 'b' },
    { peer: ['q'], address: ['c'] },
  ],
  spawn: [{ type: 'spawn', actor: 'a' }, { actor: ['b'] }],
  stop: [{ type: 'stop', actor: 'a' }, { actor: ['b'] }],
};

/** All of the table: each effect, and it with another value in one of its fields. */
const effects: readonly Effect[] = Object.values(rows).flatMap(([effect, others]) => [
  effect as Effect,
  ...Object.entries(others).flatMap(([field, values]) =>
    (values as readonly unknown[]).map((value) => ({ ...effect, [field]: value }) as Effect),
  ),
]);

/** Nothing to nobody, and nothing to one without a name: the length of a list alone tells them apart. */
const nothings: readonly Effect[] = [[], ['']].map((to) => ({ type: 'send', to, payloads: [] }));

const bytesOf = (...list: readonly Effect[]): string => {
  const writer = new Writer();
  const wordsOf = (actor: string) => (actor === 'gone' ? undefined : (words as unknown as Codec<never>));
  for (const effect of list) writeEffect(writer, effect, wordsOf);
  return hexOf(writer.peek());
};

it('every effect has bytes of its own, which each of its fields changes, and the same ones each time', () => {
  const all = [...effects, ...nothings].map((effect) => bytesOf(effect));
  expect(new Set(all).size).toBe(all.length);
  expect(effects.map((effect) => bytesOf(effect))).toEqual(all.slice(0, effects.length));
  expect(bytesOf(...effects, ...nothings)).toBe(all.join(''));
  // No effect's bytes begin another's: so a list of effects has one reading.
  for (const a of all) for (const b of all) expect(a !== b && b.startsWith(a)).toBe(false);
});

it('the first byte is the tag of its type', () => {
  const tags = Object.values(rows).map(([effect]) => bytesOf(effect as Effect).slice(0, 2));
  expect(new Set(tags).size).toBe(tags.length);
  for (const effect of effects)
    expect(bytesOf(effect).slice(0, 2)).toBe(bytesOf(rows[effect.type][0]).slice(0, 2));
});
