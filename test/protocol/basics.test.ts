// Bytes, times, bit arrays, Merkle proofs, part sets: the small words.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bitArrayOf,
  bitArrayText,
  bitArrayWhere,
  hasBit,
  indexesOf,
  isEveryBitSet,
  isNoBitSet,
  orBits,
  subtractBits,
} from '../../protocol/bit-array.ts';
import { blockIdKey, compareBlockIdKeys, equalBlockId } from '../../protocol/block-id.ts';
import {
  base64Of,
  byteKey,
  bytesOfBase64,
  bytesOfHex,
  compareBytes,
  concatBytes,
  equalBytes,
  hexOf,
  hexUpperOf,
} from '../../protocol/bytes.ts';
import { merkleProofForm, merkleProofs, merkleRoot, verifyMerkleProof } from '../../protocol/merkle.ts';
import { PartSet, splitIntoParts } from '../../protocol/part-set.ts';
import { formatTime, parseTime, secondsOf } from '../../protocol/time.ts';
import { BLOCK_PART_BYTES, type MerkleProof, ZERO_TIME_NS } from '../../protocol/types.ts';
import * as any from './arbitrary.ts';

const some = any.bytes(80);

describe('bytes', () => {
  it('spells and reads hex and base64 as Node does', () => {
    fc.assert(
      fc.property(some, (bytes) => {
        const node = Buffer.from(bytes);
        expect(hexOf(bytes)).toBe(node.toString('hex'));
        expect(hexUpperOf(bytes)).toBe(node.toString('hex').toUpperCase());
        expect(base64Of(bytes)).toBe(node.toString('base64'));
        expect(bytesOfHex(hexUpperOf(bytes))).toEqual(bytes);
        expect(bytesOfBase64(base64Of(bytes))).toEqual(bytes);
      }),
    );
  });
  it.each(['a', 'ag', '0x00', ' 00'])('refuses "%s" as hex', (text) => expect(bytesOfHex(text)).toBeNull());
  it.each(['A', 'AAA', 'AA', '_-==', 'AA== ', 'AA=', 'A===', '====', '=', 'AA==AA==', 'AA\t=='])(
    'refuses "%s" as base64',
    (text) => expect(bytesOfBase64(text)).toBeNull(),
  );
  it.each([
    ['AA==\n', '00'],
    ['AP==', '00'],
    ['AAD=', '0000'],
    ['\rA\nQ\r\n=\n=\n', '01'],
    ['AQ\nID', '010203'],
    ['\n', ''],
  ])('reads %j as base64 that Go reads too', (text, hex) => expect(hexOf(bytesOfBase64(text)!)).toBe(hex));
  it('compares as Node does, and keys sort as bytes do', () => {
    fc.assert(
      fc.property(some, some, (a, b) => {
        const order = Buffer.compare(a, b);
        expect(Math.sign(compareBytes(a, b))).toBe(order);
        expect(equalBytes(a, b)).toBe(order === 0);
        expect(byteKey(a) < byteKey(b)).toBe(order < 0);
        expect(concatBytes(a, b)).toEqual(new Uint8Array(Buffer.concat([a, b])));
      }),
    );
  });
  it('makes keys of long bytes', () => {
    const bytes = new Uint8Array(5000).map((_, i) => i);
    expect(byteKey(bytes)).toBe(Buffer.from(bytes).toString('latin1'));
  });
});

describe('times', () => {
  it('come back as they were printed', () => {
    fc.assert(fc.property(any.timeNs, (timeNs) => void expect(parseTime(formatTime(timeNs))).toBe(timeNs)));
  });
  it('agree with the platform where it is precise enough', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          const trimmed = date.toISOString().replace(/\.?0*Z$/, 'Z');
          expect(formatTime(BigInt(date.getTime()) * 1_000_000n)).toBe(trimmed);
        },
      ),
    );
  });
  it.each([
    ['0001-01-01T00:00:00Z', ZERO_TIME_NS],
    ['1970-01-01T00:00:00.000000001Z', 1n],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['2019-10-13T16:14:44.5Z', 1_570_983_284_500_000_000n],
    ['2000-02-29T00:00:00Z', 951_782_400_000_000_000n],
  ])('%s', (text, timeNs) => {
    expect(parseTime(text)).toBe(timeNs);
    expect(formatTime(timeNs)).toBe(text);
    expect(secondsOf(timeNs) * 1_000_000_000n <= timeNs).toBe(true);
  });
  it.each([
    '',
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2024-01-01T00:00:00+00:00',
    '2024-01-01t00:00:00Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00.1234567890Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
  ])('refuses "%s"', (text) => expect(parseTime(text)).toMatchObject({ refused: 'malformed-time' }));
});

describe('bit arrays', () => {
  const set = fc.tuple(fc.integer({ min: 0, max: 200 }), fc.array(fc.nat(250)));
  it('hold what they were made of', () => {
    fc.assert(
      fc.property(set, ([bits, indexes]) => {
        const inside = [...new Set(indexes.filter((index) => index < bits))].sort((a, b) => a - b);
        const array = bitArrayOf(bits, indexes);
        expect(array.elems).toHaveLength(Math.ceil(bits / 64));
        expect(indexesOf(array)).toEqual(inside);
        expect(indexes.every((index) => hasBit(array, index) === index < bits)).toBe(true);
        expect(isNoBitSet(array)).toBe(inside.length === 0);
        expect(isEveryBitSet(array)).toBe(inside.length === bits);
        expect([...bitArrayText(array)].filter((char) => char === 'x')).toHaveLength(inside.length);
      }),
    );
  });
  it('join and part', () => {
    fc.assert(
      fc.property(set, set, ([bitsA, indexesA], [bitsB, indexesB]) => {
        const [a, b] = [bitArrayOf(bitsA, indexesA), bitArrayOf(bitsB, indexesB)];
        const most = Math.max(bitsA, bitsB);
        expect(orBits(a, b)).toEqual(bitArrayWhere(most, (i) => hasBit(a, i) || hasBit(b, i)));
        expect(subtractBits(a, b)).toEqual(bitArrayWhere(bitsA, (i) => hasBit(a, i) && !hasBit(b, i)));
      }),
    );
  });
});

