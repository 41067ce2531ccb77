// Which block is asked of whom, and what is believed of peers (spec 5.12): heights in order, claims only as
// far as they are served.

import { equalBytes } from '../../protocol/bytes.ts';
import { must, type Refusal, refuse, unreachable } from '../../protocol/refusal.ts';
import { Bans } from './bans.ts';
import type { SyncConfig } from './config.ts';
import { EVASIONS_MAX, Evasions } from './evasions.ts';
import {
  forgetLate,
  has,
  hasLost,
  isContradicting,
  NEVER_NS,
  newPeer,
  overtaken,
  owedBesides,
  owes,
  type SyncPeer,
  serves,
} from './peer.ts';
import { Progress } from './progress.ts';
import type { Dispute, Fetched, Wanted } from './wanted.ts';

export interface BlockRequest {
  readonly peer: string;
  readonly height: bigint;
}

/** What a stranger may owe us, so that those who never answer hold up little, and two of the largest blocks have room on a line. */
const REQUESTS_OF_STRANGER_MAX = 2;
/** The commit for a block is in the next one: a single one is of no use. */
const PAIR = 2;

export class SyncPool {
  private readonly config: SyncConfig;
  /** The next block to hand over. */
  height: bigint;
  private readonly startHeight: bigint;
  private readonly peers = new Map<string, SyncPeer>();
  private readonly bans = new Bans();
  private readonly evasions = new Evasions();
  private readonly wanted = new Map<bigint, Wanted>();
  private bufferedBytes = 0;
  /** How large blocks are: that of the newest, or half of what was thought before. */
  private blockBytes = 0;
  private readonly progress: Progress;
  /** The height that the validator is looking at. */
  private isHandedOver = false;
  /** About `height` and the next. */
  private dispute: Dispute | null = null;

  constructor(config: SyncConfig, height: bigint, nowNs: bigint) {
    this.config = config;
    this.height = height;
    this.startHeight = height;
    this.progress = new Progress(config.stallNs, nowNs);
  }

  /** A peer says what it has (SetPeerRange). Who takes back what it said is banned. */
  range(peer: string, base: bigint, height: bigint, nowNs: bigint): void {
    must(base <= height, 'a status was decoded without checking it');
    if (this.bans.has(peer, nowNs)) return this.evasions.leaves(peer);
    const known = this.peers.get(peer);
    if (!known) {
      this.evasions.greets(peer);
      this.peers.set(peer, newPeer(base, height, nowNs));
    } else if (base < known.reportedBase || height < known.height) {
      // Envelopes may pass each other: a lower report right behind a higher one is an older one.
      if (nowNs - known.reportedAtNs >= this.config.statusNs) this.ban(peer, nowNs);
    } else {
      known.reportedBase = base;
      known.base = base > known.refused ? base : known.refused + 1n;
      known.height = height;
      known.reportedAtNs = nowNs;
      const isEvading = this.evasions.reports(peer, known.open);
      // Right behind the refusal it may be an older report.
      const isLying = isContradicting(known) && nowNs - known.refusedAtNs >= this.config.retryNs;
      if (isLying || isEvading) this.ban(peer, nowNs);
    }
  }

  /** These peers are asked now how far they are. */
  asksReports(peers: readonly string[], nowNs: bigint): void {
    this.evasions.asks(peers, nowNs);
  }

  /** The peer is gone, and what it was asked is asked of others. Its evasions are remembered for when it comes again. */
  remove(peer: string): void {
    this.evasions.leaves(peer);
    this.peers.delete(peer);
    for (const wanted of this.wanted.values()) wanted.asked.delete(peer);
  }

  private ban(peer: string, nowNs: bigint): void {
    this.remove(peer);
    this.evasions.forgives(peer);
    this.bans.add(peer, nowNs + this.config.banNs);
  }

  /** Whether this peer said what it has. */
  hasReported(peer: string): boolean {
    return this.peers.has(peer);
  }

  /** What the peers claim at most; 0: nothing. */
  get claimedHeight(): bigint {
    let claimed = 0n;
    for (const { base, height } of this.peers.values())
      if (base <= height && height > claimed) claimed = height;
    return claimed;
  }

