// The ports of a node: what the kernel asks of a world, one page. Two keepers each (sim and runtime/host), one compliance suite each (test/compliance).
// All answers come by callback, in the order the page says; a keeper never calls back inside the call that asked.

import type { KeyValue, LogName, Payload, PeerId, StoreName, Which, Write } from '../../actors/turn.ts';

export interface Clock {
  wallNs(): bigint;
  monoNs(): bigint;
  /** Calls `due` once, not before `delayNs` (never below 0: the kernel sees to it) of this node's monotonic time has passed. */
  after(delayNs: bigint, due: () => void): Timer;
}
export interface Timer {
  cancel(): void;
}

export interface Random {
  /** An integer in [0, bound), 1 <= bound <= 2^31. */
  draw(bound: number): number;
}

export interface NetListener {
  /** A connection to `peer` is open (whoever dialled). At most one per peer at a time. */
  up(peer: PeerId): void;
  down(peer: PeerId): void;
  heard(peer: PeerId, payloads: readonly Payload[]): void;
  dialFailed(peer: PeerId, because: string): void;
}
/** Envelopes between nodes: no promise of delivery, order or uniqueness; bytes that arrive may be corrupt (the kernel's actors check). */
export interface Net {
  listen(listener: NetListener): void;
  dial(peer: PeerId, address: string): void;
  /** One envelope of one or more payloads to each peer. To a peer that is not up: lost. */
  send(to: readonly PeerId[], payloads: readonly Payload[]): void;
  close(peer: PeerId): void;
}

/**
 * An append-only log of records. Records appended and not synced may vanish, from the tail, or be torn, at a crash;
 * what remains after opening is always a prefix of what was appended, and never less than what was synced.
 */
export interface Log {
  append(record: Uint8Array): void;
  /** Calls `done` when everything appended before this call is durable. Calls finish in order; one fsync may serve many. */
  sync(done: () => void): void;
  /** All records, oldest first, as found when the log was opened and appended since. */
  read(): readonly Uint8Array[];
  /** Lets go of all but the last `keep` records, when convenient. Survives a crash or not, as a whole. */
  trim(keep: number): void;
}

/**
 * Ordered keys (bytewise). A batch is atomic. Reads see all batches written. Unflushed batches may vanish at a crash, newest first:
 * what remains is a prefix of the batches, and never less than what was flushed.
 */
export interface Store {
  /** A key has 1 to `KEY_BYTES_MAX` bytes. `flushed` is called when this batch, and so every batch before it, is durable. */
  write(writes: readonly Write[], flushed?: () => void): void;
  get(key: Uint8Array): Uint8Array | undefined;
  /** Keys k with from <= k < to (an empty `to` is open), ascending: the first `limit` of them (the default), or the last. */
  range(from: Uint8Array, to: Uint8Array, limit: number, which?: Which): readonly KeyValue[];
}

/** A validator's key. Replays need none: the signature arrives as a message. */
export interface Sign {
  readonly publicKey: Uint8Array;
  sign(bytes: Uint8Array, done: (signature: Uint8Array) => void): void;
}

/** Local hops between the actors of one node, and from a port to its actor: FIFO between two actors. The simulator draws a delay. */
export interface Mail {
  carry(from: string, to: string, deliver: () => void): void;
}

export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly net: Net;
  readonly mail: Mail;
  readonly sign: Sign;
  log(name: LogName): Log;
  store(name: StoreName): Store;
}
