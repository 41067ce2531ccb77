// Protobuf bytes taken apart as gogoproto does: any order, unknown fields skipped, the last value wins, a
// message that comes twice merges.

import { utf8Decode } from '#platform';
import { type Refusal, refuse } from '../refusal.ts';
import { timeOf } from '../time.ts';
import { EMPTY_BYTES, MEMBERS_MAX, type TimeNs } from '../types.ts';

/** How a reader says no to `decodeWith`, which turns it into a refusal. Never leaves this folder. */
export class Malformed extends Error {
  override name = 'Malformed';
}

const TWO_TO_32 = 4_294_967_296;
const SECONDS_MIN = -62_135_596_800n; // 0001-01-01
const SECONDS_END = 253_402_300_800n; // 10000-01-01

/**
 * Reads the fields of one message; `was` is what stood in its place before (null where a reader takes
 * nothing over).
 */
export type Read<T, Was = T> = (reader: ProtoReader, was: Was) => T;

/** Byte fields are views on the bytes given, not copies: the caller must not change them afterwards. */
export class ProtoReader {
  private readonly source: Uint8Array;
  private at = 0;
  private end: number;
  private low = 0;
  private high = 0;
  private members = 0;
  /** `field * 8 + wire type` of the field that `next` stopped at. */
  tag = 0;

  constructor(source: Uint8Array) {
    this.source = source;
    this.end = source.length;
  }

  /** Reads a varint of up to ten bytes into `low` and `high`; what exceeds 64 bits is lost, as in Go. */
  private varint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw new Malformed('the bytes end inside a number');
      const byte = this.source[this.at++]!;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        return;
      }
    }
    throw new Malformed('a number takes more than ten bytes');
  }

  /**
   * A signature, a validator or a piece of evidence more, in whatever list: two bytes each may ask for hundreds of bytes of memory, and lists may be within lists.
   */
  member(): void {
    if (++this.members > MEMBERS_MAX)
      throw new Malformed(`more than ${MEMBERS_MAX} signatures, validators and pieces of evidence`);
  }

  /** Moves to the next field of this message; false at its end. */
  next(): boolean {
    if (this.at >= this.end) return false;
    this.varint();
    const wire = this.low & 7;
    const field = (this.low >>> 3) | (this.high << 29) | 0;
    if (wire === 4) throw new Malformed('a group ends that never began');
    if (field <= 0) throw new Malformed(`field number ${field}`);
    this.tag = field * 8 + wire;
    return true;
  }

  /** int32 and enum: the low 32 bits, signed. */
  int32(): number {
    this.varint();
    return this.low | 0;
  }

  uint32(): number {
    this.varint();
    return this.low;
  }

  bool(): boolean {
    this.varint();
    return this.low !== 0 || this.high !== 0;
  }

  uint64(): bigint {
    this.varint();
    if (this.high < 0x20_0000) return BigInt(this.high * TWO_TO_32 + this.low);
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  int64(): bigint {
    const value = this.uint64();
    return this.high < 0x8000_0000 ? value : BigInt.asIntN(64, value);
  }

  private length(): number {
    this.varint();
    if (this.high !== 0 || this.at + this.low > this.end) throw new Malformed('the bytes end inside a field');
    return this.low;
  }

  bytes(): Uint8Array {
    const length = this.length();
    const start = this.at;
    this.at = start + length;
    return length === 0 ? EMPTY_BYTES : this.source.subarray(start, this.at);
  }

  text(): string {
    const bytes = this.bytes();
    return bytes.length === 0 ? '' : utf8Decode(bytes);
  }

  /** Passes the length-delimited field that stands here if its content is exactly `content`. */
  passes(content: Uint8Array): boolean {
    const start = this.at;
    if (this.length() === content.length) {
      const from = this.at;
      let i = 0;
      while (i < content.length && this.source[from + i] === content[i]) i++;
      if (i === content.length) {
        this.at = from + i;
        return true;
      }
    }
    this.at = start;
    return false;
  }

  /** An embedded message; `was` is what stood in its place before (fields that are absent keep it). */
  message<T, Was>(read: Read<T, Was>, was: Was): T {
    const end = this.end;
    this.end = this.length() + this.at;
    const value = read(this, was);
    this.end = end;
    return value;
  }

  /** google.protobuf.Timestamp: replaced, never merged; years 1 to 9999 (gogoproto StdTimeUnmarshal). */
  time(): TimeNs {
    const end = this.end;
    this.end = this.length() + this.at;
    let seconds = 0n;
    let nanos = 0;
    while (this.next()) {
      if (this.tag === 0x08) seconds = this.int64();
      else if (this.tag === 0x10) nanos = this.int32();
      else this.skip(2);
    }
    this.end = end;
    if (seconds < SECONDS_MIN || seconds >= SECONDS_END || nanos < 0 || nanos >= 1_000_000_000) {
      throw new Malformed(`time of ${seconds} seconds and ${nanos} nanoseconds`);
    }
    return timeOf(seconds, nanos);
  }

  /** One or many uint64s, packed or not, appended to `values`. */
  uint64s(values: bigint[]): void {
    if ((this.tag & 7) === 0) {
      values.push(this.uint64());
      return;
    }
    const end = this.end;
    this.end = this.length() + this.at;
    while (this.at < this.end) values.push(this.uint64());
    this.end = end;
  }

  /**
   * Skips an unknown field. A field up to `known` that got here came with the wrong wire type, which
   * gogoproto refuses.
   */
  skip(known: number): void {
    const field = Math.floor(this.tag / 8); // of more than 32 bits, perhaps
    if (field <= known) throw new Malformed(`field ${field} has wire type ${this.tag & 7}`);
    let depth = 0;
    let wire = this.tag & 7;
    for (;;) {
      if (wire === 0) this.varint();
      else if (wire === 1) this.pass(8);
      else if (wire === 2) this.pass(this.length());
      else if (wire === 3) depth++;
      else if (wire === 4) depth--;
      else if (wire === 5) this.pass(4);
      else throw new Malformed(`wire type ${wire}`);
      if (depth === 0) return;
      if (depth < 0) throw new Malformed('a group ends that never began');
      this.varint();
      wire = this.low & 7;
    }
  }

  private pass(count: number): void {
    if (this.at + count > this.end) throw new Malformed('the bytes end inside a field');
    this.at += count;
  }
}

