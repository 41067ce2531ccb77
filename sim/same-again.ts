// Whether a run that broke does so again: one with functions of one's own may not, and then it shows nothing.

import { runScenario } from './run.ts';
import type { RunOptions } from './run-options.ts';
import { ownParts } from './scenario/own.ts';
import type { Scenario } from './scenario/play.ts';
import { ScenarioError } from './scenario/words.ts';
import type { Verdict } from './verdict.ts';

/** What is asked of functions of one's own: where runs differ, it is most likely here. */
export const SAME_FOR_THE_SAME =
  'a function of your own must give the same for the same: it asks no clock and no Math.random, and keeps nothing outside of what it makes for a run';

/**
 * Makes it again where it has parts of its own.
 * @throws ScenarioError when that is another run.
 */
export function mustBeSameAgain(
  play: Scenario,
  options: Omit<RunOptions, 'watch' | 'onWorld'>,
  first: Verdict,
): void {
  if (ownParts(play).length === 0 && !options.oracles?.length) return;
  const again = runScenario(play, options);
  const [one, other] = [brokenIn(first), brokenIn(again)];
  if (first.digest === again.digest && one === other) return;
  const seen = one === other ? `${one}, and so it did again, in other steps` : `${one}, and then ${other}`;
  throw new ScenarioError(`seed ${first.seed}, made twice: it ${seen}; ${SAME_FOR_THE_SAME}`);
}

function brokenIn({ violations: [first] }: Verdict): string {
  return first ? `broke ${first.promise} (${first.what})` : 'held';
}