  /** Requests to make now: new heights, late answers again, and second sources. */
  plan(nowNs: bigint): BlockRequest[] {
    const requests: BlockRequest[] = [];
    for (const peer of this.peers.values())
      if (nowNs - peer.quietSinceNs >= this.config.retryNs) forgetLate(peer);
    const window = BigInt(Math.max(PAIR, this.config.requestsPerPeerMax * this.peers.size));
    const claimed = this.claimedHeight;
    let expectedBytes = this.expectedBytes();
    const last = this.height + window - 1n;
    const top = last < claimed ? last : claimed;
    for (let height = this.height; height <= top; height++) {
      const wanted = this.wanted.get(height);
      if (wanted?.fetched) continue;
      // The pair at our height is asked for in any case: the buffer may be full of blocks that cannot leave before it.
      const isNext = height <= this.height + 1n;
      const isUnderWay = (wanted?.asked.size ?? 0) > 0;
      if (!isUnderWay && !isNext && expectedBytes >= this.config.bufferBytesMax) break;
      const peer = this.sourceFor(height, wanted, nowNs);
      if (peer === null) continue;
      this.ask(height, wanted, peer, nowNs);
      if (!isUnderWay) expectedBytes += this.blockBytes;
      requests.push({ peer, height });
    }
    return requests;
  }

  /** What waits for its turn, and what is asked for: a peer that answers cannot see what is under way already. */
  private expectedBytes(): number {
    let bytes = this.bufferedBytes;
    for (const { fetched, asked } of this.wanted.values())
      if (!fetched && asked.size > 0) bytes += this.blockBytes;
    return bytes;
  }

  /** Whom to ask for this height now; null: nobody, or not yet. */
  private sourceFor(height: bigint, wanted: Wanted | undefined, nowNs: bigint): string | null {
    if (this.dispute && height <= this.height + 1n) return this.sourceAlone(this.dispute, wanted, nowNs);
    if (!wanted || wanted.asked.size === 0) return this.idlest(height, null);
    const waitedNs = nowNs - wanted.lastAskedNs;
    const isClose = height - this.height < this.config.secondSourceHeights;
    if (isClose && wanted.asked.size === 1 && waitedNs >= this.config.secondSourceAfterNs) {
      const second = this.idlest(height, wanted.asked);
      if (second !== null) return second;
    }
    if (waitedNs < this.config.retryNs) return null;
    return this.idlest(height, wanted.asked) ?? this.longestAgo(height, wanted.asked, nowNs);
  }

  /** The same peer for both heights of a dispute; another one when it went. */
  private sourceAlone(dispute: Dispute, wanted: Wanted | undefined, nowNs: bigint): string | null {
    const lacksFirst = (peer: string): boolean => (this.peers.get(peer)?.base ?? 0n) > this.height;
    if (dispute.alone === null || !this.peers.has(dispute.alone) || lacksFirst(dispute.alone)) {
      const besides = { has: (peer: string) => dispute.tried.has(peer) || lacksFirst(peer) };
      dispute.alone = this.idlest(this.height + 1n, besides);
      if (dispute.alone === null)
        dispute.tried.clear(); // all were tried: from the start, next time
      else dispute.tried.add(dispute.alone);
      this.forgetPair();
    }
    const { alone } = dispute;
    if (alone === null) return null;
    const peer = this.peers.get(alone) ?? unreachable('asked a peer that is not in the pool');
    const askedNs = wanted?.asked.get(alone);
    if (askedNs === undefined) return alone;
    const patientSinceNs = nowNs - this.config.retryNs;
    return askedNs <= patientSinceNs && hasLost(peer, askedNs, patientSinceNs) ? alone : null;
  }

