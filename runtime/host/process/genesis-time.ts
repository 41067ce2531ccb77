// A chain begins at the time that its genesis names: no node takes part before (CometBFT Node.OnStart).

import { setTimeout as sleep } from 'node:timers/promises';

/** The clock may be set meanwhile, and a timer holds 24 days at most. */
const LOOK_EVERY_MS = 1_000;

/** Resolves at `timeMs` of the wall clock, or a moment after `isOver`. */
export async function untilTime(timeMs: number, isOver: () => boolean): Promise<void> {
  for (let left = timeMs - Date.now(); left > 0 && !isOver(); left = timeMs - Date.now())
    await sleep(Math.min(left, LOOK_EVERY_MS));
}
