// What a mempool takes in, and whom it tells. Who is given a transaction that it does not know, and has room for, asks the application about
// it, and about nothing twice where its cache is to keep what was refused, nor about anything new while it still checks again what the block before
// the last left over; and what it holds it offers to every peer that is not behind and has not said that it has it, again after a while, never back
// to who gave it, and to nobody who is far behind.

import type { AppMail, MempoolMail, ValidatorMail } from '../../../actors/mail.ts';
import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { AbciResponse, RequestCheckTx, ResponseFinalizeBlock } from '../../../protocol/abci.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { CHANNEL_MEMPOOL, CHANNEL_STATE, CHECK_TX_NEW } from '../canonical/numbers.ts';
import { gasAt, mayBeTooDear, mayRefuseSize, roomAt } from '../chain/room.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { Greeted } from '../ghost/greeted.ts';
import { messagesIn, txsIn } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { Counted, HAS_IT, type Known, type Moment, type Taken } from './counted.ts';
import { EARLY_OF_PEER_MAX, EarlyShare } from './early-share.ts';
import { isAwake, nameOf, OfferRules } from './offer-rules.ts';
import { Outcomes } from './outcomes.ts';
import { type Checked, checkedIn, idOf } from './pool.ts';

/** A letter to the mempool and one to the application are there by then. */
const ASKED_WITHIN_NS = 5_000_000;
/** Offers wait for a beat of five seconds at most, or as long as an operator says, and a full batch delays the next. */
const OFFERED_WITHIN_LEAST_NS = 15_000_000_000;
const BEATS_MISSED = 3;
const offeredWithinNs = ({ config: { mempool }, clock }: Machine): number => {
  const beatNs = Number(2n * mempool.gossipPeriodNs + mempool.burstNs);
  return Math.max(OFFERED_WITHIN_LEAST_NS, BEATS_MISSED * beatNs) / clock.slowest;
};
/** So much is held until the handshake is over, whoever brings it. */
const EARLY_SAFE = { count: 128, bytes: 512 * 1024 };
/** Larger pools take their time to offer everything again. */
const OFFERED_AGAIN_TXS_MAX = 64;
/** From then on it matters where peers stand. */
const WATCHED_AFTER_NS = 3_000_000_000;
/** With every block, and so often while there is none. */
const LOOK_NS = 3_000_000_000;

export const admissionOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report, about);
    ghost.onBlock.push(() => watch.looksRound());
    return {
      name: 'admission',
      effects: ['send', 'tell'],
      events: ['peer', 'mode'],
      started: (at) => watch.starts(at),
      submitted: (at, tx) => watch.submitted(at, tx),
      heard: (at, from, payloads) => watch.hears(at, from, payloads),
      published(at, _actor, event) {
        if (event.type === 'peer') watch.greets(at, event.peer, event.up);
        else if (event.type === 'mode' && event.mode !== 'handshake') watch.opens(at);
      },
      leaving(at, _actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell') watch.passes(at, effect.message as AppMail | MempoolMail | ValidatorMail);
        else if (effect.type === 'send') watch.says(at, effect.to, effect.payloads);
      },
    };
  };

