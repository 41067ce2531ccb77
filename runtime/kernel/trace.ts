// The trace: what every turn of every node was given, in order, with the first bytes of its node's running digest after it. One format for both worlds.
// A frame is length, CRC-32C, payload; the first payload is the header, the others are records. A reader takes chunks and never holds the whole.

import { utf8Decode, utf8Encode } from '#platform';
import type { ActorName, Boot } from '../../actors/turn.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import { crc32c } from '../../protocol/crc32c.ts';
import { type Refusal, refuse } from '../../protocol/refusal.ts';
import { Reader, Writer } from '../../protocol/words.ts';
import { KIND } from './record.ts';

export const TRACE_FORMAT = 'rehearsal-trace/1';
/** Bytes of the running digest that stand in each record. */
export const DIGEST_BYTES = 8;
/** Length and checksum, before each payload. */
export const FRAME_BYTES = 8;
/** In the payload of a record: the node's index and the input's length before it, a digest behind. */
export const AROUND_INPUT_BYTES = 4 + 4 + DIGEST_BYTES;
/** A frame longer than this is not ours: no turn is given more than a block of 100 MiB and its framing. */
const PAYLOAD_BYTES_MAX = 256 * 1024 * 1024;

export interface TraceHeader {
  readonly format: string;
  /** The commit of the code that recorded all of it; replaying on another warns. */
  readonly commit: string;
  /** One per node, by index: what `nodeCast` builds its actors from, as JSON. */
  readonly nodes: readonly unknown[];
  /** How the run came about, for people: scenario, seed, or the home of a real node. */
  readonly about: Readonly<Record<string, string | number>>;
}

export interface TraceTurn {
  readonly node: number;
  readonly actor: ActorName;
  readonly wallNs: bigint;
  readonly monoNs: bigint;
  readonly draws: readonly number[];
}
export type TraceRecord =
  | (TraceTurn & {
      readonly kind: 'boot' | 'spawn';
      readonly boot: Boot;
      readonly input: Uint8Array;
      readonly digest: Uint8Array;
    })
  | (TraceTurn & {
      readonly kind: 'turn';
      /** The message, in the words of its actor. */
      readonly message: Uint8Array;
      readonly input: Uint8Array;
      readonly digest: Uint8Array;
    })
  | {
      readonly kind: 'stop';
      readonly node: number;
      readonly actor: ActorName;
      readonly input: Uint8Array;
      readonly digest: Uint8Array;
    };

// --- writing -----------------------------------------------------------------------------------------------------------

function frame(payload: Uint8Array): Uint8Array {
  const framed = new Uint8Array(FRAME_BYTES + payload.length);
  const view = new DataView(framed.buffer);
  view.setUint32(0, payload.length, true);
  view.setUint32(4, crc32c(payload), true);
  framed.set(payload, FRAME_BYTES);
  return framed;
}

export const encodeHeader = (header: TraceHeader): Uint8Array => frame(utf8Encode(JSON.stringify(header)));

/** Of a turn: what is given more has no place in a trace. */
export const INPUT_BYTES_MAX = PAYLOAD_BYTES_MAX - AROUND_INPUT_BYTES;

let scratch = new Writer(4096);
/** One long turn does not make the buffer long for ever. */
const KEEP_BYTES = 1024 * 1024;

/** One framed record; `digest` is the whole running digest, of which the first bytes stand in the record. */
export function encodeRecord(node: number, input: Uint8Array, digest: Uint8Array): Uint8Array {
  if (scratch.length > KEEP_BYTES) scratch = new Writer(4096);
  scratch.clear();
  scratch.u32(node);
  scratch.bytes(input);
  scratch.raw(digest.subarray(0, DIGEST_BYTES));
  return frame(scratch.peek());
}

// --- reading -----------------------------------------------------------------------------------------------------------

export type TraceRefusal = Refusal<'not-a-trace' | 'corrupt-record' | 'torn-trace'> & {
  /** Byte offset of the frame, and its number (the header is 0). */
  readonly offset: number;
  readonly record: number;
};

const refusal = (
  refused: TraceRefusal['refused'],
  because: string,
  offset: number,
  record: number,
): TraceRefusal =>
  ({
    ...refuse(refused, `${because} (record ${record}, at byte ${offset})`),
    offset,
    record,
  }) as TraceRefusal;

/** Takes a trace chunk by chunk; gives frames as they become whole. */
export class TraceReader {
  header: TraceHeader | null = null;
  /** What is not a whole frame yet, in pieces: joined once, however many chunks a frame takes. */
  private rest: Uint8Array[] = [];
  private held = 0;
  /** So many bytes are needed before there is anything to read. */
  private needed = FRAME_BYTES;
  private offset: number;
  private frames: number;

