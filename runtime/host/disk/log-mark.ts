// The mark beside a log: `<log>.synced`, a length up to which the log is known to be durable (8 bytes,
// little-endian) and the CRC32C of these (4; marks of earlier versions have none).
// It is a witness, not a part of recovery: it tells a torn end from damage, and a chaos test how much it
// may cut.
// No mark: all of the log is durable, for the mark is made, durably, before anything is appended (earlier versions
// did not sync it: after a power failure under one of those, a log may have none and an end that was not synced). What it says
// later is not synced: after a power failure it may say less than is true, and never more.

import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { crc32c } from '../../../protocol/crc32c.ts';

export const markPathOf = (log: string): string => `${log}.synced`;

const LENGTH_BYTES = 8;
const MARK_BYTES = 12;

const fsync = promisify(fs.fsync);

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
    this.#file ??= this.#open();
    this.#view.setBigUint64(0, BigInt(length), true);
    this.#view.setUint32(LENGTH_BYTES, crc32c(this.#bytes.subarray(0, LENGTH_BYTES)), true);
    fs.writeSync(this.#file, this.#bytes, 0, MARK_BYTES, 0);
  }

  /** One that stands there stays what it is until it is written over; whatever is longer is no mark. */
  #open(): number {
    const file = fs.openSync(this.#path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    if (fs.fstatSync(file).size > MARK_BYTES) fs.ftruncateSync(file, 0);
    return file;
  }

  /** What it says becomes durable; that it is there, with its folder. */
  sync(): void {
    if (this.#file !== null) fs.fsyncSync(this.#file);
  }

  async syncLater(): Promise<void> {
    if (this.#file !== null) await fsync(this.#file);
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
  } catch (error) {
    // What cannot be read may say more than the log has.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
  if (bytes.length !== LENGTH_BYTES && bytes.length !== MARK_BYTES) return null;
  const length = bytes.readBigUInt64LE();
  const checksum = bytes.length === MARK_BYTES ? bytes.readUInt32LE(LENGTH_BYTES) : null;
  // Before it was synced, a power failure leaves zeros where the file grew.
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
