// Canonical bytes for our own words (local messages, log records, state digests): a codec per shape, built from these few, one encoding each.
// What peers, applications and hashes see is protobuf (`protocol/wire`); this is for what never leaves a node but must hash and replay.

import { utf8Decode, utf8Encode } from '#platform';
import { copyOfPart, put } from './bytes.ts';
import { Bug, must } from './refusal.ts';

/** Bytes in the making: one growing buffer, little-endian, reused by `clear`. */
export class Writer {
  private buffer: Uint8Array;
  private view: DataView;
  length = 0;

  constructor(capacity = 1024) {
    this.buffer = new Uint8Array(capacity);
    this.view = new DataView(this.buffer.buffer);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    let capacity = this.buffer.length * 2;
    while (capacity < this.length + more) capacity *= 2;
    const grown = new Uint8Array(capacity);
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
    this.view = new DataView(grown.buffer);
  }

  u8(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  i32(value: number): void {
    this.reserve(4);
    this.view.setInt32(this.length, value, true);
    this.length += 4;
  }

  i64(value: bigint): void {
    this.reserve(8);
    this.view.setBigInt64(this.length, value, true);
    this.length += 8;
  }

  u64(value: bigint): void {
    this.reserve(8);
    this.view.setBigUint64(this.length, value, true);
    this.length += 8;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    put(this.buffer, this.length, bytes);
    this.length += bytes.length;
  }

  /** What stands from `start` to `end`, and is short: a view of it would cost more. */
  part(bytes: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    const { buffer } = this;
    for (let i = start; i < end; i++) buffer[this.length++] = bytes[i] as number;
  }

  bytes(bytes: Uint8Array): void {
    this.u32(bytes.length);
    this.raw(bytes);
  }

  /** Short ASCII, which names are, byte by byte; anything else through UTF-8. */
  text(text: string): void {
    const start = this.length;
    const size = text.length;
    this.reserve(size + 4);
    const { buffer } = this;
    for (let i = 0; i < size; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) {
        this.length = start;
        this.bytes(utf8Encode(text));
        return;
      }
      buffer[start + 4 + i] = code;
    }
    this.view.setUint32(start, size, true);
    this.length = start + 4 + size;
  }

  clear(): void {
    this.length = 0;
  }

  /** The bytes so far, without a copy: valid until the next write. */
  peek(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  /** The bytes from `start` to `end`, without a copy: valid until they are written over. */
  between(start: number, end: number): Uint8Array {
    return this.buffer.subarray(start, end);
  }

  take(start = 0): Uint8Array {
    return copyOfPart(this.buffer, start, this.length);
  }
}

/** Thrown by `Reader` only, and turned into a refusal by `decode`. */
class Short extends Error {}

export class Reader {
  private readonly view: DataView;
  private readonly buffer: Uint8Array;
  at = 0;

  constructor(buffer: Uint8Array) {
    this.buffer = buffer;
    this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  }

  private take(size: number): number {
    const start = this.at;
    if (start + size > this.buffer.length) throw new Short();
    this.at = start + size;
    return start;
  }

