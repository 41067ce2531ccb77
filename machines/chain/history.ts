// What a node remembers of its own chain without reading its disk: recent headers and commits, and every validator set and parameters that were in force.

import { equalBytes } from '../../protocol/bytes.ts';
import { hashOfSet } from '../../protocol/rules/validator-set.ts';
import type { Commit, ConsensusParams, Header, ValidatorSet } from '../../protocol/types.ts';

/** Headers and commits kept in memory; older ones are read from the store when evidence asks for them. */
const HEADERS_KEPT = 128;

/** Sets of the latest heights are kept each, with the priorities that they had: of the next, of this and of the last height, and one more. */
const SETS_KEPT_EACH = 4;

interface Past {
  readonly header: Header;
  /** The last commit that this block carries: it decided the height before. */
  readonly lastCommit: Commit | null;
}

export class History {
  // By height as a number: a bigint is slow as a key.
  private readonly blocks = new Map<number, Past>();
  /** Older blocks that evidence of the height under way asked for. */
  private readonly recalled = new Map<number, Past | null>();
  private readonly sets: { readonly from: bigint; readonly set: ValidatorSet }[] = [];
  private readonly params: { readonly from: bigint; readonly params: ConsensusParams }[] = [];

  /** Sets and parameters come in the order of the heights from which they hold. */
  setFrom(height: bigint, set: ValidatorSet): void {
    put(this.sets, { from: height, set });
    // Priorities turn at every height, members seldom: behind the last few heights one set stands for all with its members.
    const first = this.sets[this.sets.length - SETS_KEPT_EACH - 1];
    const second = this.sets[this.sets.length - SETS_KEPT_EACH];
    if (!first || !second || !equalBytes(hashOfSet(first.set), hashOfSet(second.set))) return;
    this.sets.splice(this.sets.length - SETS_KEPT_EACH, 1);
  }

  paramsFrom(height: bigint, params: ConsensusParams): void {
    if (this.params[this.params.length - 1]?.params === params) return; // the same object until an update
    put(this.params, { from: height, params });
  }

  addBlock(header: Header, lastCommit: Commit | null): void {
    const height = Number(header.height);
    this.blocks.set(height, { header, lastCommit });
    this.blocks.delete(height - HEADERS_KEPT);
    if (this.recalled.size > 0) this.recalled.clear();
  }

  /** A block read from the store: remembered until the chain moves on. */
  recall(header: Header, lastCommit: Commit | null): void {
    this.recalled.set(Number(header.height), { header, lastCommit });
  }

  /** The store has nothing of this block: not asked again until the chain moves on. */
  recallNothing(height: bigint): void {
    this.recalled.set(Number(height), null);
  }

  /** Whether the store need not be asked about this block. */
  isRecalled(height: bigint): boolean {
    return this.blocks.has(Number(height)) || this.recalled.has(Number(height));
  }

  private past(height: bigint): Past | null | undefined {
    return this.blocks.get(Number(height)) ?? this.recalled.get(Number(height));
  }

  header(height: bigint): Header | null {
    return this.past(height)?.header ?? null;
  }

  /** The commit that block `height` + 1 carried (LoadBlockCommit): none yet for the latest height. */
  commit(height: bigint): Commit | null {
    return this.past(height + 1n)?.lastCommit ?? null;
  }

  validators(height: bigint): ValidatorSet | null {
    return at(this.sets, height)?.set ?? null;
  }

  paramsAt(height: bigint): ConsensusParams | null {
    return at(this.params, height)?.params ?? null;
  }
}

function put<T extends { readonly from: bigint }>(list: T[], entry: T): void {
  while (list.length > 0 && (list[list.length - 1] as T).from >= entry.from) list.pop();
  list.push(entry);
}

function at<T extends { readonly from: bigint }>(list: readonly T[], height: bigint): T | null {
  for (let i = list.length - 1; i >= 0; i--) if ((list[i] as T).from <= height) return list[i] as T;
  return null;
}
