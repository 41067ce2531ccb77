// What a cluster and the process of one of its nodes tell each other over the process channel (structured
// clone: bytes and bigints survive).

export type ToNode =
  | { readonly type: 'submit'; readonly txs: readonly Uint8Array[] }
  | { readonly type: 'status' }
  | { readonly type: 'stop' };

export interface NodeStatus {
  readonly height: bigint;
  readonly round: number;
  readonly step: number;
  readonly mode: string;
  /** Greeted peers. */
  readonly peers: number;
  /** Transactions in the pool. */
  readonly pool: number;
  /** Of the process so far. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** Turns so far. */
  readonly deliveries: number;
}

/** A height that is decided, executed and durable here. */
export interface CommittedHeight {
  readonly height: bigint;
  readonly round: number;
  readonly hash: Uint8Array;
  readonly appHash: Uint8Array;
  readonly stateDigest: Uint8Array;
  /** SHA-256 of each transaction. */
  readonly txs: readonly Uint8Array[];
}

export type FromNode =
  | { readonly type: 'up'; readonly height: bigint }
  | ({ readonly type: 'status' } & NodeStatus)
  | ({ readonly type: 'committed' } & CommittedHeight)
  | { readonly type: 'applied'; readonly height: bigint; readonly stateDigest: Uint8Array }
  /** The process ends after this, and not because it was told to, or not as it was told to. `isTaken`: it cannot have its port or its folder. */
  | { readonly type: 'fatal'; readonly because: string; readonly isTaken: boolean };

/** Of a node's process. 0: it was asked to stop. */
export const NODE_EXIT = {
  stopped: 0,
  /** A file, a port or the disk; or the node halted: what it printed says what to do. */
  refused: 1,
  /** sysexits' EX_SOFTWARE: an actor threw. */
  bug: 70,
} as const;
