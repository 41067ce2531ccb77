// Names the shapes of broken networks: for each, which links to cut so that only those of the shape remain.

import type { PeerId } from '../../actors/turn.ts';
import type { Stream } from '../../sim/choices.ts';

/** One direction. */
export type Cut = readonly [from: PeerId, to: PeerId];

/** All links that `keeps` does not hold, given places in the list. */
function cutUnless(peers: readonly PeerId[], keeps: (from: number, to: number) => boolean): Cut[] {
  const cuts: Cut[] = [];
  for (const [i, from] of peers.entries()) {
    for (const [j, to] of peers.entries()) if (i !== j && !keeps(i, j)) cuts.push([from, to]);
  }
  return cuts;
}

/** The first half (the larger one) and the rest do not hear each other. */
export function halves(peers: readonly PeerId[]): Cut[] {
  const half = Math.ceil(peers.length / 2);
  return cutUnless(peers, (i, j) => i < half === j < half);
}

/** The first neither hears the others nor is heard. */
export const isolate = (peers: readonly PeerId[]): Cut[] => cutUnless(peers, (i, j) => i > 0 && j > 0);

/** How far apart two places are on the circle of all. */
function distance(size: number, i: number, j: number): number {
  const along = Math.abs(i - j);
  return Math.min(along, size - along);
}

/** Each hears its two neighbours only. */
export const ring = (peers: readonly PeerId[]): Cut[] =>
  cutUnless(peers, (i, j) => distance(peers.length, i, j) === 1);

/** Two halves, and the first peer hears both and is heard by both. */
export function bridge(peers: readonly PeerId[]): Cut[] {
  const half = Math.ceil((peers.length - 1) / 2);
  return cutUnless(peers, (i, j) => i === 0 || j === 0 || i <= half === j <= half);
}

/** Each hears a majority, itself included, and no two hear the same one. */
export function majorityRing(peers: readonly PeerId[]): Cut[] {
  const reach = Math.ceil(Math.floor(peers.length / 2) / 2);
  return cutUnless(peers, (i, j) => distance(peers.length, i, j) <= reach);
}

/** Each direction is cut by itself, so often in a million. */
export const randomCuts = (peers: readonly PeerId[], stream: Stream, cutPpm: number): Cut[] =>
  cutUnless(peers, () => !stream.chance(cutPpm, 1_000_000));