  u8(): number {
    return this.buffer[this.take(1)] as number;
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  i32(): number {
    return this.view.getInt32(this.take(4), true);
  }

  i64(): bigint {
    return this.view.getBigInt64(this.take(8), true);
  }

  u64(): bigint {
    return this.view.getBigUint64(this.take(8), true);
  }

  bytes(): Uint8Array {
    const size = this.u32();
    const start = this.take(size);
    return this.buffer.subarray(start, start + size);
  }

  text(): string {
    return utf8Decode(this.bytes());
  }

  get isAtEnd(): boolean {
    return this.at === this.buffer.length;
  }
}

export interface Codec<T> {
  write(writer: Writer, value: T): void;
  read(reader: Reader): T;
}

/** What a codec speaks of. */
export type Of<C> = C extends Codec<infer T> ? T : never;

export const u8: Codec<number> = { write: (w, v) => w.u8(v), read: (r) => r.u8() };
export const u32: Codec<number> = { write: (w, v) => w.u32(v), read: (r) => r.u32() };
export const i32: Codec<number> = { write: (w, v) => w.i32(v), read: (r) => r.i32() };
export const i64: Codec<bigint> = { write: (w, v) => w.i64(v), read: (r) => r.i64() };
export const u64: Codec<bigint> = { write: (w, v) => w.u64(v), read: (r) => r.u64() };
export const bool: Codec<boolean> = { write: (w, v) => w.u8(v ? 1 : 0), read: (r) => r.u8() === 1 };
export const text: Codec<string> = { write: (w, v) => w.text(v), read: (r) => r.text() };
export const bytes: Codec<Uint8Array> = { write: (w, v) => w.bytes(v), read: (r) => r.bytes() };

export function list<T>(item: Codec<T>): Codec<readonly T[]> {
  return {
    write: (w, v) => {
      w.u32(v.length);
      for (const each of v) item.write(w, each);
    },
    read: (r) => {
      const size = r.u32();
      const items: T[] = [];
      for (let i = 0; i < size; i++) items.push(item.read(r));
      return items;
    },
  };
}

export function option<T>(some: Codec<T>): Codec<T | null> {
  return {
    write: (w, v) => {
      w.u8(v === null ? 0 : 1);
      if (v !== null) some.write(w, v);
    },
    read: (r) => (r.u8() === 0 ? null : some.read(r)),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a codec is invariant in its value, and only `any` lets a table of them be written
type AnyFields = Readonly<Record<string, Codec<any>>>;
type Shape<F extends AnyFields> = { readonly [K in keyof F]: Of<F[K]> };

/** A record: its fields in the order written here. */
export function record<F extends AnyFields>(fields: F): Codec<Shape<F>> {
  const names = Object.keys(fields);
  const codecs = names.map((name) => fields[name] as Codec<unknown>);
  return {
    write: (w, v) => {
      for (let i = 0; i < names.length; i++) {
        (codecs[i] as Codec<unknown>).write(w, (v as Record<string, unknown>)[names[i] as string]);
      }
    },
    read: (r) => {
      const value: Record<string, unknown> = {};
      for (let i = 0; i < names.length; i++)
        value[names[i] as string] = (codecs[i] as Codec<unknown>).read(r);
      return value as Shape<F>;
    },
  };
}

type Variants = Readonly<Record<string, AnyFields>>;
type UnionOf<V extends Variants> = {
  [K in keyof V & string]: { readonly type: K } & Shape<V[K]>;
}[keyof V & string];

/** Writers by hand for the variants that are written most: the same bytes, without a look-up per field. */
export type ByHand<V extends Variants> = {
  readonly [K in keyof V & string]?: (w: Writer, value: Shape<V[K]>) => void;
};

/**
 * A union told apart by `type`: one tag byte (the place in this table, so append only), then the record. What
 * is written `byHand` is read by the table, so a round trip shows that the two agree.
 */
export function union<V extends Variants>(variants: V, byHand: ByHand<V> = {}): Codec<UnionOf<V>> {
  const names = Object.keys(variants);
  must(names.length < 256, 'a union has at most 255 variants');
  const byName = new Map(
    names.map((name, tag) => {
      const fields = record(variants[name] as AnyFields) as Codec<object>;
      return [
        name,
        { tag, fields, write: (byHand[name] as typeof fields.write | undefined) ?? fields.write },
      ];
    }),
  );
  return {
    write: (w, v) => {
      const variant = byName.get(v.type);
      if (!variant) throw new Bug(`no word ${v.type} in this union`);
      w.u8(variant.tag);
      variant.write(w, v);
    },
    read: (r) => {
      const name = names[r.u8()];
      if (name === undefined) throw new Short();
      const value = (byName.get(name) as { fields: Codec<object> }).fields.read(r);
      return Object.assign({ type: name }, value) as never;
    },
  };
}

/** A codec for values whose bytes others define (protobuf): length-prefixed, through the given pair. */
export function opaque<T>(encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T): Codec<T> {
  return { write: (w, v) => w.bytes(encode(v)), read: (r) => decode(r.bytes()) };
}

const scratch = new Writer(4096);

export function encodeWords<T>(codec: Codec<T>, value: T): Uint8Array {
  const start = scratch.length;
  codec.write(scratch, value);
  const made = scratch.take(start);
  scratch.length = start;
  return made;
}

/** Null when the bytes are not exactly one value of this codec. */
export function decodeWords<T>(codec: Codec<T>, from: Uint8Array): T | null {
  const reader = new Reader(from);
  try {
    const value = codec.read(reader);
    return reader.isAtEnd ? value : null;
  } catch (error) {
    if (error instanceof Short) return null;
    throw error;
  }
}
