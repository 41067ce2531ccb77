// What one mempool holds, by the oracles' own count: what the application of its node accepts, as it says so itself, in this life.

import type { AppMail, MempoolMail, ValidatorMail } from '../../../actors/mail.ts';
import type { AbciResponse, ResponseCheckTx } from '../../../protocol/abci.ts';
import { byteKey, equalBytes } from '../../../protocol/bytes.ts';
import { txHash } from '../../../protocol/hashes.ts';
import type { Machine } from '../../machine.ts';
import { CHECK_TX_NEW } from '../canonical/numbers.ts';
import { fieldBytes, gasAt, isTooDear, mayBeTooDear, roomAt } from '../chain/room.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { HOP_NS } from '../ghost/pace.ts';

/** What a block took is remembered for so many more: a proposer may have asked before. */
const BLOCKS_REMEMBERED = 2;

/** Ids at hand, each in the slot that a few bytes of its transaction choose: every node says the same transaction many times. */
const SLOTS = 1024;
const atHand: { readonly tx: Uint8Array; readonly id: string }[] = [];
/** Copies of larger ones are not kept. */
const AT_HAND_BYTES_MAX = 4096;

function slotOf(tx: Uint8Array): number {
  let slot = tx.length;
  for (let i = 0; i < tx.length && i < 16; i++) slot = (slot * 31 + (tx[i] as number)) | 0;
  return (slot ^ (slot >>> 16)) & (SLOTS - 1);
}

/** What tells transactions apart: their hash. */
export function idOf(tx: Uint8Array): string {
  const slot = slotOf(tx);
  const known = atHand[slot];
  if (known && equalBytes(known.tx, tx)) return known.id;
  const id = byteKey(txHash(tx));
  if (tx.length <= AT_HAND_BYTES_MAX) atHand[slot] = { tx: tx.slice(), id };
  return id;
}

export type Checked = Pick<ResponseCheckTx, 'code' | 'gasWanted'>;
/** What an application says of a transaction: who fails at it has refused it. Null: it says something else. */
export function checkedIn(response: AbciResponse): Checked | null {
  if (response.type === 'exception') return { code: 1, gasWanted: 0n };
  return response.type === 'check-tx' ? response.value : null;
}

/** A transaction that the application accepted. */
export interface Accepted {
  /** As the application said. */
  readonly gasWanted: bigint;
  readonly bytes: number;
  /** As which of all: what is accepted a second time had left and is new. */
  readonly place: number;
  /** After how many blocks the application was asked about it last. */
  askedAfter: number;
  /** Rechecks that the application has not answered, and when it answered the last. */
  open: number;
  answeredNs: number;
  /** When the application accepted it last. */
  acceptedNs: number;
  /** When the application took it back; null: it has not. */
  refusedNs: number | null;
  /** The height under way when the node said that it has it: owed to the next block that it proposes; null: it is not owed. */
  owedSince: bigint | null;
}

/** What the proposer asked for: this much, then, when so many blocks had been told of. */
interface Ask {
  readonly bytesMax: bigint;
  readonly gasMax: bigint;
  readonly atNs: number;
  readonly blocks: number;
}

/** Whether the pool has a question about it open, as far as it knows: an answer is on its way for a moment. */
export const isOpen = ({ open, answeredNs }: Accepted, nowNs: number): boolean =>
  open > 0 || nowNs - answeredNs < HOP_NS;

/** Of one node, in one life. */
export class Pool {
  private readonly ghost: GhostChain;
  private readonly at: Machine;
  readonly accepted = new Map<string, Accepted>();
  /** -1: all there is. */
  ask: Ask = { bytesMax: -1n, gasMax: -1n, atNs: 0, blocks: 0 };
  private count = 0;
  /** What is owed now: the node holds at least that. */
  owedTxs = 0;
  owedBytes = 0;
  /** What is owed is all that there is. Not of who has been so far behind that nobody knew what left for want of room. */
  isKnown = true;
  /** Blocks that the mempool was told of, and what the latest of them took, oldest first. */
  private blocks = 0;
  private readonly taken: string[][] = [];
  /** What the application was asked about and has not answered yet, by tag. */
  private readonly asked = new Map<
    number,
    {
      readonly id: string;
      readonly bytes: number;
      readonly isNew: boolean;
      readonly after: number;
      /** What is rechecked. */
      readonly of: Accepted | null;
    }
  >();

  constructor(ghost: GhostChain, at: Machine) {
    this.ghost = ghost;
    this.at = at;
  }

  isAsking(id: string): boolean {
    for (const each of this.asked.values()) if (each.id === id) return true;
    return false;
  }

  /** The mempool has been told of a block, and with it of the limits in force. */
  get isTold(): boolean {
    return this.blocks > 0;
  }

