// What a node remembers of its own chain without reading its disk: recent headers and commits, and every validator set and parameters that were in force.

import type { Commit, ConsensusParams, Header, ValidatorSet } from '../../protocol/types.ts';

/** Headers and commits kept in memory; older ones are read from the store when evidence asks for them. */
const HEADERS_KEPT = 128n;

interface Past {
  readonly header: Header;
  /** The last commit that this block carries: it decided the height before. */
  readonly lastCommit: Commit | null;
}

export class History {
  private readonly blocks = new Map<bigint, Past>();
  private readonly sets: { readonly from: bigint; readonly set: ValidatorSet }[] = [];
  private readonly params: { readonly from: bigint; readonly params: ConsensusParams }[] = [];

  /** Sets and parameters come in the order of the heights from which they hold. */
  setFrom(height: bigint, set: ValidatorSet): void {
    put(this.sets, { from: height, set });
  }

  paramsFrom(height: bigint, params: ConsensusParams): void {
    put(this.params, { from: height, params });
  }

  addBlock(header: Header, lastCommit: Commit | null): void {
    this.blocks.set(header.height, { header, lastCommit });
    this.blocks.delete(header.height - HEADERS_KEPT);
  }

  header(height: bigint): Header | null {
    return this.blocks.get(height)?.header ?? null;
  }

  /** The commit that block `height` + 1 carried (LoadBlockCommit): none yet for the latest height. */
  commit(height: bigint): Commit | null {
    return this.blocks.get(height + 1n)?.lastCommit ?? null;
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
