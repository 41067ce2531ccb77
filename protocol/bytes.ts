// Bytes and their spellings: hex, base64, comparison, joining.

import { base64 } from '@scure/base';
import { hexEncode, latin1Decode } from '#platform';
import { Lately } from './lately.ts';
import { EMPTY_BYTES } from './types.ts';

export const hexOf = (bytes: Uint8Array): string => hexEncode(bytes);
export const hexUpperOf = (bytes: Uint8Array): string => hexEncode(bytes).toUpperCase();

/** 0..15, or -1 for what is no hex digit. */
function nibbleOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Any case, no prefix; null when the text is not hex. */
export function bytesOfHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = nibbleOf(text.charCodeAt(2 * i));
    const low = nibbleOf(text.charCodeAt(2 * i + 1));
    if (high < 0 || low < 0) return null;
    bytes[i] = high * 16 + low;
  }
  return bytes;
}

export const base64Of = (bytes: Uint8Array): string => base64.encode(bytes);

/**
 * Standard alphabet, padded; null for anything else. As for Go's decoder, line ends may stand anywhere, and bits that fill up the last byte's
 * digit may be set: one content has many spellings.
 */
export function bytesOfBase64(text: string): Uint8Array | null {
  if (text === '') return EMPTY_BYTES;
  const line = text.replace(/[\r\n]/g, '');
  const padding = line.endsWith('==') ? 2 : line.endsWith('=') ? 1 : 0;
  const digits = line.slice(0, line.length - padding);
  try {
    // Whole bytes in place of the padding: the library would look at the bits before it.
    const bytes = base64.decode(digits + 'A'.repeat(padding));
    return bytes.slice(0, bytes.length - padding);
  } catch {
    return null; // the library has no other way to say no
  }
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Negative, zero or positive: byte by byte, then the shorter first (Go's bytes.Compare). */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** With four times as much nothing was faster, and a hundred validators kept 57 MB more. */
const SLAB_BYTES = 16384;
/** Most blocks and answers of applications. */
const SLAB_SHARE_MAX = 4096;
let slab = new ArrayBuffer(SLAB_BYTES);
let slabUsed = 0;

/**
 * Room for `size` bytes, to be filled at once: its content is arbitrary. All but large rooms are cut from one slab, because an array buffer
 * of its own costs an engine more (2 to 8 us where the heap is in use) than all the rest of encoding a block. What is kept keeps its slab:
 * see `settled`.
 */
export function roomFor(size: number): Uint8Array {
  if (size > SLAB_SHARE_MAX) return new Uint8Array(size);
  if (slabUsed + size > SLAB_BYTES) {
    slab = new ArrayBuffer(SLAB_BYTES);
    slabUsed = 0;
  }
  slabUsed += size;
  return new Uint8Array(slab, slabUsed - size, size); // `subarray` looks for species first
}

/** What stays lies among its like: in slabs of which nothing goes. */
/** No other buffer has this size, parts of blocks not either: what is settled is known by it. */
const SETTLED_BYTES = 4 * SLAB_BYTES - 8;
let settledSlab = new ArrayBuffer(SETTLED_BYTES);
let settledUsed = 0;
/** Several stores of a process settle the same bytes, and share the copy. */
const settledLately = new Lately<Uint8Array, Uint8Array>(16);
/** What V8 keeps inside an array object. */
const SMALL_BYTES_MAX = 64;

/**
 * Bytes that do not keep a slab, or a block that they are a view on, from being let go: for what stays long after its neighbours are gone.
 */
export function settled(bytes: Uint8Array): Uint8Array {
  // To ask a small array for its buffer is what makes V8 give it one.
  if (bytes.length <= SMALL_BYTES_MAX) return bytes.slice();
  const whole = bytes.buffer.byteLength;
  if (whole === SETTLED_BYTES || (whole !== SLAB_BYTES && whole <= 2 * bytes.length)) return bytes;
  const known = settledLately.get(bytes);
  if (known) return known;
  if (bytes.length > SLAB_BYTES) return bytes.slice();
  if (settledUsed + bytes.length > SETTLED_BYTES) {
    settledSlab = new ArrayBuffer(SETTLED_BYTES);
    settledUsed = 0;
  }
  const copy = new Uint8Array(settledSlab, settledUsed, bytes.length);
  settledUsed += bytes.length;
  copy.set(bytes);
  settledLately.set(bytes, copy);
  return copy;
}

/** A call of `set` costs as much as so many steps; with the view that it needs of a part, as so many. */
const STEPS_MAX = 48;
const STEPS_OF_PART_MAX = 160;

/** All of `bytes`, from `at` on, where there is room. */
export function put(target: Uint8Array, at: number, bytes: Uint8Array): void {
  const { length } = bytes;
  if (length > STEPS_MAX) target.set(bytes, at);
  else for (let i = 0; i < length; i++) target[at + i] = bytes[i]!;
}

/** What stands from `start` to `end`, in a room of its own. */
export function copyOfPart(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = roomFor(end - start);
  if (end - start > STEPS_OF_PART_MAX) copy.set(bytes.subarray(start, end));
  else for (let i = start; i < end; i++) copy[i - start] = bytes[i]!;
  return copy;
}

/** One char per byte (latin1): a map key of bytes that sorts as the bytes do. */
export const byteKey = (bytes: Uint8Array): string => latin1Decode(bytes);
