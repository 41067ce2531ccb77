// Owns virtual time: one heap of everything that is still to happen, ordered by (time, tie-break, sequence).

import { must } from '../protocol/refusal.ts';
import type { Stream } from './choices.ts';

/**
 * What happens at a time. `arg` is what was given with it: a slot of the caller's own tables, so that no
 * closure is needed.
 */
export type Due = (arg: number) => void;
/** Names one event; stale handles are recognised. */
export type Handle = number;
/**
 * Whose event it is. When a node crashes its life ends, and nothing scheduled under that life happens any
 * more.
 */
export type Life = number;
export const WORLD_LIFE: Life = 0;

/** Events pending at once: 16 million, about 700 MB, which is a runaway world. */
const SLOTS_MAX = 0x100_0000;
const GENERATIONS = 0x1000_0000;
/** Ties are broken among this many ranks; with the sequence (33 bits) a rank fits the 53 bits of a double. */
const TIE_RANKS = 0x10_0000;
const SEQUENCE_END = 0x2_0000_0000;
/** Cancelled events may outnumber the living before the heap is swept, but few are not worth it. */
const SWEEP_MIN = 4096;

function larger<A extends Float64Array | Int32Array | Uint8Array>(grown: A, from: A): A {
  grown.set(from);
  return grown;
}

export class Agenda {
  /** Nanoseconds since the world began; an integer below 2^53 (104 days). */
  now = 0;
  /** Events that happened. */
  happened = 0;
  private sequence = 0;
  private readonly ties: Stream | null;

  // The heap, four children a node: by place.
  private size = 0;
  private times = new Float64Array(1024);
  private orders = new Float64Array(1024);
  private slots = new Int32Array(1024);

  // The events: by slot.
  private readonly dues: (Due | null)[] = [];
  private args = new Int32Array(1024);
  private lives = new Int32Array(1024);
  private generations = new Int32Array(1024);
  private vacant = new Int32Array(1024);
  private vacantCount = 0;
  private cancelled = 0;

  private over = new Uint8Array(64);
  private lifeCount = 1;

  /** With `ties`, events of the same instant happen in a drawn order; without, in the order scheduled. */
  constructor(ties: Stream | null = null) {
    this.ties = ties;
  }

  /** Events still to happen, those of ended lives included. */
  get pending(): number {
    return this.size - this.cancelled;
  }

  beginLife(): Life {
    const life = this.lifeCount++;
    if (life === this.over.length) this.over = larger(new Uint8Array(life * 2), this.over);
    return life;
  }

  endLife(life: Life): void {
    must(life !== WORLD_LIFE, 'the world does not end');
    this.over[life] = 1;
  }

  isOver(life: Life): boolean {
    return this.over[life] === 1;
  }

  /**
   * `time` is an integer, not before now. Events of one instant happen in the order scheduled, or in the drawn one.
   */
  at(time: number, due: Due, arg = 0, life: Life = WORLD_LIFE): Handle {
    // Also false for NaN.
    must(time >= this.now && time <= Number.MAX_SAFE_INTEGER, 'an event lies in the past or beyond 2^53 ns');
    const slot = this.vacantCount > 0 ? (this.vacant[--this.vacantCount] as number) : this.freshSlot();
    this.dues[slot] = due;
    this.args[slot] = arg;
    this.lives[slot] = life;
    let order = this.sequence++;
    if (this.ties !== null) order += this.ties.draw(TIE_RANKS) * SEQUENCE_END;
    if (this.size === this.times.length) this.growHeap();
    this.siftUp(this.size++, time, order, slot);
    return (this.generations[slot] as number) * SLOTS_MAX + slot;
  }

  after(delay: number, due: Due, arg = 0, life: Life = WORLD_LIFE): Handle {
    return this.at(this.now + delay, due, arg, life);
  }

  /** Returns false when the event has happened or was cancelled before. */
  cancel(handle: Handle): boolean {
    const generation = Math.floor(handle / SLOTS_MAX);
    const slot = handle - generation * SLOTS_MAX;
    if (this.generations[slot] !== generation || this.dues[slot] === null) return false;
    this.dues[slot] = null; // stays in the heap until its time, or until it is swept
    this.cancelled++;
    if (this.cancelled > SWEEP_MIN && this.cancelled * 2 > this.size) this.sweep();
    return true;
  }

