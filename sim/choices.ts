// Owns chance: every choice of a run is drawn here, from a named stream, and can be recorded and replayed.
// A drawn 0 always means the least trouble (nothing lost, the smallest delay), so that zeroing choices calms
// a run.

import { sha256, utf8Encode } from '#platform';
import { must, unreachable } from '../protocol/refusal.ts';
import type { Random } from '../runtime/kernel/ports.ts';
import { Recording } from './recording.ts';

/** Bounds of draws: what 31 bits can hold, so that values stay small integers in every engine. */
export const DRAW_BOUND_MAX = 0x8000_0000;
const UINT32_END = 0x1_0000_0000;

export type Seed = string | number | bigint;

/** Seeds have 64 bits. */
export const SEED_MAX = 0xffff_ffff_ffff_ffffn;

/** Of several texts of one number (`007`) the shortest: they are one seed. */
export const seedText = (seed: Seed): string => (isSeed(String(seed)) ? String(BigInt(seed)) : String(seed));

/** Whether this is one, in decimal. */
export const isSeed = (text: string): boolean => /^[0-9]{1,20}$/.test(text) && BigInt(text) <= SEED_MAX;

export type ChoiceSource =
  | { readonly seed: Seed }
  /**
   * The recorded values, per stream and in order. Where a stream asks for more than was recorded: 0 with
   * `least`, else what the seed gives at that place; with the seed of the recording itself, a shortened
   * recording replays whole.
   */
  | { readonly recorded: Recording; readonly beyond: 'least' | { readonly seed: Seed } };

/** One named sequence of choices. Its own generator (sfc32), so that another stream's draws never move it. */
export class Stream implements Random {
  private readonly id: number;
  private readonly tape: Recording | null;
  private readonly script: Uint32Array | null;
  private readonly isLeastBeyond: boolean;
  private scriptAt = 0;
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(
    label: string,
    root: string,
    id: number,
    tape: Recording | null,
    script: Uint32Array | null,
    least: boolean,
  ) {
    this.id = id;
    this.tape = tape;
    this.script = script;
    this.isLeastBeyond = least;
    const state = sha256(utf8Encode(`${root}\n${label}`));
    const view = new DataView(state.buffer, state.byteOffset, state.length);
    this.a = view.getInt32(0, true);
    this.b = view.getInt32(4, true);
    this.c = view.getInt32(8, true);
  }

  /**
   * sfc32 (PractRand): 32 bits as a signed integer. Its state comes from a hash, so it needs no warming up.
   */
  private bits(): number {
    const { b, c } = this;
    const sum = (((this.a + b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = b ^ (b >>> 9);
    this.b = (c + (c << 3)) | 0;
    this.c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum;
  }

  private fresh(bound: number): number {
    if ((bound & (bound - 1)) === 0) return this.bits() & (bound - 1);
    for (;;) {
      const word = this.bits() >>> 0;
      const value = word % bound;
      // The last, incomplete span of `bound` values would favour the small ones: draw again.
      if (word - value + bound <= UINT32_END) return value;
    }
  }

  private scripted(script: Uint32Array, bound: number, otherwise: number): number {
    if (this.scriptAt >= script.length) return this.isLeastBeyond ? 0 : otherwise;
    const value = script[this.scriptAt++] as number;
    // An edited run may ask with a smaller bound than was recorded: as much trouble as this one allows.
    return value < bound ? value : bound - 1;
  }

  /**
   * An integer in [0, bound), 1 <= bound <= 2^31, each equally likely. A bound of 1 is no choice and leaves
   * no record.
   */
  draw(bound: number): number {
    if (bound === 1) return 0;
    if (bound >>> 0 !== bound || bound === 0 || bound > DRAW_BOUND_MAX)
      unreachable(`a draw needs an integer bound in 1..2^31, not ${bound}`);
    // While replaying the generator keeps pace, so that the seed can take over where the recording ends.
    let value = this.fresh(bound);
    if (this.script !== null) value = this.scripted(this.script, bound, value);
    if (this.tape !== null) this.tape.push(this.id, bound, value);
    return value;
  }

  /** True `numerator` times of `denominator`. The certain and the impossible draw nothing. */
  chance(numerator: number, denominator: number): boolean {
    if (!Number.isInteger(numerator))
      unreachable(`a chance is so many of so many, chance(3, 10), in integers, not ${numerator}`);
    if (numerator <= 0) return false;
    if (numerator >= denominator) return true;
    return this.draw(denominator) >= denominator - numerator;
  }

  /** An integer in [lo, hi], for hi - lo < 2^31. */
  between(lo: number, hi: number): number {
    if (!Number.isInteger(lo)) unreachable(`between gives an integer between two, not from ${lo}`);
    return lo + this.draw(hi - lo + 1);
  }

  pick<T>(list: readonly T[]): T {
    must(list.length > 0, 'nothing to pick from');
    return list[this.draw(list.length)] as T;
  }

  /** Sorts in place into a random order; all zeroes leave it as it is. */
  shuffle<T>(list: T[]): T[] {
    for (let i = 0; i < list.length - 1; i++) {
      const j = i + this.draw(list.length - i);
      const swapped = list[i] as T;
      list[i] = list[j] as T;
      list[j] = swapped;
    }
    return list;
  }
}

/** All streams of one run. */
export class Choices {
  /** What was drawn so far, over all streams, in order; null when recording is off. */
  readonly recording: Recording | null;
  private readonly root: string;
  private readonly isLeastBeyond: boolean;
  private readonly scripts: ReadonlyMap<string, Uint32Array> | null;
  private readonly streams = new Map<string, Stream>();

  constructor(source: ChoiceSource, keep: 'record' | 'forget' = 'record') {
    if ('seed' in source) {
      this.root = seedText(source.seed);
      this.scripts = null;
      this.isLeastBeyond = false;
    } else {
      const { recorded, beyond } = source;
      this.root = beyond === 'least' ? recorded.seed : seedText(beyond.seed);
      this.scripts = recorded.valuesByLabel();
      this.isLeastBeyond = beyond === 'least';
    }
    this.recording = keep === 'record' ? new Recording(this.root) : null;
  }

  /** The same label gives the same stream. */
  stream(label: string): Stream {
    const known = this.streams.get(label);
    if (known) return known;
    const id = this.recording ? this.recording.addLabel(label) : this.streams.size;
    const script = this.scripts === null ? null : (this.scripts.get(label) ?? NOTHING_RECORDED);
    const stream = new Stream(label, this.root, id, this.recording, script, this.isLeastBeyond);
    this.streams.set(label, stream);
    return stream;
  }

  /** The recording; asking for it when it was switched off is a bug. */
  recorded(): Recording {
    return this.recording ?? unreachable('this run does not record its choices');
  }
}

const NOTHING_RECORDED = new Uint32Array(0);
