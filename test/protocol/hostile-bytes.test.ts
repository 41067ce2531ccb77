// Bytes that somebody made so that decoding them takes long, or means something else.

import { expect, it } from 'vitest';
import { concatBytes } from '../../protocol/bytes.ts';
import { BLOCK_TXS_MAX, MEMBERS_MAX } from '../../protocol/types.ts';
import { NO_HEADER, readHeader } from '../../protocol/wire/header.ts';
import { decodeBlock, decodeBlocksyncMessage, decodeCommit, decodeVote } from '../../protocol/wire/index.ts';
import { growing, ProtoReader } from '../../protocol/wire/reader.ts';

const repeated = (bytes: ArrayLike<number>, times: number): Uint8Array =>
  Uint8Array.from({ length: bytes.length * times }, (_, i) => bytes[i % bytes.length] as number);

it('a list grows in place when its message comes again, and what all share stays empty', () => {
  const shared: readonly number[] = [];
  const first = growing(shared);
  first.push(1);
  expect(shared).toEqual([]);
  expect(growing(first)).toBe(first);
});

it('a message that comes again and again merges', () => {
  // Data with one transaction, many times; a last commit with one signature, many times
  const block = decodeBlock(repeated([0x12, 0x03, 0x0a, 0x01, 0x07], 1_000));
  expect(block).toMatchObject({ txs: Array.from({ length: 1_000 }, () => Uint8Array.of(7)) });
  const withCommits = decodeBlock(repeated([0x22, 0x02, 0x22, 0x00], 1_000));
  expect(withCommits).toMatchObject({ lastCommit: { signatures: { length: 1_000 } } });
  expect(decodeBlock(Uint8Array.of())).toMatchObject({ txs: [], lastCommit: null });
  expect(decodeCommit(Uint8Array.of())).toMatchObject({ signatures: [] });
});

it('a commit has no more signatures than a set may have validators', () => {
  const empty = [0x22, 0x00];
  expect(decodeCommit(repeated(empty, 10_000))).toMatchObject({ signatures: { length: 10_000 } });
  const because = expect.stringContaining('more than 10000 signatures');
  expect(decodeCommit(repeated(empty, 10_001))).toMatchObject({ because });
  const extended = repeated([0x12, 0x02, 0x22, 0x00], 10_001); // of a block response, merged
  expect(decodeBlocksyncMessage(Uint8Array.of(0x1a, 0xc4, 0xb8, 0x02, ...extended))).toMatchObject({
    because,
  });
});

it('a block has no more transactions than anybody can hash, in one piece or many', () => {
  const because = expect.stringContaining(`more than ${BLOCK_TXS_MAX} transactions`);
  const data = [0x12, 0x04, 0x0a, 0x00, 0x0a, 0x00]; // two empty ones
  expect(decodeBlock(repeated(data, BLOCK_TXS_MAX / 2))).toMatchObject({ txs: { length: BLOCK_TXS_MAX } });
  expect(decodeBlock(repeated(data, BLOCK_TXS_MAX / 2 + 1))).toMatchObject({ because });
});

/** A field of `content`, whose length takes `bytes` bytes. */
const field = (tag: number, content: Uint8Array): Uint8Array => {
  const length: number[] = [];
  for (let rest = content.length; ; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
    if (rest < 128) return concatBytes(Uint8Array.of(tag, ...length), content);
  }
};
const TOO_MANY = expect.stringContaining('more than 131072 signatures, validators and pieces of evidence');

it('a block has no more evidence than anybody can hold, in one list or many', () => {
  const piece = [0x0a, 0x06, 0x0a, 0x04, 0x0a, 0x00, 0x12, 0x00]; // of two empty votes
  const most = field(0x1a, repeated(piece, MEMBERS_MAX));
  expect(decodeBlock(most)).toMatchObject({ evidence: { length: MEMBERS_MAX } });
  expect(decodeBlock(field(0x1a, repeated(piece, MEMBERS_MAX + 1)))).toMatchObject({ because: TOO_MANY });
  const lists = repeated([0x1a, 0x08, ...piece], MEMBERS_MAX + 1);
  expect(decodeBlock(lists)).toMatchObject({ because: TOO_MANY });
});

it('nor signatures and validators in its evidence', () => {
  const attack = (signatures: number, validators: number): Uint8Array => {
    const key = field(0x12, field(0x0a, new Uint8Array(32)));
    const commit = field(0x12, repeated([0x22, 0x00], signatures));
    const signed = field(0x0a, concatBytes(Uint8Array.of(0x0a, 0x00), commit)); // and an empty header
    const set = field(0x12, repeated(field(0x0a, key), validators));
    return field(0x0a, field(0x12, field(0x0a, concatBytes(signed, set))));
  };
  const list = (times: number, piece: Uint8Array): Uint8Array => field(0x1a, repeated(piece, times));
  expect(decodeBlock(list(13, attack(10_000, 10)))).toMatchObject({ evidence: { length: 13 } });
  expect(decodeBlock(list(14, attack(10_000, 10)))).toMatchObject({ because: TOO_MANY });
  expect(decodeBlock(list(1, attack(1, MEMBERS_MAX)))).toMatchObject({ because: TOO_MANY });
});

it('a header that comes again and again is made once', () => {
  const first = readHeader(new ProtoReader(Uint8Array.of(0x18, 0x05)), NO_HEADER);
  expect(first).toMatchObject({ height: 5n, chainId: '' });
  expect(readHeader(new ProtoReader(Uint8Array.of(0x12, 0x01, 0x61)), first)).toBe(first);
  expect(first).toMatchObject({ height: 5n, chainId: 'a' });
  expect(NO_HEADER).toMatchObject({ height: 0n, chainId: '' });
  const block = decodeBlock(repeated([0x0a, 0x02, 0x18, 0x05, 0x0a, 0x00], 1_000));
  expect(block).toMatchObject({ header: { height: 5n, chainId: '' } });
});

it('a field number of more than 29 bits is unknown, not a known one', () => {
  const bytes = Uint8Array.of(0x88, 0x80, 0x80, 0x80, 0x10, 0x01);
  const reader = new ProtoReader(bytes);
  expect(reader.next()).toBe(true);
  expect(() => reader.skip(10)).not.toThrow();
  expect(decodeVote(bytes)).toEqual(decodeVote(Uint8Array.of()));
});