  /** @param from where its first chunk begins: behind so many records (the header is one), at this byte */
  constructor(from = { records: 0, bytes: 0 }) {
    this.frames = from.records;
    this.offset = from.bytes;
  }

  /** Records in this chunk, or what is wrong; the caller feeds the next chunk after. */
  *push(chunk: Uint8Array): Generator<TraceRecord | TraceRefusal> {
    if (this.held + chunk.length < this.needed) {
      this.keep(chunk.slice());
      return;
    }
    const bytes = this.held === 0 ? chunk : concatBytes(...this.rest, chunk);
    this.needed = FRAME_BYTES;
    let at = 0;
    while (bytes.length - at >= FRAME_BYTES) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at, FRAME_BYTES);
      const size = view.getUint32(0, true);
      if (size > PAYLOAD_BYTES_MAX) {
        yield refusal('corrupt-record', `a record claims ${size} bytes`, this.offset, this.frames);
        return;
      }
      if (bytes.length - at - FRAME_BYTES < size) {
        this.needed = FRAME_BYTES + size;
        break;
      }
      const payload = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + size);
      if (crc32c(payload) !== view.getUint32(4, true)) {
        yield refusal('corrupt-record', 'the checksum does not match', this.offset, this.frames);
        return;
      }
      const record = this.frames === 0 ? this.takeHeader(payload) : this.takeRecord(payload);
      if (record) yield record;
      at += FRAME_BYTES + size;
      this.offset += FRAME_BYTES + size;
      this.frames++;
    }
    this.rest = [];
    this.held = 0;
    if (at < bytes.length) this.keep(bytes.slice(at));
  }

  private keep(bytes: Uint8Array): void {
    this.rest.push(bytes);
    this.held += bytes.length;
  }

  /** After the last chunk: a torn last record is named, not fatal. */
  end(): TraceRefusal | null {
    if (this.frames === 0) return refusal('not-a-trace', 'the file holds no trace header', 0, 0);
    return this.held === 0
      ? null
      : refusal('torn-trace', 'the last record is cut short', this.offset, this.frames);
  }

  private takeHeader(payload: Uint8Array): TraceRefusal | null {
    try {
      const header = JSON.parse(utf8Decode(payload)) as TraceHeader;
      if (header.format === TRACE_FORMAT && Array.isArray(header.nodes)) {
        this.header = header;
        return null;
      }
      return refusal('not-a-trace', `its format is ${String(header.format)}, not ${TRACE_FORMAT}`, 0, 0);
    } catch {
      return refusal('not-a-trace', 'its header is not JSON', 0, 0);
    }
  }

  private takeRecord(payload: Uint8Array): TraceRecord | TraceRefusal {
    const record = decodeRecord(payload);
    return record ?? refusal('corrupt-record', 'the record does not decode', this.offset, this.frames);
  }
}

function decodeRecord(payload: Uint8Array): TraceRecord | null {
  try {
    const outer = new Reader(payload);
    const node = outer.u32();
    const input = outer.bytes();
    const digest = payload.subarray(outer.at);
    if (digest.length !== DIGEST_BYTES) return null;
    const r = new Reader(input);
    const kind = r.u8();
    const actor = r.text();
    if (kind === KIND.stop) return { kind: 'stop', node, actor, input, digest };
    const turn = { node, actor, wallNs: r.i64(), monoNs: r.i64(), draws: readDraws(r) };
    if (kind === KIND.turn) return { kind: 'turn', ...turn, message: input.subarray(r.at), input, digest };
    if (kind !== KIND.boot && kind !== KIND.spawn) return null;
    return { kind: kind === KIND.boot ? 'boot' : 'spawn', ...turn, boot: readBoot(r), input, digest };
  } catch {
    return null;
  }
}

function readDraws(r: Reader): number[] {
  const size = r.u32();
  const draws: number[] = [];
  for (let i = 0; i < size; i++) draws.push(r.u32());
  return draws;
}

function readBoot(r: Reader): Boot {
  const many = <T>(read: () => T): T[] => {
    const size = r.u32();
    const items: T[] = [];
    for (let i = 0; i < size; i++) items.push(read());
    return items;
  };
  const logs = many(() => many(() => r.bytes().slice()));
  const stores = many(() => many(() => ({ key: r.bytes().slice(), value: r.bytes().slice() })));
  return { logs, stores };
}
