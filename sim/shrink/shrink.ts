// Makes a failing run small: fewer faults, nodes and heights, with the same promise broken. Pure and deterministic: the same run and
// budget give the same scenario.

import { type Seed, seedText } from '../choices.ts';
import { type OracleMaker, PLAY } from '../oracle.ts';
import { PROMISES } from '../oracles/promises.ts';
import { runScenario } from '../run.ts';
import { mustBeOptions } from '../run-options.ts';
import { mustBeSameAgain } from '../same-again.ts';
import { ownParts } from '../scenario/own.ts';
import type { Play, Scenario } from '../scenario/play.ts';
import { scenarioUnder } from '../scenario/under.ts';
import { ScenarioError } from '../scenario/words.ts';
import type { World } from '../world.ts';
import { costOf } from './cost.ts';
import { Lab, SCORE, SCORE_GOOD, type SoFar, seedAfter } from './lab.ts';
import { directivesIn, partsOf, without } from './parts.ts';
import { atItsEnd, fewerParts, polished } from './polish.ts';
import { rewritten } from './rewrite.ts';
import { SHARP, SHARP_GOOD, sharpened, singleTrouble } from './sharpen.ts';

/** The seed of the run, and some after it. */
const SEEDS_TRIED = [0, 1, 2, 3, 4, 5];
/** Shares of the budget: for what comes first, and beyond it for what comes last. */
const GUESSING = 1 / 4;
const SHARPENING = 1 / 2;
const TIDYING = 1 / 4;
/** All of them: so many budgets at most. */
const SEARCH = 1 + SHARPENING + 2 * TIDYING;
/** Who fails under so many seeds more is not better than who has fewer parts. */
const BY_LUCK = 2;

export interface Shrunk {
  readonly scenario: Scenario;
  /** Under this seed it breaks the promise, and needs each of its parts to. */
  readonly seed: string;
  readonly promise: string;
  readonly what: string;
  readonly height: number;
  readonly directives: { readonly before: number; readonly after: number };
  /** Without any one of its parts this promise does not break. */
  readonly isMinimal: boolean;
  /** Nor does any other break: without any one of its parts the run holds. */
  readonly holdsWithoutAny: boolean;
  /** Of so many other seeds, under how many it breaks the same promise. */
  readonly survives: { readonly seeds: number; readonly fails: number };
  readonly runs: number;
  /** The budget that was used, in deliveries. */
  readonly spent: number;
}

const JITTER_SEEDS = 20;
/** Seeds that had no say before. */
const JITTER_FROM = 100;
/** In deliveries, for the search: a dozen seconds of one core. The last checks come on top, as many again where each run stands still for long. */
const BUDGET = 220_000;

export interface ShrinkOptions {
  readonly seed: Seed;
  /** The one that stays broken, as a violation's `promise` says it; default: the first that the run breaks. */
  readonly promise?: string;
  /** In deliveries; default: 220,000, a dozen seconds of one core. */
  readonly budget?: number;
  /** More oracles than those that always watch, as the run had them. */
  readonly oracles?: readonly OracleMaker[];
  /** Told now and then of the smallest so far. */
  readonly heard?: (soFar: SoFar) => void;
}

/**
 * Null: the run does not break this promise, or it is the play's own, which says nothing of a smaller one.
 * @throws ScenarioError when the play is none, what else is given is something else, or functions of its own make another run of it the second time.
 */
