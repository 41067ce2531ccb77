// Who is offered which transaction and when: per peer, never what it sent us, and what may have been lost
// again after a while.

import { BATCH_TXS_MAX, type MempoolConfig } from './config.ts';
import type { PoolTx } from './pool.ts';

/** The same transactions for each of these peers: encoded once. */
export interface Offer {
  readonly to: string[];
  readonly txs: readonly PoolTx[];
}

interface Item {
  readonly pooled: PoolTx;
  readonly dueNs: bigint;
}

/** First in, first out, each due no earlier than the one before (but for a burst of milliseconds). */
class Fifo {
  /** Those before `head` have passed; they are let go of when they are half of all. */
  private items: Item[] = [];
  private head = 0;

  push(pooled: PoolTx, dueNs: bigint): void {
    this.items.push({ pooled, dueNs });
  }

  /** The first that is still worth offering to `peer`. */
  peek(peer: string): Item | undefined {
    for (let item = this.items[this.head]; item; item = this.items[this.head]) {
      if (!item.pooled.isGone && !item.pooled.knownBy.has(peer)) return item;
      this.shift();
    }
    return undefined;
  }

  shift(): void {
    this.head++;
    if (this.head * 2 < this.items.length) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}

/** What is said of a peer that has caught up. */
export const NOT_BEHIND = -1n;
/** Who has not said where it stands may be fetching blocks, and says so when it has them all (CometBFT: `peerState.GetHeight()` is 0). */
const UNKNOWN = 0n;
/**
 * So high a chain begins, and nobody can be behind: the mempool offers without asking, as far as it knows no later block, and the validator, whose
 * next height this is at most, does not tell of who is level. So there is a height between them, as both hear of a peer by ways of their own.
 */
export const CHAIN_BEGINS_MAX = 2n;
/** That a peer comes, and where it stands, come by two ways: what was told no longer ago is of this connection, and anything else of one before. */
const MOMENT_NS = 1_000_000n;

class PeerQueues {
  /** Where it stood when it fell behind; null: it is not behind. */
  height: bigint | null;
  /** Submitted here, or all of the pool for a peer that just came. */
  readonly urgent = new Fifo();
  /** Heard from another peer. */
  readonly relayed = new Fifo();
  /** Offered once already. */
  readonly again = new Fifo();
  readonly queues = [this.urgent, this.relayed, this.again];
  /** For a peer too far behind to check them. */
  held: PoolTx[] = [];
  /** After a full batch the next one waits, so that a large pool does not crowd out consensus. */
  notBeforeNs = 0n;
  /** Of what was offered already one batch goes out with each beat: else a large pool goes round and round, until nothing else gets through. */
  againNotBeforeNs = 0n;

  constructor(height: bigint | null) {
    this.height = height;
  }
}

type Pace = Pick<MempoolConfig, 'gossipPeriodNs' | 'burstNs' | 'reofferNs' | 'batchBytesMax'>;

export class Gossip {
  private readonly pace: Pace;
  /** How long what a peer sent us waits before we pass it on. */
  private readonly relayAfterNs: bigint;
  private readonly peers = new Map<string, PeerQueues>();
  /** What was told of each peer last: perhaps a moment before we know that it is there. */
  private readonly told = new Map<string, { readonly height: bigint | null; readonly atNs: bigint }>();
  private urgentNotBeforeNs = 0n;
  private isEmpty = true;

  /** @param laterNs how much longer than others this node waits before it relays; each another. */
  constructor(pace: Pace, laterNs = 0n) {
    this.pace = pace;
    this.relayAfterNs = pace.gossipPeriodNs + laterNs;
  }

  /** A peer comes, or comes back, and is offered what it may lack. @param isBeginning nobody can be behind yet */
  peerUp(peer: string, lacking: Iterable<PoolTx>, nowNs: bigint, isBeginning: boolean): void {
    const told = this.told.get(peer);
    const isOfNow = told !== undefined && nowNs - told.atNs <= MOMENT_NS;
    const queues = new PeerQueues(isOfNow ? told.height : isBeginning ? null : UNKNOWN);
    this.peers.set(peer, queues);
    for (const pooled of lacking) {
      queues.urgent.push(pooled, nowNs);
      this.isEmpty = false;
    }
  }

  isUp(peer: string): boolean {
    return this.peers.has(peer);
  }

  peerDown(peer: string, nowNs: bigint): void {
    this.peers.delete(peer);
    const told = this.told.get(peer);
    if (told && nowNs - told.atNs > MOMENT_NS) this.told.delete(peer);
  }

  /** Of who is not there only what was told a moment ago is worth anything: strangers who come and go leave nothing. */
  private forgetOld(nowNs: bigint): void {
    for (const [peer, { atNs }] of this.told)
      if (!this.peers.has(peer) && nowNs - atNs > MOMENT_NS) this.told.delete(peer);
  }

  /** The chain begins: nobody can be behind. */
  begins(): void {
    for (const queues of this.peers.values()) queues.height = null;
  }

