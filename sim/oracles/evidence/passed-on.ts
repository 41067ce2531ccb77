// Evidence that a node was told of and keeps goes on to its other peers: a liar that reaches one honest node reaches the next proposer (spec 5.10).
// It does not go straight back to who told of it.

import type { PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { HOP_NS, saidLateNs } from '../ghost/pace.ts';
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

/** In each period everybody is told again, by the node's own clock; how long ago one began is not known, but for the first. */
const PERIOD_NS = 9_000_000_000;

interface Gift {
  readonly evidence: string;
  readonly from: PeerId;
  /** When it was kept, by the node's own clock. */
  readonly count: number;
}

interface Givers {
  readonly peers: Set<PeerId>;
  readonly atNs: number;
}

/** Of evidence by its hash, in a node's life. */
export class PassedOn {
  /** Who gave a node its first evidence ever: with that its first period begins, in which the giver does not hear it back. */
  private readonly gifts = new PerMachine<Gift | null>(() => null);
  /** Who told of what before anything was kept, whether heard or not, and when last; null: something is kept. */
  private readonly givers = new PerMachine<Map<string, Givers> | null>(() => new Map());
  /** When its last height was over: with that it makes evidence of its own. */
  private readonly committedNs = new PerMachine(() => 0);
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
    this.gifts.delete(at);
    // What it was told of in the life before, it may have stored as it died.
    if ((this.givers.of(at)?.size ?? 0) > 0) this.givers.set(at, null);
  }

  /** A connection begins or ends. */
  greets(at: Machine, peer: PeerId): void {
    this.claims.get(at)?.delete(peer);
    if (this.gifts.get(at)?.from === peer) this.gifts.delete(at);
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

  /** Somebody tells a node of it, who may not be heard. */
  mayBeToldBy(peer: PeerId, at: Machine, evidence: string, nowNs: number): void {
    const givers = this.givers.of(at);
    if (!givers || givers.size >= TOLD_MAX) return;
    const peers = givers.get(evidence)?.peers ?? new Set();
    givers.set(evidence, { peers: peers.add(peer), atNs: nowNs });
  }

  commits(at: Machine, nowNs: number): void {
    this.committedNs.set(at, nowNs);
  }

  private keepsFirst(at: Machine, evidence: string, nowNs: number): void {
    const givers = this.givers.of(at);
    if (!givers) return;
    this.givers.set(at, null);
    const given = givers.get(evidence);
    const [from, another] = given?.peers ?? [];
    const isOfNow = given && nowNs - given.atNs < HOP_NS && nowNs - this.committedNs.of(at) > HOP_NS;
    if (isOfNow && from !== undefined && another === undefined)
      this.gifts.set(at, { evidence, from, count: at.clock.count() });
  }

  /** Who of these gave it this a moment ago; null: nobody. */
  givesBack(at: Machine, peers: readonly PeerId[], evidence: string): PeerId | null {
    const gift = this.gifts.get(at);
    if (!gift || gift.evidence !== evidence || !peers.includes(gift.from)) return null;
    return at.clock.count() - gift.count < PERIOD_NS - saidLateNs(at) ? gift.from : null;
  }

  /** A node keeps it; who stands above its height can look it up, and is told. Evidence of its own making is another matter. */
  keeps(at: Machine, evidence: string, height: bigint, nowNs: number): void {
    this.keepsFirst(at, evidence, nowNs);
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
