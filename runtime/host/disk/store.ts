// Keeps the Store port with one lmdb environment: reads are synchronous, batches become durable in the
// background.

import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, open, type RangeOptions } from 'lmdb';
import type { KeyValue, Which, Write } from '../../../actors/turn.ts';
import { KEY_BYTES_MAX } from '../../../machines/apps/application.ts';
import { compareBytes } from '../../../protocol/bytes.ts';
import { must } from '../../../protocol/refusal.ts';
import type { Store } from '../../kernel/ports.ts';
import { codeOf, makeFolder, SetupError, setupError, syncFolder, throwLater } from './files.ts';
import { whyNotLmdb } from './store-file.ts';

/** lmdb says that a commit failed, and a moment later why. It must not be able to keep the failure from us. */
const REASON_MS_MAX = 1_000;

export interface StoreOptions {
  /**
   * The disk failed: nothing of this store becomes durable any more. By default thrown, which ends the
   * process.
   */
  readonly onFatal?: (error: Error) => void;
}

export interface HostStore extends Store {
  readonly path: string;
  /** Makes all batches durable, answers all `flushed`, closes the database. */
  close(): Promise<void>;
}

/** @param path a folder of its own; made when it is not there. */
export function openStore(path: string, options: StoreOptions = {}): HostStore {
  const isNew = !existsSync(path);
  makeFolder(path);
  try {
    checkFiles(path);
    const database = open<Uint8Array, Uint8Array>({
      path,
      noSubdir: false,
      name: null as unknown as string, // the root database: one environment is one store
      keyEncoding: 'binary',
      encoding: 'binary',
      // A commit is visible first and flushed after; a reopened database stands at the last flushed one, even when the machine did not
      // reboot: a killed process comes back as from a power cut, so there is one recovery to test.
      overlappingSync: true,
      safeRestore: true,
    } as Parameters<typeof open>[0]) as Database<Uint8Array, Uint8Array>;
    syncFolder(path);
    if (isNew) syncFolder(dirname(path));
    return new LmdbStore(path, database, options.onFatal ?? throwLater);
  } catch (error) {
    throw error instanceof SetupError ? error : setupError(`cannot open the database ${path}`, error);
  }
}

/** lmdb 3.5 ends the process where it should refuse a file: so look first. */
function checkFiles(path: string): void {
  for (const name of ['lock.mdb', 'data.mdb']) {
    const file = join(path, name);
    if (!existsSync(file)) continue;
    const opened = openSync(file, 'r+'); // throws when we have no right to, or it is a folder
    try {
      const why = name === 'data.mdb' ? whyNotLmdb(opened, fstatSync(opened).size) : null;
      if (why !== null) throw new SetupError(`${file} ${why}; move it away or restore a copy`);
    } finally {
      closeSync(opened);
    }
  }
}

interface Batch {
  readonly writes: readonly Write[];
  readonly flushed: (() => void) | undefined;
}

/** What a key becomes when the batch numbered `batch` is committed. */
interface Pending {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly remove: boolean;
  readonly batch: number;
}

/**
 * A synchronous lmdb commit waits for the disk in the calling thread whatever its flags say (measured: 0.4
 * ms here, and as long as the disk likes elsewhere), so batches go to lmdb's own thread, and reads look
 * first at what is under way.
 */
class LmdbStore implements HostStore {
  readonly path: string;
  readonly #database: Database<Uint8Array, Uint8Array>;
  readonly #onFatal: (error: Error) => void;
  /** Written, not yet committed: the last write of each key. */
  readonly #pending = new Map<string, Pending>();
  #queue: Batch[] = [];
  /** Batches so far. */
  #count = 0;
  /** One lmdb transaction at a time, of all batches queued meanwhile; `asked`: one is about to start. */
  #busy = false;
  #asked = false;
  #state: 'open' | 'failed' | 'closed' = 'open';
  /** Tells who closes it that no write is answered any more. */
  #failed: () => void = () => {};
  /** Over when it was told that it failed, and why. */
  #telling: Promise<void> | null = null;

  constructor(path: string, database: Database<Uint8Array, Uint8Array>, onFatal: (error: Error) => void) {
    this.path = path;
    this.#database = database;
    this.#onFatal = onFatal;
  }

