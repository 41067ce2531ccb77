// Which blocks a node has on its disk, as it says itself there.

import { STORE_RANGE_KEY, storeRange } from '../../../machines/chain/keys.ts';
import { decodeWords, type Of } from '../../../protocol/words.ts';
import type { Machine } from '../../machine.ts';

export type StoreRange = Of<typeof storeRange>;
export const NO_RANGE: StoreRange = { base: 0n, height: 0n };

const storedRange = (at: Machine): StoreRange | null => {
  const range = at.disk.read('chain', STORE_RANGE_KEY);
  return range === undefined ? null : decodeWords(storeRange, range);
};

/** As it stands on the disk. */
export const rangeOf = (at: Machine): StoreRange => storedRange(at) ?? NO_RANGE;

/** The first of them; its height, where it has none. */
export const firstStored = (at: Machine): bigint => storedRange(at)?.base ?? at.height;
