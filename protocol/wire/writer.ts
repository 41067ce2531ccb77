// Protobuf bytes in the making, by gogoproto's rules (spec 3): ascending fields, defaults left out, chosen
// messages always written.

import { utf8Encode } from '#platform';
import { copyOfPart, put } from '../bytes.ts';
import { NS_PER_S, secondsOf } from '../time.ts';
import type { TimeNs } from '../types.ts';

const TWO_TO_32 = 4_294_967_296;
/** Two bytes hold the length of such a text. */
const ASCII_CHARS_MAX = 1024;
const SCRATCH_KEPT_BYTES_MAX = 1_048_576;

/**
 * Tags are single bytes (`field * 8 + wire type`, fields 1..15): no message of ours written by hand has
 * more.
 */
export class ProtoWriter {
  private buffer: Uint8Array;
  private at = 0;

  constructor(capacity = 4096) {
    this.buffer = new Uint8Array(capacity);
  }

  clear(): void {
    this.at = 0;
    if (this.buffer.length > SCRATCH_KEPT_BYTES_MAX) this.buffer = new Uint8Array(4096);
  }

  /** The bytes so far, without a copy: valid until the next write. */
  peek(): Uint8Array {
    return this.buffer.subarray(0, this.at);
  }

  taken(): Uint8Array {
    return copyOfPart(this.buffer, 0, this.at);
  }

  private reserve(more: number): void {
    const needed = this.at + more;
    if (needed <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(needed, this.buffer.length * 2));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
  }

