// What applications say of a proposal (ABCI: ProcessProposal is deterministic): the same block upon the same chain gets the same answer from all,
// and from each as often as it is asked.

import type { RequestProcessProposal } from '../../../protocol/abci.ts';
import { byteKey, hexOf } from '../../../protocol/bytes.ts';

/** So many heights may be judged at once: of those before nobody is asked any more. */
const HEIGHTS_REMEMBERED = 4;
const HASH_SHOWN = 4;

interface Judgement {
  readonly node: string;
  readonly isAccepted: boolean;
}

export class Judgements {
  /** The first of each block, by its hash, in the latest heights. */
  private readonly first = new Map<bigint, Map<string, Judgement>>();

  /** Who said otherwise of it before, as the end of a sentence about this node; null: nobody. */
  judges(node: string, { height, hash }: RequestProcessProposal, isAccepted: boolean): string | null {
    let ofHeight = this.first.get(height);
    if (!ofHeight) {
      ofHeight = new Map();
      this.first.set(height, ofHeight);
      for (const each of this.first.keys()) if (this.first.size > HEIGHTS_REMEMBERED) this.first.delete(each);
    }
    const key = byteKey(hash);
    const known = ofHeight.get(key);
    if (!known) ofHeight.set(key, { node, isAccepted });
    if (!known || known.isAccepted === isAccepted) return null;
    const [does, did] = isAccepted ? ['accepts', 'refused'] : ['refuses', 'accepted'];
    const block = `the proposal ${hexOf(hash.subarray(0, HASH_SHOWN))} of height ${height}`;
    return `has an application that ${does} ${block}, which ${known.node === node ? 'it' : `that of ${known.node}`} ${did}`;
  }
}
