// Keeps the Random port with the operating system's randomness.

import { must } from '../../protocol/refusal.ts';
import type { Random } from '../kernel/ports.ts';

const BOUND_MAX = 2 ** 31;
/** Words fetched at once: a call of getRandomValues costs as much as some hundred words. */
const WORDS_KEPT = 1024;

export function hostRandom(): Random {
  const words = new Uint32Array(WORDS_KEPT);
  let used = WORDS_KEPT;
  return {
    draw(bound) {
      must(
        Number.isInteger(bound) && bound >= 1 && bound <= BOUND_MAX,
        `draw(${bound}): a bound is 1 to 2^31`,
      );
      // The words at or above the highest multiple of `bound` would prefer its first values: drawn again.
      const usable = 2 ** 32 - (2 ** 32 % bound);
      for (;;) {
        if (used === WORDS_KEPT) {
          crypto.getRandomValues(words);
          used = 0;
        }
        const word = words[used++]!;
        if (word < usable) return word % bound;
      }
    },
  };
}