export function shrink(play: Play, options: ShrinkOptions): Shrunk | null {
  mustBeShrinkOptions(options);
  const { budget = BUDGET, oracles = [], heard } = options;
  const seed = seedText(options.seed);
  const drawn = scenarioUnder(play, seed);
  const hasOwn = ownParts(drawn).length > 0 || oracles.length > 0;
  const first = hasOwn || options.promise === undefined ? firstBroken(drawn, seed, oracles) : null;
  const promise = options.promise ?? first;
  if (promise === null || promise === PLAY) return null;
  const watching = [...(drawn.oracles ?? []), ...oracles];
  const whole: Scenario = { ...drawn, crypto: 'sim', ...(watching.length > 0 && { oracles: watching }) };
  const part = (): number => Math.min(1, lab.spent / (budget * SEARCH));
  const lab = new Lab(promise, seed, budget, (soFar) => heard?.({ ...soFar, part: part() }));
  const cut = atItsEnd(whole, lab);
  if (cut === null) {
    mustBePromise(whole, seed, promise);
    return null;
  }
  const single = lab.within(GUESSING, () => singleTrouble(cut, lab));
  const small = single ? polished(single, lab) : smallest(cut, lab);
  const least = lab.spending(budget * TIDYING, () => withoutIdleParts(small, lab)) ?? small;
  const isLucky = !lab.isDear && lab.score(small, SHARP) > lab.score(least, SHARP) + BY_LUCK;
  const better = isLucky ? small : least;
  const sharp = lab.spending(budget * SHARPENING, () => sharpened(better, lab));
  if (sharp === least) return reportOf(whole, least, lab);
  const tidy = lab.spending(budget * TIDYING, () => withoutIdleParts(sharp, lab)) ?? least;
  return reportOf(
    whole,
    leastOf([tidy, least], (scenario) => sharpRankOf(scenario, lab)),
    lab,
  );
}

/** @throws ScenarioError that names what is not as it should be. */
function mustBeShrinkOptions(options: ShrinkOptions | undefined): void {
  if (typeof options !== 'object' || options === null)
    throw new ScenarioError('shrink takes a play and { seed, promise, budget, oracles, heard }');
  const { promise, budget, heard, seed, oracles, ...unknown } = options;
  const [odd] = Object.keys(unknown);
  if (odd !== undefined)
    throw new ScenarioError(`${odd}: no such option; there are seed, promise, budget, oracles, heard`);
  mustBeOptions({ seed, ...(oracles !== undefined && { oracles }) });
  if (promise !== undefined && typeof promise !== 'string')
    throw new ScenarioError(`promise: expected a text, as a violation's promise is, not ${promise}`);
  if (budget !== undefined && !(typeof budget === 'number' && budget > 0))
    throw new ScenarioError(`budget: expected a number of deliveries, not ${budget}`);
  if (heard !== undefined && typeof heard !== 'function')
    throw new ScenarioError(`heard: expected a function, not ${heard}`);
}

/** @throws ScenarioError when it is another run the second time. */
function firstBroken(play: Scenario, seed: string, oracles: readonly OracleMaker[]): string | null {
  const options = { seed, crypto: 'sim', oracles } as const;
  const verdict = runScenario(play, options);
  const [first] = verdict.violations;
  if (!first) return null;
  mustBeSameAgain(play, options, verdict);
  return first.promise;
}

/** What nobody promises is never broken, and is a slip. */
function mustBePromise(play: Scenario, seed: string, promise: string): void {
  const known: string[] = [];
  const onWorld = ({ oracles }: World): void => void known.push(...oracles.map(({ name }) => name));
  runScenario(play, { seed, crypto: 'sim', onWorld });
  const isOurs = Object.keys(PROMISES).some((name) => name.split('/')[0] === promise.split('/')[0]);
  const isKnown = known.some((name) => promise === name || promise.startsWith(`${name}/`));
  if (isKnown && (!isOurs || !promise.includes('/') || Object.hasOwn(PROMISES, promise))) return;
  throw new ScenarioError(
    `shrink: nobody promises ${JSON.stringify(promise)}; say the promise of a violation`,
  );
}

function smallest(cut: Scenario, lab: Lab): Scenario {
  const few = lab.within(1 / 3, () => fewerParts(cut, lab.stillFails));
  const drafts = [few, ...lab.within(1 / 3, () => rewritten(few, lab))];
  // Those whose runs are short first: they leave most of the budget to the others.
  drafts.sort((a, b) => lab.outcome(a).cost - lab.outcome(b).cost);
  let best = few;
  for (const draft of drafts) {
    if (lab.isSpent) break;
    const less = lab.within(1 / 4, () => fewerParts(draft, lab.stillFails));
    const isDone = best !== few && lab.scores(best, SCORE_GOOD);
    if (isDone && directivesIn(less) >= directivesIn(best)) continue;
    const done = lab.within(1 / 2, () => polished(less, lab));
    if (rankOf(done, lab) < rankOf(best, lab)) best = done;
  }
  return best;
}

