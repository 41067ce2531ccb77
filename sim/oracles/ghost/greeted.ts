// Whom each node has greeted: whom it has not yet, or no more, it does not hear.

import type { PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { HOP_NS } from './pace.ts';
import { PerMachine } from './per-machine.ts';

export class Greeted {
  private readonly sinceNs = new PerMachine(() => new Map<PeerId, number>());

  /** A life begins: it knows nobody. */
  starts(at: Machine): void {
    this.sinceNs.delete(at);
  }

  greets(at: Machine, peer: PeerId, isUp: boolean, now: number): void {
    const peers = this.sinceNs.of(at);
    if (isUp) peers.set(peer, now);
    else peers.delete(peer);
  }

  peersOf(at: Machine): Iterable<PeerId> {
    return this.sinceNs.get(at)?.keys() ?? [];
  }

  /** For certain: all its actors know by now. */
  hears(at: Machine, peer: PeerId, now: number): boolean {
    const since = this.sinceNs.get(at)?.get(peer);
    return since !== undefined && now - since > HOP_NS;
  }
}
