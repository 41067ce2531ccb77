// Between two heights a node counts late precommits of the last one: until when it surely does.

import type { Machine } from '../../machine.ts';
import { saidLateNs } from './pace.ts';

/** So long before a round begins a precommit is surely counted: what a node says may wait for its disk. */
const BEFORE_NS = 50_000_000;

/** What it says that it does it has just done. */
export const isPrompt = (at: Machine): boolean => saidLateNs(at) <= BEFORE_NS;

/** What reached a node until then was counted before its round began; null: it was held up, or its disk is slow, and nobody can say. */
export function countedUntil(at: Machine, beginsNs: number): number | null {
  const until = beginsNs - BEFORE_NS;
  return at.heldUntilNs < until && isPrompt(at) ? until : null;
}