/**
 * Without the parts that are not needed under some seed; of several such seeds, under the one that leaves least to chance. It goes on where
 * the budget ended the search. Null: it fails under none of these seeds, though it does under others.
 */
function withoutIdleParts(scenario: Scenario, lab: Lab): Scenario | null {
  const least: Scenario[] = [];
  for (const seed of neediest(scenario, lab)) {
    if (least.length > 0 && lab.isSpent) break;
    least.push(fewerParts(scenario, (fewer) => lab.fails(fewer, seed)));
  }
  return least.length === 0 ? null : leastOf(least, (fewer) => sharpRankOf(fewer, lab));
}

/** The seeds under which it fails, those first under which its last directive, which made it sharp, is needed. As far as may be spent: one at least. */
function neediest(scenario: Scenario, lab: Lab): readonly string[] {
  const { act } = scenario;
  const seeds: string[] = [];
  for (const by of SEEDS_TRIED) {
    if (seeds.length > 0 && lab.isSpent) break;
    const seed = seedAfter(lab.seed, by);
    if (lab.fails(scenario, seed)) seeds.push(seed);
  }
  const isIdle = (seed: string): boolean =>
    act.length > 0 && !lab.isSpent && lab.fails({ ...scenario, act: act.slice(0, -1) }, seed);
  const idle = new Set(seeds.filter(isIdle));
  return [...seeds.filter((seed) => !idle.has(seed)), ...idle];
}

function leastOf<T>(list: readonly T[], cost: (each: T) => number): T {
  return list.reduce((least, each) => (cost(each) < cost(least) ? each : least));
}

/** What fails under other seeds, too, comes first; then what is smaller. */
const RANK = 1e9;
const rankOf = (scenario: Scenario, lab: Lab, sample = SCORE, good = SCORE_GOOD): number =>
  Math.max(0, good - lab.score(scenario, sample)) * RANK + costOf(scenario);

/** The same, asked of more seeds. */
const sharpRankOf = (scenario: Scenario, lab: Lab): number => rankOf(scenario, lab, SHARP, SHARP_GOOD);

const isMinimal = (scenario: Scenario, lab: Lab, seed: string): boolean =>
  lab.fails(scenario, seed) && partsOf(scenario).every((part) => !lab.fails(without(scenario, part), seed));

const holdsWithoutAny = (scenario: Scenario, lab: Lab, seed: string): boolean =>
  partsOf(scenario).every((part) => lab.outcome(without(scenario, part), seed).holds);

/** The seed of the run, or another one under which no part is idle. */
function seedFor(scenario: Scenario, lab: Lab): string {
  const seeds = SEEDS_TRIED.map((by) => seedAfter(lab.seed, by));
  return seeds.find((seed) => isMinimal(scenario, lab, seed)) ?? lab.seed;
}

function reportOf(whole: Scenario, best: Scenario, lab: Lab): Shrunk {
  const seed = seedFor(best, lab);
  const { what, height } = lab.outcome(best, seed);
  let fails = 0;
  for (let i = 0; i < JITTER_SEEDS; i++) if (lab.fails(best, seedAfter(seed, JITTER_FROM + i))) fails++;
  return {
    scenario: best,
    seed,
    promise: lab.promise,
    what,
    height,
    directives: { before: directivesIn(whole), after: directivesIn(best) },
    isMinimal: isMinimal(best, lab, seed),
    holdsWithoutAny: holdsWithoutAny(best, lab, seed),
    survives: { seeds: JITTER_SEEDS, fails },
    runs: lab.runs,
    spent: lab.spent,
  };
}
