import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { appMail, mempoolMail, signerMail, validatorMail } from '../../actors/mail.ts';
import { nodeEvent } from '../../actors/turn.ts';
import { logRecord } from '../../actors/validator/logbook.ts';
import { messageOf, payloadOf, unpadded } from '../../actors/validator/words.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import { rememberLately } from '../../protocol/lately.ts';
import { CHANNEL_VOTE } from '../../protocol/messages.ts';
import { BLOCK_PART_BYTES, PREVOTE } from '../../protocol/types.ts';
import { encodeWith as encodeField } from '../../protocol/wire/writer.ts';
import { type Codec, decodeWords, encodeWords } from '../../protocol/words.ts';
import * as any from '../protocol/arbitrary.ts';

const bytes = fc.uint8Array({ maxLength: 40 });
const u32 = fc.nat(0xffff_ffff);
const height = fc.bigInt(0n, 2n ** 62n);
const of = (type: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc.record({ type: fc.constant(type), ...fields });

const heard = of('heard', {
  peer: fc.string(),
  payloads: fc.array(fc.record({ channel: fc.nat(255), bytes }), { maxLength: 3 }),
});
const timer = of('timer', { timer: fc.string() });
const signature = of('signature', { tag: u32, signature: bytes });
const answer = of('answer', {
  tag: u32,
  response: fc.record({
    type: fc.constant('commit'),
    value: fc.record({ retainHeight: height }),
  }),
});
const committed = of('committed', {
  height,
  txs: fc.array(bytes, { maxLength: 3 }),
  codes: fc.array(u32, { maxLength: 3 }),
  blockTxBytesMax: height,
  gasMax: height,
});
const choice = { height, round: fc.integer(), hash: bytes };
const checkTx = fc.record({
  type: fc.constant('check-tx'),
  value: fc.record({ tx: bytes, type: fc.nat(1) }),
});

/** Arrays of bytes compare by content, whatever buffer they stand in. */
const plain = (value: unknown): unknown =>
  JSON.stringify(value, (_, one: unknown) =>
    one instanceof Uint8Array ? `bytes ${one.join()}` : typeof one === 'bigint' ? `big ${one}` : one,
  );

/** Writers by hand write what the tables read. */
describe.each<[string, Codec<never>, fc.Arbitrary<object>[]]>([
  [
    'validator',
    validatorMail as never,
    [heard, timer, signature, answer, of('signed-vote', { vote: any.vote })],
  ],
  ['mempool', mempoolMail as never, [heard, timer, answer, committed]],
  ['signer', signerMail as never, [signature, timer, of('sign-vote', { vote: any.vote })]],
  ['app', appMail as never, [of('request', { from: fc.string(), tag: u32, request: checkTx })]],
  [
    'events',
    nodeEvent as never,
    [
      of('step', { height, round: fc.integer(), step: fc.nat(255) }),
      of('locked', choice),
      of('valid', choice),
      of('applied', { height, stateDigest: bytes }),
      of('checked', { hash: bytes, code: u32, because: fc.string() }),
      of('committed', { ...choice, appHash: bytes, txs: u32, stateDigest: bytes }),
    ],
  ],
  ['log', logRecord as never, [of('heard', { peer: fc.string(), channel: fc.nat(255), bytes })]],
])('%s', (_, codec, variants) => {
  it.each(variants.map((variant, i) => [i, variant] as const))('variant %i', (_i, variant) => {
    fc.assert(
      fc.property(variant, (value) => {
        const written = encodeWords(codec, value as never);
        expect(plain(sorted(decodeWords(codec, written)))).toBe(plain(sorted(value)));
      }),
    );
  });
});

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

describe('a message of consensus', () => {
  afterEach(() => rememberLately(true));

  const made = payloadOf({ type: 'has-vote', height: 3n, round: 0, voteType: PREVOTE, index: 1 });
  /** With a field behind it that nobody knows. */
  const long = (bytes: number): Uint8Array => {
    const field = encodeField((writer, size) => writer.bytes(0x7a, new Uint8Array(size)), bytes);
    return concatBytes(made.bytes, field);
  };

  it.each([true, false])('is of its own channel (memo: %s)', (memo) => {
    rememberLately(memo);
    expect(messageOf({ ...made })).toMatchObject({ type: 'has-vote', index: 1 });
    for (const channel of [CHANNEL_VOTE, 0x99])
      expect(messageOf({ channel, bytes: made.bytes })).toMatchObject({ refused: 'wrong-channel' });
  });

  it('has a mebibyte at most', () => {
    const room = 1_048_576 - made.bytes.length - 4;
    expect(messageOf({ channel: made.channel, bytes: long(room) })).toMatchObject({ type: 'has-vote' });
    expect(messageOf({ channel: made.channel, bytes: long(room + 1) })).toMatchObject({
      refused: 'long-message',
    });
  });

  it.each([true, false])(
    'is heard without what nobody knows, where that is the most of it (memo: %s)',
    (memo) => {
      rememberLately(memo);
      const { channel } = made;
      const plain = unpadded({ channel, bytes: long(100_000) });
      expect(plain).toEqual({ channel, bytes: made.bytes });
      expect(plain.bytes.buffer.byteLength).toBeLessThan(100_000);
      expect(messageOf(plain)).toEqual(messageOf({ channel, bytes: made.bytes }));
    },
  );

  it('is as it came where it is long by itself, or short, or none', () => {
    const hash = new Uint8Array(32);
    const part = {
      index: 0,
      bytes: new Uint8Array(BLOCK_PART_BYTES),
      proof: { total: 1n, index: 0n, leafHash: hash, aunts: [] },
    };
    const { channel, bytes } = payloadOf({ type: 'block-part', height: 3n, round: 0, part });
    const field = encodeField((writer, size) => writer.bytes(0x7a, new Uint8Array(size)), 20_000);
    const ofPart = { channel, bytes: concatBytes(bytes, field) };
    expect(messageOf(ofPart)).toMatchObject({ type: 'block-part' });
    for (const payload of [
      ofPart,
      made,
      { ...made, bytes: long(1_000) },
      { channel: 0x99, bytes: long(100_000) },
    ])
      expect(unpadded(payload)).toBe(payload);
  });
});
