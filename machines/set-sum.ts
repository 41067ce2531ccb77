// A digest of a set that grows with the chain: the sum mod 2^256 of SHA-256(entry), kept up entry by entry,
// whatever their order.

import { sha256 } from '#platform';

const LIMBS = 8;
const LIMB = 0x1_0000_0000;

/**
 * Adding and removing cost one SHA-256. Who keeps one also recomputes it from scratch now and then
 * (`setSumOf`).
 */
export class SetSum {
  /** Most significant first, 32 bits each. */
  private readonly limbs = new Uint32Array(LIMBS);

  add(entry: Uint8Array): void {
    this.plus(sha256(entry));
  }

  remove(entry: Uint8Array): void {
    this.minus(sha256(entry));
  }

  addPair(key: Uint8Array, value: Uint8Array): void {
    this.plus(pairHash(key, value));
  }

  removePair(key: Uint8Array, value: Uint8Array): void {
    this.minus(pairHash(key, value));
  }

  /** 32 bytes, big-endian: a fresh array. The empty set gives zeros. */
  value(): Uint8Array {
    const bytes = new Uint8Array(4 * LIMBS);
    for (let i = 0; i < LIMBS; i++) {
      const limb = this.limbs[i]!;
      bytes[4 * i] = limb >>> 24;
      bytes[4 * i + 1] = limb >>> 16;
      bytes[4 * i + 2] = limb >>> 8;
      bytes[4 * i + 3] = limb;
    }
    return bytes;
  }

  private plus(hash: Uint8Array): void {
    let carry = 0;
    for (let i = LIMBS - 1; i >= 0; i--) {
      const sum = this.limbs[i]! + limbOf(hash, i) + carry;
      carry = sum >= LIMB ? 1 : 0;
      this.limbs[i] = sum;
    }
  }

  private minus(hash: Uint8Array): void {
    let borrow = 0;
    for (let i = LIMBS - 1; i >= 0; i--) {
      const difference = this.limbs[i]! - limbOf(hash, i) - borrow;
      borrow = difference < 0 ? 1 : 0;
      this.limbs[i] = difference;
    }
  }
}

/** Byte by byte: to ask a small array for the buffer that a view wants is what makes V8 give it one. */
const limbOf = (hash: Uint8Array, i: number): number =>
  ((hash[4 * i]! << 24) | (hash[4 * i + 1]! << 16) | (hash[4 * i + 2]! << 8) | hash[4 * i + 3]!) >>> 0;

let scratch = new Uint8Array(1024);

/** SHA-256 of `key length (u32, little-endian) | key | value`: no two pairs share that. */
export function pairHash(key: Uint8Array, value: Uint8Array): Uint8Array {
  const length = 4 + key.length + value.length;
  if (length > scratch.length) scratch = new Uint8Array(length * 2);
  for (let i = 0; i < 4; i++) scratch[i] = key.length >>> (8 * i);
  scratch.set(key, 4);
  scratch.set(value, 4 + key.length);
  return sha256(scratch.subarray(0, length));
}

/** The digest from scratch. */
export function setSumOf(entries: Iterable<Uint8Array>): Uint8Array {
  const sum = new SetSum();
  for (const entry of entries) sum.add(entry);
  return sum.value();
}
