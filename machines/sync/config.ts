// The pace of block sync (spec 5.12), in nanoseconds, with CometBFT's values where it has them.

import { NS_PER_MS } from '../../protocol/time.ts';

export interface SyncConfig {
  /**
   * After the start, until the first request: peers need a moment to connect. It ends early when more than
   * half of those that the node knows have said what they have.
   */
  readonly waitNs: bigint;
  /** How often to look whether we are caught up, and for peers that keep us waiting. */
  readonly checkNs: bigint;
  /** How often to ask all peers how far they are. */
  readonly statusNs: bigint;
  /** A peer that owes us blocks and sends none for this long is dropped. */
  readonly peerTimeoutNs: bigint;
  /** An unanswered request is made again: CometBFT waits 30 s, but its links do not lose messages. */
  readonly retryNs: bigint;
  /** The block we wait for most is asked of a second peer after this. */
  readonly secondSourceAfterNs: bigint;
  /** Liars are not listened to for this long. */
  readonly banNs: bigint;
  /**
   * Without a gain on the chain for this long, with peers at hand: whatever they claim, nobody serves it, or
   * no faster than it is made. Consensus can fetch what is missing too, so joining it is always safe, and
   * waiting for a height that does not exist is not (CVE-2025-24371).
   */
  readonly stallNs: bigint;
  readonly requestsPerPeerMax: number;
  /** Blocks this close to the next one may have a second source. */
  readonly secondSourceHeights: bigint;
  /** Fetched blocks that wait for their turn and those that are asked for, together: no more requests beyond, but for the next two. */
  readonly bufferBytesMax: number;
}

export const DEFAULT_SYNC: SyncConfig = {
  waitNs: 3_000n * NS_PER_MS,
  checkNs: 1_000n * NS_PER_MS,
  statusNs: 10_000n * NS_PER_MS,
  peerTimeoutNs: 15_000n * NS_PER_MS,
  retryNs: 5_000n * NS_PER_MS,
  secondSourceAfterNs: 1_000n * NS_PER_MS,
  banNs: 60_000n * NS_PER_MS,
  stallNs: 60_000n * NS_PER_MS,
  requestsPerPeerMax: 20,
  secondSourceHeights: 50n,
  bufferBytesMax: 67_108_864,
};
