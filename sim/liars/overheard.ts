// What a liar's own node has heard: precommits for nil, each truly signed, of the rounds that decided nothing.

import type { ValidatorState } from '../../actors/validator/state.ts';
import { isNilBlockId } from '../../protocol/block-id.ts';
import { type CommitSig, FLAG_ABSENT, FLAG_NIL, ZERO_TIME_NS } from '../../protocol/types.ts';
import type { LiarKit } from './liar.ts';

const EMPTY = new Uint8Array(0);
const ABSENT: CommitSig = {
  flag: FLAG_ABSENT,
  validatorAddress: EMPTY,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY,
};

export class Overheard {
  private readonly kit: LiarKit;
  /** Signatures for nil of round 0, by height and in the order of the set. */
  private readonly nils = new Map<bigint, CommitSig[]>();

  constructor(kit: LiarKit) {
    this.kit = kit;
    kit.onStep(() => this.listen());
  }

  private listen(): void {
    const consensus = this.kit.machine.node?.peek<ValidatorState>('validator')?.consensus;
    if (!consensus || consensus.round === 0) return;
    const votes = consensus.rounds.get(0)?.precommits.votes ?? [];
    const signatures = Array.from(votes, (vote) =>
      vote && isNilBlockId(vote.blockId)
        ? {
            flag: FLAG_NIL,
            validatorAddress: vote.validatorAddress,
            timeNs: vote.timeNs,
            signature: vote.signature,
          }
        : ABSENT,
    );
    this.nils.set(consensus.height, signatures);
  }

  /** Null: nobody precommitted nil in round 0. */
  nilOf(height: bigint): readonly CommitSig[] | null {
    const signatures = this.nils.get(height);
    return signatures?.some(({ flag }) => flag === FLAG_NIL) ? signatures : null;
  }
}
