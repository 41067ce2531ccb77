// What peers say of how many blocks they have, as far as block sync believes it for certain.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { CHANNEL_BLOCKSYNC } from '../canonical/numbers.ts';
import { blocksyncMessage } from '../ghost/messages.ts';
import { HOP_NS } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Who evades so many questions is believed no more: before, it has not been asked so often. */
const QUESTIONS = 3;

class Sync {
  readonly sinceNs: number;
  /** Null: believed no more. */
  readonly heights = new Map<PeerId, bigint | null>();

  constructor(sinceNs: number) {
    this.sinceNs = sinceNs;
  }
}

export class TipClaims {
  private readonly syncs = new PerMachine<Sync | null>(() => null);

  starts(at: Machine): void {
    this.syncs.delete(at);
  }

  /** A node begins to ask for blocks. */
  begins(at: Machine, nowNs: number): void {
    this.syncs.set(at, new Sync(nowNs));
  }

  /** A connection is gone, and with it what was said; who is not believed is not believed when it comes again. */
  goes(at: Machine, peer: PeerId): void {
    const heights = this.syncs.get(at)?.heights;
    if (heights?.get(peer) !== null) heights?.delete(peer);
  }

  /** Whatever this peer says: it broke a rule, or a line changed its words. */
  distrusts(at: Machine, peer: PeerId): void {
    this.syncs.get(at)?.heights.set(peer, null);
  }

  hears(at: Machine, peer: PeerId, payloads: readonly Payload[], nowNs: number): void {
    const sync = this.syncs.get(at);
    if (!sync || payloads[0]?.channel !== CHANNEL_BLOCKSYNC || at.node?.isPaused !== false) return;
    if (nowNs - sync.sinceNs <= HOP_NS) return;
    for (const payload of payloads) {
      const message = blocksyncMessage(payload);
      const known = sync.heights.get(peer);
      if (message?.type === 'no-block-response') sync.heights.set(peer, null);
      if (message?.type !== 'status-response' || known === null) continue;
      sync.heights.set(peer, known !== undefined && message.height < known ? null : message.height);
    }
  }

  /** What somebody has for certain at most; null: nobody can say, for it may have waited for it in vain. */
  highest(at: Machine, nowNs: number): bigint | null {
    const sync = this.syncs.get(at);
    if (!sync || at.heldUntilNs >= sync.sinceNs) return null;
    const { statusNs, stallNs } = at.config.sync;
    const patienceNs = Math.min(QUESTIONS * Number(statusNs), Number(stallNs)) / at.clock.fastest;
    if (nowNs - sync.sinceNs >= patienceNs) return null;
    let highest: bigint | null = null;
    for (const height of sync.heights.values())
      if (height !== null && (highest === null || height > highest)) highest = height;
    return highest;
  }
}
