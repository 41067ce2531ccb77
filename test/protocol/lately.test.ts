// What was made of a value lately: found by identity, forgotten in time, never another's; and the texts and times that are written by hand.

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { dataHash, headerHash, txHash } from '../../protocol/hashes.ts';
import { Lately, LatelyAt, placeOfVote, rememberLately } from '../../protocol/lately.ts';
import * as node from '../../protocol/platform/node.ts';
import * as web from '../../protocol/platform/web.ts';
import { EMPTY_BYTES, type Header, NIL_BLOCK_ID, PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { ProtoReader } from '../../protocol/wire/reader.ts';
import { encodeWith } from '../../protocol/wire/writer.ts';
import { timerOf } from '../../sim/oracles/ghost/timers.ts';

afterEach(() => rememberLately(true));

describe('the last few', () => {
  it('are found by identity, and the oldest goes first', () => {
    const lately = new Lately<object, string>(2);
    const [a, b, c] = [{}, {}, {}];
    lately.set(a, 'a');
    lately.set(b, 'b');
    expect([lately.get(a), lately.get(b), lately.get({})]).toEqual(['a', 'b', undefined]);
    lately.set(c, 'c');
    expect([lately.get(a), lately.get(b), lately.get(c)]).toEqual([undefined, 'b', 'c']);
  });

  it('a new word about the same value takes the place of the old one', () => {
    const lately = new Lately<object, string>(2);
    const [a, b] = [{}, {}];
    lately.set(a, 'old');
    lately.set(a, 'new');
    lately.set(b, 'b');
    expect([lately.get(a), lately.get(b)]).toEqual(['new', 'b']);
  });

  it('by place: another value of the same place is not taken for this one', () => {
    const lately = new LatelyAt<object, string>(4);
    const [a, b] = [{}, {}];
    lately.set(1, a, 'a');
    expect([lately.get(1, a), lately.get(1, b), lately.get(2, a)]).toEqual(['a', undefined, undefined]);
    lately.set(5, b, 'b'); // the same place of four
    expect([lately.get(1, a), lately.get(5, b)]).toEqual([undefined, 'b']);
  });

  it('votes of one round have places of their own', () => {
    const places = [0, 1, 2].flatMap((validatorIndex) =>
      ([PREVOTE, PRECOMMIT] as const).map((type) => placeOfVote({ type, validatorIndex })),
    );
    expect(new Set(places).size).toBe(6);
  });

  it('nothing is found where nothing is to be remembered', () => {
    const [lately, at] = [new Lately<object, string>(2), new LatelyAt<object, string>(2)];
    const a = {};
    lately.set(a, 'a');
    at.set(0, a, 'a');
    rememberLately(false);
    expect([lately.get(a), at.get(0, a)]).toEqual([undefined, undefined]);
  });

  it('nothing is kept of the world before', () => {
    const [lately, at] = [new Lately<object, string>(2), new LatelyAt<object, string>(2)];
    const a = {};
    lately.set(a, 'a');
    at.set(0, a, 'a');
    rememberLately(true);
    expect([lately.get(a), at.get(0, a)]).toEqual([undefined, undefined]);
  });
});

it('headers that differ in one field have hashes that differ, whichever was hashed before', () => {
  const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
  const header: Header = {
    version: { block: 11n, app: 1n },
    chainId: 'a-chain',
    height: 5n,
    timeNs: 1_700_000_000_000_000_001n,
    lastBlockId: NIL_BLOCK_ID,
    lastCommitHash: hash(1),
    dataHash: hash(2),
    validatorsHash: hash(3),
    nextValidatorsHash: hash(4),
    consensusHash: hash(5),
    appHash: EMPTY_BYTES,
    lastResultsHash: hash(6),
    evidenceHash: hash(7),
    proposerAddress: new Uint8Array(20).fill(8),
  };
  const others: Header[] = [
    { ...header, version: { block: 11n, app: 2n } },
    { ...header, chainId: 'b-chain' },
    { ...header, height: 6n },
    { ...header, timeNs: header.timeNs + 1n },
    { ...header, evidenceHash: hash(9) },
    { ...header, proposerAddress: new Uint8Array(20).fill(9) },
  ];
  const found = [header, ...others, { ...header }, ...others].map((each) =>
    node.latin1Decode(headerHash(each)),
  );
  expect(new Set(found).size).toBe(7);
  expect(found[7]).toBe(found[0]);
  rememberLately(false);
  expect([{ ...header }, ...others].map((each) => node.latin1Decode(headerHash(each)))).toEqual(
    found.slice(0, 7),
  );
});

describe('texts', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.nat({ max: 1200 }).map((length) => 'x'.repeat(length)),
    fc.nat({ max: 1200 }).map((length) => `${'x'.repeat(length)}é`),
  );

  it('are written as UTF-8 behind their length, long or short', () => {
    fc.assert(
      fc.property(text, (value) => {
        const bytes = encodeWith((w, each: string) => w.chosenText(0x0a, each), value);
        const reader = new ProtoReader(bytes);
        expect(reader.next()).toBe(true);
        expect(reader.tag).toBe(0x0a);
        expect(Buffer.from(reader.bytes()).equals(Buffer.from(value))).toBe(true);
        expect(reader.next()).toBe(false);
      }),
    );
  });

  it('have the same bytes and chars on both platforms', () => {
    fc.assert(
      fc.property(text, fc.uint8Array({ maxLength: 3000 }), (value, bytes) => {
        expect(Buffer.from(node.utf8Encode(value)).equals(Buffer.from(web.utf8Encode(value)))).toBe(true);
        expect(node.hexEncode(bytes)).toBe(web.hexEncode(bytes));
        expect(node.latin1Decode(bytes)).toBe(web.latin1Decode(bytes));
        expect(node.latin1Decode(bytes)).toBe(Buffer.from(bytes).toString('latin1'));
      }),
    );
  });
});

it('times that follow each other are each written as they are', () => {
  const time = fc.bigInt({ min: -62_135_596_800_000_000_000n, max: 253_402_300_799_999_999_999n });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(time, fc.constant(0n), fc.constant(1n)), { minLength: 1, maxLength: 5 }),
      (times) => {
        const bytes = encodeWith((w, each: readonly bigint[]) => {
          for (const one of each) w.time(0x0a, one);
        }, times);
        const reader = new ProtoReader(bytes);
        const read: bigint[] = [];
        while (reader.next()) read.push(reader.time());
        expect(read).toEqual(times);
      },
    ),
  );
});

it.each([
  ['start 5 0', { step: 'start', height: 5n, round: 0 }],
  ['prevote 9223372036854775807 12', { step: 'prevote', height: 9_223_372_036_854_775_807n, round: 12 }],
  ['gossip', { step: 'gossip', height: 0n, round: 0 }],
])('the timer "%s" is told apart', (name, parts) => expect(timerOf(name)).toEqual(parts));

it('a buffer that is filled again is other bytes: nothing remembers it by its identity', () => {
  const tx = Uint8Array.from(Buffer.from('a=1'));
  const [first, hashes] = [txHash(tx), dataHash([tx])];
  tx[0] = 98;
  expect(txHash(tx)).toEqual(txHash(Uint8Array.from(Buffer.from('b=1'))));
  expect(txHash(tx)).not.toEqual(first);
  expect(dataHash([tx])).not.toEqual(hashes);
});
