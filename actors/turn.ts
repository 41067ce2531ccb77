// What a turn is: one message in, one ordered list of effects out, and nothing read but what `Turn` gives. Every actor of every node speaks in these words.

import { EMPTY_BYTES } from '../protocol/types.ts';
import {
  type ByHand,
  bool,
  bytes,
  type Codec,
  i32,
  i64,
  list,
  type Of,
  record,
  text,
  u8,
  u32,
  union,
  type Writer,
} from '../protocol/words.ts';

/** 40 lower-case hex digits: the first 20 bytes of SHA-256 of the node key. */
export type PeerId = string;
/** `validator`, `mempool`, `blocksync`, `app`, `signer`, `dialer`, or `peer:<id>`. */
export type ActorName = string;
const PEER = 'peer:';
export const peerActorOf = (peer: PeerId): ActorName => `${PEER}${peer}`;
/** Whose this is; null: not the actor of a peer. */
export const peerOfActor = (actor: ActorName): PeerId | null =>
  actor.startsWith(PEER) ? actor.slice(PEER.length) : null;
/** One append-only file (host) or simulated log: `consensus` (the WAL) and `privval` (the signer's). */
export type LogName = 'consensus' | 'privval';
/** One database each: blocks, states and evidence in `chain`; the application's own in `app`. */
export type StoreName = 'chain' | 'app';

const TAG_MAX = 0xffff_ffff;
/** The tag of the next question or read: a u32 on record, and none is 0. */
export const tagAfter = (tag: number): number => (tag >= TAG_MAX ? 1 : tag + 1);

/** All that an actor may know of the world in one turn. */
export interface Turn {
  /** The node's wall clock: may be skewed, may jump. */
  readonly wallNs: bigint;
  /** The node's monotonic clock, from an arbitrary start. */
  readonly monoNs: bigint;
  /** An integer in [0, bound); bound <= 2^31. Recorded, so that a replay draws the same. */
  draw(bound: number): number;
}

/** One message of one channel, as its canonical protobuf bytes. */
export const payload = record({ channel: u8, bytes });
export type Payload = Of<typeof payload>;

/**
 * Of one envelope. An empty payload is three bytes on the wire and some hundreds in memory, so a bound on bytes is none
 * on what they become. All has-votes of a round of two thousand validators fit into one; more go in several.
 */
export const ENVELOPE_PAYLOADS_MAX = 4_096;

const keyValue = record({ key: bytes, value: bytes });
export type KeyValue = Of<typeof keyValue>;

/** Answers of the ports, told to the actor that asked; every actor's message union includes those that it can get. */
export const portAnswers = {
  /** A `schedule` came due. `timer` is the id it was scheduled under. */
  timer: { timer: text },
  /** Answer of `sign`. */
  signature: { tag: u32, signature: bytes },
  /** Answer of `load`: the keys in the asked range that exist, ascending. */
  loaded: { tag: u32, found: list(keyValue) },
  /** An envelope of a peer, for the channels this actor owns. */
  heard: { peer: text, payloads: list(payload) },
} as const;

/** Those of `portAnswers` that come most, by hand. */
export const portAnswersByHand: ByHand<typeof portAnswers> = {
  heard: (w, { peer, payloads }) => {
    w.text(peer);
    w.u32(payloads.length);
    for (let i = 0; i < payloads.length; i++) {
      const { channel, bytes } = payloads[i] as Payload;
      w.u8(channel);
      w.bytes(bytes);
    }
  },
  timer: (w, { timer }) => w.text(timer),
  signature: (w, { tag, signature }) => {
    w.u32(tag);
    w.bytes(signature);
  },
};

/** Which of many keys are read when there is a limit. */
export type Which = 'first' | 'last';

/** A write of a batch: an empty `value` with `remove` deletes. */
export interface Write {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly remove: boolean;
}

export const put = (key: Uint8Array, value: Uint8Array): Write => ({ key, value, remove: false });
export const remove = (key: Uint8Array): Write => ({ key, value: EMPTY_BYTES, remove: true });

/** What the node tells observers (status lines, oracles, pictures). Never read by an actor. */
export const nodeEvent = union(
  {
    /** A step of the consensus round: `step` as spec 5.1 numbers them. */
    step: { height: i64, round: i32, step: u8 },
    /** This height is decided and its block executed; `stateDigest` covers what the validator decides from. */
    committed: { height: i64, round: i32, hash: bytes, appHash: bytes, txs: u32, stateDigest: bytes },
    /** The application applied this height; `stateDigest` covers its whole state, outside its own app hash. */
    applied: { height: i64, stateDigest: bytes },
    /** It is locked on the block of this hash, and holds it for valid (the paper's lockedValue and validValue). */
    locked: { height: i64, round: i32, hash: bytes },
    valid: { height: i64, round: i32, hash: bytes },
    /** The node keeps going but a person should know. */
    warning: { what: text },
    /** The node stops taking part (CONSENSUS FAILURE, a refused handshake): `what` says why and what to do. */
    halted: { what: text },
    /** A peer is greeted / gone. */
    peer: { peer: text, up: bool },
    /** A transaction entered the pool; or it did not, or leaves, and `because` says why. `code`: what the application said of it, 1 if nobody asked. */
    checked: { hash: bytes, code: u32, because: text },
    /** It has evidence of this hash against a validator, by its address; `height` is that of the misbehaviour. */
    evidence: { hash: bytes, validator: bytes, height: i64 },
    /** The mode of the node (handshake, sync, consensus), and the last height that it has executed. */
    mode: { mode: text, height: i64 },
    /** A whole block breaks the rules of the chain. */
    refused: { height: i64, hash: bytes, because: text },
  },
  {
    step: (w, { height, round, step }) => {
      w.i64(height);
      w.i32(round);
      w.u8(step);
    },
    committed: (w, { height, round, hash, appHash, txs, stateDigest }) => {
      w.i64(height);
      w.i32(round);
      w.bytes(hash);
      w.bytes(appHash);
      w.u32(txs);
      w.bytes(stateDigest);
    },
    applied: (w, { height, stateDigest }) => {
      w.i64(height);
      w.bytes(stateDigest);
    },
    checked: (w, { hash, code, because }) => {
      w.bytes(hash);
      w.u32(code);
      w.text(because);
    },
    locked: (w, value) => writeChoice(w, value),
    valid: (w, value) => writeChoice(w, value),
  },
);

