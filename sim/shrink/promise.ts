// Which promise a violation broke: what must stay the same while a failing run is made smaller.

import type { Violation } from '../oracle.ts';

/** What a play itself promises is no oracle's word. */
export const PLAY = 'play';

/** One oracle keeps all promises about the chain, and begins what it says with the name of the broken one. */
export const promiseOf = ({ oracle, what }: Pick<Violation, 'oracle' | 'what'>): string =>
  oracle === 'chain' ? `chain/${what.split(':')[0]}` : oracle;