describe('Merkle proofs', () => {
  /** No two alike: equal neighbours prove each other's place. */
  const items = fc
    .array(some, { minLength: 1, maxLength: 20 })
    .map((leaves) => leaves.map((leaf, i) => Uint8Array.of(i, ...leaf)));
  it('prove their leaf and no other place', () => {
    fc.assert(
      fc.property(items, fc.nat(), fc.integer({ min: -3, max: 3 }), (leaves, pick, shift) => {
        const { root, proofs } = merkleProofs(leaves);
        const index = pick % leaves.length;
        const proof = proofs[index]!;
        expect(root).toEqual(merkleRoot(leaves));
        expect(verifyMerkleProof(proof, root, leaves[index]!)).toBe(true);
        const moved: MerkleProof = { ...proof, index: proof.index + BigInt(shift) };
        expect(verifyMerkleProof(moved, root, leaves[index]!)).toBe(shift === 0);
      }),
    );
  });
  it('refuse aunts too many, too few, or of a wrong size', () => {
    const leaves = [1, 2, 3, 4, 5].map((byte) => Uint8Array.of(byte));
    const { root, proofs } = merkleProofs(leaves);
    const proof = proofs[2]!;
    const changed = (change: Partial<MerkleProof>) =>
      verifyMerkleProof({ ...proof, ...change }, root, leaves[2]!);
    expect(changed({ aunts: proof.aunts.slice(1) })).toBe(false);
    expect(changed({ aunts: [...proof.aunts, proof.aunts[0]!] })).toBe(false);
    expect(changed({ aunts: Array(101).fill(proof.aunts[0]) })).toBe(false);
    expect(changed({ total: 0n })).toBe(false);
    expect(changed({ total: -5n })).toBe(false);
    expect(merkleProofForm(proof)).toBeNull();
    expect(merkleProofForm({ ...proof, total: -1n })).not.toBeNull();
    expect(merkleProofForm({ ...proof, index: -1n })).not.toBeNull();
    expect(merkleProofForm({ ...proof, leafHash: new Uint8Array(31) })).not.toBeNull();
    expect(merkleProofForm({ ...proof, aunts: [new Uint8Array(33)] })).not.toBeNull();
    expect(merkleProofForm({ ...proof, aunts: Array(101).fill(proof.aunts[0]) })).not.toBeNull();
  });
});

describe('part sets', () => {
  const block = new Uint8Array(2 * BLOCK_PART_BYTES + 7).map((_, i) => i * 7);
  const { header, parts } = splitIntoParts(block);

  it('a whole set has everything', () => {
    const set = PartSet.whole(block);
    expect(set.header).toEqual(header);
    expect(set.isComplete).toBe(true);
    expect(set.byteSize).toBe(block.length);
    expect(set.bytes()).toBe(block);
    expect(set.part(1)).toEqual(parts[1]);
    expect(bitArrayText(set.have())).toBe('xxx');
  });
  it('fills in any order and once', () => {
    const set = new PartSet(header);
    expect(set.add(parts[2]!)).toBe('added');
    expect(set.add(parts[2]!)).toBe('known');
    expect(bitArrayText(set.have())).toBe('__x');
    expect(set.has(0)).toBe(false);
    expect(() => set.bytes()).toThrow('before it was complete');
    set.add(parts[0]!);
    set.add(parts[1]!);
    expect(equalBytes(set.bytes(), block)).toBe(true);
  });
  it('refuses what does not belong', () => {
    const set = new PartSet(header);
    const first = parts[0]!;
    const other = splitIntoParts(new Uint8Array(block.length)).parts[0]!;
    const short = splitIntoParts(block.subarray(0, BLOCK_PART_BYTES + 1)).parts[0]!;
    expect(set.add({ ...first, index: 3 })).toMatchObject({ refused: 'unexpected-part' });
    expect(set.add({ ...first, index: 1 })).toMatchObject({ refused: 'malformed-part' });
    expect(set.add({ ...first, bytes: first.bytes.subarray(1) })).toMatchObject({
      refused: 'malformed-part',
    });
    expect(set.add(short)).toMatchObject({ refused: 'wrong-part-proof' });
    expect(set.add(other)).toMatchObject({ refused: 'wrong-part-proof' });
    expect(set.count).toBe(0);
  });
  it('of no bytes has no parts', () => {
    expect(splitIntoParts(new Uint8Array(0))).toMatchObject({ header: { total: 0 }, parts: [] });
  });
});

describe('block ids', () => {
  it('have a key of their own, ordered by hash first', () => {
    fc.assert(
      fc.property(any.blockId, any.blockId, (a, b) => {
        expect(blockIdKey(a) === blockIdKey(b)).toBe(equalBlockId(a, b));
        expect(compareBlockIdKeys(a, b)).toBe(-compareBlockIdKeys(b, a) + 0);
        if (a.hash.length === b.hash.length && !equalBytes(a.hash, b.hash)) {
          expect(compareBlockIdKeys(a, b)).toBe(Math.sign(compareBytes(a.hash, b.hash)));
        }
      }),
    );
  });
});
