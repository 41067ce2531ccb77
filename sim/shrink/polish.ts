// Makes a scenario smaller step by step while it still fails: parts left out, then every simpler form that is
// left.

import { haltingIn } from '../scenario/foreseen.ts';
import type { Claim, Ending, Scenario } from '../scenario/play.ts';
import { costOf } from './cost.ts';
import { ddmin } from './ddmin.ts';
import { type Lab, SCORE_GOOD } from './lab.ts';
import { keeping, partsOf } from './parts.ts';
import { FAMILIES } from './simpler.ts';

/** The run may take so much longer than it did until the violation: another seed is not as quick. */
const SLACK_MS = 10_000;
const HEIGHTS_MORE = 2;

/** What a claim says of others stays with it: who stops by itself breaks a promise where none allows it. */
const isPermit = (claim: Claim): boolean => haltingIn({ holds: [claim] }).length > 0;

/**
 * Ends where the promise breaks: nobody is promised anything beyond, and what would come later is left out, as far as it then still breaks.
 * Null: it does not break.
 */
export function atItsEnd(scenario: Scenario, lab: Lab): Scenario | null {
  const { promise, atMs, heights } = lab.outcome(scenario);
  if (promise !== lab.promise) return null;
  const withinMs = Math.ceil(atMs * 1.5) + SLACK_MS;
  const ends: Ending =
    scenario.ends.who === 'fork'
      ? { ...scenario.ends, withinMs } // it says that there may be one
      : { who: [], decides: heights + HEIGHTS_MORE, withinMs };
  const act = scenario.act.filter((directive) => !('atMs' in directive) || directive.atMs <= atMs);
  const whole = { ...scenario, holds: scenario.holds.filter(isPermit), ends };
  return [{ ...whole, act }, whole].find((cut) => lab.fails(cut)) ?? scenario;
}

type Test = (scenario: Scenario) => boolean;

export const fewerParts = (scenario: Scenario, fails: Test): Scenario =>
  keeping(
    scenario,
    ddmin(partsOf(scenario), (parts) => fails(keeping(scenario, parts))),
  );

/** As small as its steps make it; it fails under other seeds as often as before, or often enough. */
export function polished(scenario: Scenario, lab: Lab): Scenario {
  const floor = Math.min(SCORE_GOOD, lab.score(scenario));
  const isGood: Test = (candidate) => lab.stillFails(candidate) && lab.scores(candidate, floor);
  let best = scenario;
  for (;;) {
    const before = costOf(best);
    best = fewerParts(best, isGood);
    for (const family of FAMILIES) best = stepped(best, family, isGood);
    best = isEnded(best, lab, isGood);
    if (costOf(best) >= before || lab.isSpent) return best;
  }
}

function isEnded(scenario: Scenario, lab: Lab, isGood: Test): Scenario {
  const cut = atItsEnd(scenario, lab);
  return cut && isGood(cut) ? cut : scenario;
}

/** Goes the steps of one family while any makes it cheaper and keeps it failing. */
function stepped(scenario: Scenario, family: (typeof FAMILIES)[number], isGood: Test): Scenario {
  let best = scenario;
  for (;;) {
    const better = firstOf(
      family(best),
      (candidate) => costOf(candidate) < costOf(best) && isGood(candidate),
    );
    if (!better) return best;
    best = better;
  }
}

function firstOf<T>(list: Iterable<T>, is: (each: T) => boolean): T | null {
  for (const each of list) if (is(each)) return each;
  return null;
}
