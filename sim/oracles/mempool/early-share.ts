// How much a node keeps of what one peer gives it while its handshake runs: what it asks about when that is over, and nobody else has given it.

import type { PeerId } from '../../../actors/turn.ts';

/** More of one peer waits for no handshake: it offers it again. */
export const EARLY_OF_PEER_MAX = 256;

/** Of one node, in one life. */
export class EarlyShare {
  private isOver = false;
  /** Who gave it; null: several did, or a client. What was given after the handshake is not here. */
  private readonly givers = new Map<string, PeerId | null>();
  private readonly asked = new Map<PeerId, number>();

  get isEmpty(): boolean {
    return this.givers.size === 0;
  }

  /** @param from null: a client. */
  comes(id: string, from: PeerId | null): void {
    if (this.isOver) this.givers.delete(id);
    else this.givers.set(id, this.givers.has(id) && this.givers.get(id) !== from ? null : from);
  }

  /** What is heard from now on its mempool hears when it can ask. */
  opens(): void {
    this.isOver = true;
  }

  /** Names the peer of whom it has kept too much, once. */
  asks(id: string): PeerId | null {
    const from = this.givers.get(id) ?? null;
    this.givers.delete(id);
    if (from === null) return null;
    const count = (this.asked.get(from) ?? 0) + 1;
    this.asked.set(from, count);
    return count === EARLY_OF_PEER_MAX + 1 ? from : null;
  }
}
