// Promises that many plays make.

import type { Claim, NodeName } from '../sim/scenario/play.ts';
import { anyone, sometime } from '../sim/scenario/words.ts';

/** Somebody ends its connection to the liar, for each of these reasons. */
export const loses = (liar: NodeName, ...reasons: readonly string[]): Claim[] =>
  reasons.map((reason) => sometime(anyone.drops(liar, reason)));
