// What no shape of an action shows: words that are right one by one and mean nothing together.

import type { Action } from './play.ts';

const OF_A_PLACE: readonly string[] = ['proposals', 'parts', 'prevotes', 'precommits'];
const OF_A_VOTER: readonly string[] = ['prevotes', 'precommits'];

/** Where an operation of the disk can be; null: what is no operation of one. */
const MEDIA: Readonly<Record<string, readonly string[] | null>> = {
  append: ['consensus', 'privval'],
  sync: ['consensus', 'privval'],
  trim: ['consensus', 'privval'],
  write: ['chain', 'app'],
  flush: ['consensus', 'privval', 'chain', 'app'],
  send: null,
  sign: null,
};

/** What is expected instead; null: it makes sense. */
export function nonsenseIn(action: Action): string | null {
  if (action.do === 'rule') {
    const { what, by, height, round } = action;
    if (by !== undefined && !OF_A_VOTER.includes(what)) return 'by only of prevotes and precommits';
    const hasPlace = (height ?? round) !== undefined;
    return hasPlace && !OF_A_PLACE.includes(what)
      ? 'height and round only of proposals, parts and votes'
      : null;
  }
  if (action.do === 'crash-at') {
    const { op, on, nth } = action;
    if (nth < 1) return 'nth from 1: the next is the first';
    const media = MEDIA[op] ?? [];
    if (on === undefined || media.includes(on)) return null;
    return media.length === 0 ? `no "on" with ${op}` : `${op} on ${media.join(' or ')}`;
  }
  if (action.do === 'reset' && action.nodes[0] === action.nodes[1]) return 'two nodes';
  if (action.do === 'clock' && (action.driftPpm ?? 0) <= -1_000_000) return 'driftPpm above -1000000';
  if (action.do === 'empower' && action.node.startsWith('f')) return 'a node with a key: v or c';
  return null;
}
