// One mempool in one life, as it can be counted from outside: by what goes in and out.

import type { MempoolMail } from '../../../actors/mail.ts';
import type { PeerId } from '../../../actors/turn.ts';
import type { MempoolConfig } from '../../../machines/mempool/config.ts';
import { CHECK_TX_NEW } from '../canonical/numbers.ts';
import { fieldBytes, isTooDear } from '../chain/room.ts';
import { HOP_NS } from '../ghost/pace.ts';
import { AskedOnce } from './asked-once.ts';
import { idOf } from './pool.ts';

/** A peer that has shown it may go without an offer for ever. */
export const HAS_IT = Number.POSITIVE_INFINITY;
/** Who sent a transaction is remembered for so long, until it is asked about: a pause is over by then. */
const SENDERS_NS = 60_000_000_000;

export type Taken = Extract<MempoolMail, { type: 'committed' }>;

/** Of each transaction in the next block; -1: none. */
type Limits = Pick<Taken, 'blockTxBytesMax' | 'gasMax'>;

export interface Known {
  readonly bytes: number;
  /** What had come in by then and left. */
  readonly goneBytes: number;
  /** As the application said when it was asked first. */
  gasWanted: bigint;
  /** Since when it waits for a block; null: the application has not answered. */
  sinceNs: number | null;
  /** Which block was the pool's last when it came in, at least; it came in before that was known: 0. */
  height: bigint;
  /** To whom it was offered, and when last; a peer that has shown it: for ever. */
  readonly toldTo: Map<PeerId, number>;
  /** When it was offered to whom last, by the node's own clock, too. */
  readonly toldAt: Map<PeerId, Moment>;
  /** Who showed it for certain, and when. */
  readonly shownBy: Map<PeerId, number>;
  /** It came in by a peer, for certain, and by nobody else. */
  isFromOne: boolean;
  /** When such a one was taken, by the node's own clock, too. */
  relayed: Moment | null;
}

/** Of the world, and of a node's own clock. */
export interface Moment {
  readonly count: number;
  readonly atNs: number;
}

interface Execution {
  readonly height: bigint;
  readonly txs: readonly Uint8Array[];
  readonly codes: readonly number[] | null;
}

/** What the next block may hold. */
interface Room {
  readonly bytes: number;
  readonly gas: number;
}

interface Peer {
  /** The height that it says it is at; -1: it has not said so. */
  height: bigint;
  /** Since when that has been the height under way, or the one before; null: it is behind. */
  fitNs: number | null;
  /** Where it stood when the pool was told that it had fallen behind, and when that was; null: it is not. */
  behind: { readonly height: bigint; readonly atNs: number } | null;
  /** Since when the pool knows that it is not behind; null: nobody has said so. */
  levelNs: number | null;
  /** Where the node itself stood when this one came. */
  readonly cameAt: bigint;
  /** Bytes that it was offered once more, with this beat of the node's own clock. */
  again: { readonly beat: number; bytes: number };
}

/** What a pool may hold, and what it has been given. */
export class Counted {
  readonly known = new Map<string, Known>();
  readonly peers = new Map<PeerId, Peer>();
  /** Given, and to be asked about: since when, and how large. Many may come in one envelope, and each takes the room of those behind it. */
  readonly due = new Map<string, { readonly sinceNs: number; readonly bytes: number }>();
  /** Who sent what is not known yet, and when; `isFromOne`: nobody else did, no client either, so it came in by that one. */
  private readonly senders = new Map<
    string,
    { readonly peers: Set<PeerId>; readonly atNs: number; isFromOne: boolean }
  >();
  private readonly asked = new Map<number, { readonly id: string; readonly isNew: boolean }>();
  /**
   * What blocks took and what was refused for good, of which the pool may remember so much as its cache holds: the oldest first, and
   * whether it pushes others out. What failed in a block, or lost its room, and is kept, stays in the cache where it was.
   */
  private readonly gone = new Map<string, boolean>();
  private pushing = 0;
  /** What the pool may hold, or not: how many bytes each has. */
  private readonly doubtful = new Map<string, number>();
  private doubtfulBytes = 0;
  private readonly config: MempoolConfig;
  /** Null: what was refused may be asked about again. */
  readonly once: AskedOnce | null;
  /** What the last block took. */
  private taken: readonly string[] = [];
  private takenNs = 0;
  /** That block, and the one before it, which may still be the pool's last. */
  private height = 0n;
  private heightBefore = 0n;
  /** When the application answered last: the pool reads that a moment later, and has no room until then. */
  private answeredNs = 0;
  /** The block that the application executed last, in this life. */
  execution: Execution | null = null;
  private rechecks = 0;
  /** What the application is asked about again and has not answered, by tag; and of what a block came meanwhile that left it in the pool, and when. */
  private readonly rechecking = new Map<number, string>();
  private readonly overrun = new Map<number, number>();
  private limits: Limits | null = null;
  private count = 0;
  private bytes = 0;
  /** All that ever came in, in this life. */
  private cameBytes = 0;

