// Evidence that a node was told of and keeps goes on to its other peers: a liar that reaches one honest node reaches the next proposer (spec 5.10).

import type { PeerId } from '../../actors/turn.ts';
import type { Machine } from '../machine.ts';
import { saidLateNs } from './pace.ts';
import { PerMachine } from './per-machine.ts';

/** What is new is told at once. */
const AT_ONCE_NS = 1_000_000_000;
/** More than anybody is told of in a life, and a bound all the same. */
const TOLD_MAX = 1_024;

interface Claim {
  readonly height: bigint;
  readonly atNs: number;
}

/** Kept since then, and who is to hear of it. */
interface Debt {
  readonly evidence: string;
  readonly sinceNs: number;
  readonly peers: Set<PeerId>;
}

/** Of evidence by its hash, in a node's life. */
export class PassedOn {
  /** Where each peer says that it stands, on this connection. */
  private readonly claims = new PerMachine(() => new Map<PeerId, Claim>());
  private readonly tellers = new PerMachine(() => new Map<string, Set<PeerId>>());
  private readonly debts = new PerMachine<Debt[]>(() => []);

  starts(at: Machine): void {
    this.claims.delete(at);
    this.tellers.delete(at);
    this.debts.delete(at);
  }

  /** A connection begins or ends. */
  greets(at: Machine, peer: PeerId): void {
    this.claims.get(at)?.delete(peer);
    for (const { peers } of this.debts.get(at) ?? []) peers.delete(peer);
  }

  stands(at: Machine, peer: PeerId, height: bigint, nowNs: number): void {
    const claims = this.claims.of(at);
    if (claims.get(peer)?.height !== height) claims.set(peer, { height, atNs: nowNs });
  }

  isToldBy(peer: PeerId, at: Machine, evidence: string): void {
    const tellers = this.tellers.of(at);
    const known = tellers.get(evidence) ?? new Set();
    tellers.set(evidence, known.add(peer));
    const [oldest] = tellers.keys();
    if (tellers.size > TOLD_MAX && oldest !== undefined) tellers.delete(oldest);
  }

  /** A node keeps it; who stands above its height can look it up, and is told. Evidence of its own making is another matter. */
  keeps(at: Machine, evidence: string, height: bigint, nowNs: number): void {
    const tellers = this.tellers.get(at)?.get(evidence);
    if (!tellers || at.mode !== 'consensus') return;
    const knownNs = nowNs - saidLateNs(at);
    const peers = new Set<PeerId>();
    for (const [peer, claim] of this.claims.of(at))
      if (!tellers.has(peer) && claim.height > height && claim.atNs < knownNs) peers.add(peer);
    if (peers.size > 0) this.debts.of(at).push({ evidence, sinceNs: nowNs, peers });
  }

  tells(at: Machine, peers: readonly PeerId[], evidence: string): void {
    for (const debt of this.debts.get(at) ?? [])
      if (debt.evidence === evidence) for (const peer of peers) debt.peers.delete(peer);
  }

  /** Whether there is something to tell. */
  owes(at: Machine): boolean {
    return (this.debts.get(at)?.length ?? 0) > 0;
  }

  /** Somebody who was to hear of it and did not; null: nobody. Asked as blocks come: what waits no more is forgotten. */
  missedBy(at: Machine, nowNs: number): PeerId | null {
    const debts = this.debts.get(at) ?? [];
    if (debts.length === 0) return null;
    const dueNs = nowNs - AT_ONCE_NS - saidLateNs(at);
    this.debts.set(
      at,
      debts.filter(({ sinceNs }) => sinceNs >= dueNs),
    );
    for (const { sinceNs, peers } of debts) {
      const [peer] = peers;
      if (sinceNs < dueNs && at.heldUntilNs < sinceNs && at.mode === 'consensus' && peer !== undefined)
        return peer;
    }
    return null;
  }
}
