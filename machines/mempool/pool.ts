// The pool: transactions that the application found valid, first in first out, until a block takes them (spec
// 5.14). Asks nobody itself.

import type { ResponseCheckTx } from '../../protocol/abci.ts';
import { byteKey } from '../../protocol/bytes.ts';
import { txHash } from '../../protocol/hashes.ts';
import { Lately } from '../../protocol/lately.ts';
import { must, type Refusal, refuse } from '../../protocol/refusal.ts';
import { protoSizeOfTx } from '../../protocol/tx-size.ts';
import { BLOCK_TXS_MAX } from '../../protocol/types.ts';
import { TxCache } from './cache.ts';
import type { MempoolConfig } from './config.ts';

export type PoolRefusal = Refusal<
  | 'mempool-full'
  | 'rechecking'
  | 'tx-too-large'
  | 'pre-check'
  | 'in-cache'
  | 'check-tx'
  | 'post-check'
  | 'late'
>;

/** A transaction on its way through the application's first check. */
export interface Checking {
  readonly tx: Uint8Array;
  readonly hash: Uint8Array;
  readonly key: string;
  /** The pool's height when the application was asked. */
  readonly height: bigint;
  /** Peers that sent it to us. */
  readonly knownBy: Set<string>;
  /** Somebody submitted it to this very node. */
  readonly isLocal: boolean;
  /** A block took it before the application answered. */
  isCommitted: boolean;
}

export interface PoolTx {
  readonly tx: Uint8Array;
  readonly hash: Uint8Array;
  readonly key: string;
  readonly gasWanted: bigint;
  /** The pool's height when it entered: a block may hold it from the next one on. */
  readonly height: bigint;
  /** Peers that sent it to us, so that nobody sends it back. */
  readonly knownBy: Set<string>;
  isGone: boolean;
  /** Whether the application is asked about it again; `outdated`: another block came since, and it has not answered. */
  recheck: 'none' | 'asked' | 'outdated';
}

/** Pools of one process are given the same arrays, which nobody changes any more: see `World.submit`. */
const hashes = new Lately<Uint8Array, Uint8Array>(32);

const hashOf = (tx: Uint8Array): Uint8Array => hashes.of(tx, txHash);

/** How a transaction came. */
interface Arrival {
  /** Of a peer that is not up no name is kept: it is forgotten when it comes up, and strangers have as many names as they like. */
  readonly isUp: boolean;
  /** Bytes of the message that it is a view of; 0: of none. */
  readonly cameIn: number;
}
const OF_A_CLIENT: Arrival = { isUp: true, cameIn: 0 };
/** Up to here it does not matter what a transaction keeps in memory beside itself; else it is no more than as much again. */
const PADDING_BYTES_MAX = 16 * 1024;

export class Pool {
  private readonly config: MempoolConfig;
  private readonly cache: TxCache;
  /** In order of entry. */
  readonly txs = new Map<string, PoolTx>();
  readonly checking = new Map<string, Checking>();
  private bytes = 0;
  private bytesChecking = 0;
  height = 0n;
  private blockTxBytesMax: bigint;
  private gasMax: bigint;
  /** What is in the pool and rechecked; `isOverrun` when a block came before all of it was. */
  private rechecks = 0;
  private isOverrun = false;

  constructor(config: MempoolConfig) {
    this.config = config;
    this.cache = new TxCache(config.cacheSize);
    this.blockTxBytesMax = config.blockTxBytesMax;
    this.gasMax = config.gasMax;
  }

  get size(): number {
    return this.txs.size;
  }

  get sizeBytes(): number {
    return this.bytes;
  }

  /** A peer that comes, or comes back, knows nothing, not what it sent either: it may have lost its pool. All that it may lack is given. */
  forgetPeer(peer: string): Iterable<PoolTx> {
    for (const each of [this.txs, this.checking])
      for (const { knownBy } of each.values()) knownBy.delete(peer);
    return this.txs.values();
  }

