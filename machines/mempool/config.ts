// What an operator can set about the pool (config.toml section [mempool], spec 2.7), with CometBFT's defaults
// where it has them.

import { NS_PER_MS } from '../../protocol/time.ts';

/** Transactions of one gossip message together, at most: each takes a hash, however short it is. */
export const BATCH_TXS_MAX = 1_024;

export interface MempoolConfig {
  /** `nop` refuses every transaction: for chains whose application brings its own. */
  readonly kind: 'flood' | 'nop';
  /** Transactions in the pool or being checked, at most. */
  readonly txsMax: number;
  /** Their bytes together, at most (max_txs_bytes). */
  readonly bytesMax: number;
  /** One transaction, at most (max_tx_bytes). */
  readonly txBytesMax: number;
  /** Hashes remembered, so that a transaction is checked once; 0: none. */
  readonly cacheSize: number;
  readonly keepInvalidTxsInCache: boolean;
  /** Ask the application again about what a block left over. */
  readonly recheck: boolean;
  /** Offer transactions to peers. */
  readonly broadcast: boolean;
  /** Tell the validator once per height that there is something to propose. */
  readonly notifyTxs: boolean;
  /** Until the first block: what one transaction may take of a block, as `Data` holds it (-1: no limit). */
  readonly blockTxBytesMax: bigint;
  /** Until the first block: gas that one transaction may want (-1: no limit). */
  readonly gasMax: bigint;
  /**
   * A transaction of a peer waits this long before we pass it on, and up to as long again, each node another
   * while: by then most are known or in a block.
   */
  readonly gossipPeriodNs: bigint;
  /** One of our own goes out at once, unless one did so this recently: then both go together. */
  readonly burstNs: bigint;
  /**
   * Links may lose: what a peer was offered and never showed to have is offered again, no sooner than after
   * this, and on a beat of this period.
   */
  readonly reofferNs: bigint;
  /** Transactions of one gossip message together, at most (a single larger one goes alone). */
  readonly batchBytesMax: number;
}

export const DEFAULT_MEMPOOL: MempoolConfig = {
  kind: 'flood',
  txsMax: 5_000,
  bytesMax: 1_073_741_824,
  txBytesMax: 1_048_576,
  cacheSize: 10_000,
  keepInvalidTxsInCache: false,
  recheck: true,
  broadcast: true,
  notifyTxs: false,
  blockTxBytesMax: -1n,
  gasMax: -1n,
  gossipPeriodNs: 100n * NS_PER_MS,
  burstNs: 2n * NS_PER_MS,
  reofferNs: 5_000n * NS_PER_MS,
  batchBytesMax: 1_048_576,
};
