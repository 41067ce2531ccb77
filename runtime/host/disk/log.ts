// Keeps the Log port with an append-only file: group commit, repair of a torn end, trimming by rewriting.

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { must } from '../../../protocol/refusal.ts';
import type { Log } from '../../kernel/ports.ts';
import { SetupError, setupError, syncFolder, throwLater } from './files.ts';
import { FRAME_HEADER_BYTES, putFrame, readFrames, wholeRecordBehind } from './log-format.ts';
import { type Mark, markOf, markPathOf, removeMark, SyncedMark } from './log-mark.ts';

/** A rewrite must save this much, and half of the file: it costs an fsync of what is kept. */
const TRIM_BYTES_MIN = 1024 * 1024;
const WRITE_BYTES_MIN = 64 * 1024;
/** A rewrite copies in pieces of about this size, and serves the event loop between them. */
const REWRITE_PIECE_BYTES = 1024 * 1024;

export interface Repair {
  readonly path: string;
  /** Where the file was cut: the bytes from here on were no whole record. */
  readonly offset: number;
  readonly bytesCut: number;
  /** A copy of what was cut. */
  readonly savedAs: string;
  /** Synced records were damaged, or whole records lie behind the damage: more than a torn write. */
  readonly corruption: boolean;
}

export interface LogOptions {
  /** Told about a cut at opening. */
  readonly onRepair?: (repair: Repair) => void;
  /**
   * It is what keeps a key from signing twice: refuse (SetupError) to open it when it is damaged as no crash
   * does it, or when its mark cannot tell, and leave it as it is.
   */
  readonly refuseCorruption?: boolean;
  /**
   * The disk failed: nothing of this log becomes durable any more. By default thrown, which ends the
   * process.
   */
  readonly onFatal?: (error: Error) => void;
}

export interface HostLog extends Log {
  readonly path: string;
  /** Makes all records durable, answers all syncs, closes the file. */
  close(): Promise<void>;
}

export function openLog(path: string, options: LogOptions = {}): HostLog {
  try {
    return new FileLog(path, options);
  } catch (error) {
    throw error instanceof SetupError ? error : setupError(`cannot open the log ${path}`, error);
  }
}

const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);
const open = promisify(fs.open);
const write: (file: number, bytes: Uint8Array, at: number, length: number) => Promise<number> = (
  file,
  bytes,
  at,
  length,
) =>
  new Promise((resolve, reject) => {
    fs.write(file, bytes, at, length, null, (error, written) => (error ? reject(error) : resolve(written)));
  });

class FileLog implements HostLog {
  readonly path: string;
  readonly #onFatal: (error: Error) => void;
  readonly #mark: SyncedMark;
  #file: number;
  #records: Uint8Array[];
  /** Bytes of the frames of `#records`. */
  #liveBytes: number;
  /** Bytes in the file, and how many of them are durable. */
  #written: number;
  #synced: number;
  /** Frames not yet in the file. */
  #buffer = new Uint8Array(WRITE_BYTES_MIN);
  #buffered = 0;
  #waiting: (() => void)[] = [];
  /** One fsync or rewrite at a time; `asked`: a step is on its way. */
  #busy = false;
  #asked = false;
  #state: 'open' | 'failed' | 'closed' = 'open';
  /** Tells who closes it that no sync is answered any more. */
  #failed: () => void = () => {};

  constructor(path: string, options: LogOptions) {
    this.path = path;
    this.#onFatal = options.onFatal ?? throwLater;
    fs.rmSync(`${path}.new`, { force: true }); // of a rewrite that a crash ended: the log itself is whole
    const { file, records, end } = openRepaired(path, options);
    this.#file = file;
    this.#records = records;
    this.#liveBytes = end;
    this.#written = end;
    this.#synced = end;
    try {
      // What is found must not vanish later: a killed process may have left it in the system's cache only.
      fs.fdatasyncSync(file);
      this.#mark = new SyncedMark(path, end);
      this.#mark.sync(); // before anything is appended: what stands in a log without a mark is durable
      syncFolder(dirname(path));
    } catch (error) {
      fs.closeSync(file);
      throw error;
    }
  }

