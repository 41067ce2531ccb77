// Draws how long things take, in whole nanoseconds of virtual time: a drawn 0 is always the shortest.

import { must } from '../protocol/refusal.ts';
import { DRAW_BOUND_MAX, type Stream } from './choices.ts';

/** Nanoseconds, both ends included. */
export interface Span {
  readonly minNs: number;
  readonly maxNs: number;
}

export const MICROSECOND = 1_000;
export const MILLISECOND = 1_000_000;
export const SECOND = 1_000_000_000;

export const span = (minNs: number, maxNs: number): Span => {
  must(
    Number.isSafeInteger(minNs) && Number.isSafeInteger(maxNs) && minNs >= 0 && maxNs >= minNs,
    'a span of time',
  );
  return { minNs, maxNs };
};

/** Evenly over the span; in steps of a microsecond when it is longer than 2^31 ns (2.1 s). */
export function drawSpan(stream: Stream, { minNs, maxNs }: Span): number {
  const width = maxNs - minNs;
  if (width < DRAW_BOUND_MAX) return minNs + stream.draw(width + 1);
  return minNs + stream.draw(Math.floor(width / MICROSECOND) + 1) * MICROSECOND;
}

export type Latency =
  | { readonly kind: 'uniform'; readonly minNs: number; readonly maxNs: number }
  /** A floor and an exponential tail of this mean above it; at most 13.9 means long. */
  | { readonly kind: 'exponential'; readonly minNs: number; readonly meanNs: number }
  /**
   * Measured quantiles, ascending, evenly spaced from 0 % to 100 %: at least two; straight lines between
   * them.
   */
  | { readonly kind: 'table'; readonly quantilesNs: readonly number[] };

export const uniform = (minNs: number, maxNs: number): Latency => ({
  kind: 'uniform',
  ...span(minNs, maxNs),
});

/** The longest that can be drawn. */
export function longestNs(latency: Latency): number {
  if (latency.kind === 'uniform') return latency.maxNs;
  if (latency.kind === 'exponential') return latency.minNs + TAIL_MEANS * latency.meanNs;
  return latency.quantilesNs.at(-1) ?? 0;
}
const TAIL_MEANS = 14;

export function drawLatency(stream: Stream, latency: Latency): number {
  switch (latency.kind) {
    case 'uniform':
      return drawSpan(stream, latency);
    case 'exponential':
      return latency.minNs + Math.floor((latency.meanNs * exponential(stream.draw(UNIT))) / UNIT);
    case 'table':
      return drawFromTable(stream, latency.quantilesNs);
  }
}

/** 20 bits of fraction. */
const UNIT = 0x10_0000;
const UNIT_BITS = 20;
/** ln 2 in 1/UNIT. */
const LN2 = 726_817;

/**
 * -ln(1 - u) for u in [0, 1), both in 1/UNIT, by integers alone: the logarithms of engines differ in their
 * last bits. log2(1 + f) is taken as f + 0.344 f (1 - f), right to 0.3 %.
 */
export function exponential(u: number): number {
  const v = UNIT - u;
  const exponent = 31 - Math.clz32(v);
  const fraction = v * (1 << (UNIT_BITS - exponent)) - UNIT;
  const bend = Math.floor((Math.floor((fraction * (UNIT - fraction)) / UNIT) * 344) / 1000);
  const log2 = (exponent - UNIT_BITS) * UNIT + fraction + bend;
  return Math.floor((-log2 * LN2) / UNIT);
}

const STEPS = 1024;

function drawFromTable(stream: Stream, quantilesNs: readonly number[]): number {
  must(quantilesNs.length >= 2, 'a table of latencies needs two quantiles at least');
  const drawn = stream.draw((quantilesNs.length - 1) * STEPS);
  const step = drawn % STEPS;
  const at = (drawn - step) / STEPS;
  const low = quantilesNs[at] as number;
  const high = quantilesNs[at + 1] as number;
  return low + Math.floor(((high - low) * step) / STEPS);
}