  /** The time of the next event; Infinity when there is none. */
  nextAt(): number {
    while (this.size > 0) {
      const slot = this.slots[0] as number;
      const isCancelled = this.dues[slot] === null;
      if (!isCancelled && this.over[this.lives[slot] as number] === 0) return this.times[0] as number;
      if (isCancelled) this.cancelled--;
      this.vacate(slot);
      this.removeFirst();
    }
    return Infinity;
  }

  /** Lets the next event happen. False when nothing is left to happen. */
  next(): boolean {
    while (this.size > 0) {
      const time = this.times[0] as number;
      const slot = this.slots[0] as number;
      const due = this.dues[slot] as Due | null;
      const arg = this.args[slot] as number;
      const isOver = this.over[this.lives[slot] as number] === 1;
      this.vacate(slot);
      this.removeFirst();
      if (due === null) {
        this.cancelled--;
        continue;
      }
      if (isOver) continue;
      this.now = time;
      this.happened++;
      due(arg);
      return true;
    }
    return false;
  }

  /** Lets everything up to and including `time` happen; then it is `time`. */
  runUntil(time: number): void {
    while (this.nextAt() <= time) this.next();
    if (time > this.now) this.now = time;
  }

  private freshSlot(): number {
    const slot = this.dues.length;
    must(slot < SLOTS_MAX, 'too many events pending');
    if (slot === this.args.length) {
      this.args = larger(new Int32Array(slot * 2), this.args);
      this.lives = larger(new Int32Array(slot * 2), this.lives);
      this.generations = larger(new Int32Array(slot * 2), this.generations);
      this.vacant = larger(new Int32Array(slot * 2), this.vacant);
    }
    this.dues.push(null);
    return slot;
  }

  private vacate(slot: number): void {
    this.dues[slot] = null;
    this.generations[slot] = ((this.generations[slot] as number) + 1) % GENERATIONS;
    this.vacant[this.vacantCount++] = slot;
  }

  private growHeap(): void {
    const capacity = this.size * 2;
    this.times = larger(new Float64Array(capacity), this.times);
    this.orders = larger(new Float64Array(capacity), this.orders);
    this.slots = larger(new Int32Array(capacity), this.slots);
  }

  private siftUp(from: number, time: number, order: number, slot: number): void {
    const { times, orders, slots } = this;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      const parentTime = times[parent] as number;
      if (parentTime < time || (parentTime === time && (orders[parent] as number) < order)) break;
      times[place] = parentTime;
      orders[place] = orders[parent] as number;
      slots[place] = slots[parent] as number;
      place = parent;
    }
    times[place] = time;
    orders[place] = order;
    slots[place] = slot;
  }

  private siftDown(from: number, time: number, order: number, slot: number): void {
    const { times, orders, slots, size } = this;
    let place = from;
    for (;;) {
      const first = place * 4 + 1;
      if (first >= size) break;
      const end = Math.min(first + 4, size);
      let least = first;
      let leastTime = times[first] as number;
      for (let child = first + 1; child < end; child++) {
        const childTime = times[child] as number;
        if (childTime > leastTime) continue;
        if (childTime < leastTime || (orders[child] as number) < (orders[least] as number)) {
          least = child;
          leastTime = childTime;
        }
      }
      if (time < leastTime || (time === leastTime && order < (orders[least] as number))) break;
      times[place] = leastTime;
      orders[place] = orders[least] as number;
      slots[place] = slots[least] as number;
      place = least;
    }
    times[place] = time;
    orders[place] = order;
    slots[place] = slot;
  }

  private removeFirst(): void {
    const last = --this.size;
    if (last === 0) return;
    this.siftDown(0, this.times[last] as number, this.orders[last] as number, this.slots[last] as number);
  }

  /** Rebuilds the heap without the cancelled: the order is total, so what happens does not change. */
  private sweep(): void {
    const { times, orders, slots } = this;
    let kept = 0;
    for (let place = 0; place < this.size; place++) {
      const slot = slots[place] as number;
      if (this.dues[slot] === null) {
        this.vacate(slot);
        continue;
      }
      times[kept] = times[place] as number;
      orders[kept] = orders[place] as number;
      slots[kept] = slot;
      kept++;
    }
    this.size = kept;
    this.cancelled = 0;
    for (let place = (kept - 2) >> 2; place >= 0; place--) {
      this.siftDown(place, times[place] as number, orders[place] as number, slots[place] as number);
    }
  }
}
