// Protobuf as far as it is needed to write a second time what is signed, hashed, stored and said, and the words that stand in all of that.

import { sha256 } from '#platform';
import { copyOfPart, put } from '../../../protocol/bytes.ts';
import type { BlockId } from '../../../protocol/types.ts';

const NS_PER_S = 1_000_000_000n;
/** A scratch: what is written is hashed, verified or copied at once. */
const SCRATCH_BYTES = 4096;

/** What is zero or empty is left out, but for a message that is always there, and what stands in a list. */
export class Words {
  private bytes = new Uint8Array(SCRATCH_BYTES);
  private view = new DataView(this.bytes.buffer);
  private at = 0;

  private room(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.at + length));
    grown.set(this.bytes);
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  byte(value: number): this {
    this.room(1);
    this.bytes[this.at++] = value;
    return this;
  }

  varint(value: number): this {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    return this.byte(rest);
  }

  /** Negative ones have ten bytes. */
  bigVarint(value: bigint): this {
    let rest = BigInt.asUintN(64, value);
    for (; rest > 127n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    return this.byte(Number(rest));
  }

  raw(value: Uint8Array): this {
    this.room(value.length);
    put(this.bytes, this.at, value);
    this.at += value.length;
    return this;
  }

  int(field: number, value: bigint | number): this {
    const number = Number(value);
    if (number === 0) return this;
    this.byte(field << 3);
    return number > 0 && Number.isSafeInteger(number) ? this.varint(number) : this.bigVarint(BigInt(value));
  }

  fixed64(field: number, value: bigint): this {
    if (value === 0n) return this;
    this.byte((field << 3) | 1).room(8);
    this.view.setBigInt64(this.at, value, true);
    this.at += 8;
    return this;
  }

  text(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.item(field, value);
  }

  /** One of a list: here always, be it empty. */
  item(field: number, value: Uint8Array): this {
    return this.byte((field << 3) | 2)
      .varint(value.length)
      .raw(value);
  }

  /** A list of numbers. */
  packed(field: number, values: readonly bigint[]): this {
    return values.length === 0 ? this : this.message(field, writeNumbers, values);
  }

  /** Here always, be it empty. */
  message<T>(field: number, write: (words: Words, value: T) => unknown, value: T): this {
    return this.byte((field << 3) | 2).delimited(write, value);
  }

  /** Behind its length. */
  delimited<T>(write: (words: Words, value: T) => unknown, value: T): this {
    this.byte(0);
    const from = this.at;
    write(this, value);
    const length = this.at - from;
    if (length < 128) {
      this.bytes[from - 1] = length;
      return this;
    }
    const written = this.bytes.slice(from, this.at);
    this.at = from - 1;
    return this.varint(length).raw(written);
  }

  take(): Uint8Array {
    const taken = copyOfPart(this.bytes, 0, this.at);
    this.at = 0;
    return taken;
  }

  hash(): Uint8Array {
    const hash = sha256(this.bytes.subarray(0, this.at));
    this.at = 0;
    return hash;
  }
}

function writeNumbers(to: Words, values: readonly bigint[]): void {
  for (const each of values) to.bigVarint(each);
}

/** What is written is taken out, or hashed, before anything else is. */
export const words = new Words();

export function writeTime(to: Words, timeNs: bigint): void {
  const nanos = ((timeNs % NS_PER_S) + NS_PER_S) % NS_PER_S;
  to.int(1, (timeNs - nanos) / NS_PER_S).int(2, nanos);
}

export const writeParts = (to: Words, { total, hash }: BlockId['parts']): Words =>
  to.int(1, total).text(2, hash);

/** BlockID and CanonicalBlockID have the same fields. */
export const writeId = (to: Words, { hash, parts }: BlockId): Words =>
  to.text(1, hash).message(2, writeParts, parts);
