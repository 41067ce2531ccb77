// Blocks that a node asks for twice: of a second peer only when the first has kept it waiting, of a third only as often as it repeats what
// may be lost: over a slow line all would soon be sending the same. Whatever may have made the node think
// otherwise of the first one, an answer, a new claim, a goodbye, ends what is known here.

import type { PeerId } from '../../../actors/turn.ts';

/** One node, in this life. */
export class SecondSources {
  private readonly first = new Map<bigint, { readonly peer: PeerId; readonly count: number }>();

  /** Of whom each block was asked, and when last. */
  private readonly asked = new Map<bigint, { readonly peers: Set<PeerId>; count: number }>();

  /** How long ago, by its own clock, it asked the last one of several for this block, who may all still give it; null: there are no two. */
  sinceLast(height: bigint, count: number): number | null {
    const asked = this.asked.get(height);
    return asked && asked.peers.size > 1 ? count - asked.count : null;
  }

  /** How long ago, by its own clock, it asked another one for this block, who may still give it; null: it did not. */
  asks(peer: PeerId, height: bigint, count: number): number | null {
    const asked = this.asked.get(height);
    if (asked) {
      asked.peers.add(peer);
      asked.count = count;
    } else this.asked.set(height, { peers: new Set([peer]), count });
    const first = this.first.get(height);
    if (!first) this.first.set(height, { peer, count });
    return first && first.peer !== peer ? count - first.count : null;
  }

  firstOf(height: bigint): PeerId | undefined {
    return this.first.get(height)?.peer;
  }

  answered(height: bigint): void {
    this.first.delete(height);
    this.asked.delete(height);
  }

  hasApplied(height: bigint): void {
    for (const each of this.first.keys()) if (each <= height) this.first.delete(each);
    for (const each of this.asked.keys()) if (each <= height) this.asked.delete(each);
  }

  forgets(peer: PeerId): void {
    for (const [height, first] of this.first) if (first.peer === peer) this.first.delete(height);
    for (const [height, { peers }] of this.asked) if (peers.has(peer)) this.asked.delete(height);
  }
}
