// What is known of each height: its block, until that is long ago, and what nodes and their applications said of it.

import { settled } from '../../../protocol/bytes.ts';
import type { Block } from '../../../protocol/types.ts';

/** Blocks kept whole; of older heights only hashes and digests stay, to compare late nodes with. */
const BLOCKS_KEPT = 64;

export interface KnownHeight {
  readonly hash: Uint8Array;
  /** Null when it is long ago: what late nodes are compared with stays. */
  block: Block | null;
  bytes: Uint8Array | null;
  /** Who stored it first. */
  readonly by: string;
  /** In which it was decided; negative: nobody has said it yet. */
  round: number;
  /** As nodes say they have it. */
  appHash: Uint8Array | null;
  /** As the application answered. */
  answeredAppHash: Uint8Array | null;
  answeredResultsHash: Uint8Array | null;
  /** Whether it changed parameters: those bring their own version of the application, whatever else they change. */
  changedVersion: boolean;
  stateDigest: Uint8Array | null;
  appliedDigest: Uint8Array | null;
}

export class Heights {
  /** By height as a number: a bigint is slow as a key. */
  private readonly known = new Map<number, KnownHeight>();

  at(height: bigint): KnownHeight | undefined {
    return this.known.get(Number(height));
  }

  add(block: Block, bytes: Uint8Array, hash: Uint8Array, by: string): void {
    const height = Number(block.header.height);
    this.known.set(height, {
      hash: settled(hash),
      block,
      bytes,
      by,
      round: -1,
      appHash: null,
      answeredAppHash: null,
      answeredResultsHash: null,
      changedVersion: false,
      stateDigest: null,
      appliedDigest: null,
    });
    const old = this.known.get(height - BLOCKS_KEPT);
    if (!old) return;
    old.block = null;
    old.bytes = null;
  }
}