  /** CheckTx before the application is asked. `sender` is a peer, or null for this node's own clients. */
  admit(
    tx: Uint8Array,
    sender: string | null,
    { isUp, cameIn }: Arrival = OF_A_CLIENT,
  ): Checking | PoolRefusal {
    const hash = hashOf(tx);
    const key = byteKey(hash);
    const known = this.txs.get(key) ?? this.checking.get(key);
    // Also of what a full pool refuses: a peer that is not known to have it is offered it again and again.
    if (known && sender !== null && isUp) known.knownBy.add(sender);
    const refusal = this.refusalFor(tx.length);
    if (refusal) return refusal;
    if (!this.cache.push(key) || known) return refuse('in-cache', 'tx already exists in cache');
    const isPadded = cameIn > PADDING_BYTES_MAX && 2 * tx.length < cameIn;
    const checking: Checking = {
      tx: isPadded ? tx.slice() : tx,
      hash,
      key,
      height: this.height,
      knownBy: new Set(sender === null || !isUp ? [] : [sender]),
      isLocal: sender === null,
      isCommitted: false,
    };
    this.checking.set(key, checking);
    this.bytesChecking += tx.length;
    return checking;
  }

  /**
   * What is being checked counts as being here, so that nothing the application accepted has to be dropped.
   */
  private refusalFor(length: number): PoolRefusal | null {
    // No message may carry it: each peer would drop who offers it.
    if (length === 0) return refuse('pre-check', 'tx pre check: a transaction must not be empty');
    const { txsMax, bytesMax, txBytesMax } = this.config;
    const count = this.txs.size + this.checking.size;
    const bytes = this.bytes + this.bytesChecking;
    if (count >= txsMax || bytes + length > bytesMax) {
      const load = `number of txs ${count} (max: ${txsMax}), total txs bytes ${bytes} (max: ${bytesMax})`;
      return refuse('mempool-full', `mempool is full: ${load}`);
    }
    if (this.isOverrun) {
      const because = 'mempool is still rechecking after a new committed block, so it is considered as full';
      return refuse('rechecking', because);
    }
    if (length > txBytesMax) {
      return refuse('tx-too-large', `Tx too large. Max size is ${txBytesMax}, but got ${length}`);
    }
    return this.refusalOfSize(length);
  }

  /** No block has room for it. */
  private refusalOfSize(length: number): PoolRefusal | null {
    const size = BigInt(protoSizeOfTx(length));
    if (this.blockTxBytesMax < 0n || size <= this.blockTxBytesMax) return null;
    return refuse('pre-check', `tx pre check: tx size is too big: ${size}, max: ${this.blockTxBytesMax}`);
  }

  /** The application's answer to the first check. */
  settle(checking: Checking, response: ResponseCheckTx): PoolTx | PoolRefusal {
    if (checking.isCommitted) return refuse('late', 'a block took the transaction while it was checked');
    const { tx, hash, key, knownBy } = checking;
    this.checking.delete(key);
    this.bytesChecking -= tx.length;
    const refusal = this.refusalOf(response) ?? this.refusalOfSize(tx.length);
    if (refusal) {
      if (!this.config.keepInvalidTxsInCache) this.cache.remove(key);
      return refusal;
    }
    must(!this.txs.has(key), 'a transaction in the pool was checked as new');
    const { height } = this;
    const entered: PoolTx = {
      tx,
      hash,
      key,
      gasWanted: response.gasWanted,
      height,
      knownBy,
      isGone: false,
      recheck: 'none',
    };
    this.txs.set(key, entered);
    this.bytes += tx.length;
    return entered;
  }

  private refusalOf({ code, log, gasWanted }: ResponseCheckTx): PoolRefusal | null {
    if (code !== 0) return refuse('check-tx', log === '' ? 'refused by the application' : log);
    return this.refusalOfGas(gasWanted);
  }

  /** No block may take as much. */
  private refusalOfGas(gasWanted: bigint): PoolRefusal | null {
    if (this.gasMax === -1n) return null;
    if (gasWanted < 0n) return refuse('post-check', `gas wanted ${gasWanted} is negative`);
    if (gasWanted <= this.gasMax) return null;
    return refuse('post-check', `gas wanted ${gasWanted} is greater than max gas ${this.gasMax}`);
  }

