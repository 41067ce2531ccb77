import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pairHash, SetSum, setSumOf } from '../../machines/set-sum.ts';

const entries = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });

it('is the sum mod 2^256 of the hashes', () => {
  const hash = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(setSumOf([bytes])).toString('hex')}`);
  fc.assert(
    fc.property(entries, (list) => {
      const wanted = list.reduce((sum, entry) => BigInt.asUintN(256, sum + hash(entry)), 0n);
      expect(Buffer.from(setSumOf(list)).toString('hex')).toBe(wanted.toString(16).padStart(64, '0'));
    }),
  );
});

it('does not depend on order, and forgets what is removed', () => {
  fc.assert(
    fc.property(entries, entries, (kept, dropped) => {
      const sum = new SetSum();
      for (const entry of [...dropped, ...kept]) sum.add(entry);
      for (const entry of [...dropped].reverse()) sum.remove(entry);
      expect(sum.value()).toEqual(setSumOf([...kept].reverse()));
    }),
  );
});

it('starts at zeros and tells pairs apart', () => {
  expect(new SetSum().value()).toEqual(new Uint8Array(32));
  const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list);
  expect(pairHash(bytes(1), bytes(2, 3))).not.toEqual(pairHash(bytes(1, 2), bytes(3)));
  const sum = new SetSum();
  sum.addPair(bytes(1), bytes(2));
  expect(sum.value()).toEqual(setSumOf([bytes(1, 0, 0, 0, 1, 2)]));
  sum.removePair(bytes(1), bytes(2));
  expect(sum.value()).toEqual(new Uint8Array(32));
});