  constructor(config: MempoolConfig) {
    this.config = config;
    this.once = config.keepInvalidTxsInCache ? new AskedOnce(config.cacheSize) : null;
  }

  /** Whether it may refuse for want of room: told with half of it left, and what a block takes leaves when the pool hears of it. */
  mayBeFull(length: number, nowNs: number): boolean {
    const { txsMax, bytesMax } = this.config;
    if (nowNs - Math.max(this.takenNs, this.answeredNs) < HOP_NS) return true;
    const count = this.count + this.doubtful.size + this.due.size + 1;
    let bytes = this.bytes + this.doubtfulBytes + length;
    for (const due of this.due.values()) bytes += due.bytes;
    return this.rechecks > 0 || 2 * count > txsMax || 2 * bytes > bytesMax;
  }

  /** A peer shows that it has it. `isCertain`: it is honest, and heard. */
  shows(id: string, peer: PeerId, nowNs: number, isCertain: boolean): void {
    this.once?.comes(id, nowNs);
    this.isGivenAgain(id, nowNs);
    const known = this.known.get(id) ?? this.senders.get(id);
    if (!known) this.senders.set(id, { peers: new Set([peer]), atNs: nowNs, isFromOne: isCertain });
    else if ('peers' in known) {
      known.peers.add(peer);
      if (known.peers.size > 1 || !isCertain) known.isFromOne = false;
    } else {
      known.toldTo.set(peer, HAS_IT);
      if (isCertain && !known.shownBy.has(peer)) known.shownBy.set(peer, nowNs);
    }
    for (const [old, { atNs }] of this.senders) {
      if (nowNs - atNs < SENDERS_NS) break;
      this.senders.delete(old);
    }
  }

  /** A peer comes or goes: what it showed or was told counts no more. */
  greets(peer: PeerId): void {
    for (const { toldTo, toldAt, shownBy } of this.known.values()) {
      toldTo.delete(peer);
      toldAt.delete(peer);
      shownBy.delete(peer);
    }
    for (const sent of this.senders.values()) if (sent.peers.has(peer)) sent.isFromOne = false;
  }

  /** A client gave it. */
  submits(id: string, nowNs: number): void {
    this.once?.comes(id, nowNs);
    const sent = this.senders.get(id);
    if (sent) sent.isFromOne = false;
    else this.senders.set(id, { peers: new Set(), atNs: nowNs, isFromOne: false });
  }

  asks(tag: number, tx: Uint8Array, type: number, nowNs: number): void {
    const id = idOf(tx);
    const isNew = type === CHECK_TX_NEW;
    this.asked.set(tag, { id, isNew });
    if (!isNew) {
      this.rechecks++;
      this.rechecking.set(tag, id);
      return;
    }
    this.due.delete(id);
    // It will hear that it is in a block before it hears what the application says; or it has, and forgotten it by the end of the block.
    if (nowNs - this.takenNs < HOP_NS && this.taken.includes(id)) {
      if (this.taken.length > this.config.cacheSize) this.isDoubtful(id, tx.length);
      return;
    }
    this.isBack(id);
    const before = this.known.get(id);
    if (before) {
      // It had let go of it.
      before.toldAt.clear();
      before.shownBy.clear();
      before.isFromOne = false;
      before.relayed = null;
      return;
    }
    const sent = this.senders.get(id);
    const toldTo = new Map<PeerId, number>();
    const shownBy = new Map<PeerId, number>();
    for (const peer of sent?.peers ?? []) {
      toldTo.set(peer, HAS_IT);
      if (sent?.isFromOne) shownBy.set(peer, sent.atNs);
    }
    this.senders.delete(id);
    this.known.set(id, {
      bytes: tx.length,
      goneBytes: this.cameBytes - this.bytes,
      gasWanted: 0n,
      sinceNs: null,
      height: 0n,
      toldTo,
      toldAt: new Map(),
      shownBy,
      isFromOne: sent?.isFromOne === true,
      relayed: null,
    });
    this.count++;
    this.bytes += tx.length;
    this.cameBytes += tx.length;
  }

  /** What may have been offered before this one, or with it: all that was there when it came, and what came since. */
  bytesAround({ goneBytes }: Known): number {
    return this.cameBytes - goneBytes;
  }

  /** How large what the application answers about is. */
  bytesAsked(tag: number): number {
    const about = this.asked.get(tag);
    return (about && this.known.get(about.id)?.bytes) ?? 0;
  }

