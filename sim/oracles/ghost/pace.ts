// How long things take inside a node, at most: what oracles allow for before they say that something did not happen.

import type { Machine } from '../../machine.ts';

/** A letter from one actor to another is there by then. */
export const HOP_NS = 1_000_000;

/** What a node says may wait for so many flushes, the last behind one that nobody waits for, and some letters. */
const FLUSHES_WAITED_FOR = 6;
const LETTERS_NS = 5_000_000;

/** What a node says that it does it did at most so long before. */
export const saidLateNs = ({ disk }: Machine): number =>
  FLUSHES_WAITED_FOR * disk.settings.flush.maxNs + LETTERS_NS;