  /** Of the peers that claim the height: the proven before the strangers, who owes least, the one that came first. */
  private idlest(height: bigint, besides: { has(peer: string): boolean } | null): string | null {
    const { requestsPerPeerMax } = this.config;
    let found: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const [name, peer] of this.peers) {
      if (!has(peer, height) || besides?.has(name)) continue;
      const { isProven } = peer;
      const owed = owedBesides(peer, height);
      if (owed >= (isProven ? requestsPerPeerMax : Math.min(REQUESTS_OF_STRANGER_MAX, requestsPerPeerMax)))
        continue;
      const load = isProven ? owed : owed + requestsPerPeerMax;
      if (load >= least) continue;
      found = name;
      least = load;
    }
    return found;
  }

  /** Of those asked before, the one that had the longest time to answer; not one that is still at it, nor that owes enough, and this no more. */
  private longestAgo(height: bigint, asked: ReadonlyMap<string, bigint>, nowNs: bigint): string | null {
    let found: string | null = null;
    for (const [name, atNs] of asked) {
      const peer = this.peers.get(name);
      if (!peer || !has(peer, height) || !hasLost(peer, atNs, nowNs - this.config.retryNs)) continue;
      if (owedBesides(peer, height) >= this.config.requestsPerPeerMax) continue;
      if (found === null || atNs < asked.get(found)!) found = name;
    }
    return found;
  }

  private ask(height: bigint, wanted: Wanted | undefined, name: string, nowNs: bigint): void {
    const peer = this.peers.get(name) ?? unreachable('asked a peer that is not in the pool');
    if (peer.open.size === 0) peer.quietSinceNs = nowNs;
    owes(peer, height, nowNs);
    if (wanted) {
      wanted.asked.set(name, nowNs);
      wanted.lastAskedNs = nowNs;
    } else {
      this.wanted.set(height, { asked: new Map([[name, nowNs]]), lastAskedNs: nowNs, fetched: null });
    }
  }

  /** Whether some block of its is awaited: any other need not be read. */
  isAsked(peer: string): boolean {
    const known = this.peers.get(peer);
    if (!known) return false;
    if (known.late.size + known.stray.size > 0) return true; // that it comes says how busy its line is
    for (const { asked, fetched } of this.wanted.values())
      if (fetched === null && asked.has(peer)) return true;
    return false;
  }

  /** A peer sent a block (AddBlock). A refusal is worth the connection: nobody asked for it. */
  gave(peer: string, height: bigint, fetched: Fetched, nowNs: bigint): Refusal<'unsolicited-block'> | null {
    const known = this.peers.get(peer);
    // Asked before it fell from grace; or by an earlier life of ours: it has not said yet how far it is, so this one has asked it for nothing.
    if (!known) return null;
    if (this.takesAnswer(peer, known, height)) known.quietSinceNs = nowNs;
    const wanted = this.wanted.get(height);
    if (!wanted?.asked.has(peer)) {
      const isOld = height >= this.startHeight && height < this.height;
      if (isOld) return null; // the slower of two sources
      return refuse('unsolicited-block', `peer sent us block #${height} we didn't ask it for`);
    }
    known.isProven = true;
    if (wanted.fetched) return null;
    if (this.dispute && height <= this.height + 1n && peer !== this.dispute.alone) return null;
    for (const each of this.peers.values()) overtaken(each, height);
    wanted.fetched = fetched;
    this.bufferedBytes += fetched.bytes.length;
    this.blockBytes = Math.max(fetched.bytes.length, Math.floor(this.blockBytes / 2));
    return null;
  }

  /** Whether it was asked for that. */
  private takesAnswer(peer: string, known: SyncPeer, height: bigint): boolean {
    const askedNs = serves(known, height);
    if (askedNs !== null) this.evasions.hasAnswered(peer, askedNs);
    return askedNs !== null;
  }

  /**
   * A peer has no block of a height that it claimed, nor then an older one: they may have gone since it said so. True: it is to say anew what it
   * has, and is banned if that is what it had not.
   */
  hasNot(peer: string, height: bigint, nowNs: bigint): boolean {
    const known = this.peers.get(peer);
    if (!known) return false;
    const isWanted = known.open.has(height);
    this.takesAnswer(peer, known, height);
    if (!isWanted) return false;
    known.quietSinceNs = nowNs;
    const wanted = this.wanted.get(height);
    if (wanted?.asked.has(peer)) {
      wanted.asked.set(peer, NEVER_NS);
      if (wanted.asked.size === 1) wanted.lastAskedNs = NEVER_NS; // nobody else is asked yet
    }
    if (height < known.base) return false;
    const isFirst = !isContradicting(known);
    if (isFirst) known.refusedAtNs = nowNs;
    known.refused = height;
    known.base = height + 1n;
    return isFirst;
  }

  /** Removes and names the peers that owe us blocks and went quiet, or say no longer how far they are. */
  removeQuiet(nowNs: bigint): string[] {
    const { peerTimeoutNs, statusNs } = this.config;
    const quiet: string[] = [];
    for (const [name, { open, quietSinceNs, reportedAtNs }] of this.peers) {
      if (open.size === 0) continue;
      const isMute = nowNs - reportedAtNs >= BigInt(EVASIONS_MAX + 1) * statusNs;
      if (isMute || nowNs - quietSinceNs >= peerTimeoutNs) quiet.push(name);
    }
    for (const name of quiet) this.remove(name);
    return quiet;
  }

  /** The next block and the commit for it, once: it is the validator's until `applied` or `refused`. */
  handOver(): { readonly height: bigint; readonly block: Uint8Array; readonly commit: Uint8Array } | null {
    if (this.isHandedOver) return null;
    const first = this.wanted.get(this.height)?.fetched;
    const second = this.wanted.get(this.height + 1n)?.fetched;
    if (!first || !second) return null;
    this.isHandedOver = true;
    return { height: this.height, block: first.bytes, commit: second.lastCommit };
  }

  /** Names the liar of a dispute that this block settles, if there was one: it is banned. */
  applied(height: bigint, nowNs: bigint): string | null {
    must(this.isHandedOver && height === this.height, `block ${height} was applied, ${this.height} is next`);
    this.isHandedOver = false;
    const fetched = this.fetchedAt(height);
    this.progress.applied(fetched.timeNs, nowNs);
    const liar = this.settled(fetched);
    this.forget(height);
    this.wanted.delete(height);
    this.height++;
    if (liar === null) return null;
    const isHere = this.peers.has(liar);
    this.ban(liar, nowNs);
    this.forgetBlocksOf(liar);
    return isHere ? liar : null;
  }

  private settled(right: Fetched): string | null {
    const { dispute } = this;
    if (!dispute) return null;
    this.dispute = null;
    return equalBytes(dispute.first.bytes, right.bytes) ? dispute.second.from : dispute.first.from;
  }

  /**
   * Names the peer that gave both the block and the commit for it, and bans it; null when there were two, and
   * one is honest.
   */
  refused(height: bigint, nowNs: bigint): string | null {
    must(this.isHandedOver && height === this.height, `block ${height} was refused, ${this.height} is next`);
    this.isHandedOver = false;
    const [first, second] = [this.fetchedAt(height), this.fetchedAt(height + 1n)];
    if (first.from === second.from) {
      this.ban(first.from, nowNs);
      this.forgetBlocksOf(first.from);
      return first.from;
    }
    must(this.dispute === null, 'both blocks of a dispute come from one peer');
    this.dispute = { first, second, alone: null, tried: new Set() };
    this.forgetPair();
    return null;
  }

  /**
   * What was asked before stays known, so that late answers are nobody's fault, but does not hold up asking
   * again.
   */
  private forgetPair(): void {
    for (const height of [this.height, this.height + 1n]) {
      this.forget(height);
      const asked = this.wanted.get(height)?.asked;
      if (asked) for (const peer of asked.keys()) asked.set(peer, NEVER_NS);
    }
  }

  private fetchedAt(height: bigint): Fetched {
    return this.wanted.get(height)?.fetched ?? unreachable('a block that was handed over is gone');
  }

  private forget(height: bigint): void {
    const wanted = this.wanted.get(height);
    if (!wanted?.fetched) return;
    this.bufferedBytes -= wanted.fetched.bytes.length;
    wanted.fetched = null;
  }

  private forgetBlocksOf(peer: string): void {
    for (const [height, { fetched }] of this.wanted) if (fetched?.from === peer) this.forget(height);
  }

  /**
   * IsCaughtUp: within a block of what anybody claims. The last block needs the next one's commit, so
   * consensus makes it.
   */
  isCaughtUp(): boolean {
    if (this.isHandedOver || this.peers.size === 0) return false;
    return this.height >= this.claimedHeight - 1n;
  }

  /** Nobody could have served anything until now. */
  beginPatience(nowNs: bigint): void {
    this.progress.begin(nowNs);
  }

  /** Peers claim more than they serve, or we only keep pace with the chain, for longer than we are willing to wait. */
  isStalled(nowNs: bigint): boolean {
    return !this.isHandedOver && this.progress.isStalled(nowNs);
  }
}
