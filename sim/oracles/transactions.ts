// Which transactions were given to the network, and which block holds each: none that nobody gave, none twice.

import { utf8Decode, utf8Encode } from '#platform';
import { byteKey, hexOf } from '../../protocol/bytes.ts';
import { txHash } from '../../protocol/hashes.ts';
import type { Block } from '../../protocol/types.ts';

/** Half a hash tells transactions apart, in the least memory: there is one per transaction of a run. */
const keyOf = (tx: Uint8Array): string => byteKey(txHash(tx).subarray(0, 16));
const SHORT_BYTES = 6;
const named = (tx: Uint8Array): string => hexOf(txHash(tx).subarray(0, SHORT_BYTES));

export class Transactions {
  private readonly given = new Set<string>();
  /** The height of each that is in a block. */
  private readonly taken = new Map<string, bigint>();

  submitted(tx: Uint8Array): void {
    this.given.add(keyOf(tx));
    // The one named rule that makes a transaction of another: kvstore's PrepareProposal writes `:` as `=`.
    const text = utf8Decode(tx);
    if (text.includes(':')) this.given.add(keyOf(utf8Encode(text.replace(':', '='))));
  }

  /** Plain links have no seal: a transaction with a flipped bit is another transaction, and nobody's fault. */
  corrupted(tx: Uint8Array): void {
    this.given.add(keyOf(tx));
  }

  /** A block holds them now. What is wrong with that. */
  *take({ header: { height }, txs }: Block): Generator<string> {
    for (const tx of txs) {
      const key = keyOf(tx);
      const before = this.taken.get(key);
      if (before !== undefined)
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
