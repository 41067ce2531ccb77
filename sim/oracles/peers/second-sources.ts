// Blocks that a node asks for twice: of a second peer only when the first has kept it waiting. Whatever may have made the node think
// otherwise of the first one, an answer, a new claim, a goodbye, ends what is known here.

import type { PeerId } from '../../../actors/turn.ts';

/** One node, in this life. */
export class SecondSources {
  private readonly first = new Map<bigint, { readonly peer: PeerId; readonly count: number }>();

  /** How long ago, by its own clock, it asked another one for this block, who may still give it; null: it did not. */
  asks(peer: PeerId, height: bigint, count: number): number | null {
    const first = this.first.get(height);
    if (!first) this.first.set(height, { peer, count });
    return first && first.peer !== peer ? count - first.count : null;
  }

  firstOf(height: bigint): PeerId | undefined {
    return this.first.get(height)?.peer;
  }

  answered(height: bigint): void {
    this.first.delete(height);
  }

  hasApplied(height: bigint): void {
    for (const each of this.first.keys()) if (each <= height) this.first.delete(each);
  }

  forgets(peer: PeerId): void {
    for (const [height, first] of this.first) if (first.peer === peer) this.first.delete(height);
  }
}
