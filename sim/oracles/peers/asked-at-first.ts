// Who begins to fetch blocks asks everybody who is there, in that moment, how far he is; later comers are asked as they come (CometBFT: AddPeer).

import type { PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { HOP_NS } from '../ghost/pace.ts';

/** One node, in this life. */
export class AskedAtFirst {
  /** Who is there, and since when. */
  private readonly peers = new Map<PeerId, number>();
  private beganNs: number | null = null;
  /** Who was there as it began, and has not been asked. */
  private readonly waiting = new Set<PeerId>();

  comes(peer: PeerId, now: number): void {
    this.peers.set(peer, now);
  }

  goes(peer: PeerId): void {
    this.peers.delete(peer);
    this.waiting.delete(peer);
  }

  begins(now: number): void {
    this.beganNs = now;
    for (const [peer, upNs] of this.peers) if (now - upNs > HOP_NS) this.waiting.add(peer);
  }

  /** It asks. Since when that was due, where it is late; null: it is not. */
  asks(peer: PeerId, at: Machine, now: number): number | null {
    if (!this.waiting.delete(peer)) return null;
    return this.lateSince(at, now);
  }

  /** It asks no more. Whom it never asked, and since when that was due. */
  ends(at: Machine, now: number): { readonly peer: PeerId; readonly sinceNs: number } | null {
    const [peer] = this.waiting;
    const sinceNs = this.lateSince(at, now);
    this.waiting.clear();
    this.beganNs = null;
    return peer !== undefined && sinceNs !== null ? { peer, sinceNs } : null;
  }

  private lateSince(at: Machine, now: number): number | null {
    const { beganNs } = this;
    if (beganNs === null || now - beganNs <= HOP_NS || at.heldUntilNs >= beganNs) return null;
    return beganNs;
  }
}
