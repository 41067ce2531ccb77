// What an in-process application is: ABCI 2.0 requests in, answers out, and the writes that make a commit
// last.

import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';

/** A key has at least one byte, and at most so many: what LMDB takes. */
export const KEY_BYTES_MAX = 1978;

export interface Pair {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** `remove` deletes the key; `value` is then empty. */
export interface PairWrite extends Pair {
  readonly remove: boolean;
}

export interface Application {
  readonly name: string;
  answer(request: AbciRequest): AbciResponse;
  /** The writes of the commits since the last drain, in order: one atomic batch. A key has 1 to `KEY_BYTES_MAX` bytes. */
  drainWrites(): PairWrite[];
  /** All pairs ever written and not removed, once, before the first request. */
  restore(pairs: readonly Pair[]): void;
  /**
   * Bytes (ours are 32) over the whole committed state (its app hash may cover less), the same on every node of a chain.
   */
  digest(): Uint8Array;
  /** The same, recomputed from what the application holds. */
  digestFromScratch(): Uint8Array;
}
