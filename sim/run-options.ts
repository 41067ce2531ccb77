// How a play is to be performed: what may be said beside the play, and what is wrong with it where nobody checked the types.

import { isRefusal } from '../protocol/refusal.ts';
import type { Cast } from './cast.ts';
import { isSeed, SEED_MAX, type Seed } from './choices.ts';
import type { OracleMaker } from './oracle.ts';
import { Recording } from './recording.ts';
import { ScenarioError } from './scenario/error.ts';
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
  /** At least so many heights, from the first of the chain on; the play's own number if that is more. */
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

type Check = readonly [is: (value: unknown) => boolean, expected: string];

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const A_FUNCTION: Check = [(value) => typeof value === 'function', 'a function'];
const TRUE_OR_FALSE: Check = [(value) => typeof value === 'boolean', 'true or false'];

/** Of each option that is given; the seed and the oracles say more. */
const OPTIONS: Readonly<Record<keyof RunOptions, Check | null>> = {
  seed: null,
  crypto: [(value) => value === 'sim' || value === 'ed25519', 'sim or ed25519'],
  memo: TRUE_OR_FALSE,
  shape: TRUE_OR_FALSE,
  cast: [(value) => Array.isArray((value as Cast | null)?.members), 'people as makeCast makes them'],
  heights: [(value) => Number.isSafeInteger(value) && Number(value) >= 1, 'a whole number from 1'],
  watch: [isObject, 'an object of functions'],
  commit: [(value) => typeof value === 'string', 'a text'],
  about: [
    (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
    'an object whose values are texts',
  ],
  recorded: [(value) => value instanceof Recording, 'choices as watch.choices and decodeRecording give them'],
  onWorld: A_FUNCTION,
  oracles: [Array.isArray, 'a list of functions that make an oracle'],
};

const WATCHED: Readonly<Record<keyof RunWatch, Check>> = {
  line: A_FUNCTION,
  event: A_FUNCTION,
  progress: A_FUNCTION,
  trace: A_FUNCTION,
  choices: A_FUNCTION,
  backstage: A_FUNCTION,
};

function shown(value: unknown): string {
  if (typeof value === 'function') return `the function ${value.name}`.trim();
  return isObject(value) ? `an ${Array.isArray(value) ? 'array' : 'object'}` : String(value);
}

/** Those that are given are known, and as they should be. */
function mustPass(given: object, checks: Readonly<Record<string, Check | null>>, path: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name))
      throw new ScenarioError(`${path}${name}: no such option; there are ${Object.keys(checks).join(', ')}`);
    const check = checks[name];
    if (value === undefined || !check || check[0](value)) continue;
    if (isRefusal(value)) throw new ScenarioError(`${path}${name}: this is a refusal: ${value.because}`);
    throw new ScenarioError(`${path}${name}: expected ${check[1]}, not ${shown(value)}`);
  }
}

/** @throws ScenarioError */
export function mustBeSeed(seed: Seed | undefined): void {
  if (typeof seed === 'number' && seed > Number.MAX_SAFE_INTEGER)
    throw new ScenarioError(
      `seed: a number as large as ${seed} is not exact: write it as text, or with an n behind it`,
    );
  if (!isSeed(String(seed)))
    throw new ScenarioError(`seed: expected a whole number from 0 to ${SEED_MAX}, not ${seed}`);
}

/** @throws ScenarioError that names the option; of a misspelt one, also those that there are. */
export function mustBeOptions(options: RunOptions): void {
  if (options !== undefined && (typeof options !== 'object' || options === null))
    throw new ScenarioError(`options: write { seed: 1 }, not ${String(options)}`);
  mustPass(options ?? {}, OPTIONS, '');
  mustBeSeed((options as RunOptions | undefined)?.seed);
  mustPass(options.watch ?? {}, WATCHED, 'watch.');
  const none = options.oracles?.findIndex((make) => typeof make !== 'function') ?? -1;
  if (none >= 0) throw new ScenarioError(`oracles[${none}]: expected a function that makes an oracle`);
}
