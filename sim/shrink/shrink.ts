// Makes a failing run small: fewer faults, nodes and heights, with the same promise broken under the same seed.

import { scenarioUnder } from '../run.ts';
import type { Ending, Play, Scenario } from '../scenario/play.ts';
import { ddmin } from './ddmin.ts';
import { Lab } from './lab.ts';
import { directivesIn, keeping, partsOf, without } from './parts.ts';

export interface Shrunk {
  readonly scenario: Scenario;
  readonly seed: string;
  readonly promise: string;
  readonly what: string;
  readonly height: number;
  readonly directives: { readonly before: number; readonly after: number };
  /** Leaving out any one part makes the promise hold. */
  readonly isMinimal: boolean;
  /** Of so many other seeds, under how many the scenario breaks the same promise. */
  readonly survives: { readonly seeds: number; readonly fails: number };
  readonly runs: number;
}

const JITTER_SEEDS = 20;
/** The run may take so much longer than it did until the violation. */
const SLACK_MS = 5_000;
const HEIGHTS_MORE = 2;

/** Null: the run breaks no promise that is not the play's own. */
export function shrink(play: Play, seed: string, promise: string, budget: number): Shrunk | null {
  const whole = { ...scenarioUnder(play, seed), crypto: 'sim' as const };
  const lab = new Lab(promise, seed, budget);
  let best = atItsEnd(whole, lab);
  if (best === null) return null;
  best = fewerParts(best, lab);
  best = atItsEnd(best, lab) ?? best;
  best = fewerParts(best, lab);
  return reportOf(whole, best, lab);
}

/** Ends where the promise breaks: nobody is promised anything beyond, and what would come later is left out. */
function atItsEnd(scenario: Scenario, lab: Lab): Scenario | null {
  const { promise, atMs, height } = lab.outcome(scenario);
  if (promise !== lab.promise) return null;
  const ends: Ending = { who: [], decides: height + HEIGHTS_MORE, withinMs: atMs + (atMs >> 2) + SLACK_MS };
  const act = scenario.act.filter((directive) => !('atMs' in directive) || directive.atMs <= atMs);
  const cut = { ...scenario, holds: [], act, ends };
  return lab.fails(cut) ? cut : { ...scenario, holds: [], ends };
}

function fewerParts(scenario: Scenario, lab: Lab): Scenario {
  const kept = ddmin(partsOf(scenario), (parts) => !lab.isSpent && lab.fails(keeping(scenario, parts)));
  return keeping(scenario, kept);
}

function reportOf(whole: Scenario, best: Scenario, lab: Lab): Shrunk {
  const { what, height } = lab.outcome(best);
  const isMinimal = partsOf(best).every((part) => !lab.fails(without(best, part)));
  let fails = 0;
  for (let i = 1; i <= JITTER_SEEDS; i++) if (lab.fails(best, String(BigInt(lab.seed) + BigInt(i)))) fails++;
  return {
    scenario: best,
    seed: lab.seed,
    promise: lab.promise,
    what,
    height,
    directives: { before: directivesIn(whole), after: directivesIn(best) },
    isMinimal,
    survives: { seeds: JITTER_SEEDS, fails },
    runs: lab.runs,
  };
}
