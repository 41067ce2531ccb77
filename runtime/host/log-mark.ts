// The mark beside a log: `<log>.synced`, 8 bytes little-endian, a length up to which the log is known to be
// durable.
// It is a witness, not a part of recovery: it tells a torn end from damage, and a chaos test how much it
// may cut.
// No mark: nothing is known, all of the file may be durable.

import * as fs from 'node:fs';

const markPathOf = (log: string): string => `${log}.synced`;

export class SyncedMark {
  readonly #path: string;
  readonly #bytes = new Uint8Array(8);
  readonly #view = new DataView(this.#bytes.buffer);
  #file: number | null = null;

  constructor(log: string, length: number) {
    this.#path = markPathOf(log);
    this.set(length);
  }

  set(length: number): void {
    this.#file ??= fs.openSync(this.#path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    this.#view.setBigUint64(0, BigInt(length), true);
    fs.writeSync(this.#file, this.#bytes, 0, 8, 0);
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

/** 0 when there is no mark that can be read. */
export function syncedLengthOf(log: string): number {
  try {
    const bytes = fs.readFileSync(markPathOf(log));
    return bytes.length === 8 ? Number(bytes.readBigUInt64LE()) : 0;
  } catch {
    return 0;
  }
}