  append(record: Uint8Array): void {
    must(this.#state !== 'closed', `append to the closed log ${this.path}`);
    const length = FRAME_HEADER_BYTES + record.length;
    if (this.#buffered + length > this.#buffer.length) this.#growBuffer(length);
    this.#buffered = putFrame(this.#buffer, this.#buffered, record);
    this.#records.push(record);
    this.#liveBytes += length;
    this.#ask();
  }

  sync(done: () => void): void {
    must(this.#state !== 'closed', `sync of the closed log ${this.path}`);
    this.#waiting.push(done);
    this.#ask();
  }

  read(): readonly Uint8Array[] {
    return this.#records.slice();
  }

  trim(keep: number): void {
    const drop = this.#records.length - keep;
    if (drop <= 0) return;
    for (let i = 0; i < drop; i++) this.#liveBytes -= FRAME_HEADER_BYTES + this.#records[i]!.length;
    this.#records = this.#records.slice(drop);
    this.#ask();
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    if (this.#state === 'open') {
      await new Promise<void>((done) => {
        this.#failed = done;
        this.sync(done);
      });
    }
    this.#state = 'closed';
    fs.closeSync(this.#file);
    this.#mark.close();
  }

  #growBuffer(more: number): void {
    const grown = new Uint8Array(Math.max(this.#buffer.length * 2, this.#buffered + more));
    grown.set(this.#buffer.subarray(0, this.#buffered));
    this.#buffer = grown;
  }

  /** A microtask: all that one turn of the event loop asks shares one write and one fsync. */
  #ask(): void {
    if (this.#asked || this.#busy) return;
    this.#asked = true;
    queueMicrotask(this.#step);
  }

  readonly #step = (): void => {
    this.#asked = false;
    if (this.#busy || this.#state !== 'open') return;
    if (this.#trimIsDue()) {
      this.#carryOut(this.#rewrite());
      return;
    }
    try {
      this.#writeBuffered();
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#waiting.length === 0) return;
    if (this.#synced === this.#written) this.#answer(this.#takeWaiting());
    else this.#carryOut(this.#commit());
  };

  #carryOut(work: Promise<(() => void)[]>): void {
    this.#busy = true;
    work.then(
      (served) => {
        this.#busy = false;
        if (this.#buffered > 0 || this.#waiting.length > 0 || this.#trimIsDue()) this.#ask();
        this.#answer(served);
      },
      (error) => this.#fail(error),
    );
  }

  /** In a task of its own, so that a bug thrown by an answer is not a rejected promise of ours. */
  #answer(served: readonly (() => void)[]): void {
    if (served.length === 0) return;
    setImmediate(() => {
      for (const done of served) done();
    });
  }

  #takeWaiting(): (() => void)[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** Into the system's cache: a copy of memory, so done at once; only fsync waits for the disk. */
  #writeBuffered(): void {
    for (let at = 0; at < this.#buffered; ) {
      at += fs.writeSync(this.#file, this.#buffer, at, this.#buffered - at);
    }
    this.#written += this.#buffered;
    this.#buffered = 0;
    if (this.#buffer.length > 16 * WRITE_BYTES_MIN) this.#buffer = new Uint8Array(WRITE_BYTES_MIN);
  }

  async #commit(): Promise<(() => void)[]> {
    const served = this.#takeWaiting();
    const upTo = this.#written;
    await fdatasync(this.#file);
    this.#synced = upTo;
    this.#mark.set(upTo); // before anyone is told
    return served;
  }

  #trimIsDue(): boolean {
    const fileBytes = this.#written + this.#buffered;
    const deadBytes = fileBytes - this.#liveBytes;
    return deadBytes > TRIM_BYTES_MIN && deadBytes > fileBytes / 2;
  }

  /**
   * A new file with all live records takes the old one's name once it is durable. There is no mark while
   * the names change: the mark of one file must never stand beside the other. So long all of the log is durable.
   */
  async #rewrite(): Promise<(() => void)[]> {
    const served = this.#takeWaiting();
    const records = this.#records;
    const count = records.length; // later appends stay in the buffer, for the new file
    this.#buffered = 0;
    const path = `${this.path}.new`;
    // To its end, as the first one: a process that another took the folder from, as it stood still, writes over nothing.
    const file = await open(
      path,
      fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_TRUNC | fs.constants.O_APPEND,
      0o600,
    );
    const length = await writeFrames(file, records, count);
    await fsync(file);
    if (this.#synced < this.#written) await fdatasync(this.#file);
    this.#mark.remove();
    await syncFolderLater(dirname(path));
    fs.renameSync(path, this.path);
    await syncFolderLater(dirname(path));
    fs.closeSync(this.#file);
    this.#file = file;
    this.#written = length;
    this.#synced = length;
    this.#mark.set(length);
    await this.#mark.syncLater();
    await syncFolderLater(dirname(path));
    return served;
  }

  #fail(error: unknown): void {
    if (this.#state !== 'open') return;
    // After a failed fsync nobody knows what is on the disk, and a second one may lie: never try again.
    this.#state = 'failed';
    this.#failed(); // who closes it waits for nothing any more
    this.#onFatal(setupError(`cannot write the log ${this.path}`, error));
  }
}

async function writeFrames(file: number, records: readonly Uint8Array[], count: number): Promise<number> {
  let total = 0;
  for (let from = 0; from < count; ) {
    let to = from;
    let bytes = 0;
    while (to < count && bytes < REWRITE_PIECE_BYTES) bytes += FRAME_HEADER_BYTES + records[to++]!.length;
    const piece = new Uint8Array(bytes);
    let at = 0;
    for (; from < to; from++) at = putFrame(piece, at, records[from]!);
    for (let done = 0; done < bytes; ) done += await write(file, piece, done, bytes - done);
    total += bytes;
  }
  return total;
}

async function syncFolderLater(path: string): Promise<void> {
  const folder = await open(path, fs.constants.O_RDONLY);
  try {
    await fsync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

function openRepaired(
  path: string,
  options: LogOptions,
): { file: number; records: Uint8Array[]; end: number } {
  const file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND, 0o600);
  try {
    const bytes = readWhole(file);
    const { records, end } = readFrames(bytes);
    const mark = markOf(path);
    const isMarkDamaged = mark?.trust === 'damaged';
    const lostSynced = mark !== null && !isMarkDamaged && mark.length > end;
    const goesOnBehind = end < bytes.length && wholeRecordBehind(bytes, end);
    const corruption = lostSynced || goesOnBehind;
    const noCrashDoesThat = lostSynced || isMarkDamaged || (mark === null && goesOnBehind);
    if (options.refuseCorruption && noCrashDoesThat) throw refusalOf(path, mark, end, bytes.length);
    if (end < bytes.length || corruption) {
      const savedAs = end < bytes.length ? saveTorn(path, bytes.subarray(end)) : '';
      if (lostSynced || isMarkDamaged) removeMark(path); // any other is true of the rest, too
      fs.ftruncateSync(file, end);
      options.onRepair?.({ path, offset: end, bytesCut: bytes.length - end, savedAs, corruption });
    }
    return { file, records, end };
  } catch (error) {
    fs.closeSync(file);
    throw error;
  }
}

const READ_AT_ONCE = 2 ** 30;

/** `readFileSync` refuses what has 2 GiB, and a height whose rounds fail for hours may take that: its node must find it all the same. */
function readWhole(file: number): Uint8Array {
  const bytes = new Uint8Array(fs.fstatSync(file).size);
  let at = 0;
  while (at < bytes.length) {
    const count = fs.readSync(file, bytes, at, Math.min(READ_AT_ONCE, bytes.length - at), at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

/** Of a log that keeps a key from signing twice: no advice leaves that unsaid. */
function refusalOf(path: string, mark: Mark | null, end: number, size: number): SetupError {
  const memory =
    'This log is what keeps the key from signing twice. Check the disk, and restore the log from a copy if it ' +
    'lost something: a node that goes on without the rest may sign twice for one step';
  const damaged = (why: string): SetupError =>
    new SetupError(
      `the log ${path} is damaged at byte ${end}, ${why}: no crash does that. ${memory}. ` +
        'Without such a copy give the node a new validator key before you move log and mark away',
    );
  if (mark === null)
    return damaged(
      `and whole records stand behind (it has no mark ${markPathOf(path)}, so all of it was durable)`,
    );
  const isWhole = end === size;
  const says =
    `the mark ${markPathOf(path)} says ${mark.length} bytes, the log has ${size} and is whole` +
    (isWhole ? '' : ` up to byte ${end}`);
  const complete = 'Only when you are sure that the log is complete, remove the mark';
  if (mark.trust === 'damaged') return new SetupError(`${says}: the mark is damaged. ${memory}. ${complete}`);
  if (mark.trust === 'unchecked' && isWhole)
    return new SetupError(`${says}: it lost its end, or the mark is damaged. ${memory}. ${complete}`);
  return damaged(`where it was known to be durable (${says})`);
}

function saveTorn(path: string, bytes: Uint8Array): string {
  for (let n = 1; ; n++) {
    const savedAs = `${path}.torn-${n}`;
    try {
      fs.writeFileSync(savedAs, bytes, { flag: 'wx', mode: 0o600, flush: true });
      return savedAs;
    } catch (error) {
      if ((error as { code?: string }).code === 'EEXIST') continue;
      // As much of it as the disk has room for: the next start would leave one more, and take that room.
      fs.rmSync(savedAs, { force: true });
      throw error;
    }
  }
}