  /** @param height of a peer that is behind; `NOT_BEHIND`: it is so no more. */
  peerAt(peer: string, height: bigint, nowNs: bigint): void {
    const queues = this.peers.get(peer);
    const stands = height === NOT_BEHIND ? null : height;
    if (!queues) this.forgetOld(nowNs);
    this.told.set(peer, { height: stands, atNs: nowNs });
    if (!queues) return;
    queues.height = stands;
    if (queues.held.length === 0) return;
    const { held } = queues;
    queues.held = [];
    for (const pooled of held) {
      if (isBehind(queues, pooled)) queues.held.push(pooled);
      else queues.urgent.push(pooled, nowNs);
    }
  }

  entered(pooled: PoolTx, isLocal: boolean, nowNs: bigint): void {
    if (this.peers.size === 0) return;
    const dueNs = isLocal ? this.urgentDueNs(nowNs) : nowNs + this.relayAfterNs;
    this.isEmpty = false;
    for (const [peer, queues] of this.peers) {
      if (!pooled.knownBy.has(peer)) (isLocal ? queues.urgent : queues.relayed).push(pooled, dueNs);
    }
  }

  /** At once, or with the others of a burst when one went out just now. */
  private urgentDueNs(nowNs: bigint): bigint {
    if (nowNs < this.urgentNotBeforeNs) return this.urgentNotBeforeNs;
    this.urgentNotBeforeNs = nowNs + this.pace.burstNs;
    return nowNs;
  }

  /** Some left the pool: they do not wait for a peer that is behind, and may say so for ever. */
  forgetGone(): void {
    for (const queues of this.peers.values()) {
      if (queues.held.length > 0) queues.held = queues.held.filter(({ isGone }) => !isGone);
    }
  }

  /** The pool is empty: nothing is left to offer. */
  clear(): void {
    if (this.isEmpty) return;
    this.isEmpty = true;
    for (const [peer, { height, notBeforeNs }] of this.peers) {
      const queues = new PeerQueues(height);
      queues.notBeforeNs = notBeforeNs;
      this.peers.set(peer, queues);
    }
  }

  /** When `take` has something to give; null: nothing waits. */
  dueNs(): bigint | null {
    if (this.isEmpty) return null;
    let soonest: bigint | null = null;
    for (const [peer, { queues, again, notBeforeNs, againNotBeforeNs }] of this.peers) {
      for (const queue of queues) {
        const item = queue.peek(peer);
        if (!item) continue;
        let { dueNs } = item;
        if (dueNs < notBeforeNs) dueNs = notBeforeNs;
        if (queue === again && dueNs < againNotBeforeNs) dueNs = againNotBeforeNs;
        if (soonest === null || dueNs < soonest) soonest = dueNs;
      }
    }
    return soonest;
  }

  take(nowNs: bigint): Offer[] {
    const offers: Offer[] = [];
    for (const [peer, queues] of this.peers) {
      if (queues.notBeforeNs > nowNs) continue;
      const txs = this.batchFor(peer, queues, nowNs);
      if (txs.length === 0) continue;
      const same = offers.find((offer) => isSameList(offer.txs, txs));
      if (same) same.to.push(peer);
      else offers.push({ to: [peer], txs });
    }
    return offers;
  }

  /** On a common beat, so that what waits for a block is offered again in one envelope. */
  private againNs(nowNs: bigint): bigint {
    const { reofferNs } = this.pace;
    if (reofferNs === 0n) return nowNs;
    return ((nowNs + 2n * reofferNs - 1n) / reofferNs) * reofferNs;
  }

  private nextBeatNs(nowNs: bigint): bigint {
    const { reofferNs } = this.pace;
    return reofferNs === 0n ? nowNs : (nowNs / reofferNs + 1n) * reofferNs;
  }

  private batchFor(peer: string, queues: PeerQueues, nowNs: bigint): PoolTx[] {
    const batch: PoolTx[] = [];
    let bytes = 0;
    for (const queue of queues.queues) {
      const isAgain = queue === queues.again;
      if (isAgain && nowNs < queues.againNotBeforeNs) continue;
      for (let item = queue.peek(peer); item && item.dueNs <= nowNs; item = queue.peek(peer)) {
        const { pooled } = item;
        if (isBehind(queues, pooled)) {
          queue.shift();
          queues.held.push(pooled);
          continue;
        }
        const isFull = bytes + pooled.tx.length > this.pace.batchBytesMax || batch.length === BATCH_TXS_MAX;
        if (batch.length > 0 && isFull) {
          queues.notBeforeNs = nowNs + this.pace.gossipPeriodNs;
          if (isAgain) queues.againNotBeforeNs = this.nextBeatNs(nowNs);
          return batch;
        }
        queue.shift();
        bytes += pooled.tx.length;
        batch.push(pooled);
        queues.again.push(pooled, this.againNs(nowNs));
      }
    }
    return batch;
  }
}

/** CometBFT broadcastTxRoutine: one block of slack. */
const isBehind = ({ height }: PeerQueues, pooled: PoolTx): boolean =>
  height !== null && height < pooled.height - 1n;

function isSameList(a: readonly PoolTx[], b: readonly PoolTx[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
