// What one mempool holds, by the oracles' own count: what the application of its node accepts, as it says so itself, in this life.

import { CHECK_TX_NEW } from '../../protocol/abci.ts';
import { byteKey } from '../../protocol/bytes.ts';
import { txHash } from '../../protocol/hashes.ts';

/** What a block took is remembered for so many more: a proposer may have asked before. */
const BLOCKS_REMEMBERED = 2;

export const idOf = (tx: Uint8Array): string => byteKey(txHash(tx));

/** A transaction that the application accepted. */
export interface Accepted {
  /** As the application said. */
  readonly gasWanted: bigint;
  /** As which of all: what is accepted a second time had left and is new. */
  readonly place: number;
  /** After how many blocks the application was asked about it last. */
  askedAfter: number;
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

export class Pool {
  readonly accepted = new Map<string, Accepted>();
  /** -1: all there is. */
  ask: Ask = { bytesMax: -1n, gasMax: -1n, atNs: 0, blocks: 0 };
  private count = 0;
  /** Blocks that the mempool was told of, and what the latest of them took, oldest first. */
  private blocks = 0;
  private readonly taken: string[][] = [];
  /** What the application was asked about and has not answered yet, by tag. */
  private readonly asked = new Map<
    number,
    { readonly id: string; readonly isNew: boolean; readonly after: number }
  >();

  of(tx: Uint8Array): Accepted | undefined {
    return this.accepted.get(idOf(tx));
  }

  reaps(bytesMax: bigint, gasMax: bigint, atNs: number): void {
    this.ask = { bytesMax, gasMax, atNs, blocks: this.blocks };
  }

  /** The mempool is told of a block. */
  takes(txs: readonly Uint8Array[]): void {
    this.blocks++;
    this.taken.push(txs.map(idOf));
    if (this.taken.length <= BLOCKS_REMEMBERED) return;
    for (const id of this.taken.shift() ?? []) {
      const accepted = this.accepted.get(id);
      const isBack = accepted && accepted.askedAfter >= this.blocks - BLOCKS_REMEMBERED;
      if (!isBack) this.accepted.delete(id);
    }
  }

  /** The application is asked about a transaction: `type` as CheckTx has it. */
  asks(tag: number, tx: Uint8Array, type: number): void {
    const id = idOf(tx);
    this.asked.set(tag, { id, isNew: type === CHECK_TX_NEW, after: this.blocks });
    const known = this.accepted.get(id);
    if (known) known.askedAfter = this.blocks;
  }

  answers(tag: number, isAccepted: boolean, gasWanted: bigint, nowNs: number): void {
    const about = this.asked.get(tag);
    this.asked.delete(tag);
    if (!about) return;
    const { id, isNew, after } = about;
    if (isAccepted && isNew)
      this.accepted.set(id, {
        gasWanted,
        place: this.count++,
        askedAfter: after,
        refusedNs: null,
        owedSince: null,
      });
    const known = this.accepted.get(id);
    if (isAccepted || !known) return;
    known.refusedNs ??= nowNs;
    known.owedSince = null;
  }
}
