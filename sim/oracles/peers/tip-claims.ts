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
  /** When it began to ask, also by its own clock. */
  readonly began: { readonly ns: number; readonly count: number };
  sinceNs: number;
  /** So many questions lie at least a period apart, from then on. */
  questions = QUESTIONS;
  /** Null: believed no more. */
  readonly heights = new Map<PeerId, bigint | null>();

  constructor(ns: number, count: number) {
    this.began = { ns, count };
    this.sinceNs = ns;
  }
}

export class TipClaims {
  private readonly syncs = new PerMachine<Sync | null>(() => null);
  /** Who may have said to whom how far it is, and when last. */
  private readonly told = new PerMachine(() => new Map<PeerId, number>());

  starts(at: Machine): void {
    this.syncs.delete(at);
    this.told.delete(at);
  }

  /** A node begins to ask for blocks. */
  begins(at: Machine, nowNs: number): void {
    this.syncs.set(at, new Sync(nowNs, at.clock.count()));
  }

  /** It was alone until now, and its patience begins. Its first question may come right away. */
  meets(at: Machine, nowNs: number): void {
    const sync = this.syncs.get(at);
    if (!sync) return;
    sync.sinceNs = nowNs;
    sync.questions = QUESTIONS - 1;
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

  /** Whoever says something to its block sync in this life, and whether that is believed. */
  mayBeTold(at: Machine, peer: PeerId, payloads: readonly Payload[], nowNs: number): void {
    if (payloads.some(({ channel }) => channel === CHANNEL_BLOCKSYNC)) this.told.of(at).set(peer, nowNs);
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
    let highest: bigint | null = null;
    for (const height of this.patient(at, nowNs)?.heights.values() ?? [])
      if (height !== null && (highest === null || height > highest)) highest = height;
    return highest;
  }

  /** For certain: it still waits, and nobody has said how far it is. */
  isUntold(at: Machine, nowNs: number): boolean {
    return !this.told.get(at)?.size && this.patient(at, nowNs) !== null;
  }

  /** Of how many that it is configured with it may have heard how far they are, where those are not most, and its first look has not come. */
  heardTooFew(at: Machine): { readonly heard: number; readonly of: number } | null {
    const sync = this.syncs.get(at);
    if (!sync) return null;
    const { ns, count } = sync.began;
    const { waitNs, checkNs } = at.config.sync;
    const soonNs = Number(waitNs < checkNs ? waitNs : checkNs) - HOP_NS;
    if (at.heldUntilNs >= ns - HOP_NS || at.clock.count() - count >= soonNs) return null;
    const told = this.told.of(at);
    const others = at.config.peers.filter(({ peer }) => peer !== at.member.id);
    const heard = others.filter(({ peer }) => (told.get(peer) ?? Number.NEGATIVE_INFINITY) >= ns - HOP_NS);
    return heard.length * 2 > others.length ? null : { heard: heard.length, of: others.length };
  }

  /** Null: it may have waited long enough. */
  private patient(at: Machine, nowNs: number): Sync | null {
    const sync = this.syncs.get(at);
    if (!sync || at.heldUntilNs >= sync.sinceNs) return null;
    const { statusNs, stallNs } = at.config.sync;
    const patienceNs = Math.min(sync.questions * Number(statusNs), Number(stallNs)) / at.clock.fastest;
    return nowNs - sync.sinceNs >= patienceNs ? null : sync;
  }
}