/**
 * The list that a field is read into, where its message may come again and merge: what is here already is of these bytes, and grows in place.
 * A copy each time would let short bytes take long.
 */
export const growing = <T>(was: readonly T[]): T[] => (was.length === 0 ? [] : (was as T[]));

export type MalformedBytes = Refusal<'malformed-bytes'>;

/** The one door for bytes from others: what they are not is a refusal, `what` names it. */
export function decodeWith<T, Was>(
  what: string,
  bytes: Uint8Array,
  read: Read<T, Was>,
  was: Was,
): T | MalformedBytes {
  try {
    return read(new ProtoReader(bytes), was);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return refuse('malformed-bytes', `${what} cannot be decoded: ${error.message}`);
  }
}

/** A nil block id is this long; there is nothing to gain by remembering it. */
const NIL_BYTES_MAX = 2;

/** A block id comes again in every vote: it is decoded once, and the same bytes give the same object. */
export function sharing<T>(read: Read<T>, none: T): Read<T> {
  let known: Uint8Array = EMPTY_BYTES;
  let value = none;
  return (reader, was) => {
    if (was !== none) return reader.message(read, was);
    if (known.length > 0 && reader.passes(known)) return value;
    const bytes = reader.bytes();
    const decoded = read(new ProtoReader(bytes), none);
    if (bytes.length > NIL_BYTES_MAX) {
      known = bytes;
      value = decoded;
    }
    return decoded;
  };
}
