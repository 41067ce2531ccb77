// What a node owes some of its peers, and is to tell them at once.

import type { PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';

interface Debt {
  readonly what: string;
  readonly sinceNs: number;
  /** Who has not been told. */
  readonly peers: Set<PeerId>;
}

export interface Missed {
  readonly what: string;
  readonly peer: PeerId;
}

export class Debts {
  private readonly atOnceNs: number;
  private readonly open = new PerMachine<readonly Debt[]>(() => []);

  /** @param atOnceNs is long enough, beside what a disk takes. */
  constructor(atOnceNs: number) {
    this.atOnceNs = atOnceNs;
  }

  starts(at: Machine): void {
    this.open.delete(at);
  }

  areOpen(at: Machine): boolean {
    return (this.open.get(at)?.length ?? 0) > 0;
  }

  owes(at: Machine, what: string, peers: Set<PeerId>, nowNs: number): void {
    if (peers.size > 0) this.open.set(at, [...this.open.of(at), { what, sinceNs: nowNs, peers }]);
  }

  tells(at: Machine, peers: readonly PeerId[], what: string): void {
    for (const debt of this.open.get(at) ?? [])
      if (debt.what === what) for (const peer of peers) debt.peers.delete(peer);
  }

  forgets(at: Machine, isGone: (what: string) => boolean): void {
    if (!this.areOpen(at)) return;
    this.open.set(
      at,
      this.open.of(at).filter(({ what }) => !isGone(what)),
    );
  }

  /** Who is gone, or elsewhere, need not hear of it. */
  forgives(at: Machine, peer: PeerId): void {
    for (const { peers } of this.open.get(at) ?? []) peers.delete(peer);
  }

  /** Something that somebody was to hear, and did not; null: there is nothing. What is due by now is asked for once. */
  missed(at: Machine, nowNs: number): Missed | null {
    const debts = this.open.get(at);
    if (!debts || debts.length === 0) return null;
    const dueNs = nowNs - this.atOnceNs - saidLateNs(at);
    this.open.set(
      at,
      debts.filter(({ sinceNs, peers }) => sinceNs >= dueNs && peers.size > 0),
    );
    for (const { what, sinceNs, peers } of debts) {
      const [peer] = peers;
      const isDue = sinceNs < dueNs && at.heldUntilNs < sinceNs && at.mode === 'consensus';
      if (isDue && peer !== undefined) return { what, peer };
    }
    return null;
  }
}