  /** In order of entry, stopping at the first that would exceed a limit (-1: none). */
  reap(bytesMax: bigint, gasMax: bigint): Uint8Array[] {
    const txs: Uint8Array[] = [];
    const bytesLimit = bytesMax < 0n ? Number.POSITIVE_INFINITY : Number(bytesMax);
    let bytes = 0;
    let gas = 0n;
    for (const { tx, gasWanted } of this.txs.values()) {
      bytes += protoSizeOfTx(tx.length);
      gas += gasWanted;
      if (bytes > bytesLimit || (gasMax >= 0n && gas > gasMax) || txs.length === BLOCK_TXS_MAX) break;
      txs.push(tx);
    }
    return txs;
  }

  /**
   * A block was committed. What is left is the caller's to have rechecked (`beginRecheck`, `settleRecheck`).
   */
  update(height: bigint, txs: readonly Uint8Array[], codes: readonly number[], limits: PoolLimits): void {
    this.height = height;
    const isOtherRoom = limits.blockTxBytesMax !== this.blockTxBytesMax || limits.gasMax !== this.gasMax;
    this.blockTxBytesMax = limits.blockTxBytesMax;
    this.gasMax = limits.gasMax;
    this.isOverrun = this.rechecks > 0;
    for (let i = 0; i < txs.length; i++) {
      const key = byteKey(hashOf(txs[i]!));
      if (codes[i] === 0) this.cache.push(key);
      else if (!this.config.keepInvalidTxsInCache) this.cache.remove(key);
      const checking = this.checking.get(key);
      if (checking) {
        checking.isCommitted = true;
        this.checking.delete(key);
        this.bytesChecking -= checking.tx.length;
      }
      const pooled = this.txs.get(key);
      if (pooled) this.remove(pooled);
    }
    if (isOtherRoom) this.removeWithoutRoom();
  }

  /**
   * What fits no block any more, or wants more gas than one may take, would keep all that waits behind it from every block: these are filled
   * in order. CometBFT asks its preCheck at the first check alone, its postCheck there and at rechecks: without these both stay.
   */
  private removeWithoutRoom(): void {
    for (const pooled of this.txs.values()) {
      if (!this.refusalOfSize(pooled.tx.length) && !this.refusalOfGas(pooled.gasWanted)) continue;
      this.remove(pooled);
      if (!this.config.keepInvalidTxsInCache) this.cache.remove(pooled.key);
    }
  }

  /**
   * False: the application has a question about it already, and is asked once more when it has answered. One at a time: a slow one would
   * otherwise be asked about all that waits with every block, and be further behind with each.
   */
  beginRecheck(pooled: PoolTx): boolean {
    if (pooled.recheck !== 'none') {
      pooled.recheck = 'outdated';
      return false;
    }
    pooled.recheck = 'asked';
    this.rechecks++;
    return true;
  }

  /** `outdated`: it stays, and the application is to be asked once more. Null: it stays, or left before. */
  settleRecheck(pooled: PoolTx, response: ResponseCheckTx): PoolRefusal | 'outdated' | null {
    if (pooled.isGone) return null;
    const refusal = this.refusalOf(response);
    if (!refusal) return this.goesOn(pooled);
    this.remove(pooled);
    if (!this.config.keepInvalidTxsInCache) this.cache.remove(pooled.key);
    return refusal;
  }

  private goesOn(pooled: PoolTx): 'outdated' | null {
    const isOutdated = pooled.recheck === 'outdated';
    if (isOutdated) pooled.recheck = 'asked';
    else this.endRecheck(pooled);
    return isOutdated ? 'outdated' : null;
  }

  private endRecheck(pooled: PoolTx): void {
    if (pooled.recheck === 'none') return;
    pooled.recheck = 'none';
    this.rechecks--;
    if (this.rechecks === 0) this.isOverrun = false;
  }

  private remove(pooled: PoolTx): void {
    this.endRecheck(pooled);
    pooled.isGone = true;
    this.txs.delete(pooled.key);
    this.bytes -= pooled.tx.length;
  }
}

/** What a block of the next height allows one transaction; -1: no limit. */
interface PoolLimits {
  readonly blockTxBytesMax: bigint;
  readonly gasMax: bigint;
}
