// The mark beside a log: `<log>.synced`, a length up to which the log is known to be durable (8 bytes,
// little-endian) and the CRC32C of these (4; marks of earlier versions have none).
// It is a witness, not a part of recovery: it tells a torn end from damage, and a chaos test how much it
// may cut.
// No mark: nothing is known, all of the file may be durable.

import * as fs from 'node:fs';
import { crc32c } from '../../../protocol/crc32c.ts';

export const markPathOf = (log: string): string => `${log}.synced`;

const LENGTH_BYTES = 8;
const MARK_BYTES = 12;

export class SyncedMark {
  readonly #path: string;
  readonly #bytes = new Uint8Array(MARK_BYTES);
  readonly #view = new DataView(this.#bytes.buffer);
  #file: number | null = null;

  constructor(log: string, length: number) {
    this.#path = markPathOf(log);
    this.set(length);
  }

  set(length: number): void {
    this.#file ??= fs.openSync(this.#path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    this.#view.setBigUint64(0, BigInt(length), true);
    this.#view.setUint32(LENGTH_BYTES, crc32c(this.#bytes.subarray(0, LENGTH_BYTES)), true);
    fs.writeSync(this.#file, this.#bytes, 0, MARK_BYTES, 0);
  }

  remove(): void {
    this.close();
    fs.rmSync(this.#path, { force: true });
  }

  close(): void {
    if (this.#file !== null) fs.closeSync(this.#file);
    this.#file = null;
  }
}

export const removeMark = (log: string): void => fs.rmSync(markPathOf(log), { force: true });

export interface Mark {
  /** What it says, whether or not that can be believed. */
  readonly length: bigint;
  /** `unchecked`: of an earlier version, without a checksum. `damaged`: nothing follows from it. */
  readonly trust: 'checked' | 'unchecked' | 'damaged';
}

/** Null when there is none, or of one no more than a crash leaves: its file is made before it is written. */
export function markOf(log: string): Mark | null {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(markPathOf(log));
  } catch {
    return null;
  }
  if (bytes.length !== LENGTH_BYTES && bytes.length !== MARK_BYTES) return null;
  const length = bytes.readBigUInt64LE();
  const checksum = bytes.length === MARK_BYTES ? bytes.readUInt32LE(LENGTH_BYTES) : null;
  // It is not synced itself: after a power failure zeros may stand where the file grew.
  if (checksum === 0) return null;
  const isWrong = checksum !== null && checksum !== crc32c(bytes.subarray(0, LENGTH_BYTES));
  if (isWrong || length > BigInt(Number.MAX_SAFE_INTEGER)) return { length, trust: 'damaged' };
  return { length, trust: checksum === null ? 'unchecked' : 'checked' };
}

/** Null: no mark says anything, and all of the log may be durable. */
export function syncedLengthOf(log: string): number | null {
  const mark = markOf(log);
  return mark === null || mark.trust === 'damaged' ? null : Number(mark.length);
}
