// Writes a node's trace: each record with one synchronous write, so that whatever a killed node has said
// stands in it. A new life goes on in the same file.

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { equalBytes } from '../../protocol/bytes.ts';
import { encodeHeader, encodeRecord, TRACE_FORMAT, type TraceHeader, TraceReader } from '../kernel/trace.ts';
import { makeFolder, SetupError, setupError } from './files.ts';

/** Length and checksum before each payload of a trace. */
const FRAME_BYTES = 8;
const CHUNK_BYTES = 1 << 20;

export interface Recorder {
  readonly path: string;
  /** Whole records in the file, the header among them. */
  readonly records: number;
  /** The canonical input of a turn, and the running digest after it. */
  write(input: Uint8Array, digest: Uint8Array): void;
  close(): void;
}

/** @param node what a replay builds this node from (`configValue`) */
export function openRecorder(path: string, node: unknown, commit: string, home: string): Recorder {
  makeFolder(dirname(path));
  const header: TraceHeader = { format: TRACE_FORMAT, commit, nodes: [node], about: { home } };
  let file: number | null = null;
  try {
    file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
    return new TraceFileWriter(path, file, beginOrGoOn(path, file, header));
  } catch (error) {
    if (file !== null) fs.closeSync(file);
    throw error instanceof SetupError ? error : cannotRecord(path, error);
  }
}

const cannotRecord = (path: string, error: unknown): SetupError =>
  setupError(`cannot record to ${path}`, error);

interface End {
  readonly records: number;
  readonly bytes: number;
}

/** Writes the header of a new trace; of one that a killed node left, cuts the last frame if it is torn. */
function beginOrGoOn(path: string, file: number, header: TraceHeader): End {
  const size = fs.fstatSync(file).size;
  const whole = encodeHeader(header);
  if (isBeginningOf(file, size, whole)) {
    writeAll(file, whole, 0);
    return { records: 1, bytes: whole.length };
  }
  // Another node, or the same under another configuration: a replay could not build it.
  if (JSON.stringify(headerOf(file)?.nodes) !== JSON.stringify(header.nodes)) {
    const what = `${path} is there and is not a trace of this node`;
    throw new SetupError(`${what}: record to another folder, or remove it`);
  }
  const end = lastWholeFrame(file, size);
  if (end.bytes < size) fs.ftruncateSync(file, end.bytes);
  return end;
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

/** By lengths alone: the file was written in order by one process, so only its end can be torn. */
function lastWholeFrame(file: number, size: number): End {
  const chunk = new Uint8Array(CHUNK_BYTES);
  const view = new DataView(chunk.buffer);
  let records = 0;
  let bytes = 0;
  while (bytes + FRAME_BYTES <= size) {
    const got = fs.readSync(file, chunk, 0, CHUNK_BYTES, bytes);
    const begin = bytes;
    while (bytes - begin + FRAME_BYTES <= got) {
      const end = bytes + FRAME_BYTES + view.getUint32(bytes - begin, true);
      if (end > size) return { records, bytes };
      bytes = end;
      records++;
    }
  }
  return { records, bytes };
}

function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += fs.writeSync(file, bytes, done, bytes.length - done, at + done);
  }
}

class TraceFileWriter implements Recorder {
  readonly path: string;
  records: number;
  private bytes: number;
  private readonly file: number;
  private isOpen = true;

  constructor(path: string, file: number, end: End) {
    this.path = path;
    this.file = file;
    this.records = end.records;
    this.bytes = end.bytes;
  }

  write(input: Uint8Array, digest: Uint8Array): void {
    if (!this.isOpen) return;
    const record = encodeRecord(0, input, digest);
    try {
      writeAll(this.file, record, this.bytes);
    } catch (error) {
      throw cannotRecord(this.path, error);
    }
    this.bytes += record.length;
    this.records++;
  }

  close(): void {
    if (this.isOpen) fs.closeSync(this.file);
    this.isOpen = false;
  }
}
