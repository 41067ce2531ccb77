// What the machine asks its actor to do, and with what the actor begins a height.

import type { BlockId, PartSetHeader, ValidatorSet, VoteType } from '../../protocol/types.ts';
import type { BlockEntry } from './blocks.ts';
import type { Step } from './chart.ts';
import type { TimeoutStep } from './config.ts';
import type { VoteTally } from './votes.ts';

/** In order. */
export type Said =
  | { readonly say: 'step'; readonly step: Step; readonly round: number }
  /** We are the proposer: propose `valid` again, or a new block when null. */
  | {
      readonly say: 'propose';
      readonly round: number;
      readonly valid: BlockEntry | null;
      readonly polRound: number;
    }
  | { readonly say: 'vote'; readonly vote: VoteType; readonly round: number; readonly blockId: BlockId }
  | { readonly say: 'wait'; readonly step: TimeoutStep; readonly round: number }
  | { readonly say: 'wait-for-txs' }
  /** We forget who had these parts, of a block that only rounds of before have named: they may have let go of them, too. */
  | { readonly say: 'let-go'; readonly parts: PartSetHeader }
  /** Complete but not judged yet: check it against the chain's rules, then ask the application. */
  | { readonly say: 'judge'; readonly entry: BlockEntry }
  | { readonly say: 'ask-app'; readonly entry: BlockEntry }
  | { readonly say: 'locked' | 'valid'; readonly round: number; readonly blockId: BlockId }
  | {
      readonly say: 'execute';
      readonly entry: BlockEntry;
      readonly round: number;
      readonly precommits: VoteTally;
    }
  | { readonly say: 'height-begins' };

export interface HeightStart {
  readonly height: bigint;
  /** In force at this height, with the priorities of round 0. */
  readonly validators: ValidatorSet;
  /** Precommits that decided the height before, and their round; null at the initial height. */
  readonly lastCommit: { readonly round: number; readonly precommits: VoteTally } | null;
  /** The first block, or the application hash changed: an empty block is due (spec 5.2 needProofBlock). */
  readonly proofBlockDue: boolean;
}
