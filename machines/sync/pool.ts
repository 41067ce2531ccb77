// Which block is asked of whom, and what is believed of peers (spec 5.12): heights in order, claims only as far as they are served.

import { must, type Refusal, refuse, unreachable } from '../../protocol/refusal.ts';
import type { SyncConfig } from './config.ts';

export interface BlockRequest {
  readonly peer: string;
  readonly height: bigint;
}

/** A block of a peer, not verified. `bytes` is its protobuf; `lastCommit` that of the commit it carries for the height before. */
export interface Fetched {
  readonly from: string;
  readonly bytes: Uint8Array;
  readonly lastCommit: Uint8Array;
}

interface SyncPeer {
  base: bigint;
  height: bigint;
  reportedAtNs: bigint;
  /** Heights it was asked for that nobody has answered yet. */
  readonly open: Set<bigint>;
  /** Since when it owes us something without having sent anything. */
  quietSinceNs: bigint;
}

interface Wanted {
  readonly asked: Set<string>;
  lastAskedNs: bigint;
  fetched: Fetched | null;
}

export class SyncPool {
  private readonly config: SyncConfig;
  /** The next block to hand over. */
  height: bigint;
  private readonly startHeight: bigint;
  private readonly peers = new Map<string, SyncPeer>();
  private readonly bannedUntilNs = new Map<string, bigint>();
  private readonly wanted = new Map<bigint, Wanted>();
  private bufferedBytes = 0;
  private progressAtNs: bigint;
  /** The height that the validator is looking at. */
  private isHandedOver = false;

  constructor(config: SyncConfig, height: bigint, nowNs: bigint) {
    this.config = config;
    this.height = height;
    this.startHeight = height;
    this.progressAtNs = nowNs;
  }

  /** A peer says what it has (SetPeerRange). A refusal of `impossible-range` is worth the connection. */
  range(
    peer: string,
    base: bigint,
    height: bigint,
    nowNs: bigint,
  ): Refusal<'impossible-range' | 'regressed-range'> | null {
    if (base > height) {
      this.ban(peer, nowNs);
      return refuse('impossible-range', `base ${base} is above height ${height}`);
    }
    if (this.isBanned(peer, nowNs)) return null;
    const known = this.peers.get(peer);
    if (!known) {
      const open = new Set<bigint>();
      this.peers.set(peer, { base, height, reportedAtNs: nowNs, open, quietSinceNs: nowNs });
      return null;
    }
    if (base < known.base || height < known.height) {
      // Envelopes may pass each other: a lower report right behind a higher one is an older one.
      if (nowNs - known.reportedAtNs < this.config.statusNs) return null;
      this.ban(peer, nowNs);
      return refuse('regressed-range', `reported ${base}..${height} after ${known.base}..${known.height}`);
    }
    known.base = base;
    known.height = height;
    known.reportedAtNs = nowNs;
    return null;
  }

  /** The peer is gone, and what it was asked is asked of others. */
  remove(peer: string): void {
    this.peers.delete(peer);
    for (const wanted of this.wanted.values()) wanted.asked.delete(peer);
  }

  private ban(peer: string, nowNs: bigint): void {
    this.remove(peer);
    this.bannedUntilNs.set(peer, nowNs + this.config.banNs);
  }

  private isBanned(peer: string, nowNs: bigint): boolean {
    const untilNs = this.bannedUntilNs.get(peer);
    if (untilNs === undefined) return false;
    if (nowNs < untilNs) return true;
    this.bannedUntilNs.delete(peer);
    return false;
  }

  /** What the peers claim at most; 0: nothing. */
  get claimedHeight(): bigint {
    let claimed = 0n;
    for (const { height } of this.peers.values()) if (height > claimed) claimed = height;
    return claimed;
  }

  /** Requests to make now: new heights, late answers again, and second sources. */
  plan(nowNs: bigint): BlockRequest[] {
    const requests: BlockRequest[] = [];
    const window = BigInt(this.config.requestsPerPeerMax * this.peers.size);
    const claimed = this.claimedHeight;
    const last = this.height + window - 1n;
    const top = last < claimed ? last : claimed;
    for (let height = this.height; height <= top; height++) {
      const wanted = this.wanted.get(height);
      if (wanted?.fetched) continue;
      if (!wanted && this.bufferedBytes >= this.config.bufferBytesMax) break;
      const peer = this.sourceFor(height, wanted, nowNs);
      if (peer === null) continue;
      this.ask(height, wanted, peer, nowNs);
      requests.push({ peer, height });
    }
    return requests;
  }

