// Sets of small indexes as peers exchange them: which votes or parts somebody has.

import type { BitArray } from './types.ts';

const BITS_PER_ELEM = 64;

/** One array of `bits` bits, set where `has` says so. */
export function bitArrayWhere(bits: number, has: (index: number) => boolean): BitArray {
  const elems: bigint[] = [];
  for (let start = 0; start < bits; start += BITS_PER_ELEM) {
    // Two 32-bit halves: a bigint shift for each bit would cost more than all else here.
    let low = 0;
    let high = 0;
    const end = Math.min(bits, start + BITS_PER_ELEM);
    for (let index = start; index < end; index++) {
      if (!has(index)) continue;
      if (index - start < 32) low |= 1 << (index - start);
      else high |= 1 << (index - start - 32);
    }
    elems.push((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
  }
  return { bits, elems };
}

export function bitArrayOf(bits: number, indexes: Iterable<number>): BitArray {
  const chosen = new Set(indexes);
  return bitArrayWhere(bits, (index) => chosen.has(index));
}

export function hasBit(array: BitArray, index: number): boolean {
  if (index < 0 || index >= array.bits) return false;
  const elem = array.elems[Math.floor(index / BITS_PER_ELEM)]!;
  return ((elem >> BigInt(index % BITS_PER_ELEM)) & 1n) === 1n;
}

/** Whether an index is in, for many of them: a bigint shift for each would cost more than all else. */
export function membership(array: BitArray): (index: number) => boolean {
  const halves: number[] = [];
  for (const elem of array.elems)
    halves.push(Number(BigInt.asUintN(32, elem)), Number(BigInt.asUintN(32, elem >> 32n)));
  return (index) => index < array.bits && (((halves[index >> 5] as number) >>> (index & 31)) & 1) === 1;
}

/** Ascending. Bits that an array carries beyond its size do not count. */
export function indexesOf(array: BitArray): number[] {
  const indexes: number[] = [];
  for (let e = 0; e < array.elems.length; e++) {
    const elem = array.elems[e]!;
    if (elem === 0n) continue;
    for (const half of [0, 32]) {
      let rest = Number(BigInt.asUintN(32, elem >> BigInt(half)));
      for (let index = e * BITS_PER_ELEM + half; rest !== 0 && index < array.bits; index++) {
        if ((rest & 1) === 1) indexes.push(index);
        rest >>>= 1;
      }
    }
  }
  return indexes;
}

/** In either; as long as the longer one. */
export function orBits(a: BitArray, b: BitArray): BitArray {
  const [longer, shorter] = a.bits >= b.bits ? [a, b] : [b, a];
  return {
    bits: longer.bits,
    elems: longer.elems.map((elem, i) => elem | (shorter.elems[i] ?? 0n)),
  };
}

/** In `a` and not in `b`; as long as `a`. */
export const subtractBits = (a: BitArray, b: BitArray): BitArray => ({
  bits: a.bits,
  elems: a.elems.map((elem, i) => elem & ~(b.elems[i] ?? 0n)),
});

export const isNoBitSet = (array: BitArray): boolean => array.elems.every((elem) => elem === 0n);
export const isEveryBitSet = (array: BitArray): boolean => indexesOf(array).length === array.bits;

/** `x` for a set bit, `_` for another: as RPC prints them. */
export function bitArrayText(array: BitArray): string {
  let text = '';
  for (let index = 0; index < array.bits; index++) text += hasBit(array, index) ? 'x' : '_';
  return text;
}
