// What was made of a value lately, found by the identity of that value: for pure results alone. A weak map keeps them for longer, and costs
// more than most of what it would save: each entry is looked at by every collection.

import type { Vote } from './types.ts';

let isRemembering = true;
interface Memory {
  clear(): void;
}
/** They are constants of modules, so they are few. */
const all: Memory[] = [];

/**
 * A world begins, and nothing of the one before is kept. Off: everything is made anew, which changes no result; a run without memory shows
 * that (`--no-memo`).
 */
export function rememberLately(on: boolean): void {
  isRemembering = on;
  for (const each of all) each.clear();
}

/** A memory of another shape: it is cleared with all others, and asks `remembers`. */
export const remembered = (memory: Memory): void => void all.push(memory);

/** Whether what other memories hold may be used: those by content, and of what lives as long as its chain. */
export const remembers = (): boolean => isRemembering;

/** The last few, in a ring. A look-up compares them all, so few they must be. */
export class Lately<K extends object, V> {
  private readonly keys: (K | null)[];
  private readonly values: (V | undefined)[];
  private next = 0;

  constructor(size: number) {
    this.keys = new Array<K | null>(size).fill(null);
    this.values = new Array<V | undefined>(size).fill(undefined);
    all.push(this);
  }

  clear(): void {
    this.keys.fill(null);
    this.values.fill(undefined);
  }

  get(key: K): V | undefined {
    if (!isRemembering) return undefined;
    const { keys } = this;
    for (let i = 0; i < keys.length; i++) if (keys[i] === key) return this.values[i];
    return undefined;
  }

  /** What was made of it, or is made now. */
  of(key: K, make: (key: K) => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    this.set(key, made);
    return made;
  }

  set(key: K, value: V): void {
    const { keys, values } = this;
    for (let i = 0; i < keys.length; i++)
      if (keys[i] === key) {
        values[i] = value;
        return;
      }
    keys[this.next] = key;
    values[this.next] = value;
    this.next = this.next + 1 === keys.length ? 0 : this.next + 1;
  }
}

/** Where what was made of a vote is kept: votes of one round are in places of their own. */
export const placeOfVote = ({ type, validatorIndex }: Pick<Vote, 'type' | 'validatorIndex'>): number =>
  validatorIndex * 2 + (type & 1);

/** The last one in each of many places: the caller says which place is a key's, the same at every call. */
export class LatelyAt<K extends object, V> {
  private readonly keys: (K | null)[];
  private readonly values: (V | undefined)[];
  private readonly mask: number;

  /** @param places a power of two. */
  constructor(places: number) {
    this.keys = new Array<K | null>(places).fill(null);
    this.values = new Array<V | undefined>(places).fill(undefined);
    this.mask = places - 1;
    all.push(this);
  }

  clear(): void {
    this.keys.fill(null);
    this.values.fill(undefined);
  }

  get(place: number, key: K): V | undefined {
    const at = place & this.mask;
    return isRemembering && this.keys[at] === key ? this.values[at] : undefined;
  }

  set(place: number, key: K, value: V): void {
    const at = place & this.mask;
    this.keys[at] = key;
    this.values[at] = value;
  }
}
