// The bytes of one WebSocket frame between nodes: an envelope is [channel, bytes, channel, bytes, ...] in
// msgpack.

import { Packr } from 'msgpackr';
import { ENVELOPE_PAYLOADS_MAX, type Payload } from '../../../actors/turn.ts';
import { must, type Refusal, refuse } from '../../../protocol/refusal.ts';

const packr = new Packr({ useRecords: false });

/**
 * Payloads below this are copied out of the frame, and those that are less than half of what they lie in: who keeps a
 * vote must not keep the socket's whole read buffer, and what is counted must not keep much more than that.
 */
const COPY_BYTES_MAX = 16 * 1024;

export function packEnvelope(payloads: readonly Payload[]): Uint8Array {
  must(payloads.length <= ENVELOPE_PAYLOADS_MAX, 'an envelope holds no more payloads than a peer takes');
  const items: unknown[] = [];
  for (const { channel, bytes } of payloads) items.push(channel, bytes);
  return packr.pack(items);
}

/**
 * Reads only the msgpack that an envelope can hold. A general reader may be made to allocate hundreds of
 * megabytes by a few bytes (the length of an array is believed before its items are seen) or to build
 * dates, errors and expressions.
 */
export function unpackEnvelope(frame: Uint8Array): readonly Payload[] | Refusal {
  const reader = new Reader(frame);
  const count = reader.arrayLength();
  if (count < 0) return malformed('it is not an array');
  if (count % 2 !== 0) return malformed('a channel is without bytes');
  if (count > 2 * ENVELOPE_PAYLOADS_MAX)
    return malformed(`it holds more than ${ENVELOPE_PAYLOADS_MAX} payloads`);
  const payloads: Payload[] = [];
  for (let i = 0; i < count; i += 2) {
    const channel = reader.byte();
    if (channel < 0) return malformed('a channel is not an integer from 0 to 255');
    const bytes = reader.binary();
    if (bytes === null) return malformed('a payload is not bytes, or is cut');
    const isSmallPart = bytes.length < COPY_BYTES_MAX || 2 * bytes.length < bytes.buffer.byteLength;
    payloads.push({ channel, bytes: isSmallPart ? bytes.slice() : bytes });
  }
  return reader.isAtEnd ? payloads : malformed('bytes follow it');
}

const malformed = (because: string): Refusal =>
  refuse('malformed-envelope', `malformed envelope: ${because}`);

/** The msgpack formats of an envelope; -1 and null: something else, or not all of it is there. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(frame: Uint8Array) {
    this.#bytes = new Uint8Array(frame.buffer, frame.byteOffset, frame.length);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  arrayLength(): number {
    const format = this.#uint(1);
    if (format >= 0x90 && format <= 0x9f) return format & 0x0f;
    if (format === 0xdc) return this.#uint(2);
    return format === 0xdd ? this.#uint(4) : -1;
  }

  byte(): number {
    const format = this.#uint(1);
    if (format === 0xcc) return this.#uint(1);
    return format <= 0x7f ? format : -1;
  }

  binary(): Uint8Array | null {
    const format = this.#uint(1);
    if (format < 0xc4 || format > 0xc6) return null;
    const length = this.#uint(1 << (format - 0xc4));
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) return null;
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  #uint(size: number): number {
    if (this.#at + size > this.#bytes.length) return -1;
    let value = 0;
    for (const end = this.#at + size; this.#at < end; this.#at++)
      value = value * 256 + this.#bytes[this.#at]!;
    return value;
  }
}
