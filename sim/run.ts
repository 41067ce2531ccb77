// Performs a play under a seed and says how it went: the world, its oracles, the script, the promises, the verdict.

import type { Cast } from './cast.ts';
import type { Recording } from './recording.ts';
import type { Play } from './scenario/play.ts';
import type { RunWatch, Verdict } from './verdict.ts';

export interface RunOptions {
  readonly seed: string | number | bigint;
  /** Default: what the play says, else `sim`. */
  readonly crypto?: 'sim' | 'ed25519';
  /** False: nothing is remembered between turns that could be computed again. Same digest, slower. */
  readonly memo?: boolean;
  /** Other people than the play's: from real files. The names must be those that the play speaks of. */
  readonly cast?: Cast;
  /** At least so many heights; the play's own number if that is more. */
  readonly heights?: number;
  readonly watch?: RunWatch;
  /** Goes into the trace's header. */
  readonly commit?: string;
  /** Choices of an earlier run instead of the seed's. */
  readonly recorded?: Recording;
}

export declare function runScenario(play: Play, options: RunOptions): Verdict;