  /** Since when it holds something that the application has accepted after the last block, or at all where it is not asked again; null: nothing. */
  heldSinceNs(): number | null {
    const { recheck } = this.at.config.mempool;
    let since: number | null = null;
    for (const { owedSince, open, askedAfter, acceptedNs } of this.accepted.values()) {
      if (owedSince === null || (recheck && (open > 0 || askedAfter < this.blocks))) continue;
      if (since === null || acceptedNs < since) since = acceptedNs;
    }
    return since;
  }

  /** The application looks at a new one, or accepted it a moment ago: the node may have it without a word of it yet. */
  mayHaveMore(nowNs: number): boolean {
    for (const { isNew } of this.asked.values()) if (isNew) return true;
    for (const { owedSince, acceptedNs } of this.accepted.values())
      if (owedSince === null && nowNs - acceptedNs < HOP_NS) return true;
    return false;
  }

  of(tx: Uint8Array): Accepted | undefined {
    return this.accepted.get(idOf(tx));
  }

  /** What actors of its node say to each other. */
  hears(mail: AppMail | MempoolMail | ValidatorMail, nowNs: number): void {
    if (mail.type === 'reap') this.reaps(mail.bytesMax, mail.gasMax, nowNs);
    else if (mail.type === 'committed') this.takes(mail.height, mail.txs);
    else if (mail.type === 'request' && mail.request.type === 'check-tx')
      this.asks(mail.tag, mail.request.value.tx, mail.request.value.type);
    else if (mail.type === 'answer') {
      const checked = checkedIn(mail.response);
      if (checked) this.answers(mail.tag, checked.code === 0, checked.gasWanted, nowNs);
    }
  }

  private reaps(bytesMax: bigint, gasMax: bigint, atNs: number): void {
    this.ask = { bytesMax, gasMax, atNs, blocks: this.blocks };
  }

  /** The mempool is told of a block. */
  private takes(height: bigint, txs: readonly Uint8Array[]): void {
    this.blocks++;
    // For what no block has room for any more, or gas, nothing waits: it leaves.
    const room = roomAt(this.ghost, height + 1n);
    const gas = gasAt(this.ghost, height + 1n);
    for (const [id, { bytes, gasWanted }] of this.accepted)
      if (fieldBytes(bytes) > room || isTooDear(gasWanted, gas)) this.frees(id);
    const ids = txs.map(idOf);
    for (const id of ids) this.frees(id);
    // Far behind, nobody knows any more what there was room for.
    if (!this.ghost.params(height + 1n)) {
      this.isKnown = false;
      for (const id of this.accepted.keys()) this.frees(id);
    }
    this.taken.push(ids);
    if (this.taken.length <= BLOCKS_REMEMBERED) return;
    for (const id of this.taken.shift() ?? []) {
      const accepted = this.accepted.get(id);
      const isBack = accepted && accepted.askedAfter >= this.blocks - BLOCKS_REMEMBERED;
      if (isBack) continue;
      this.frees(id);
      this.accepted.delete(id);
    }
  }

  /** The application is asked about a transaction: `type` as CheckTx has it. */
  private asks(tag: number, tx: Uint8Array, type: number): void {
    const id = idOf(tx);
    const isNew = type === CHECK_TX_NEW;
    const known = this.accepted.get(id);
    const of = (!isNew && known) || null;
    this.asked.set(tag, { id, bytes: tx.length, isNew, after: this.blocks, of });
    if (known) known.askedAfter = this.blocks;
    if (of) of.open++;
  }

  private answers(tag: number, isAccepted: boolean, gasWanted: bigint, nowNs: number): void {
    const about = this.asked.get(tag);
    this.asked.delete(tag);
    if (!about) return;
    const { id, bytes, isNew, after, of } = about;
    if (of) {
      of.open--;
      of.answeredNs = nowNs;
    }
    if (isAccepted && of) of.acceptedNs = nowNs;
    if (isAccepted && isNew) {
      this.frees(id);
      this.accepted.set(id, {
        gasWanted,
        bytes,
        place: this.count++,
        askedAfter: after,
        open: 0,
        answeredNs: Number.NEGATIVE_INFINITY,
        acceptedNs: nowNs,
        refusedNs: null,
        owedSince: null,
      });
    }
    const known = this.accepted.get(id);
    if (!known) return;
    if (!isAccepted) known.refusedNs ??= nowNs;
    // A block may have changed what the next ones may take: what wants more leaves, whatever the application says.
    if (!isAccepted || mayBeTooDear(this.ghost, this.at, gasWanted)) this.frees(id);
  }

  /** The node says that it has it. */
  owes(id: string, since: bigint): void {
    const accepted = this.accepted.get(id);
    if (!accepted) return;
    const isNew = accepted.owedSince === null;
    accepted.owedSince = since;
    if (!isNew) return;
    this.owedTxs++;
    this.owedBytes += accepted.bytes;
  }

  /** It is in a block, or refused, or wants too much, or is too large. */
  frees(id: string): void {
    const accepted = this.accepted.get(id);
    if (!accepted || accepted.owedSince === null) return;
    accepted.owedSince = null;
    this.owedTxs--;
    this.owedBytes -= accepted.bytes;
  }
}
