// The bytes of a log file: frames of [u32 length][u32 CRC32C][record], little-endian, one after the other,
// and how a damaged file is read.

import { crc32c } from '../../../protocol/crc32c.ts';

export const FRAME_HEADER_BYTES = 8;
/** How much of a damaged rest is checked for whole records, so that opening a big damaged log stays quick. */
const SEARCH_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Bytes of a frame's length field, as part of what the checksum covers: a rest of zeros must not read as
 * empty records.
 */
const lengthField = new Uint8Array(4);

function checksumOf(record: Uint8Array): number {
  const length = record.length;
  lengthField[0] = length;
  lengthField[1] = length >>> 8;
  lengthField[2] = length >>> 16;
  lengthField[3] = length >>> 24;
  return crc32c(record, crc32c(lengthField));
}

/** Writes the frame of `record` at `at`, where there is room; answers the place after it. */
export function putFrame(target: Uint8Array, at: number, record: Uint8Array): number {
  putU32(target, at, record.length);
  putU32(target, at + 4, checksumOf(record));
  target.set(record, at + FRAME_HEADER_BYTES);
  return at + FRAME_HEADER_BYTES + record.length;
}

function putU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value;
  target[at + 1] = value >>> 8;
  target[at + 2] = value >>> 16;
  target[at + 3] = value >>> 24;
}
const u32At = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;

/** The record whose frame starts at `at`, if it is whole. */
function recordAt(bytes: Uint8Array, at: number): Uint8Array | null {
  if (at + FRAME_HEADER_BYTES > bytes.length) return null;
  const from = at + FRAME_HEADER_BYTES;
  const length = u32At(bytes, at);
  if (length > bytes.length - from) return null;
  const record = bytes.subarray(from, from + length);
  return checksumOf(record) === u32At(bytes, at + 4) ? record : null;
}

/**
 * The whole records from the start of a file; `end` is the place after the last of them. The records are
 * views.
 */
export function readFrames(bytes: Uint8Array): { readonly records: Uint8Array[]; readonly end: number } {
  const records: Uint8Array[] = [];
  let end = 0;
  for (let record = recordAt(bytes, 0); record !== null; record = recordAt(bytes, end)) {
    records.push(record);
    end += FRAME_HEADER_BYTES + record.length;
  }
  return { records, end };
}

/** Is there a whole record anywhere behind the damage at `from`? Then it is not the torn end of a write. */
export function wholeRecordBehind(bytes: Uint8Array, from: number): boolean {
  let checked = 0;
  for (let at = from + 1; at + FRAME_HEADER_BYTES <= bytes.length && checked < SEARCH_BYTES_MAX; at++) {
    const length = u32At(bytes, at);
    if (length > bytes.length - at - FRAME_HEADER_BYTES) continue;
    checked += length + FRAME_HEADER_BYTES;
    if (recordAt(bytes, at) !== null) return true;
  }
  return false;
}
