// What a node remembers of its own chain without reading its disk: recent headers, commits and validator sets; and for a while what it read of older ones.

import { equalBytes } from '../../protocol/bytes.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { hashOfSet } from '../../protocol/rules/validator-set.ts';
import type { Block, Commit, Header, ValidatorSet } from '../../protocol/types.ts';
import { decodeCommit, decodeHeader, encodeCommit, encodeHeader } from '../../protocol/wire/index.ts';

/** Heights whose header, commit and validators are in memory; older ones are read from the store when evidence asks for them. */
const HEIGHTS_KEPT = 128;

/** Sets of the latest heights are kept each, with the priorities that they had: of the next, of this and of the last height, and one more. */
const SETS_KEPT_EACH = 4;

/** The sets of all heights in memory are among the last so many, if each has its own: two are of heights to come, and one began before. */
export const SETS_TO_RESTORE = HEIGHTS_KEPT + 3;

/** A key: a bigint is slow as one. Exact among the heights of one chain, which are less than 2^52. */
const numberOf = (height: bigint): number => Number(BigInt.asUintN(52, height));

interface Past {
  readonly header: Header;
  /** The last commit that this block carries: it decided the height before. */
  readonly lastCommit: Commit | null;
}

/** What is decoded is views on the bytes of the whole block, which stay in memory as long as these do: of a block of more bytes they are copied. */
const SHARED_BYTES_MAX = 65_536;

function pastOf({ header, lastCommit, txs, evidence }: Block): Past {
  let bytes = evidence.length > 0 ? SHARED_BYTES_MAX : 0;
  for (const tx of txs) bytes += tx.length;
  if (bytes < SHARED_BYTES_MAX) return { header, lastCommit };
  return { header: ownHeader(header), lastCommit: lastCommit && ownCommit(lastCommit) };
}

function ownHeader(header: Header): Header {
  const copy = decodeHeader(encodeHeader(header));
  return isRefusal(copy) ? unreachable('what was encoded decodes') : copy;
}

function ownCommit(commit: Commit): Commit {
  const copy = decodeCommit(encodeCommit(commit));
  return isRefusal(copy) ? unreachable('what was encoded decodes') : copy;
}

interface SetFrom {
  readonly from: bigint;
  readonly set: ValidatorSet;
}

export class History {
  private readonly blocks = new Map<number, Past>();
  /** Older blocks that evidence of the height under way asked for. */
  private readonly recalled = new Map<number, Past | null>();
  private readonly recalledSets = new Map<number, ValidatorSet | null>();
  private readonly sets: SetFrom[] = [];

  /** Sets come in the order of the heights from which they hold. */
  setFrom(height: bigint, set: ValidatorSet): void {
    while ((this.sets[this.sets.length - 1]?.from ?? -1n) >= height) this.sets.pop();
    this.sets.push({ from: height, set });
    // Priorities turn at every height, members seldom: behind the last few heights one set stands for all with its members.
    const first = this.sets[this.sets.length - SETS_KEPT_EACH - 1];
    const second = this.sets[this.sets.length - SETS_KEPT_EACH];
    if (!first || !second || !equalBytes(hashOfSet(first.set), hashOfSet(second.set))) return;
    this.sets.splice(this.sets.length - SETS_KEPT_EACH, 1);
  }

  addBlock(block: Block): void {
    const { header } = block;
    this.blocks.set(numberOf(header.height), pastOf(block));
    this.blocks.delete(numberOf(header.height - BigInt(HEIGHTS_KEPT)));
    // The first set holds until the second does.
    while ((this.sets[1]?.from ?? header.height) <= header.height - BigInt(HEIGHTS_KEPT)) this.sets.shift();
    this.forgetRecalled();
  }

  forgetRecalled(): void {
    if (this.recalled.size > 0) this.recalled.clear();
    if (this.recalledSets.size > 0) this.recalledSets.clear();
  }

  /** A block read from the store: remembered until the chain moves on, or what asked for it is judged. */
  recall(block: Block): void {
    this.recalled.set(numberOf(block.header.height), pastOf(block));
  }

  /** The store has nothing of this block: not asked again until the chain moves on. */
  recallNothing(height: bigint): void {
    this.recalled.set(numberOf(height), null);
  }

  /** The validators of a height, read from the store: remembered until the chain moves on. Null: the store has none. */
  recallSet(height: bigint, set: ValidatorSet | null): void {
    this.recalledSets.set(numberOf(height), set);
  }

  /** Whether the store need not be asked about the validators of this height. */
  isSetRecalled(height: bigint): boolean {
    return this.validators(height) !== null || this.recalledSets.has(numberOf(height));
  }

  /** Whether the store need not be asked about this block. */
  isRecalled(height: bigint): boolean {
    return this.blocks.has(numberOf(height)) || this.recalled.has(numberOf(height));
  }

  private past(height: bigint): Past | null | undefined {
    return this.blocks.get(numberOf(height)) ?? this.recalled.get(numberOf(height));
  }

  header(height: bigint): Header | null {
    const header = this.past(height)?.header;
    return header?.height === height ? header : null;
  }

  /** The commit that block `height` + 1 carried (LoadBlockCommit): none yet for the latest height. */
  commit(height: bigint): Commit | null {
    return this.past(height + 1n)?.lastCommit ?? null;
  }

  validators(height: bigint): ValidatorSet | null {
    for (let i = this.sets.length - 1; i >= 0; i--) {
      const { from, set } = this.sets[i] as SetFrom;
      if (from <= height) return set;
    }
    return this.recalledSets.get(numberOf(height)) ?? null;
  }
}
