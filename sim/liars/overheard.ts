// What a liar's own node has heard: precommits for nil, each truly signed, of first rounds that decided nothing.

import type { ValidatorState } from '../../actors/validator/state.ts';
import { commitOf } from '../../machines/chain/commits.ts';
import { type BlockId, type CommitSig, FLAG_NIL } from '../../protocol/types.ts';
import type { LiarKit } from './liar.ts';

/** Nobody votes for it: of a commit of it only the nils are left. */
const NOBODYS: BlockId = { hash: new Uint8Array(32), parts: { total: 1, hash: new Uint8Array(32) } };

export class Overheard {
  private readonly kit: LiarKit;
  /** Signatures for nil of round 0, by height and in the order of the set. */
  private readonly nils = new Map<bigint, readonly CommitSig[]>();

  constructor(kit: LiarKit) {
    this.kit = kit;
    kit.onStep(() => this.listen());
  }

  private listen(): void {
    const consensus = this.kit.machine.node?.peek<ValidatorState>('validator')?.consensus;
    const first = consensus?.rounds.get(0);
    if (!consensus || !first || consensus.round === 0) return;
    this.nils.set(consensus.height, commitOf(first.precommits, consensus.height, 0, NOBODYS).signatures);
  }

  /** Null: nobody precommitted nil in round 0. */
  nilOf(height: bigint): readonly CommitSig[] | null {
    const signatures = this.nils.get(height);
    return signatures?.some(({ flag }) => flag === FLAG_NIL) ? signatures : null;
  }
}