  /** A bare unsigned varint, at most 2^53 - 1. The room for it (10 bytes) must have been reserved. */
  private varint(value: number): void {
    let rest = value;
    while (rest >= TWO_TO_32) {
      this.buffer[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      this.buffer[this.at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.buffer[this.at++] = rest;
  }

  private bigVarint(value: bigint): void {
    // A negative number takes ten bytes. Two halves, because each step of a bigint makes another one.
    let low = Number(BigInt.asUintN(32, value));
    let high = Number(BigInt.asUintN(32, value >> 32n));
    while (high > 0 || low > 127) {
      this.buffer[this.at++] = (low & 127) | 128;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.buffer[this.at++] = low;
  }

  private anyVarint(value: bigint): void {
    if (value >= 0n && value <= 9_007_199_254_740_991n) this.varint(Number(value));
    else this.bigVarint(value);
  }

  /** int32, uint32, enum, bool; left out when zero. */
  int(tag: number, value: number): void {
    if (value !== 0) this.chosenInt(tag, value);
  }

  /** As `int`, and written also when zero (a chosen oneof member, an element of a list). */
  chosenInt(tag: number, value: number): void {
    this.reserve(11);
    this.buffer[this.at++] = tag;
    if (value >= 0) this.varint(value);
    else this.bigVarint(BigInt(value));
  }

  /** int64 and uint64; left out when zero. */
  int64(tag: number, value: bigint): void {
    if (value === 0n) return;
    this.reserve(11);
    this.buffer[this.at++] = tag;
    this.anyVarint(value);
  }

  bool(tag: number, value: boolean): void {
    if (value) this.chosenInt(tag, 1);
  }

  /** sfixed64, little-endian; left out when zero. */
  fixed64(tag: number, value: bigint): void {
    if (value === 0n) return;
    this.reserve(9);
    this.buffer[this.at++] = tag;
    let rest = BigInt.asUintN(64, value);
    for (let i = 0; i < 8; i++) {
      this.buffer[this.at++] = Number(rest & 255n);
      rest >>= 8n;
    }
  }

  bytes(tag: number, value: Uint8Array): void {
    if (value.length > 0) this.chosenBytes(tag, value);
  }

  chosenBytes(tag: number, value: Uint8Array): void {
    this.reserve(11 + value.length);
    this.buffer[this.at++] = tag;
    this.varint(value.length);
    this.raw(value);
  }

  text(tag: number, value: string): void {
    if (value !== '') this.chosenText(tag, value);
  }

  /** ASCII of no great length, which most texts are, char by char; anything else through UTF-8. */
  chosenText(tag: number, value: string): void {
    const { length } = value;
    const start = this.at;
    if (length > ASCII_CHARS_MAX) return this.chosenBytes(tag, utf8Encode(value));
    this.reserve(3 + length);
    const { buffer } = this;
    buffer[this.at++] = tag;
    this.varint(length);
    const from = this.at;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 127) {
        this.at = start;
        return this.chosenBytes(tag, utf8Encode(value));
      }
      buffer[from + i] = code;
    }
    this.at = from + length;
  }

  /**
   * Opens an embedded message, for one byte of length; `close` makes room when it grew longer. Returns what
   * close wants.
   */
  open(tag: number): number {
    this.reserve(2);
    this.buffer[this.at++] = tag;
    return ++this.at;
  }

  /** The same under a tag of two bytes (fields 16 to 2047), given as its varint's value. */
  openFar(tag: number): number {
    this.reserve(3);
    this.buffer[this.at++] = (tag & 127) | 128;
    this.buffer[this.at++] = tag >> 7;
    return ++this.at;
  }

  farMessage<T>(tag: number, write: (writer: ProtoWriter, value: T) => void, value: T): void {
    const start = this.openFar(tag);
    write(this, value);
    this.close(start);
  }

  /** An embedded message whose bytes are made already, under such a tag. */
  farBytes(tag: number, bytes: Uint8Array): void {
    this.reserve(12 + bytes.length);
    this.buffer[this.at++] = (tag & 127) | 128;
    this.buffer[this.at++] = tag >> 7;
    this.varint(bytes.length);
    this.raw(bytes);
  }

  close(start: number): void {
    const length = this.at - start;
    if (length > 127) {
      const more = length < 16_384 ? 1 : length < 2_097_152 ? 2 : length < 268_435_456 ? 3 : 4;
      this.reserve(more);
      this.buffer.copyWithin(start + more, start, this.at);
      this.at = start - 1;
      this.varint(length);
      this.at += length;
    } else {
      this.buffer[start - 1] = length;
    }
  }

  /** An embedded message, always written. */
  message<T>(tag: number, write: (writer: ProtoWriter, value: T) => void, value: T): void {
    const start = this.open(tag);
    write(this, value);
    this.close(start);
  }

  /** An embedded google.protobuf.Timestamp, always written; 1970 is the empty message. */
  time(tag: number, timeNs: TimeNs): void {
    const start = this.open(tag);
    this.timeFields(timeNs);
    this.buffer[start - 1] = this.at - start;
  }

  /** The fields of a Timestamp, without a frame. */
  timeFields(timeNs: TimeNs): void {
    if (timeNs !== splitNs) {
      const seconds = secondsOf(timeNs);
      splitNs = timeNs;
      splitSeconds = seconds;
      splitNanos = Number(timeNs - seconds * NS_PER_S);
    }
    this.int64(0x08, splitSeconds);
    this.int(0x10, splitNanos);
  }

  /** Packed uint64s; left out when there are none. */
  packed(tag: number, values: readonly bigint[]): void {
    if (values.length === 0) return;
    const start = this.open(tag);
    for (const value of values) {
      this.reserve(10);
      this.anyVarint(value);
    }
    this.close(start);
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    put(this.buffer, this.at, bytes);
    this.at += bytes.length;
  }
}

/** The time that was written last, split: a vote's is written several times in a row. */
let splitNs: TimeNs = 0n;
let splitSeconds = 0n;
let splitNanos = 0;

const scratch = new ProtoWriter();
let scratchIsFree = true;

/** The bytes of one message. One scratch buffer serves all who do not encode inside an encoding. */
export function encodeWith<T>(write: (writer: ProtoWriter, value: T) => void, value: T): Uint8Array {
  if (!scratchIsFree) {
    const writer = new ProtoWriter();
    write(writer, value);
    return writer.taken();
  }
  scratchIsFree = false;
  try {
    scratch.clear();
    write(scratch, value);
    return scratch.taken();
  } finally {
    scratchIsFree = true;
  }
}
