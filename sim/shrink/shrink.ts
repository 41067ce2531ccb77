// Makes a failing run small: fewer faults, nodes and heights, with the same promise broken. Pure and
// deterministic: the
// same run and budget give the same scenario.

import { scenarioUnder } from '../run.ts';
import type { Play, Scenario } from '../scenario/play.ts';
import { costOf } from './cost.ts';
import { Lab, SCORE_GOOD, SCORE_SEEDS, seedAfter } from './lab.ts';
import { directivesIn, partsOf, without } from './parts.ts';
import { atItsEnd, fewerParts, polished } from './polish.ts';
import { rewritten } from './rewrite.ts';

export interface Shrunk {
  readonly scenario: Scenario;
  /** Under this seed it breaks the promise, and needs each of its parts to. */
  readonly seed: string;
  readonly promise: string;
  readonly what: string;
  readonly height: number;
  readonly directives: { readonly before: number; readonly after: number };
  /** Without any one of its parts the promise holds. */
  readonly isMinimal: boolean;
  /** Of so many other seeds, under how many it breaks the same promise. */
  readonly survives: { readonly seeds: number; readonly fails: number };
  readonly runs: number;
  /** The budget that was used, in deliveries. */
  readonly spent: number;
}

const JITTER_SEEDS = 20;

/** Null: the run does not break this promise. */
export function shrink(play: Play, seed: string, promise: string, budget: number): Shrunk | null {
  const whole: Scenario = { ...scenarioUnder(play, seed), crypto: 'sim' };
  const lab = new Lab(promise, seed, budget);
  const cut = atItsEnd(whole, lab);
  if (cut === null) return null;
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
  return reportOf(whole, withoutIdleParts(best, lab), lab);
}

/** Whatever the budget left undone: under some seed every part is needed, better still under one that leaves most to no chance. */
function withoutIdleParts(best: Scenario, lab: Lab): Scenario {
  const least = fewerParts(best, (scenario) => lab.fails(scenario));
  if (rankOf(least, lab) < rankOf(best, lab)) return least;
  return isMinimal(best, lab, seedFor(best, lab)) ? best : least;
}

/** What fails under other seeds, too, comes first; then what is smaller. */
const RANK = 1e9;
const rankOf = (scenario: Scenario, lab: Lab): number =>
  Math.max(0, SCORE_GOOD - lab.score(scenario)) * RANK + costOf(scenario);

const isMinimal = (scenario: Scenario, lab: Lab, seed: string): boolean =>
  lab.fails(scenario, seed) && partsOf(scenario).every((part) => !lab.fails(without(scenario, part), seed));

/** The seed of the run, or another one under which no part is idle. */
function seedFor(scenario: Scenario, lab: Lab): string {
  for (let i = 0; i <= SCORE_SEEDS; i++) {
    const seed = seedAfter(lab.seed, i);
    if (isMinimal(scenario, lab, seed)) return seed;
  }
  return lab.seed;
}

function reportOf(whole: Scenario, best: Scenario, lab: Lab): Shrunk {
  const seed = seedFor(best, lab);
  const { what, height } = lab.outcome(best, seed);
  let fails = 0;
  for (let i = 1; i <= JITTER_SEEDS; i++) if (lab.fails(best, seedAfter(seed, i))) fails++;
  return {
    scenario: best,
    seed,
    promise: lab.promise,
    what,
    height,
    directives: { before: directivesIn(whole), after: directivesIn(best) },
    isMinimal: isMinimal(best, lab, seed),
    survives: { seeds: JITTER_SEEDS, fails },
    runs: lab.runs,
    spent: lab.spent,
  };
}
