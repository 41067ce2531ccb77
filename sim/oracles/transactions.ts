// Which transactions were given to the network, and which block holds each: none that nobody gave, none twice, as long as no node had to forget
// any (mempool.cache_size).

import { utf8Decode, utf8Encode } from '#platform';
import { byteKey, hexOf } from '../../protocol/bytes.ts';
import { txHash } from '../../protocol/hashes.ts';
import type { Block } from '../../protocol/types.ts';

/** Half a hash tells transactions apart, in the least memory: there is one per transaction of a run. */
const keyOf = (tx: Uint8Array): string => byteKey(txHash(tx).subarray(0, 16));
const SHORT_BYTES = 6;
const named = (tx: Uint8Array): string => hexOf(txHash(tx).subarray(0, SHORT_BYTES));

/** Nodes hear in different orders: a cache may forget before so much of it came between. */
const SHARE_OF_CACHE = 0.75;

export class Transactions {
  private readonly given = new Set<string>();
  /** The height of each that is in a block. */
  private readonly taken = new Map<string, bigint>();
  /** Whoever forgets first may have forgotten one when there are more than so many. */
  private readonly forgottenAfter: number;

  /** `cacheSize`: of the smallest cache. */
  constructor(cacheSize: number) {
    this.forgottenAfter = SHARE_OF_CACHE * cacheSize;
  }

  submitted(tx: Uint8Array): void {
    this.gives(keyOf(tx));
    // The one named rule that makes a transaction of another: kvstore's PrepareProposal writes `:` as `=`.
    const text = utf8Decode(tx);
    if (text.includes(':')) this.gives(keyOf(utf8Encode(text.replace(':', '='))));
  }

  private gives(key: string): void {
    if (this.mayBeForgotten) this.taken.delete(key);
    this.given.add(key);
  }

  /** One that comes back pushes out the next, which may come back in turn: then it may be any of them. */
  private get mayBeForgotten(): boolean {
    return this.given.size > this.forgottenAfter;
  }

  /** Plain links have no seal: a transaction with a flipped bit is another transaction, and nobody's fault. */
  corrupted(tx: Uint8Array): void {
    this.gives(keyOf(tx));
  }

  /** A block holds them now. What is wrong with that. */
  *take({ header: { height }, txs }: Block): Generator<string> {
    for (const tx of txs) {
      const key = keyOf(tx);
      const before = this.taken.get(key);
      if (before !== undefined && !this.mayBeForgotten)
        yield `integrity: transaction ${named(tx)} is in blocks ${before} and ${height}`;
      this.taken.set(key, height);
      if (!this.given.has(key))
        yield `validity: block ${height} holds transaction ${named(tx)}, which nobody submitted`;
    }
  }

  /** What the application has not executed may come again: nobody keeps it out of pools. */
  forgive(txs: readonly Uint8Array[], results: readonly { readonly code: number }[]): void {
    for (const [i, tx] of txs.entries()) if (results[i]?.code !== 0) this.taken.delete(keyOf(tx));
  }
}