  write(writes: readonly Write[], flushed?: () => void): void {
    must(this.#state !== 'closed', `write to the closed store ${this.path}`);
    this.#count++;
    for (const { key, value, remove } of writes) {
      must(
        key.length >= 1 && key.length <= KEY_BYTES_MAX,
        `a key has 1 to ${KEY_BYTES_MAX} bytes, not ${key.length}`,
      );
      this.#pending.set(nameOf(key), { key, value, remove, batch: this.#count });
    }
    this.#queue.push({ writes, flushed });
    this.#ask();
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const pending = this.#pending.get(nameOf(key));
    if (pending) return pending.remove ? undefined : pending.value;
    const found = this.#database.getBinary(key);
    return found && plain(found);
  }

  range(from: Uint8Array, to: Uint8Array, limit: number, which: Which = 'first'): readonly KeyValue[] {
    if (limit <= 0 || (to.length > 0 && compareBytes(from, to) >= 0)) return [];
    const isUp = which === 'first';
    const found = this.#walk(from, to, limit, isUp);
    return isUp ? found : found.reverse();
  }

  /** From the first key on, or down from the last. */
  #walk(from: Uint8Array, to: Uint8Array, limit: number, isUp: boolean): KeyValue[] {
    const found: KeyValue[] = [];
    const pending = this.#pendingIn(from, to);
    if (!isUp) pending.reverse();
    let next = 0;
    const takePendingBefore = (key: Uint8Array | null) => {
      for (; next < pending.length && found.length < limit; next++) {
        const { key: own, value, remove } = pending[next]!;
        if (key && (isUp ? compareBytes(own, key) : compareBytes(key, own)) >= 0) return;
        if (!remove) found.push({ key: own, value });
      }
    };
    for (const { key, value } of this.#database.getRange(bounds(from, to, isUp))) {
      takePendingBefore(key);
      if (found.length >= limit) return found;
      const isPending = next < pending.length && compareBytes(pending[next]!.key, key) === 0;
      if (isPending) continue; // taken, or found removed, in the next round
      found.push({ key: plain(key), value: plain(value) });
      if (found.length >= limit) return found;
    }
    takePendingBefore(null);
    return found;
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    if (this.#state === 'open') {
      await new Promise<void>((done) => {
        this.#failed = done;
        this.write([], done);
      });
    }
    await this.#telling;
    const isWhole = this.#state === 'open';
    this.#state = 'closed';
    // After a commit that failed lmdb waits for its flush for ever: the files are left to the end of the process.
    if (isWhole) await this.#database.close();
  }

  #pendingIn(from: Uint8Array, to: Uint8Array): Pending[] {
    const found: Pending[] = [];
    for (const one of this.#pending.values()) {
      if (compareBytes(one.key, from) >= 0 && (to.length === 0 || compareBytes(one.key, to) < 0))
        found.push(one);
    }
    return found.sort((a, b) => compareBytes(a.key, b.key));
  }

  /** A microtask: all that one turn of the event loop writes shares one transaction and one flush. */
  #ask(): void {
    if (this.#asked || this.#busy || this.#state !== 'open') return;
    this.#asked = true;
    queueMicrotask(() => {
      this.#asked = false;
      if (this.#busy || this.#state !== 'open' || this.#queue.length === 0) return;
      const batches = this.#queue;
      this.#queue = [];
      this.#busy = true;
      this.#commit(batches, this.#count).then(
        () => this.#committed(batches),
        (error) => this.#fail(error),
      );
    });
  }

  async #commit(batches: readonly Batch[], upTo: number): Promise<void> {
    const database = this.#database;
    if (batches.some(({ writes }) => writes.length > 0)) {
      const committed = database.batch(() => {
        for (const { writes } of batches) {
          for (const { key, value, remove } of writes) {
            if (remove) database.remove(key);
            else database.put(key, value);
          }
        }
      });
      // In an immediate before this one lmdb makes a second promise of the same commit, and keeps it: where that
      // is rejected and nobody looks, the process would end in the middle of its orderly end.
      setImmediate(() => database.committed.then(ignore, ignore));
      await committed;
      // Resolved: committed. It is on the disk only when `flushed` is, too.
      await database.flushed;
      database.resetReadTxn();
      // A head that could not be written counts as committed and flushed all the same; but lmdb begins no transaction any more, to read either.
      database.doesExist(ANY_KEY);
    }
    for (const [name, { batch }] of this.#pending) if (batch <= upTo) this.#pending.delete(name);
  }

  #committed(batches: readonly Batch[]): void {
    this.#busy = false;
    if (this.#queue.length > 0) this.#ask();
    // In a task of its own, so that a bug thrown by an answer is not a rejected promise of ours.
    setImmediate(() => {
      for (const { flushed } of batches) flushed?.();
    });
  }

  #fail(error: unknown): void {
    this.#state = 'failed';
    this.#failed(); // who closes it waits for nothing any more
    this.#telling = reasonOf(error).then((reason) => {
      // lmdb gives this name to a write that was cut short, and the last one that a disk has room for is.
      const hint = codeOf(reason) === 'EIO' ? ' (is its disk full?)' : '';
      this.#onFatal(setupError(`cannot write the database ${this.path}${hint}`, reason));
    });
  }
}

const ANY_KEY = Uint8Array.of(0);
const ignore = (): void => {};

/** Why a commit failed: its error carries a promise, which lmdb rejects with the reason. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: unknown };
  if (commitError === undefined) return error;
  const reason = Promise.resolve(commitError).catch((why: unknown) => why);
  return Promise.race([reason, sleep(REASON_MS_MAX, error)]);
}

/** from <= key < to, as lmdb wants it said: downwards `start` is the upper end. */
function bounds(from: Uint8Array, to: Uint8Array, isUp: boolean): RangeOptions {
  const lower = from.length > 0 ? from : undefined;
  const upper = to.length > 0 ? to : undefined;
  if (isUp) return { ...(lower && { start: lower }), ...(upper && { end: upper }) };
  return {
    reverse: true,
    ...(upper && { start: upper, exclusiveStart: true }),
    ...(lower && { end: lower, inclusiveEnd: true }),
  };
}

/** A key as a string, one character per byte. */
const nameOf = (key: Uint8Array): string =>
  Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');

/** lmdb answers with Buffers of their own memory. */
const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