class Watch {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly byId: ReadonlyMap<PeerId, Machine>;
  private readonly pools = new PerMachine(({ config }) => new Counted(config.mempool));
  private readonly outcomes = new Outcomes();
  /** What came in this life before its handshake was over. */
  private readonly early = new PerMachine(() => ({ count: 0, bytes: 0 }));
  private readonly shares = new PerMachine(() => ({ share: new EarlyShare(), sinceNs: this.about.now() }));
  private readonly greeted = new Greeted();
  private readonly offers: OfferRules;
  /** Where something waits for so long that it matters where peers stand. */
  private readonly watching = new Set<Machine>();
  private lookedNs = 0;

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
    this.offers = new OfferRules(report, about, ghost.genesis.initialHeight, this.pools, this.greeted);
  }

  starts(at: Machine): void {
    this.pools.delete(at);
    this.early.delete(at);
    this.shares.delete(at);
    this.shares.of(at);
    this.greeted.starts(at);
    this.offers.starts(at);
    this.watching.delete(at);
  }

  /** The handshake is over: what came meanwhile, in a pause too, the application is asked about now, if it is not more than a node holds. */
  opens(at: Machine): void {
    const { due } = this.pools.of(at);
    const { count, bytes } = this.early.of(at);
    const { txsMax, bytesMax } = at.config.mempool;
    const isMuch = count > EARLY_SAFE.count || bytes > EARLY_SAFE.bytes;
    if (isMuch || 2 * count > txsMax || 2 * bytes > bytesMax) due.clear();
    for (const [id, { bytes }] of due) due.set(id, { sinceNs: this.about.now(), bytes });
  }

  private comesEarly(at: Machine, bytes: number): void {
    if (at.mode !== 'handshake') return;
    const early = this.early.of(at);
    early.count++;
    early.bytes += bytes;
  }

  submitted(at: Machine, tx: Uint8Array): void {
    this.comesEarly(at, tx.length);
    const id = idOf(tx);
    this.shares.of(at).share.comes(id, null);
    this.pools.of(at).submits(id, this.about.now());
    this.given(at, tx);
  }

  private nowAt(at: Machine): Moment {
    return { count: at.clock.count(), atNs: this.about.now() };
  }

  // --- what goes in and out ----------------------------------------------------------------------------------

  passes(at: Machine, mail: AppMail | MempoolMail | ValidatorMail): void {
    const now = this.about.now();
    const pool = this.pools.of(at);
    if (mail.type === 'opens') this.shares.of(at).share.opens();
    if (mail.type === 'committed') {
      const next = mail.height + 1n;
      const room = { bytes: roomAt(this.ghost, next), gas: gasAt(this.ghost, next) };
      pool.takes(mail, this.codesOf(pool, mail), room, now);
    } else if (mail.type === 'peer-height') this.fallsBehind(at, mail.peer, mail.height);
    else if (mail.type === 'request' && mail.request.type === 'finalize-block')
      pool.executes(mail.request.value.height, mail.request.value.txs);
    else if (mail.type === 'answer' && mail.response.type === 'finalize-block')
      this.executed(at, pool, mail.response.value);
    else if (mail.type === 'request' && mail.request.type === 'check-tx')
      this.asks(at, pool, mail.tag, mail.request.value);
    else if (mail.type === 'answer') this.answers(at, pool, mail.tag, mail.response);
  }

  /** Its pool is told so, or that the peer is behind no more. What it is told before it knows the peer is lost. */
  private fallsBehind(at: Machine, id: PeerId, height: bigint): void {
    const atNs = this.about.now();
    const peer = this.pools.of(at).peers.get(id);
    if (!peer) return;
    peer.behind = height >= 0n && this.greeted.hears(at, id, atNs) ? { height, atNs } : null;
    peer.levelNs = height >= 0n ? null : atNs;
  }

  private asks(at: Machine, pool: Counted, tag: number, { tx, type }: RequestCheckTx): void {
    const isAgain = type === CHECK_TX_NEW && pool.once?.isAskedAgain(idOf(tx));
    if (isAgain && this.about.isHonest(at)) {
      const what = `asks its application about transaction ${nameOf(idOf(tx))} a second time`;
      this.report(`${at.name} ${what}, and keep_invalid_txs_in_cache is set`, at, at.height + 1n);
    }
    const isFull = type === CHECK_TX_NEW && pool.isOverrun(this.about.now(), at.heldUntilNs);
    if (isFull && this.about.isHonest(at)) {
      const what = `asks its application about new transaction ${nameOf(idOf(tx))}, and has not checked again all that the block before the last left over`;
      this.report(`${at.name} ${what}`, at, at.height + 1n);
    }
    if (type === CHECK_TX_NEW) this.judgesShare(at, tx);
    pool.asks(tag, tx, type, this.about.now());
  }

  /** In a pause letters wait, and are read with what came later. */
  private judgesShare(at: Machine, tx: Uint8Array): void {
    const { share, sinceNs } = this.shares.of(at);
    const peer = share.isEmpty ? null : share.asks(idOf(tx));
    if (peer === null || at.heldUntilNs >= sinceNs || !this.about.isHonest(at)) return;
    const what = `asks about more than ${EARLY_OF_PEER_MAX} transactions that ${this.offers.nameOfPeer(peer)} alone gave it`;
    this.report(`${at.name} ${what} before its handshake was over`, at, at.height + 1n);
  }

  private executed(at: Machine, pool: Counted, { txResults }: ResponseFinalizeBlock): void {
    const codes = txResults.map(({ code }) => code);
    const { execution } = pool;
    if (execution) this.outcomes.ended(execution.height, execution.txs, codes);
    // A pool is reminded of what a handshake executes together with what came before.
    if (at.mode !== 'handshake') pool.executed(codes);
  }

  /** What a life before executed others have, too; if nobody has, it is as the node says. */
  private codesOf(pool: Counted, mail: Taken): readonly number[] {
    return (
      pool.codesOf(mail) ??
      mail.txs.map((tx, i) => this.outcomes.of(idOf(tx), mail.height) ?? (mail.codes[i] as number))
    );
  }

  private answers(at: Machine, pool: Counted, tag: number, response: AbciResponse): void {
    const checked = checkedIn(response);
    if (!checked) return;
    const isHeld = this.isHeld(at, checked, pool.bytesAsked(tag));
    pool.answers(tag, isHeld, checked.gasWanted, this.nowAt(at));
  }

  /** Whether the pool takes what the application says this of; null: it may be against its gas, or its size. */
  private isHeld(at: Machine, { code, gasWanted }: Checked, bytes: number): boolean | null {
    if (code !== 0) return false;
    return mayBeTooDear(this.ghost, at, gasWanted) || mayRefuseSize(this.ghost, at, bytes) ? null : true;
  }

  greets(at: Machine, peer: PeerId, isUp: boolean): void {
    const pool = this.pools.of(at);
    this.greeted.greets(at, peer, isUp, this.about.now());
    pool.peers.delete(peer);
    pool.greets(peer);
    if (isUp)
      pool.peers.set(peer, {
        height: -1n,
        fitNs: null,
        behind: null,
        levelNs: null,
        cameAt: at.height,
        again: { beat: 0, bytes: 0 },
      });
    else this.offers.goes(at, peer);
  }

  hears(at: Machine, from: PeerId, payloads: readonly Payload[]): void {
    if (this.about.now() - this.lookedNs > LOOK_NS) this.looksRound();
    for (let i = 0; i < payloads.length; i++) {
      const payload = payloads[i] as Payload;
      const { channel } = payload;
      this.offers.hears(at, from, channel);
      if (channel !== CHANNEL_MEMPOOL && (channel !== CHANNEL_STATE || this.watching.size === 0)) continue;
      if (!this.about.isHonest(at)) return;
      const isHeard = isAwake(this.about, at) && this.greeted.hears(at, from, this.about.now());
      if (channel === CHANNEL_MEMPOOL) this.offered(at, from, payload, isHeard);
      else if (isHeard && this.watching.has(at)) this.stands(at, from, messagesIn(payloads)[i] ?? null);
    }
  }

  private stands(at: Machine, from: PeerId, message: ConsensusMessage | null): void {
    const peer = this.pools.of(at).peers.get(from);
    if (peer && message?.type === 'new-round-step') peer.height = message.height;
  }

  private offered(at: Machine, from: PeerId, payload: Payload, isHeard: boolean): void {
    const txs = txsIn(payload);
    if (!txs) return;
    const sender = this.byId.get(from);
    const isHonest = sender !== undefined && this.about.isHonest(sender);
    for (const tx of txs) {
      this.comesEarly(at, tx.length);
      const id = idOf(tx);
      this.shares.of(at).share.comes(id, from);
      this.pools.of(at).shows(id, from, this.about.now(), isHonest && isHeard);
      if (isHonest && isHeard) this.given(at, tx);
    }
  }

  says(at: Machine, to: readonly PeerId[], payloads: readonly Payload[]): void {
    for (const payload of payloads) {
      const txs = payload.channel === CHANNEL_MEMPOOL ? txsIn(payload) : null;
      for (const tx of txs ?? []) {
        const id = idOf(tx);
        const known = this.pools.of(at).known.get(id);
        if (!known) continue;
        for (const peer of to) {
          this.offers.judgesOffer(at, peer, id, known);
          this.offers.judgesReader(at, peer, id, known);
          this.offers.judgesHaste(at, peer, id, known);
          // Else it may have been meant for the peer that was there before.
          if (this.greeted.hears(at, peer, this.about.now())) known.toldAt.set(peer, this.nowAt(at));
          if (known.toldTo.get(peer) !== HAS_IT) known.toldTo.set(peer, this.about.now());
        }
      }
    }
  }

  // --- what it owes ------------------------------------------------------------------------------------------

  given(at: Machine, tx: Uint8Array): void {
    if (!isAwake(this.about, at)) return;
    const pool = this.pools.of(at);
    this.looksAt(at, pool);
    const id = idOf(tx);
    pool.isGivenAgain(id, this.about.now());
    if (
      mayRefuseSize(this.ghost, at, tx.length) ||
      pool.isKnown(id) ||
      pool.mayBeFull(tx.length, this.about.now())
    )
      return;
    pool.due.set(id, { sinceNs: this.about.now(), bytes: tx.length });
  }

  private looksAt(at: Machine, pool: Counted): void {
    if (at.mode === 'handshake') return;
    const now = this.about.now();
    for (const [id, { sinceNs }] of pool.due) {
      if (now - sinceNs < ASKED_WITHIN_NS) continue;
      pool.due.delete(id);
      if (at.heldUntilNs >= sinceNs || !isAwake(this.about, at) || pool.isKnown(id) || pool.mayBeFull(0, now))
        continue;
      this.report(
        `${at.name} was given a transaction and does not ask its application about it`,
        at,
        at.height + 1n,
      );
    }
  }

  /** Whenever a block is decided: until then what waits may wait. */
  looksRound(): void {
    this.lookedNs = this.about.now();
    for (const [at, pool] of this.pools) {
      if (!isAwake(this.about, at)) continue;
      this.looksAt(at, pool);
      if (at.config.mempool.broadcast && at.mode === 'consensus') this.offersAll(at, pool);
    }
  }

  /** So little waits that it is offered again with every beat. */
  private isOneBatch({ config }: Machine, known: ReadonlyMap<string, Known>): boolean {
    if (known.size > OFFERED_AGAIN_TXS_MAX) return false;
    let sum = 0;
    for (const { bytes } of known.values()) sum += bytes;
    return sum <= config.mempool.batchBytesMax;
  }

  private offersAll(at: Machine, { known, peers }: Counted): void {
    const now = this.about.now();
    const late = now - offeredWithinNs(at);
    let oldest = now;
    for (const { sinceNs } of known.values()) if (sinceNs !== null && sinceNs < oldest) oldest = sinceNs;
    const isWatching = now - oldest > WATCHED_AFTER_NS;
    if (isWatching) this.watching.add(at);
    else this.watching.delete(at);
    for (const peer of peers.values())
      peer.fitNs = !isWatching || peer.height < at.height ? null : (peer.fitNs ?? now);
    if (at.heldUntilNs > late) return;
    // Who may not have got it is offered it with the next beat or the one after.
    const longAgo = late - 2 * Number(at.config.mempool.reofferNs);
    const isRoomy = this.isOneBatch(at, known) && at.heldUntilNs < longAgo;
    for (const [id, { sinceNs, toldTo }] of known) {
      if (sinceNs === null || sinceNs > late) continue;
      for (const [peer, { fitNs }] of peers) {
        if (fitNs === null || fitNs > late) continue;
        const toldNs = toldTo.get(peer);
        const isOld = isRoomy && toldNs !== undefined && toldNs < longAgo && fitNs < longAgo;
        if (toldNs !== undefined && !isOld) continue;
        toldTo.set(peer, now);
        const name = this.offers.nameOfPeer(peer);
        const often = isOld ? ' again: that may have been lost' : '';
        const what = `${at.name} holds transaction ${nameOf(id)} and has not offered it to ${name}${often}`;
        this.report(what, at, at.height + 1n);
      }
    }
  }
}
