// When a mempool may offer a transaction to a peer: never back to who gave it, what another gave only when its time has come, again only with a
// beat, a batch of it, and nothing to a peer that could not judge it.

import type { PeerId } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import type { Machine } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { CHANNEL_DATA, CHANNEL_STATE, CHANNEL_VOTE, CHANNEL_VOTE_SET_BITS } from '../canonical/numbers.ts';
import type { Greeted } from '../ghost/greeted.ts';
import { HOP_NS, saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import type { Counted, Known } from './counted.ts';

/** Who stands at the height of the pool's last block, or one before, is given what comes in. */
const BEHIND_SAFE = 1n;
/** Where a chain begins nobody can be behind. */
const BEGINNING_MAX = 3n;
/** What is offered first waits for its time, and for a batch or two. */
const HASTE_NS = 100_000_000;
const PERIODS_MAX = 8;
/** Whoever speaks on one of these takes part in consensus. */
const OF_CONSENSUS: ReadonlySet<number> = new Set([
  CHANNEL_STATE,
  CHANNEL_DATA,
  CHANNEL_VOTE,
  CHANNEL_VOTE_SET_BITS,
]);

export const isAwake = ({ isHonest }: WorldAbout, at: Machine): boolean =>
  isHonest(at) && at.node?.isPaused === false && at.config.mempool.kind !== 'nop';

export const nameOf = (id: string): string =>
  hexOf(Uint8Array.from(id, (each) => each.charCodeAt(0))).slice(0, 8);

export class OfferRules {
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly initialHeight: bigint;
  private readonly pools: PerMachine<Counted>;
  private readonly greeted: Greeted;
  private readonly byId: ReadonlyMap<PeerId, Machine>;
  /** Peers that took part in consensus while they were up: who fetches blocks does not, and nobody knows where it stands. */
  private readonly spoken = new PerMachine(() => new Set<PeerId>());

  constructor(
    report: Report,
    about: WorldAbout,
    initialHeight: bigint,
    pools: PerMachine<Counted>,
    greeted: Greeted,
  ) {
    this.report = report;
    this.about = about;
    this.initialHeight = initialHeight;
    this.pools = pools;
    this.greeted = greeted;
    this.byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
  }

  starts(at: Machine): void {
    this.spoken.delete(at);
  }

  /** What came a moment before it is said to be up counts: it is of that connection. */
  goes(at: Machine, peer: PeerId): void {
    this.spoken.of(at).delete(peer);
  }

  hears(at: Machine, from: PeerId, channel: number): void {
    if (OF_CONSENSUS.has(channel)) this.spoken.of(at).add(from);
  }

  nameOfPeer(id: PeerId): string {
    return this.byId.get(id)?.name ?? 'a peer';
  }

  /** Who is more than a height behind could not judge what comes in now (CometBFT broadcastTxRoutine). */
  judgesReader(at: Machine, id: PeerId, tx: string, { height }: Known): void {
    const peer = this.pools.of(at).peers.get(id);
    if (!peer || !isAwake(this.about, at)) return;
    const { behind, cameAt } = peer;
    if (behind && behind.height >= height - BEHIND_SAFE) return;
    if (behind && this.about.now() - Math.max(behind.atNs, at.heldUntilNs) <= HOP_NS) return;
    const mayBeLevel = this.spoken.of(at).has(id) || cameAt - this.initialHeight <= BEGINNING_MAX;
    if (!behind && (mayBeLevel || height <= BEHIND_SAFE)) return;
    const where = behind ? `stands at ${behind.height}` : 'has not said where it stands';
    const what = `gives ${this.nameOfPeer(id)}, which ${where}, transaction ${nameOf(tx)} that came in after block ${height}`;
    this.report(`${at.name} ${what}`, at, at.height + 1n);
  }

  /** Nobody is given what he gave, what another peer gave only when its time has come, nor the same again before the time for that. */
  judgesOffer(at: Machine, peer: PeerId, id: string, { bytes, shownBy, toldAt, relayed }: Known): void {
    if (!isAwake(this.about, at)) return;
    const now = this.about.now();
    const whom = this.nameOfPeer(peer);
    const shownNs = shownBy.get(peer);
    if (shownNs !== undefined && now - Math.max(shownNs, at.heldUntilNs) > HOP_NS)
      this.report(`${at.name} gives transaction ${nameOf(id)} back to ${whom}`, at, at.height + 1n);
    const { gossipPeriodNs, reofferNs } = at.config.mempool;
    // Who came later is offered at once all that he may lack.
    const afterNs = relayed ? at.clock.count() - relayed.count : Number.POSITIVE_INFINITY;
    const isEarly = afterNs + HOP_NS < Number(gossipPeriodNs);
    if (relayed && isEarly && this.greeted.hears(at, peer, relayed.atNs)) {
      const what = `passes transaction ${nameOf(id)} on to ${whom} after ${afterNs} ns; what a peer gave waits ${gossipPeriodNs} ns`;
      this.report(`${at.name} ${what}`, at, at.height + 1n);
    }
    const told = toldAt.get(peer);
    if (told) this.judgesBeat(at, peer, bytes);
    if (!told || at.heldUntilNs >= told.atNs) return;
    const waited = at.clock.count() - told.count;
    if (waited + saidLateNs(at) >= Number(reofferNs)) return;
    const what = `offers ${whom} transaction ${nameOf(id)} again after ${waited} ns; the time for that is ${reofferNs} ns`;
    this.report(`${at.name} ${what}`, at, at.height + 1n);
  }

  /** What came in is offered soon to who has been there, and level, since before it did. */
  judgesHaste(at: Machine, id: PeerId, tx: string, known: Known): void {
    const { sinceNs, toldTo } = known;
    const pool = this.pools.of(at);
    const peer = pool.peers.get(id);
    if (!peer || peer.behind || sinceNs === null || toldTo.has(id) || !isAwake(this.about, at)) return;
    const levelNs = peer.levelNs ?? (peer.cameAt < this.initialHeight ? 0 : Number.POSITIVE_INFINITY);
    if (levelNs > sinceNs || at.heldUntilNs >= sinceNs || !this.greeted.hears(at, id, sinceNs)) return;
    const { gossipPeriodNs, burstNs, batchBytesMax } = at.config.mempool;
    // More than goes out at once takes its time.
    if (2 * pool.bytesAround(known) > batchBytesMax) return;
    const soonNs = HASTE_NS + Number(burstNs + BigInt(PERIODS_MAX) * gossipPeriodNs) / at.clock.slowest;
    const waitedNs = this.about.now() - sinceNs;
    if (waitedNs <= soonNs) return;
    const what = `offers ${this.nameOfPeer(id)} transaction ${nameOf(tx)} only after ${Math.round(waitedNs / 1e6)} ms`;
    this.report(`${at.name} ${what}`, at, at.height + 1n);
  }

  /** Of what was offered already a beat takes one batch; one more where it ends while that is under way. */
  private judgesBeat(at: Machine, id: PeerId, bytes: number): void {
    const { reofferNs, batchBytesMax } = at.config.mempool;
    const peer = this.pools.of(at).peers.get(id);
    if (!peer || reofferNs === 0n) return;
    const beat = Math.floor(at.clock.count() / Number(reofferNs));
    if (peer.again.beat !== beat) peer.again = { beat, bytes: 0 };
    if (peer.again.bytes > 2 * batchBytesMax) {
      const what = `offers ${this.nameOfPeer(id)} more than ${peer.again.bytes} bytes again with one beat, and a batch has ${batchBytesMax}`;
      this.report(`${at.name} ${what}`, at, at.height + 1n);
    }
    peer.again.bytes += bytes;
  }
}