function writeChoice(w: Writer, { height, round, hash }: Choice): void {
  w.i64(height);
  w.i32(round);
  w.bytes(hash);
}
interface Choice {
  readonly height: bigint;
  readonly round: number;
  readonly hash: Uint8Array;
}
export type NodeEvent = Of<typeof nodeEvent>;

/** Local mail is encoded by the receiver's codec; the kernel carries both the value and its bytes. */
// biome-ignore lint/suspicious/noExplicitAny: the receiver's codec checks the shape, by name, at run time
export type LocalMessage = { readonly type: string } & Record<string, any>;

/**
 * Effects leave an actor in the order given, and none passes an earlier `sync` or durable `store` that is not yet durable.
 * The mailbox is not held meanwhile.
 */
export type Effect =
  | { readonly type: 'append'; readonly log: LogName; readonly record: Uint8Array }
  | { readonly type: 'sync'; readonly log: LogName }
  /** Everything appended before the last `keep` records may go. */
  | { readonly type: 'trim'; readonly log: LogName; readonly keep: number }
  | {
      readonly type: 'store';
      readonly store: StoreName;
      readonly writes: readonly Write[];
      readonly durable: boolean;
    }
  /** Keys k with from <= k < to, ascending: the first `limit` of them, or the last. */
  | {
      readonly type: 'load';
      readonly store: StoreName;
      readonly from: Uint8Array;
      readonly to: Uint8Array;
      readonly limit: number;
      readonly which: Which;
      readonly tag: number;
    }
  | { readonly type: 'sign'; readonly bytes: Uint8Array; readonly tag: number }
  | { readonly type: 'send'; readonly to: readonly PeerId[]; readonly payloads: readonly Payload[] }
  /** Mail to an actor of this node (a request, or the reply to one). */
  | { readonly type: 'tell'; readonly to: ActorName; readonly message: LocalMessage }
  /** A timer of this actor by our own id; scheduling a pending id again moves it. */
  | { readonly type: 'schedule'; readonly timer: string; readonly afterNs: bigint }
  | { readonly type: 'cancel'; readonly timer: string }
  | { readonly type: 'publish'; readonly event: NodeEvent }
  /** A peer broke a rule; `drop` closes the connection. */
  | { readonly type: 'score'; readonly peer: PeerId; readonly because: string; readonly drop: boolean }
  /** Open a connection to a known address; answered by the net with `up` or `dial-failed` mail to `dialer`. */
  | { readonly type: 'dial'; readonly peer: PeerId; readonly address: string }
  | { readonly type: 'spawn'; readonly actor: ActorName }
  | { readonly type: 'stop'; readonly actor: ActorName };

/** A part of a disk that an actor wants to have read when it starts. */
export interface Reads {
  readonly logs: readonly LogName[];
  /** Ranges of stores: from <= key < to (an empty `to` is open), and of them the `last` (default: all). */
  readonly stores: readonly {
    readonly store: StoreName;
    readonly from: Uint8Array;
    readonly to: Uint8Array;
    readonly last?: number;
  }[];
}

/** What was read from the disk at boot: one entry per `Reads`, in its order. */
export interface Boot {
  readonly logs: readonly (readonly Uint8Array[])[];
  readonly stores: readonly (readonly KeyValue[])[];
}

/**
 * An actor's logic. `State` is owned by the actor's turns and changed in place; nobody keeps an old one.
 * @typeParam Message the union that it hears, with the canonical `words` of it.
 */
export interface Logic<State, Message extends { readonly type: string }> {
  readonly name: ActorName;
  readonly words: Codec<Message>;
  readonly reads: Reads;
  start(boot: Boot, turn: Turn): { readonly state: State; readonly effects: readonly Effect[] };
  receive(state: State, message: Message, turn: Turn): readonly Effect[];
  /** The chart's configuration and its value, for inspectors; plain data. */
  readonly config?: unknown;
  look?(state: State): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: a node holds actors of every state and message type
export type AnyLogic = Logic<any, any>;

/** The actors of one node: those that start with it, in that order, and those made on demand (`peer:<id>`). */
export interface NodeCast {
  readonly logics: readonly AnyLogic[];
  readonly spawn: (actor: ActorName) => AnyLogic;
}

export const NO_EFFECTS: readonly Effect[] = [];
export const NO_READS: Reads = { logs: [], stores: [] };
