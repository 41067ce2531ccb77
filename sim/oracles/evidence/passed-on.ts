// Evidence that a node was told of and keeps goes on to its other peers: a liar that reaches one honest node reaches the next proposer (spec 5.10).

import type { PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { Debts } from '../gossip/debts.ts';

/** What is new is told in the turn that finds it so. */
const AT_ONCE_NS = 1_000_000_000;
/** More than anybody is told of in a life, and a bound all the same. */
const TOLD_MAX = 1_024;

interface Claim {
  readonly height: bigint;
  readonly atNs: number;
}

/** Of evidence by its hash, in a node's life. */
export class PassedOn {
  /** Where each peer says that it stands, on this connection. */
  private readonly claims = new PerMachine(() => new Map<PeerId, Claim>());
  private readonly tellers = new PerMachine(() => new Map<string, Set<PeerId>>());
  readonly debts = new Debts(AT_ONCE_NS);
  /** What liars say of where they stand, a node may have left unread. */
  private readonly honest: ReadonlySet<PeerId>;

  constructor(honest: ReadonlySet<PeerId>) {
    this.honest = honest;
  }

  starts(at: Machine): void {
    this.claims.delete(at);
    this.tellers.delete(at);
    this.debts.starts(at);
  }

  /** A connection begins or ends. */
  greets(at: Machine, peer: PeerId): void {
    this.claims.get(at)?.delete(peer);
    this.debts.forgives(at, peer);
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
      if (this.honest.has(peer) && !tellers.has(peer) && claim.height > height && claim.atNs < knownNs)
        peers.add(peer);
    this.debts.owes(at, evidence, peers, nowNs);
  }
}
