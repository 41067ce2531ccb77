// How a play is to be performed: what may be said beside the play, and what is wrong with it where nobody checked the types.

import type { Cast } from './cast.ts';
import { isSeed, SEED_MAX, type Seed } from './choices.ts';
import type { OracleMaker } from './oracle.ts';
import type { Recording } from './recording.ts';
import { ScenarioError } from './scenario/words.ts';
import type { RunWatch } from './verdict.ts';
import type { World } from './world.ts';

export interface RunOptions {
  readonly seed: Seed;
  /** Default: what the play says, else `sim`. */
  readonly crypto?: 'sim' | 'ed25519';
  /** False: nothing is remembered between turns that could be computed again. Same digest, slower. */
  readonly memo?: boolean;
  /** Other people than the play's: from real files. The names must be those that the play speaks of. */
  readonly cast?: Cast;
  /** False: the verdict says nothing of the run's shape, which costs some percent of a run. */
  readonly shape?: boolean;
  /** At least so many heights; the play's own number if that is more. */
  readonly heights?: number;
  readonly watch?: RunWatch;
  /** Goes into the trace's header, for people, as does what else makes the run what it is. */
  readonly commit?: string;
  readonly about?: Readonly<Record<string, string>>;
  /** Choices of an earlier run; where they end, those of the seed. */
  readonly recorded?: Recording;
  /** Told of the world before it begins: inspectors, benchmarks, tests. */
  readonly onWorld?: (world: World) => void;
  /** More oracles than those that always watch. */
  readonly oracles?: readonly OracleMaker[];
}

const OPTIONS: Readonly<Record<keyof RunOptions, true>> = {
  seed: true,
  crypto: true,
  memo: true,
  shape: true,
  cast: true,
  heights: true,
  watch: true,
  commit: true,
  about: true,
  recorded: true,
  onWorld: true,
  oracles: true,
};

/** @throws ScenarioError */
export function mustBeSeed(seed: Seed | undefined): void {
  if (!isSeed(String(seed)))
    throw new ScenarioError(`seed: expected a whole number from 0 to ${SEED_MAX}, not ${seed}`);
}

/** @throws ScenarioError that names the option. */
export function mustBeOptions(options: RunOptions): void {
  mustBeSeed((options as RunOptions | undefined)?.seed);
  const odd = Object.keys(options).find((option) => !Object.hasOwn(OPTIONS, option));
  if (odd !== undefined)
    throw new ScenarioError(`${odd}: no such option; there are ${Object.keys(OPTIONS).join(', ')}`);
  const { heights, oracles, crypto, cast } = options;
  if (crypto !== undefined && crypto !== 'sim' && crypto !== 'ed25519')
    throw new ScenarioError(`crypto: expected sim or ed25519, not ${crypto}`);
  if (cast !== undefined && !Array.isArray((cast as Cast | null)?.members))
    throw new ScenarioError('cast: expected people as makeCast makes them');
  if (heights !== undefined && (!Number.isSafeInteger(heights) || heights < 1))
    throw new ScenarioError(`heights: expected a whole number from 1, not ${heights}`);
  if (oracles !== undefined && !Array.isArray(oracles))
    throw new ScenarioError('oracles: expected a list of functions that make an oracle');
  const none = oracles?.findIndex((make) => typeof make !== 'function') ?? -1;
  if (none >= 0) throw new ScenarioError(`oracles[${none}]: expected a function that makes an oracle`);
}
