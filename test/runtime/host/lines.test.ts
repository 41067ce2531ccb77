// What a node tells the person who runs it.

import { expect, test } from 'vitest';
import type { NodeEvent } from '../../../actors/turn.ts';
import { BenchRun } from '../../../runtime/cli/bench/world.ts';
import { Lines, printable } from '../../../runtime/host/process/lines.ts';

const NO_HASH = new Uint8Array(32);
const PEER = 'ab'.repeat(20);
const OTHER = 'cd'.repeat(20);

test('a round that failed is told once, whatever its steps are', () => {
  const lines = new Lines(new Set([PEER, OTHER]));
  const step = (height: bigint, round: number, each: number): string | null =>
    lines.of({ type: 'step', height, round, step: each });
  expect([1, 2, 3, 4, 6].map((each) => step(7n, 0, each))).toEqual([null, null, null, null, null]);
  expect([2, 3, 4].map((each) => step(7n, 1, each))).toEqual(['height 7 goes to round 1', null, null]);
  expect(step(7n, 2, 3)).toBe('height 7 goes to round 2');
  expect(step(8n, 0, 1)).toBeNull();
  // Another height fails in the same round as the one before.
  expect(step(8n, 2, 2)).toBe('height 8 goes to round 2');
});

test('what a chain publishes is told as far as a person needs it', () => {
  const told = new Map<NodeEvent['type'], string | null>();
  const lines = new Lines(new Set([PEER, OTHER]));
  const run = new BenchRun({ validators: 1, crypto: 'sim', memo: true, txs: 1, seed: 'lines' });
  run.world.listeners.push((_at, event) => void told.set(event.type, lines.of(event)));
  run.runTo(3);
  expect(told.get('committed')).toMatch(/^committed height 3, block [0-9a-f]{8}, 1 txs, app hash [0-9a-f]+$/);
  expect(told.get('mode')).toBe('takes part in consensus');
  expect(told.get('applied')).toBeNull();
  expect(
    lines.of({ type: 'refused', height: 4n, hash: NO_HASH, because: 'the time is not the median' }),
  ).toBe('warning: block 000000000000 of height 4 is invalid: the time is not the median');
});

test('a peer that cannot be reached is told of when that lasts, once for each reason', () => {
  const lines = new Lines(new Set([PEER, OTHER]));
  const dials = (peer: string, ...reasons: string[]): (string | null)[] =>
    reasons.map((because) => lines.dialFailed(peer, because));
  // Others of a cluster may not listen yet.
  expect(dials(PEER, 'refused', 'refused', 'refused', 'refused')).toEqual([
    null,
    null,
    'warning: cannot reach peer abababab: refused',
    null,
  ]);
  expect(dials(PEER, 'another peer answers there')).toEqual([
    'warning: cannot reach peer abababab: another peer answers there',
  ]);
  expect(dials(PEER, 'refused', 'another peer answers there')).toEqual([null, null]);
  expect(dials(OTHER, 'refused')).toEqual([null]);
  expect(lines.of({ type: 'peer', peer: PEER, up: true })).toBe('peer abababab is here');
  expect(dials(PEER, 'refused', 'refused')).toEqual([null, null]);
  expect(dials(PEER, 'refused')).toEqual(['warning: cannot reach peer abababab: refused']);
});

test('why the node cuts somebody off is told once, until he was here again', () => {
  const lines = new Lines(new Set([PEER, OTHER]));
  const because = 'greeting: its network is a, ours is b';
  expect(lines.cutOff(PEER, because)).toBe(`warning: cuts off peer abababab: ${because}`);
  expect(lines.cutOff(PEER, because)).toBeNull();
  lines.of({ type: 'peer', peer: PEER, up: true });
  expect(lines.cutOff(PEER, because)).not.toBeNull();
});

test('of strangers that are cut off one is told of now and then: they come under any number of names', () => {
  const lines = new Lines(new Set([PEER]));
  const because = 'greeting: its network is a, ours is b';
  expect(lines.cutOff('stranger', because, 0)).toBe(`warning: cuts off peer stranger: ${because}`);
  for (let i = 0; i < 1_000; i++) expect(lines.cutOff(`stranger ${i}`, because, 9 * i)).toBeNull();
  expect(lines.cutOff(PEER, because, 9_500)).toBe(`warning: cuts off peer abababab: ${because}`);
  expect(lines.cutOff(OTHER, because, 10_000)).toBe(
    `warning: cuts off peer cdcdcdcd: ${because} (and 1000 more since the last)`,
  );
});

test('what is quoted of peers stays one line, of what can be seen', () => {
  const said = 'it says its id is "\nnode1 | committed height 9999\x1b[2J\x1b]0;x\x07\u2028\u202e\x9b"';
  expect(printable(said)).toBe(
    'it says its id is "\\u000anode1 | committed height 9999\\u001b[2J\\u001b]0;x\\u0007\\u2028\\u202e\\u009b"',
  );
  expect(printable('Zürich 東京 🙂')).toBe('Zürich 東京 🙂');
  expect(printable('x'.repeat(10_240))).toBe(`${'x'.repeat(1_000)} ...`);
});

test('of strangers that are turned away one is told of now and then, with how many there were', () => {
  const lines = new Lines(new Set([PEER, OTHER]));
  const because = 'there are enough';
  expect(lines.turnedAway(PEER, because, 0)).toBe(`warning: turns away peer abababab: ${because}`);
  for (let i = 0; i < 1_000; i++) expect(lines.turnedAway(`stranger ${i}`, because, 9 * i)).toBeNull();
  expect(lines.turnedAway(OTHER, because, 10_000)).toBe(
    `warning: turns away peer cdcdcdcd: ${because} (and 1000 more since the last)`,
  );
  expect(lines.turnedAway(PEER, because, 20_000)).toBe(`warning: turns away peer abababab: ${because}`);
});
