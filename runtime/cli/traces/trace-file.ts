// Traces as files: written through a buffer, read in chunks, and what is broken in one is named by record
// and byte offset.

import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { CHUNK_BYTES, wholeRecordBehind } from '../../host/disk/trace-scan.ts';
import { type TraceHeader, TraceReader, type TraceRecord, type TraceRefusal } from '../../kernel/trace.ts';
import { mustBeFree } from '../run/outputs.ts';
import { PartialFile } from '../run/partial-file.ts';
import { CliError, EXIT, fileOf, whyNot } from '../usage.ts';

/** What a process that is killed takes with it of its trace, at most. */
const BUFFER_BYTES = 1 << 16;

/**
 * Records are some hundred bytes each: they gather before the file system is asked. A disk that fails takes the trace and not the run: nothing more is
 * written, and `close` throws what went wrong first. Whoever ends the process before that leaves `FILE.partial`, and an older FILE as it was.
 */
export class TraceWriter {
  readonly path: string;
  bytes = 0;
  /** The header is one more. */
  records = -1;
  /** The number of each node's last record, by name. */
  readonly lastOf = new Map<string, number>();
  private readonly partial: PartialFile;
  private readonly file: number;
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private filled = 0;
  private failed: CliError | null = null;

  constructor(path: string) {
    this.path = fileOf(path, '--trace');
    try {
      this.partial = new PartialFile(path);
      this.file = openSync(this.partial.at, 'w');
    } catch (error) {
      throw this.unwritten(error);
    }
  }

  private unwritten(error: unknown): CliError {
    return new CliError(`--trace: ${this.path} cannot be written: ${whyNot(error)}`);
  }

  /** The header, or a record. */
  write(bytes: Uint8Array, node?: string): void {
    this.bytes += bytes.length;
    this.records++;
    if (node !== undefined) this.lastOf.set(node, this.records);
    if (this.filled + bytes.length > this.buffer.length) this.flush();
    if (bytes.length > this.buffer.length) return this.writeAll(bytes);
    this.buffer.set(bytes, this.filled);
    this.filled += bytes.length;
  }

  private flush(): void {
    this.writeAll(this.buffer.subarray(0, this.filled));
    this.filled = 0;
  }

  private writeAll(bytes: Uint8Array): void {
    if (this.failed) return;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
    } catch (error) {
      const { at, isBeside } = this.partial;
      const { message } = this.unwritten(error);
      this.failed = new CliError(isBeside ? `${message}; its beginning is in ${at}` : message);
    }
  }

  close(): void {
    this.flush();
    try {
      closeSync(this.file);
    } catch (error) {
      this.failed ??= this.unwritten(error);
    }
    if (this.failed) throw this.failed;
    try {
      this.partial.finish();
    } catch (error) {
      throw this.unwritten(error);
    }
  }
}

/** @throws CliError when it would be written over something else. */
export const mustBeTrace = (path: string): void => mustBeFree('--trace', path, 'trace', isTrace);

function isTrace(path: string): boolean {
  try {
    new TraceFile(path).close();
    return true;
  } catch {
    return false;
  }
}

/** An open trace: its header is read at once, its records as they are asked for. */
export class TraceFile {
  readonly path: string;
  readonly header: TraceHeader;
  /** Set when all records were read and the last one is cut short: the log of a killed node. */
  torn: TraceRefusal | null = null;
  private readonly file: number;
  /** Null: what comes through a pipe, of which nobody knows how long it is, and nothing is read twice. */
  private readonly size: number | null;
  private taken = 0;
  private readonly reader = new TraceReader();
  private readonly source: Generator<TraceRecord, void>;
  private first: IteratorResult<TraceRecord, void> | null;

  constructor(path: string) {
    this.path = path;
    try {
      this.file = openSync(path, 'r');
      const stats = fstatSync(this.file);
      this.size = stats.isFile() ? stats.size : null;
      this.source = this.read();
      this.first = this.source.next();
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw new CliError(`the trace ${path} cannot be read: ${whyNot(error)}`);
    }
    const { header } = this.reader;
    if (!header)
      throw new CliError(`${path} is not a trace: it holds no header (record 0, at byte 0)`, EXIT.violated);
    this.header = header;
  }

  /** Of a pipe: so far. */
  get bytes(): number {
    return this.size ?? this.taken;
  }

  /** How much of it has been read, from 0 to 1; of a pipe always 0. */
  get part(): number {
    return this.size ? this.taken / this.size : 0;
  }

  /** The records in order; throws a `CliError` at the first that is corrupt. */
  *records(): Generator<TraceRecord, void> {
    if (this.first && !this.first.done) yield this.first.value;
    this.first = null;
    yield* this.source;
  }

  /** Of one whose records nobody reads to the end. */
  close(): void {
    this.source.return();
  }

  private *read(): Generator<TraceRecord, void> {
    try {
      for (;;) {
        const chunk = new Uint8Array(CHUNK_BYTES); // its records are views of it
        const size = readSync(this.file, chunk, 0, CHUNK_BYTES, null);
        if (size === 0) break;
        this.taken += size;
        for (const item of this.reader.push(chunk.subarray(0, size))) {
          if ('refused' in item) throw this.refused(item);
          yield item;
        }
      }
      this.end();
    } finally {
      closeSync(this.file);
    }
  }

  private end(): void {
    const end = this.reader.end();
    if (!end) return;
    if (end.refused === 'not-a-trace') throw this.refused(end);
    if (this.size !== null && wholeRecordBehind(this.file, end.offset, this.size)) {
      throw this.broken(`the length of a record is wrong (record ${end.record}, at byte ${end.offset})`);
    }
    this.torn = end;
  }

  private refused({ record, because }: TraceRefusal): CliError {
    if (record > 0) return this.broken(because);
    return new CliError(`${this.path} is not a trace: ${because}`, EXIT.violated);
  }

  private broken(because: string): CliError {
    return new CliError(`the trace ${this.path} is corrupt: ${because}`, EXIT.violated);
  }
}
