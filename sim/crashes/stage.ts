// What the life without a crash and all lives with one have in common: who is there, what they are given, and
// how long a height may take.

import type { NodeName } from '../scenario/play.ts';
import { txs, validators } from '../scenario/words.ts';

export interface GridOptions {
  readonly heights: number;
  readonly validators: number;
  readonly seed: string;
  /** Whose lives. */
  readonly nodes: readonly NodeName[];
}

/** A height that takes longer is stuck: some rounds of it. */
export const HEIGHT_MS_MAX = 30_000;
/** One node may die with what it was given: a client that gives it to two loses nothing. */
const COPIES = 2;
export const TX_BYTES = 32;

/** A transaction with each height, until there were `count`. */
export const stageOf = (options: GridOptions, count: number | null) => ({
  cast: validators(options.validators),
  load: txs({ perBlock: 1, size: TX_BYTES, copies: COPIES, ...(count !== null && { count }) }),
});
