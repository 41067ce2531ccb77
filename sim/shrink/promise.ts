// Which promise a violation broke: what must stay the same while a failing run is made smaller.

import type { Violation } from '../oracle.ts';
import { ScenarioError } from '../scenario/words.ts';

/** What a play itself promises is no oracle's word. */
export const PLAY = 'play';

/** One oracle keeps all promises about the chain, and begins what it says with the name of the broken one. */
export function promiseOf(violation: Pick<Violation, 'oracle' | 'what'>): string {
  if (typeof violation !== 'object' || !violation)
    throw new ScenarioError(`promiseOf takes a violation, not ${violation}`);
  const { oracle, what } = violation;
  return oracle === 'chain' ? `chain/${what.split(':')[0]}` : oracle;
}
