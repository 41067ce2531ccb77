// Writes a node's trace: each record with one synchronous write, so that whatever a killed node has said
// stands in it. A new life goes on in the same file, behind its last whole record, which a mark helps to find.

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { equalBytes } from '../../../protocol/bytes.ts';
import {
  AROUND_INPUT_BYTES,
  encodeHeader,
  encodeRecord,
  FRAME_BYTES,
  INPUT_BYTES_MAX,
  TRACE_FORMAT,
  type TraceHeader,
  TraceReader,
} from '../../kernel/trace.ts';
import { makeFolder, SetupError, setupError, TakenError } from './files.ts';
import type { Repair } from './log.ts';
import { markWhole, type Whole, wholeOf } from './trace-mark.ts';
import { CHUNK_BYTES, checksumOf, wholeRecordBehind } from './trace-scan.ts';

/** A mark is made whenever so much has come behind the last one: about as much is read again by a new life. */
const MARK_EVERY_BYTES = 1 << 20;

export interface Recorder {
  readonly path: string;
  /** Whole records in the file, the header among them. */
  readonly records: number;
  /** The canonical input of a turn, and the running digest after it. */
  write(input: Uint8Array, digest: Uint8Array): void;
  close(): void;
}

/**
 * @param node what a replay builds this node from (`configValue`)
 * @param onRepair told when a torn end was cut off
 */
export function openRecorder(
  path: string,
  node: unknown,
  commit: string,
  home: string,
  onRepair: (repair: Repair) => void = () => {},
): Recorder {
  makeFolder(dirname(path));
  const header: TraceHeader = { format: TRACE_FORMAT, commit, nodes: [node], about: { home } };
  let file: number | null = null;
  try {
    file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    return new TraceFileWriter(path, file, beginOrGoOn(path, file, header, onRepair));
  } catch (error) {
    if (file !== null) fs.closeSync(file);
    throw error instanceof SetupError ? error : cannotRecord(path, error);
  }
}

const cannotRecord = (path: string, error: unknown): SetupError =>
  setupError(`cannot record to ${path}`, error);

/** Writes the header of a new trace; of one that a killed node left, cuts the torn end. */
function beginOrGoOn(
  path: string,
  file: number,
  header: TraceHeader,
  onRepair: (repair: Repair) => void,
): Whole {
  const size = fs.fstatSync(file).size;
  const whole = encodeHeader(header);
  if (isBeginningOf(file, size, whole)) {
    writeAll(file, whole, 0);
    return { records: 1, last: 0, bytes: whole.length };
  }
  mustBeOfThis(path, headerOf(file), header);
  const end = endOfWholeRecords(file, size, believed(path, file, size));
  if (end.bytes === size) return end;
  if (wholeRecordBehind(file, end.bytes, size)) {
    throw new SetupError(
      `${path} is damaged at byte ${end.bytes}, and whole records stand behind it, which would be lost: ` +
        'record to another folder, or move it away',
    );
  }
  fs.ftruncateSync(file, end.bytes);
  onRepair({ path, offset: end.bytes, bytesCut: size - end.bytes, savedAs: '', corruption: false });
  return end;
}

/** Another node, or the same under another configuration: a replay could not build it. Another build: it could not follow. */
function mustBeOfThis(path: string, found: TraceHeader | null, ours: TraceHeader): void {
  const taken = (what: string): TakenError =>
    new TakenError(`${path} is there and is ${what}: record to another folder, or remove it`);
  if (JSON.stringify(found?.nodes) !== JSON.stringify(ours.nodes)) throw taken('not a trace of this node');
  if (found?.commit !== ours.commit)
    throw taken(
      `a trace by commit ${found?.commit}, where this is commit ${ours.commit}, and a replay needs one build for all of it`,
    );
}

/** A new file, or one whose header a killed node had no time to write: nothing stands in it yet. */
function isBeginningOf(file: number, size: number, whole: Uint8Array): boolean {
  if (size >= whole.length) return false;
  const found = new Uint8Array(size);
  fs.readSync(file, found, 0, size, 0);
  return equalBytes(found, whole.subarray(0, size));
}

function headerOf(file: number): TraceHeader | null {
  const reader = new TraceReader();
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; reader.header === null; ) {
    const size = fs.readSync(file, chunk, 0, CHUNK_BYTES, at);
    if (size === 0) return null;
    at += size;
    for (const item of reader.push(chunk.slice(0, size))) {
      if (reader.header !== null || 'refused' in item) break;
    }
  }
  return reader.header;
}

/** What the mark says, if it is about this very file. */
function believed(path: string, file: number, size: number): Whole | null {
  const whole = wholeOf(path);
  if (whole === null || whole.bytes > size) return null;
  const frame = new Uint8Array(FRAME_BYTES);
  fs.readSync(file, frame, 0, FRAME_BYTES, whole.last);
  const view = new DataView(frame.buffer);
  const start = whole.last + FRAME_BYTES;
  const length = view.getUint32(0, true);
  if (start + length !== whole.bytes) return null;
  return checksumOf(file, start, length) === view.getUint32(4, true) ? whole : null;
}

/**
 * As a replay reads them: what it stops at is no whole record, be its length in order or not.
 * @param from where to begin; null: at the header
 */
function endOfWholeRecords(file: number, size: number, from: Whole | null): Whole {
  const reader = new TraceReader(from ?? undefined);
  const chunk = new Uint8Array(CHUNK_BYTES);
  let records = from?.records ?? 1; // the header
  let lastBytes = from === null ? 0 : from.bytes - from.last;
  const endAt = (bytes: number): Whole => ({ records, last: records === 1 ? 0 : bytes - lastBytes, bytes });
  for (let at = from?.bytes ?? 0; at < size; ) {
    const got = fs.readSync(file, chunk, 0, CHUNK_BYTES, at);
    if (got === 0) break;
    at += got;
    for (const item of reader.push(chunk.slice(0, got))) {
      if ('refused' in item) return endAt(item.offset);
      records++;
      lastBytes = FRAME_BYTES + AROUND_INPUT_BYTES + item.input.length;
    }
  }
  return endAt(reader.end()?.offset ?? size);
}

function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += fs.writeSync(file, bytes, done, bytes.length - done, at + done);
  }
}

class TraceFileWriter implements Recorder {
  readonly path: string;
  private whole: Whole;
  private marked = 0;
  private readonly file: number;
  private isOpen = true;

  constructor(path: string, file: number, whole: Whole) {
    this.path = path;
    this.file = file;
    this.whole = whole;
    this.mark(); // of an older file of this name there may be one
  }

  get records(): number {
    return this.whole.records;
  }

  write(input: Uint8Array, digest: Uint8Array): void {
    if (!this.isOpen) return;
    if (input.length > INPUT_BYTES_MAX) {
      const what = `a node takes ${input.length} bytes at once, where a record takes ${INPUT_BYTES_MAX}`;
      throw new SetupError(`cannot record to ${this.path}: ${what}; start it without --record`);
    }
    const record = encodeRecord(0, input, digest);
    const { records, bytes: last } = this.whole;
    try {
      writeAll(this.file, record, last);
    } catch (error) {
      throw cannotRecord(this.path, error);
    }
    this.whole = { records: records + 1, last, bytes: last + record.length };
    if (this.whole.bytes - this.marked >= MARK_EVERY_BYTES) this.mark();
  }

  close(): void {
    if (!this.isOpen) return;
    this.mark();
    fs.closeSync(this.file);
    this.isOpen = false;
  }

  private mark(): void {
    markWhole(this.path, this.whole);
    this.marked = this.whole.bytes;
  }
}
