// Local mail: what the actors of one node tell each other, one union per receiver. The order of variants is their tag on the wire of a trace: append only.

import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import { Lately } from '../protocol/lately.ts';
import { isRefusal, type Refusal, unreachable } from '../protocol/refusal.ts';
import type { Proposal, Vote } from '../protocol/types.ts';
import {
  decodeAbciRequest,
  decodeAbciResponse,
  decodeProposal,
  decodeVote,
  encodeAbciRequest,
  encodeAbciResponse,
  encodeProposal,
  encodeVote,
} from '../protocol/wire/index.ts';
import {
  bool,
  bytes,
  i32,
  i64,
  list,
  type Of,
  opaque,
  text,
  u8,
  u32,
  union,
  type Writer,
} from '../protocol/words.ts';
import { portAnswers, portAnswersByHand } from './turn.ts';

const trusted =
  <T>(decode: (from: Uint8Array) => T | Refusal) =>
  (from: Uint8Array): T => {
    const value = decode(from);
    return isRefusal(value) ? unreachable(`our own mail does not decode: ${value.because}`) : (value as T);
  };

/** Letters under way at once, in all nodes of a process, whose bytes are at hand. */
const AT_HAND = 16;

/** Mail is encoded where it leaves and where it arrives; values are immutable, so the bytes are made once per `key` of a value. */
function once<T>(encode: (value: T) => Uint8Array, key: (value: T) => object): (value: T) => Uint8Array {
  const made = new Lately<object, Uint8Array>(AT_HAND);
  return (value) => {
    const wanted = key(value);
    let bytes = made.get(wanted);
    if (!bytes) {
      bytes = encode(value);
      made.set(wanted, bytes);
    }
    return bytes;
  };
}

const itself = <T extends object>(value: T): T => value;
/** A request's or response's value belongs to one type: what is inside tells the whole. */
const inside = <T extends { readonly value: object }>(value: T): object => value.value;

const vote = opaque<Vote>(once(encodeVote, itself), trusted(decodeVote));
const proposal = opaque<Proposal>(once(encodeProposal, itself), trusted(decodeProposal));
const abciRequest = opaque<AbciRequest>(once(encodeAbciRequest, inside), trusted(decodeAbciRequest));
const abciResponse = opaque<AbciResponse>(once(encodeAbciResponse, inside), trusted(decodeAbciResponse));

const peers = { 'peer-up': { peer: text }, 'peer-down': { peer: text } } as const;
/** Answer of the app actor to a `request` with the same tag. */
const answers = { answer: { tag: u32, response: abciResponse } } as const;

function writeAnswer(
  w: Writer,
  { tag, response }: { readonly tag: number; readonly response: AbciResponse },
): void {
  w.u32(tag);
  abciResponse.write(w, response);
}

export const validatorMail = union(
  {
    ...portAnswers,
    ...peers,
    ...answers,
    /** The signer made its state durable first. The vote may carry an older time than asked (spec 5.9). */
    'signed-vote': { vote },
    'signed-proposal': { proposal },
    /** Double-sign rules, or no key. Nothing was signed for this (height, round, step). */
    'sign-refused': { height: i64, round: i32, step: u8, because: text },
    reaped: { txs: list(bytes) },
    /** Once per height, when the pool is not empty (only asked for with create_empty_blocks=false or an interval). */
    'txs-available': {},
    /** A block fetched by block sync and the next block's last commit, both as protobuf; not verified yet. */
    'block-fetched': { height: i64, block: bytes, commit: bytes },
    /** Block sync sees nobody ahead of us: join consensus. */
    'caught-up': {},
    /** Another vote than asked: a life before had it signed for this (height, round, step), and ended before it could say so. */
    'signed-before': { vote },
  },
  {
    ...portAnswersByHand,
    answer: writeAnswer,
    'signed-vote': (w, value) => vote.write(w, value.vote),
  },
);
export type ValidatorMail = Of<typeof validatorMail>;

export const mempoolMail = union(
  {
    ...portAnswers,
    ...peers,
    ...answers,
    /** A transaction from outside (RPC, load, a play). The outcome is published as `checked`. */
    submit: { tx: bytes },
    /** Answered to `validator` with `reaped`. -1: no limit. */
    reap: { bytesMax: i64, gasMax: i64 },
    /** A block was committed: its transactions leave, the rest is rechecked. `blockTxBytesMax` is what the next block has room for, -1: no limit. */
    committed: { height: i64, txs: list(bytes), codes: list(u32), blockTxBytesMax: i64, gasMax: i64 },
    /** The height of a peer that has fallen behind, for which gossip waits; -1 when it is behind no more. */
    'peer-height': { peer: text, height: i64 },
    /** The handshake is over: the application has its state, and may be asked about transactions (CometBFT makes its mempool then). */
    opens: {},
  },
  {
    ...portAnswersByHand,
    answer: writeAnswer,
    committed: (w, { height, txs, codes, blockTxBytesMax, gasMax }) => {
      w.i64(height);
      w.u32(txs.length);
      for (let i = 0; i < txs.length; i++) w.bytes(txs[i] as Uint8Array);
      w.u32(codes.length);
      for (let i = 0; i < codes.length; i++) w.u32(codes[i] as number);
      w.i64(blockTxBytesMax);
      w.i64(gasMax);
    },
  },
);
export type MempoolMail = Of<typeof mempoolMail>;

export const blocksyncMail = union({
  ...portAnswers,
  ...peers,
  /** The handshake is done: fetch from this height on (`sync` false: only serve others). */
  'sync-from': { height: i64, base: i64, sync: bool },
  /** The validator verified and executed the block of this height; the store now reaches it. */
  'block-applied': { height: i64 },
  /** The block of this height, or the commit of the next, does not verify: one of their senders lied or is broken, or both (docs/decisions/0007). */
  'block-refused': { height: i64, because: text },
});
export type BlocksyncMail = Of<typeof blocksyncMail>;

export const signerMail = union(
  {
    ...portAnswers,
    /** Unsigned; answered to `validator`. */
    'sign-vote': { vote },
    'sign-proposal': { proposal },
  },
  { ...portAnswersByHand, 'sign-vote': (w, value) => vote.write(w, value.vote) },
);
export type SignerMail = Of<typeof signerMail>;

export const appMail = union(
  {
    ...portAnswers,
    /** Answered in order to `from`, with the same tag. */
    request: { from: text, tag: u32, request: abciRequest },
  },
  {
    request: (w, { from, tag, request }) => {
      w.text(from);
      w.u32(tag);
      abciRequest.write(w, request);
    },
  },
);
export type AppMail = Of<typeof appMail>;

export const dialerMail = union({
  ...portAnswers,
  up: { peer: text },
  down: { peer: text },
  'dial-failed': { peer: text, because: text },
});
export type DialerMail = Of<typeof dialerMail>;

export const peerMail = union({
  ...portAnswers,
  /** The connection is open / gone; the kernel spawns a peer actor for the first and stops it after the second. */
  connected: {},
  disconnected: {},
});
export type PeerMail = Of<typeof peerMail>;
