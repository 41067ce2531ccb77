// Owns the ascending order of a map's keys, kept up only between questions about it: a map that is never
// asked pays a branch.

import type { Which } from '../actors/turn.ts';

/** Keys per chunk after a rebuild; a chunk splits at twice this. */
const CHUNK = 256;
/** Changes noted before the next question; more than the keys themselves are not worth noting. */
const CHANGES_MIN = 1024;

export class SortedKeys {
  private readonly map: ReadonlyMap<string, unknown>;
  /** Ascending chunks of ascending keys; no empty chunk. */
  private chunks: string[][] = [];
  /** Keys that came or went since the chunks were right. */
  private changed: string[] = [];
  private isStale = true;

  constructor(map: ReadonlyMap<string, unknown>) {
    this.map = map;
  }

  /** A key came into the map or left it. */
  touch(key: string): void {
    if (this.isStale) return;
    if (this.changed.push(key) > CHANGES_MIN + this.map.size) this.forget();
  }

  private forget(): void {
    this.isStale = true;
    this.chunks = [];
    this.changed = [];
  }

  private settle(): void {
    if (this.isStale || this.changed.length * 8 > this.map.size) {
      const keys = [...this.map.keys()].sort(); // by code units, which for latin1 is bytewise
      this.chunks = [];
      for (let at = 0; at < keys.length; at += CHUNK) this.chunks.push(keys.slice(at, at + CHUNK));
      this.isStale = false;
    } else {
      for (const key of this.changed) this.place(key);
    }
    this.changed = [];
  }

  /** The last chunk that begins at or before the key; the first when none does. */
  private chunkFor(key: string): number {
    let low = 0;
    let high = this.chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.chunks[middle]?.[0] as string) <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  private place(key: string): void {
    const at = this.chunkFor(key);
    const chunk = this.chunks[at];
    if (!chunk) {
      if (this.map.has(key)) this.chunks.push([key]);
      return;
    }
    const index = firstNotBefore(chunk, key);
    const isThere = chunk[index] === key;
    if (this.map.has(key) === isThere) return;
    if (isThere) {
      chunk.splice(index, 1);
      if (chunk.length === 0) this.chunks.splice(at, 1);
    } else {
      chunk.splice(index, 0, key);
      if (chunk.length >= CHUNK * 2) this.chunks.splice(at + 1, 0, chunk.splice(CHUNK));
    }
  }

  /** Keys k with from <= k < to (an empty `to` is open), ascending: the first `limit` of them, or the last. */
  range(from: string, to: string, limit: number, which: Which): string[] {
    this.settle();
    return which === 'first' ? this.first(from, to, limit) : this.last(from, to, limit);
  }

  private first(from: string, to: string, limit: number): string[] {
    const found: string[] = [];
    for (let at = this.chunkFor(from); at < this.chunks.length; at++) {
      const chunk = this.chunks[at] as string[];
      for (let index = firstNotBefore(chunk, from); index < chunk.length; index++) {
        const key = chunk[index] as string;
        if (found.length >= limit || (to !== '' && key >= to)) return found;
        found.push(key);
      }
    }
    return found;
  }

  private last(from: string, to: string, limit: number): string[] {
    const found: string[] = [];
    const end = this.chunks.length - 1;
    for (let at = to === '' ? end : Math.min(this.chunkFor(to), end); at >= 0; at--) {
      const chunk = this.chunks[at] as string[];
      let index = to === '' ? chunk.length : firstNotBefore(chunk, to);
      while (index-- > 0) {
        const key = chunk[index] as string;
        if (found.length >= limit || key < from) return found.reverse();
        found.push(key);
      }
    }
    return found.reverse();
  }
}

function firstNotBefore(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
