// The blocks that block sync asks for, and what it got of them.

/**
 * A block of a peer, not verified. `bytes` is its protobuf; `lastCommit` that of the commit it carries for
 * the height before; `timeNs` its header's.
 */
export interface Fetched {
  readonly from: string;
  readonly bytes: Uint8Array;
  readonly lastCommit: Uint8Array;
  readonly timeNs: bigint;
}

export interface Wanted {
  /** Whom it was asked of, and when last. */
  readonly asked: Map<string, bigint>;
  lastAskedNs: bigint;
  fetched: Fetched | null;
}

/**
 * A block and the commit for it came from two peers and do not fit: one of the two lied. Both are fetched
 * again from one peer alone, until a pair fits; what fits tells which half was the lie.
 */
export interface Dispute {
  readonly first: Fetched;
  readonly second: Fetched;
  alone: string | null;
  readonly tried: Set<string>;
}