  /** `isHeld`: null where the pool may have its own reason to refuse. */
  answers(tag: number, isHeld: boolean | null, gasWanted: bigint, now: Moment): void {
    const about = this.asked.get(tag);
    this.asked.delete(tag);
    if (this.rechecking.delete(tag)) this.overrun.delete(tag);
    if (!about) return;
    this.answeredNs = now.atNs;
    if (!about.isNew) this.rechecks--;
    const known = this.known.get(about.id);
    if (isHeld === false) this.isSettled(about.id);
    if (!known) return;
    if (about.isNew) known.gasWanted = gasWanted;
    if (isHeld) {
      if (known.sinceNs === null) known.height = this.heightAt(now.atNs);
      known.sinceNs ??= now.atNs;
      if (about.isNew && known.isFromOne) known.relayed ??= now;
    } else this.leaves(about.id, known);
    if (isHeld === null || (!isHeld && this.config.keepInvalidTxsInCache)) this.isGone(about.id);
  }

  isKnown(id: string): boolean {
    return this.known.has(id) || this.gone.has(id) || this.doubtful.has(id);
  }

  /** What a cache has seen again it remembers for longer; a full pool does not look: then it may stay where it was, and push nothing out. */
  isGivenAgain(id: string, nowNs: number): void {
    const pushes = this.gone.get(id);
    if (pushes !== undefined) this.isGone(id, pushes && !this.mayBeFull(0, nowNs));
  }

  private isGone(id: string, pushes = true): void {
    this.isBack(id);
    this.gone.set(id, pushes);
    if (pushes) this.pushing++;
    for (const oldest of this.gone.keys()) {
      if (this.pushing <= this.config.cacheSize) return;
      this.isBack(oldest);
    }
  }

  private isBack(id: string): void {
    if (this.gone.get(id)) this.pushing--;
    this.gone.delete(id);
  }

  private isDoubtful(id: string, bytes: number): void {
    this.isSettled(id);
    this.doubtful.set(id, bytes);
    this.doubtfulBytes += bytes;
  }

  private isSettled(id: string): void {
    this.doubtfulBytes -= this.doubtful.get(id) ?? 0;
    this.doubtful.delete(id);
  }

  private leaves(id: string, known: Known): void {
    this.known.delete(id);
    this.count--;
    this.bytes -= known.bytes;
  }

  executes(height: bigint, txs: readonly Uint8Array[]): void {
    this.execution = { height, txs, codes: null };
  }

  executed(codes: readonly number[]): void {
    if (this.execution) this.execution = { ...this.execution, codes };
  }

  /** As the application said itself; null: it executed nothing of the kind in this life. */
  codesOf({ height, txs }: Taken): readonly number[] | null {
    const { execution } = this;
    return execution?.height === height && execution.codes?.length === txs.length ? execution.codes : null;
  }

  private heightAt(nowNs: number): bigint {
    return nowNs - this.takenNs < HOP_NS ? this.heightBefore : this.height;
  }

  /** What failed in a block may come again, if the operator does not say otherwise; what the next has no room for leaves, and may come again likewise. */
  takes({ height, txs, ...limits }: Taken, codes: readonly number[], next: Room, nowNs: number): void {
    this.heightBefore = this.heightAt(nowNs);
    this.height = height;
    this.takenNs = nowNs;
    this.once?.takes(txs.length, nowNs);
    for (const [id, known] of this.known) {
      if (fieldBytes(known.bytes) <= next.bytes && !isTooDear(known.gasWanted, next.gas)) continue;
      this.leaves(id, known);
      if (this.config.keepInvalidTxsInCache) this.isGone(id, false);
    }
    const ids = txs.map(idOf);
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as string;
      const known = this.known.get(id);
      if (known) this.leaves(id, known);
      this.isSettled(id);
      if (codes[i] === 0 || this.config.keepInvalidTxsInCache) this.isGone(id, codes[i] === 0);
    }
    this.taken = ids;
    this.overtakes(limits, nowNs);
  }

  /** What is asked about again, and stays, is asked too late. Where there is another room than before, anything may have left. */
  private overtakes({ blockTxBytesMax, gasMax }: Limits, nowNs: number): void {
    const before = this.limits;
    this.limits = { blockTxBytesMax, gasMax };
    const isSame = before !== null && before.blockTxBytesMax === blockTxBytesMax && before.gasMax === gasMax;
    for (const [tag, id] of this.rechecking) {
      if (isSame && this.known.has(id)) this.overrun.set(tag, this.overrun.get(tag) ?? nowNs);
      else if (this.rechecking.delete(tag)) this.overrun.delete(tag);
    }
  }

  /** A block came before all was checked again since the one before: until it is, the pool takes nothing new. `heldNs`: it may have read that late. */
  isOverrun(nowNs: number, heldNs: number): boolean {
    for (const sinceNs of this.overrun.values()) return nowNs - Math.max(sinceNs, heldNs) > HOP_NS;
    return false;
  }
}
