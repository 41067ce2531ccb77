// Running digests: SHA-256 over the canonical bytes of every turn, streamed. A fresh hash per event costs 13 times more, so bytes gather first.

import { type RunningSha256, runningSha256 } from '#platform';
import { Writer } from '../../protocol/words.ts';

/** Hash calls cost more than bytes: this much gathers before one. */
const GATHER_BYTES = 32_768;
/** A hash takes less than 2 GiB at once; a turn may be longer. */
const PIECE_BYTES = 16 * 1024 * 1024;
/** One long turn does not make the buffer long for ever. */
const KEEP_BYTES = 1024 * 1024;

export class RunningDigest {
  private gathered = new Writer(GATHER_BYTES * 2);
  private readonly hash: RunningSha256 = runningSha256();

  /** What is written here is part of the stream: a turn is encoded where it is hashed. */
  open(): Writer {
    if (this.gathered.length >= GATHER_BYTES) this.flush();
    return this.gathered;
  }

  add(bytes: Uint8Array): void {
    this.open().raw(bytes);
  }

  /** What stands from `start` to `end`, and is short. */
  addPart(bytes: Uint8Array, start: number, end: number): void {
    this.open().part(bytes, start, end);
  }

  addU32(value: number): void {
    this.open().u32(value);
  }

  private flush(): void {
    const bytes = this.gathered.peek();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      this.hash.update(bytes.subarray(at, at + PIECE_BYTES));
    if (bytes.length > KEEP_BYTES) this.gathered = new Writer(GATHER_BYTES * 2);
    else this.gathered.clear();
  }

  /** The digest of everything so far; the stream goes on. */
  read(): Uint8Array {
    this.flush();
    return this.hash.copy().digest();
  }
}
