// Owns a simulated store: ordered keys, atomic batches, and an undo list of the batches that a crash would
// still take.

import type { KeyValue, StoreName, Which, Write } from '../actors/turn.ts';
import { KEY_BYTES_MAX } from '../machines/apps/application.ts';
import { byteKey, settled } from '../protocol/bytes.ts';
import { must } from '../protocol/refusal.ts';
import type { Store } from '../runtime/kernel/ports.ts';
import type { Stream } from './choices.ts';
import { type CrashHow, type DiskCounters, type DiskDoor, drawLost } from './disk-door.ts';
import { type Flushable, Flusher } from './flusher.ts';
import { SortedKeys } from './sorted-keys.ts';

/** `byteKey`, and for the length of nearly all keys in half its time. */
const nameOf = (k: Uint8Array): string =>
  k.length === 9
    ? String.fromCharCode(k[0]!, k[1]!, k[2]!, k[3]!, k[4]!, k[5]!, k[6]!, k[7]!, k[8]!)
    : byteKey(k);

const KEY_RULE = `a key has 1 to ${KEY_BYTES_MAX} bytes`;

/** What to put back to take one batch away: the keys it wrote, in order, and what stood there before. */
interface Undo {
  readonly keys: string[];
  readonly before: (KeyValue | undefined)[];
}

/** What lies on the disk. */
export class StoreMedium {
  private readonly content = new Map<string, KeyValue>();
  private readonly order = new SortedKeys(this.content);
  /** Of the batches not yet durable, oldest first. */
  private readonly undo: Undo[] = [];
  /** Batches ever made durable. */
  private durable = 0;
  /** So many were said to be durable: a disk may lie. */
  answered = 0;
  writes = 0;
  flushes = 0;

  /** Batches ever written. */
  get written(): number {
    return this.durable + this.undo.length;
  }

  get hasPending(): boolean {
    return this.undo.length > 0;
  }

  write(writes: readonly Write[]): void {
    const undo: Undo = { keys: [], before: [] };
    for (const { key, value, remove } of writes) {
      must(key.length >= 1 && key.length <= KEY_BYTES_MAX, KEY_RULE);
      const name = nameOf(key);
      undo.keys.push(name);
      undo.before.push(this.content.get(name));
      this.put(name, remove ? undefined : { key, value: settled(value) });
    }
    this.undo.push(undo);
  }

  private put(name: string, entry: KeyValue | undefined): void {
    const { size } = this.content;
    if (entry) this.content.set(name, entry);
    else this.content.delete(name);
    if (this.content.size !== size) this.order.touch(name);
  }

  flushed(upTo: number): void {
    const count = upTo - this.durable;
    if (count <= 0) return;
    this.undo.splice(0, count);
    this.durable = upTo;
  }

  crash(how: CrashHow, stream: Stream, counters: DiskCounters): void {
    const lost = drawLost(how, stream, this.undo.length);
    for (let i = 0; i < lost; i++) {
      const { keys, before } = this.undo.pop() as Undo;
      for (let k = keys.length - 1; k >= 0; k--) this.put(keys[k] as string, before[k]);
    }
    counters.batchesLost += lost;
    this.flushed(this.written);
    this.answered = this.written;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.content.get(nameOf(key))?.value;
  }

  range(from: Uint8Array, to: Uint8Array, limit: number, which: Which = 'first'): readonly KeyValue[] {
    return this.order
      .range(nameOf(from), nameOf(to), limit, which)
      .map((name) => this.content.get(name) as KeyValue);
  }

  copy(): StoreMedium {
    const copy = new StoreMedium();
    for (const [name, entry] of this.content) copy.content.set(name, entry);
    copy.durable = this.written;
    copy.answered = this.written;
    copy.writes = this.writes;
    copy.flushes = this.flushes;
    return copy;
  }
}

/** The store port of one life. */
export class SimStore implements Store, Flushable {
  private readonly name: StoreName;
  private readonly medium: StoreMedium;
  private readonly door: DiskDoor;
  private readonly flusher: Flusher;
  /** A flush of batches that nobody waits for is on the agenda. */
  private isLazyDue = false;

  constructor(name: StoreName, medium: StoreMedium, door: DiskDoor) {
    this.name = name;
    this.medium = medium;
    this.door = door;
    this.flusher = new Flusher(door.agenda, door.life, this, door.drawFlush);
  }

  write(writes: readonly Write[], flushed?: () => void): void {
    const { medium, door, name } = this;
    if (door.isOver || !door.hasRoom(name)) return;
    const nth = ++medium.writes;
    if (!door.livesThrough('write', name, 'before', nth)) return;
    // A batch is atomic: inside it nothing of it is there yet.
    if (!door.livesThrough('write', name, 'inside', nth)) return;
    medium.write(writes);
    if (!door.livesThrough('write', name, 'after', nth)) return;
    if (flushed) this.flusher.ask(flushed);
    else if (!this.isLazyDue) {
      this.isLazyDue = true;
      door.agenda.after(door.drawLazy(), this.flushLazily, 0, door.life);
    }
  }

  private readonly flushLazily = (): void => {
    this.isLazyDue = false;
    if (this.medium.hasPending) this.flusher.start();
  };

  get(key: Uint8Array): Uint8Array | undefined {
    return this.medium.get(key);
  }

  range(from: Uint8Array, to: Uint8Array, limit: number, which: Which = 'first'): readonly KeyValue[] {
    return this.medium.range(from, to, limit, which);
  }

  written(): number {
    return this.medium.written;
  }

  flushed(upTo: number): void {
    const { medium, door, name } = this;
    const nth = ++medium.flushes;
    if (!door.livesThrough('flush', name, 'inside', nth)) return;
    medium.answered = Math.max(medium.answered, upTo);
    if (door.completeFlush()) medium.flushed(upTo);
    door.livesThrough('flush', name, 'after', nth);
  }
}
