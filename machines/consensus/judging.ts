// Whether a proposal of the round can be prevoted (L22, L28): by what is known of its block, of the polka that it names, and of our lock.

import type { BlockId } from '../../protocol/types.ts';
import { equalBlockId } from '../../protocol/validate.ts';
import { type BlockEntry, type Blocks, isValid } from './blocks.ts';
import type { Round, Rounds } from './rounds.ts';

/** Of `Consensus`. */
interface Judge {
  readonly current: Round;
  readonly rounds: Rounds;
  readonly blocks: Blocks;
  readonly lockedRound: number;
  readonly lockedId: BlockId | null;
}

/** A proposal and the rule of the paper, by its line, that lets us prevote it, or makes us refuse it. */
export interface ProposalJudged {
  readonly accepted: BlockEntry | null;
  readonly acceptedBy: 22 | 28 | null;
  readonly refusedBy: 22 | 28 | null;
}

export const NO_PROPOSAL: ProposalJudged = { accepted: null, acceptedBy: null, refusedBy: null };

const isJudged = (entry: BlockEntry): boolean =>
  entry.rules === 'bad' || (entry.rules === 'good' && (entry.app === 'accepted' || entry.app === 'rejected'));

/** The first that can be, else the rule that refuses one; neither: still waited for. */
export function judgeProposals({ current, rounds, blocks, lockedRound, lockedId }: Judge): ProposalJudged {
  let refusedBy: ProposalJudged['refusedBy'] = null;
  for (const proposal of current.proposals) {
    const entry = blocks.get(proposal.blockId);
    if (!entry || !isJudged(entry)) continue;
    const vr = proposal.polRound;
    if (vr >= 0) {
      // L28: the proof of lock must stand in our own votes before the proposal counts.
      const pol = rounds.get(vr)?.prevotes.twoThirds;
      if (!pol || !equalBlockId(pol, proposal.blockId)) continue;
    }
    const isOurLock = lockedId !== null && equalBlockId(lockedId, proposal.blockId);
    const lockAllows = vr < 0 ? lockedRound === -1 || isOurLock : lockedRound <= vr || isOurLock;
    const rule = vr < 0 ? 22 : 28;
    // Behind a polka two thirds have had no doubt: who had a slow clock then must not refuse it for ever (proposer-based timestamps).
    const isWelcome = vr >= 0 || !entry.doubted;
    if (isValid(entry) && isWelcome && lockAllows)
      return { accepted: entry, acceptedBy: rule, refusedBy: null };
    refusedBy ??= rule;
  }
  return { accepted: null, acceptedBy: null, refusedBy };
}
