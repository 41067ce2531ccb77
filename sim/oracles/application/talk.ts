// What a node and its application say to each other in one life.

import type { AbciRequest, ResponseFinalizeBlock } from '../../../protocol/abci.ts';

export class Talk {
  /** A block that was given to it and is not committed yet; the last that was. */
  executing: bigint | null = null;
  committed: bigint | null = null;
  /** The first block that it still wants. */
  retain = 0n;
  /** What was asked and is not answered yet: few at once. */
  readonly asked: { readonly tag: number; readonly request: AbciRequest }[] = [];
  /** Its answer about the block under way. */
  answer: { readonly height: bigint; readonly response: ResponseFinalizeBlock } | null = null;

  /** What the answer is to. */
  answered(tag: number): AbciRequest | undefined {
    const place = this.asked.findIndex((each) => each.tag === tag);
    return place < 0 ? undefined : this.asked.splice(place, 1)[0]?.request;
  }
}
