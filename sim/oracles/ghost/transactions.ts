// Which transactions were given to the network, and which block holds each: none that nobody gave, none twice, as long as no node had to forget
// one (mempool.cache_size, or a new life). What an application of one's own adds to its proposals is its own.

import { utf8Decode, utf8Encode } from '#platform';
import { byteKey, hexOf } from '../../../protocol/bytes.ts';
import { txHash } from '../../../protocol/hashes.ts';
import type { Block } from '../../../protocol/types.ts';

/** Half a hash tells transactions apart, in the least memory: there is one per transaction of a run. */
const keyOf = (tx: Uint8Array): string => byteKey(txHash(tx).subarray(0, 16));
const SHORT_BYTES = 6;
const named = (tx: Uint8Array): string => hexOf(txHash(tx).subarray(0, SHORT_BYTES));

/** Nodes hear in different orders: a cache may forget before so much of it came between. */
const SHARE_OF_CACHE = 0.75;

/** A new life knows what so many of its last blocks held. */
const BLOCKS_REMINDED = 64n;

/** The one named rule that makes a transaction of another: kvstore's PrepareProposal writes `:` as `=`. Null: it does not touch this one. */
export function asWritten(tx: Uint8Array): Uint8Array | null {
  const text = utf8Decode(tx);
  return text.includes(':') ? utf8Encode(text.replace(':', '=')) : null;
}

export interface Wrong {
  readonly promise: 'integrity' | 'validity';
  readonly what: string;
}

interface Taken {
  readonly height: bigint;
  /** How many others were in that block, and in those before it that some node had still to commit then: they may be offered again behind it. */
  readonly alongside: number;
}

export class Transactions {
  /** The one that was given or taken last is the last. */
  private readonly given = new Set<string>();
  /** Each that is in a block. */
  private readonly taken = new Map<string, Taken>();
  /** What applications of one's own put into blocks themselves, as often as they like. */
  private readonly brought = new Set<string>();
  /** Whoever forgets first may have forgotten what so many others came after. */
  private readonly forgottenAfter: number;
  /** Blocks that some node may have still to commit, and how many transactions each holds. */
  private behind: { readonly height: bigint; readonly count: number }[] = [];
  /**
   * Some node offered again what others had forgotten by then. Each of those pushes out another, that comes again in turn: from now on it may be
   * any of them.
   */
  private isThrashing = false;

  /** `cacheSize`: of the smallest cache. */
  constructor(cacheSize: number) {
    this.forgottenAfter = SHARE_OF_CACHE * cacheSize;
  }

  /**
   * A node begins another life behind this block, and has those from `base` on: who is behind, at `lowest` or later, may offer it what stands in blocks
   * that it is not reminded of.
   */
  startsBehind(height: bigint, base: bigint, lowest: bigint): void {
    const oldest = height - BLOCKS_REMINDED;
    const forgotten = oldest >= base ? oldest : base - 1n;
    if (forgotten <= lowest) return;
    for (const [key, { height: at }] of this.taken)
      if (at > lowest && at <= forgotten) this.taken.delete(key);
  }

  submitted(tx: Uint8Array): void {
    this.gives(keyOf(tx));
    const written = asWritten(tx);
    if (written) this.gives(keyOf(written));
  }

  private gives(key: string): void {
    if (this.taken.has(key) && this.mayBeForgotten(key)) this.taken.delete(key);
    this.given.delete(key);
    this.given.add(key);
  }

  /** So many others may have come to some node since: those that were given or taken later, those that wait, and those that who was behind offered again. */
  private mayBeForgotten(key: string): boolean {
    if (this.isThrashing) return true;
    if (this.given.size <= this.forgottenAfter) return false;
    let count = this.taken.get(key)?.alongside ?? 0;
    let isLater = false;
    for (const each of this.given) {
      if (each === key) isLater = true;
      else if (isLater || !this.taken.has(each)) count++;
    }
    return count >= this.forgottenAfter;
  }

  brings(tx: Uint8Array): void {
    this.brought.add(keyOf(tx));
  }

  /** Plain links have no seal: a transaction with a flipped bit is another transaction, and nobody's fault. */
  corrupted(tx: Uint8Array): void {
    this.gives(keyOf(tx));
  }

  /** A block holds them now, `lowest` being the height of the node that is furthest behind. What is wrong with that. */
  *take({ header: { height }, txs }: Block, lowest: bigint): Generator<Wrong> {
    this.behind = this.behind.filter((each) => each.height > lowest);
    this.behind.push({ height, count: txs.length });
    const uncommitted = this.behind.reduce((sum, { count }) => sum + count, 0);
    if (uncommitted > this.forgottenAfter) this.isThrashing = true;
    for (const tx of txs) {
      const key = keyOf(tx);
      if (this.brought.has(key)) continue;
      const before = this.taken.get(key);
      if (before !== undefined && !this.mayBeForgotten(key))
        yield {
          promise: 'integrity',
          what: `transaction ${named(tx)} is in blocks ${before.height} and ${height}`,
        };
      this.taken.set(key, { height, alongside: uncommitted - 1 });
      if (this.given.delete(key)) this.given.add(key);
      else
        yield {
          promise: 'validity',
          what: `block ${height} holds transaction ${named(tx)}, which nobody submitted`,
        };
    }
  }

  /** What the application has not executed may come again: nobody keeps it out of pools. */
  forgive(txs: readonly Uint8Array[], results: readonly { readonly code: number }[]): void {
    for (const [i, tx] of txs.entries()) if (results[i]?.code !== 0) this.taken.delete(keyOf(tx));
  }
}
