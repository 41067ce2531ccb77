// Owns the list of choices that a run made: growing columns in memory, compact bytes outside.

import { must, type Refusal, refuse } from '../protocol/refusal.ts';
import { type Codec, decodeWords, encodeWords, type Reader, type Writer } from '../protocol/words.ts';

/** Every draw of a run in the order drawn: (stream, bound, value), 0 <= value < bound <= 2^31. */
export class Recording {
  readonly seed: string;
  readonly labels: string[] = [];
  length = 0;
  private streams = new Uint32Array(1024);
  private bounds = new Uint32Array(1024);
  private values = new Uint32Array(1024);

  constructor(seed: string) {
    this.seed = seed;
  }

  /** The number that stands for this label in `push`. */
  addLabel(label: string): number {
    return this.labels.push(label) - 1;
  }

  push(stream: number, bound: number, value: number): void {
    const at = this.length;
    if (at === this.values.length) this.grow();
    this.streams[at] = stream;
    this.bounds[at] = bound;
    this.values[at] = value;
    this.length = at + 1;
  }

  private grow(): void {
    const larger = (column: Uint32Array): Uint32Array<ArrayBuffer> => {
      const grown = new Uint32Array(column.length * 2);
      grown.set(column);
      return grown;
    };
    this.streams = larger(this.streams);
    this.bounds = larger(this.bounds);
    this.values = larger(this.values);
  }

  streamAt(index: number): number {
    return this.streams[index] as number;
  }

  boundAt(index: number): number {
    return this.bounds[index] as number;
  }

  valueAt(index: number): number {
    return this.values[index] as number;
  }

  labelAt(index: number): string {
    return this.labels[this.streamAt(index)] as string;
  }

  /** The values of each stream, in order. */
  valuesByLabel(): ReadonlyMap<string, Uint32Array> {
    const counts = new Uint32Array(this.labels.length);
    for (let i = 0; i < this.length; i++) counts[this.streamAt(i)] = (counts[this.streamAt(i)] as number) + 1;
    const columns = this.labels.map((_, stream) => new Uint32Array(counts[stream] as number));
    const filled = new Uint32Array(this.labels.length);
    for (let i = 0; i < this.length; i++) {
      const stream = this.streamAt(i);
      const at = filled[stream] as number;
      (columns[stream] as Uint32Array)[at] = this.valueAt(i);
      filled[stream] = at + 1;
    }
    return new Map(this.labels.map((label, stream) => [label, columns[stream] as Uint32Array]));
  }

  /** A recording with only the first `length` choices. */
  firstOf(length: number): Recording {
    return this.edited((index) => (index < length ? this.valueAt(index) : null));
  }

  /**
   * A recording with other values: `change` gives the value at an index of this one, or null to leave it out.
   */
  edited(change: (index: number) => number | null): Recording {
    const copy = new Recording(this.seed);
    for (const label of this.labels) copy.addLabel(label);
    for (let i = 0; i < this.length; i++) {
      const value = change(i);
      if (value === null) continue;
      must(value >= 0 && value < this.boundAt(i), 'an edited choice lies within its bound');
      copy.push(this.streamAt(i), this.boundAt(i), value);
    }
    return copy;
  }
}

/** 7 bits a byte, low first, at most 5 bytes. */
function writeVarint(writer: Writer, value: number): void {
  let rest = value;
  while (rest > 127) {
    writer.u8((rest & 127) | 128);
    rest >>>= 7;
  }
  writer.u8(rest);
}

function readVarint(reader: Reader): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = reader.u8();
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value >>> 0;
}

const FORMAT = 'choices 1';

/**
 * Format, seed, labels, count, then per choice: stream * 2 + (1 when the bound differs from this stream's
 * last one), that bound if so, and the value.
 */
const recordingCodec: Codec<Recording | null> = {
  write(writer, recording) {
    must(recording !== null, 'only a recording is written');
    writer.text(FORMAT);
    writer.text(recording.seed);
    writeVarint(writer, recording.labels.length);
    for (const label of recording.labels) writer.text(label);
    writeVarint(writer, recording.length);
    const lastBounds = new Uint32Array(recording.labels.length);
    for (let i = 0; i < recording.length; i++) {
      const stream = recording.streamAt(i);
      const bound = recording.boundAt(i);
      const isNewBound = bound !== lastBounds[stream];
      writeVarint(writer, stream * 2 + (isNewBound ? 1 : 0));
      if (isNewBound) writeVarint(writer, bound);
      writeVarint(writer, recording.valueAt(i));
      lastBounds[stream] = bound;
    }
  },
  read(reader) {
    if (reader.text() !== FORMAT) return null;
    const recording = new Recording(reader.text());
    const labels = readVarint(reader);
    for (let i = 0; i < labels; i++) recording.addLabel(reader.text());
    const lastBounds = new Map<number, number>();
    const length = readVarint(reader);
    for (let i = 0; i < length; i++) {
      const head = readVarint(reader);
      const stream = head >>> 1;
      if (head & 1) lastBounds.set(stream, readVarint(reader));
      const bound = lastBounds.get(stream) ?? 0;
      const value = readVarint(reader);
      if (stream >= labels || value >= bound || bound > 0x8000_0000) return null;
      recording.push(stream, bound, value);
    }
    return recording;
  },
};

export const encodeRecording = (recording: Recording): Uint8Array => encodeWords(recordingCodec, recording);

export function decodeRecording(bytes: Uint8Array): Recording | Refusal<'malformed-choices'> {
  return (
    decodeWords(recordingCodec, bytes) ??
    refuse('malformed-choices', `these ${bytes.length} bytes are not a recording of choices ("${FORMAT}")`)
  );
}
