// Which crashes of a grid share a run: a life of twenty heights has room for more than one death.

import type { GridPoint, Restart } from './grid.ts';

/**
 * From the height of a crash to that of the next one: the node takes part again, as a rule in the height after the crash (or in the fifth
 * or sixth, where it waits for five of the others), and all of them decide two more. The play waits for all but the last of these heights;
 * where a return takes longer there is one after it at least, or the next crash is missed.
 */
export const HEIGHTS_UNTIL_NEXT: Readonly<Record<Restart, number>> = { now: 5, '1': 6, '5': 9, needed: 5 };

/** Points of one node and one way back, in the order of their heights. */
function chainsOf(points: readonly GridPoint[]): GridPoint[][] {
  const byHeight = new Map<number, GridPoint[]>();
  for (const point of points) {
    const height = point.place?.height ?? 0;
    const there = byHeight.get(height) ?? [];
    byHeight.set(height, there);
    there.push(point);
  }
  const heights = [...byHeight.keys()].sort((a, b) => a - b);
  const chains: GridPoint[][] = [];
  for (;;) {
    const chain: GridPoint[] = [];
    let from = 0;
    for (const height of heights) {
      if (height < from) continue;
      const point = byHeight.get(height)?.shift();
      if (!point) continue;
      chain.push(point);
      from = point.anybodyAt + HEIGHTS_UNTIL_NEXT[point.restart];
    }
    if (chain.length === 0) return chains;
    chains.push(chain);
  }
}

/** Each point in one run. Points at no place that a play can wait for come first in theirs. */
export function runsOf(points: readonly GridPoint[]): GridPoint[][] {
  const kinds = new Map<string, GridPoint[]>();
  for (const point of points) {
    const kind = `${point.node} ${point.restart}`;
    const like = kinds.get(kind) ?? [];
    kinds.set(kind, like);
    like.push(point);
  }
  return [...kinds.values()].flatMap(chainsOf);
}
