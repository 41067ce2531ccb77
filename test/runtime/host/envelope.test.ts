// How much one envelope may hold, and that no sender makes one that holds more.

import { expect, test } from 'vitest';
import { ENVELOPE_PAYLOADS_MAX, type Payload } from '../../../actors/turn.ts';
import { send } from '../../../actors/validator/gossiping.ts';
import type { ValidatorState } from '../../../actors/validator/state.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { packEnvelope, unpackEnvelope } from '../../../runtime/host/net/envelope.ts';

const PEER = 'a'.repeat(40);
const EMPTY: Payload = { channel: 1, bytes: new Uint8Array(0) };
const small = (i: number): Payload => ({ channel: 0x20, bytes: Uint8Array.of(i & 255, i >> 8) });

/** A frame of so many empty payloads, three bytes each. */
function frameOf(payloads: number): Uint8Array {
  const items = 2 * payloads;
  const head = Uint8Array.of(0xdd, items >>> 24, (items >> 16) & 255, (items >> 8) & 255, items & 255);
  const frame = new Uint8Array(head.length + 3 * payloads);
  frame.set(head);
  for (let at = head.length; at < frame.length; at += 3) frame.set([1, 0xc4, 0], at);
  return frame;
}

test('an envelope of as many payloads as there may be is read, also when all are empty', () => {
  expect(unpackEnvelope(frameOf(ENVELOPE_PAYLOADS_MAX))).toEqual(
    Array.from({ length: ENVELOPE_PAYLOADS_MAX }, () => EMPTY),
  );
});

test('one of more is refused before its payloads are looked at', () => {
  const why = 'malformed envelope: it holds more than 4096 payloads';
  const refusal = { refused: 'malformed-envelope', because: why };
  const frame = frameOf(ENVELOPE_PAYLOADS_MAX + 1);
  expect(unpackEnvelope(frame)).toMatchObject(refusal);
  expect(unpackEnvelope(frame.subarray(0, 5))).toMatchObject(refusal);
});

test('what a validator says at once goes in envelopes that are taken, in order, none of them empty', () => {
  for (const count of [
    1,
    ENVELOPE_PAYLOADS_MAX,
    ENVELOPE_PAYLOADS_MAX + 1,
    2 * ENVELOPE_PAYLOADS_MAX,
    20_001,
  ]) {
    const said = Array.from({ length: count }, (_, i) => (i % 3 === 0 ? EMPTY : small(i)));
    const sent: (readonly Payload[])[] = [];
    const does: ValidatorState['does'] = (effect) => {
      if (effect.type === 'send') sent.push(effect.payloads);
    };
    send({ does } as ValidatorState, [PEER], said);
    expect(sent).toHaveLength(Math.ceil(count / ENVELOPE_PAYLOADS_MAX));
    const read = sent.map((payloads) => unpackEnvelope(packEnvelope(payloads)));
    expect(read.flatMap((payloads) => (isRefusal(payloads) ? [] : payloads))).toEqual(said);
  }
});

test('a payload keeps no more than twice its bytes of what it came in', () => {
  const sizes = [100, 20_000, 30_000, 200_000];
  const frame = packEnvelope(sizes.map((size) => ({ channel: 1, bytes: new Uint8Array(size).fill(7) })));
  const payloads = unpackEnvelope(frame.slice());
  if (isRefusal(payloads)) throw new Error(payloads.because);
  expect(payloads.map(({ bytes }) => bytes.length)).toEqual(sizes);
  for (const { bytes } of payloads) {
    expect(bytes.every((each) => each === 7)).toBe(true);
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(2 * bytes.length);
  }
});