  /** Whom to ask for this height now; null: nobody, or not yet. */
  private sourceFor(height: bigint, wanted: Wanted | undefined, nowNs: bigint): string | null {
    if (!wanted || wanted.asked.size === 0) return this.idlest(height, null);
    const waitedNs = nowNs - wanted.lastAskedNs;
    const isClose = height - this.height < this.config.secondSourceHeights;
    if (isClose && wanted.asked.size === 1 && waitedNs >= this.config.secondSourceAfterNs) {
      const second = this.idlest(height, wanted.asked);
      if (second !== null) return second;
    }
    if (waitedNs < this.config.retryNs) return null;
    return this.idlest(height, wanted.asked) ?? this.idlest(height, null);
  }

  /** The peer with the fewest open requests that claims the height; of equals the one that came first. */
  private idlest(height: bigint, besides: ReadonlySet<string> | null): string | null {
    let found: string | null = null;
    let fewest = this.config.requestsPerPeerMax;
    for (const [name, peer] of this.peers) {
      if (height < peer.base || height > peer.height || besides?.has(name)) continue;
      const load = peer.open.size - (peer.open.has(height) ? 1 : 0); // asked again it owes no more than before
      if (load >= fewest) continue;
      found = name;
      fewest = load;
    }
    return found;
  }

  private ask(height: bigint, wanted: Wanted | undefined, name: string, nowNs: bigint): void {
    const peer = this.peers.get(name) ?? unreachable('asked a peer that is not in the pool');
    if (peer.open.size === 0) peer.quietSinceNs = nowNs;
    peer.open.add(height);
    if (wanted) {
      wanted.asked.add(name);
      wanted.lastAskedNs = nowNs;
    } else {
      this.wanted.set(height, { asked: new Set([name]), lastAskedNs: nowNs, fetched: null });
    }
  }

  /** A peer sent a block (AddBlock). A refusal is worth the connection: nobody asked for it. */
  gave(peer: string, height: bigint, fetched: Fetched, nowNs: bigint): Refusal<'unsolicited-block'> | null {
    const known = this.peers.get(peer);
    if (!known && this.isBanned(peer, nowNs)) return null; // asked before it fell from grace
    const wanted = this.wanted.get(height);
    if (!known || !wanted?.asked.has(peer)) {
      const isOld = known && height >= this.startHeight && height < this.height;
      if (isOld) return null; // the slower of two sources
      return refuse('unsolicited-block', `peer sent us block #${height} we didn't ask it for`);
    }
    known.quietSinceNs = nowNs;
    if (wanted.fetched) return null;
    for (const { open } of this.peers.values()) open.delete(height);
    wanted.fetched = fetched;
    this.bufferedBytes += fetched.bytes.length;
    return null;
  }

  /** A peer has no block of a height that it claimed: none of its claims is worth anything. */
  hasNot(peer: string, height: bigint, nowNs: bigint): void {
    if (this.peers.get(peer)?.open.has(height)) this.ban(peer, nowNs);
  }

  /** Removes and names the peers that owe us blocks and went quiet. */
  removeQuiet(nowNs: bigint): string[] {
    const quiet: string[] = [];
    for (const [name, { open, quietSinceNs }] of this.peers) {
      if (open.size > 0 && nowNs - quietSinceNs >= this.config.peerTimeoutNs) quiet.push(name);
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

  applied(height: bigint, nowNs: bigint): void {
    must(this.isHandedOver && height === this.height, `block ${height} was applied, ${this.height} is next`);
    this.isHandedOver = false;
    this.progressAtNs = nowNs;
    this.bufferedBytes -= this.wanted.get(height)?.fetched?.bytes.length ?? 0;
    this.wanted.delete(height);
    this.height++;
  }

  /** Neither the block nor the commit for it can be told innocent: both senders are banned, and named. */
  refused(height: bigint, nowNs: bigint): string[] {
    must(this.isHandedOver && height === this.height, `block ${height} was refused, ${this.height} is next`);
    this.isHandedOver = false;
    const senders = new Set<string>();
    for (const at of [height, height + 1n]) {
      const { from } = this.wanted.get(at)?.fetched ?? unreachable('a block that was handed over is gone');
      senders.add(from);
    }
    for (const sender of senders) {
      this.ban(sender, nowNs);
      this.forgetBlocksOf(sender);
    }
    return [...senders];
  }

  private forgetBlocksOf(peer: string): void {
    for (const wanted of this.wanted.values()) {
      if (wanted.fetched?.from !== peer) continue;
      this.bufferedBytes -= wanted.fetched.bytes.length;
      wanted.fetched = null;
    }
  }

  /** IsCaughtUp: within a block of what anybody claims. The last block needs the next one's commit, so consensus makes it. */
  isCaughtUp(): boolean {
    if (this.isHandedOver || this.peers.size === 0) return false;
    return this.height >= this.claimedHeight - 1n;
  }

  /** Nobody could have served anything until now. */
  beginPatience(nowNs: bigint): void {
    this.progressAtNs = nowNs;
  }

  /** Peers claim more than they serve, for longer than we are willing to wait. */
  isStalled(nowNs: bigint): boolean {
    return !this.isHandedOver && nowNs - this.progressAtNs >= this.config.stallNs;
  }
}
