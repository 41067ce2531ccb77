import { expect, it } from 'vitest';
import type { Effect } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { type Codec, Writer } from '../../../protocol/words.ts';
import { writeEffect } from '../../../runtime/kernel/effects.ts';
import { words } from './world.ts';

const one = Uint8Array.of(1);
const two = Uint8Array.of(2);
const write = (key: Uint8Array, value: Uint8Array, remove: boolean) => ({ key, value, remove });

/** Each differs from the one before it in one thing. */
const effects: readonly Effect[] = [
  { type: 'append', log: 'consensus', record: one },
  { type: 'append', log: 'consensus', record: two },
  { type: 'append', log: 'privval', record: two },
  { type: 'sync', log: 'consensus' },
  { type: 'sync', log: 'privval' },
  { type: 'trim', log: 'consensus', keep: 1 },
  { type: 'trim', log: 'consensus', keep: 2 },
  { type: 'store', store: 'chain', durable: true, writes: [] },
  { type: 'store', store: 'chain', durable: false, writes: [] },
  { type: 'store', store: 'app', durable: false, writes: [] },
  { type: 'store', store: 'app', durable: false, writes: [write(one, two, false)] },
  { type: 'store', store: 'app', durable: false, writes: [write(one, two, true)] },
  {
    type: 'store',
    store: 'app',
    durable: false,
    writes: [write(new Uint8Array(0), Uint8Array.of(1, 2), true)],
  },
  { type: 'load', store: 'chain', from: one, to: two, limit: 1, which: 'first', tag: 1 },
  { type: 'load', store: 'chain', from: one, to: two, limit: 1, which: 'last', tag: 1 },
  { type: 'load', store: 'chain', from: one, to: two, limit: 1, which: 'first', tag: 2 },
  { type: 'load', store: 'chain', from: one, to: two, limit: 2, which: 'first', tag: 2 },
  { type: 'sign', bytes: one, tag: 1 },
  { type: 'sign', bytes: two, tag: 1 },
  { type: 'send', to: ['p'], payloads: [{ channel: 1, bytes: one }] },
  { type: 'send', to: ['p', 'q'], payloads: [{ channel: 1, bytes: one }] },
  { type: 'send', to: ['p', 'q'], payloads: [{ channel: 2, bytes: one }] },
  { type: 'send', to: ['p', 'q'], payloads: [] },
  { type: 'tell', to: 'a', message: { type: 'go', n: 1 } },
  { type: 'tell', to: 'a', message: { type: 'go', n: 2 } },
  { type: 'tell', to: 'gone', message: { type: 'go', n: 2 } },
  { type: 'schedule', timer: 't', afterNs: 1n },
  { type: 'schedule', timer: 't', afterNs: 2n },
  { type: 'cancel', timer: 't' },
  { type: 'publish', event: { type: 'warning', what: 'a' } },
  { type: 'publish', event: { type: 'warning', what: 'b' } },
  { type: 'score', peer: 'p', because: 'b', drop: true },
  { type: 'score', peer: 'p', because: 'b', drop: false },
  { type: 'dial', peer: 'p', address: 'b' },
  { type: 'spawn', actor: 'a' },
  { type: 'stop', actor: 'a' },
];

const bytesOf = (...list: readonly Effect[]): string => {
  const writer = new Writer();
  const wordsOf = (actor: string) => (actor === 'a' ? (words as unknown as Codec<never>) : undefined);
  for (const effect of list) writeEffect(writer, effect, wordsOf);
  return hexOf(writer.peek());
};

it('every effect has bytes of its own, and the same ones each time', () => {
  const all = effects.map((effect) => bytesOf(effect));
  expect(new Set(all).size).toBe(effects.length);
  expect(effects.map((effect) => bytesOf(effect))).toEqual(all);
  expect(bytesOf(...effects)).toBe(all.join(''));
  // No effect's bytes begin another's: so a list of effects has one reading.
  for (const a of all) for (const b of all) expect(a !== b && b.startsWith(a)).toBe(false);
});
