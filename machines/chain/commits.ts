// Commits made from counted precommits, and precommits made from stored commits.

import { voteOfCommit } from '../../protocol/rules/commit.ts';
import { medianTime } from '../../protocol/rules/median-time.ts';
import {
  type BlockId,
  type Commit,
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  FLAG_NIL,
  type TimeNs,
  type ValidatorSet,
  ZERO_TIME_NS,
} from '../../protocol/types.ts';
import { equalBlockId, isNilBlockId } from '../../protocol/validate.ts';
import { VoteTally } from '../consensus/votes.ts';

const ABSENT = {
  flag: FLAG_ABSENT,
  validatorAddress: EMPTY_BYTES,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY_BYTES,
};

/**
 * The commit of `blockId` (VoteSet.MakeCommit): precommits for it, precommits for nil as nil, and everything else, votes for other
 * blocks included, as absent.
 */
export function commitOf(precommits: VoteTally, height: bigint, round: number, blockId: BlockId): Commit {
  const forBlock = precommits.votesFor(blockId);
  const signatures = precommits.votes.map((_, i) => {
    const vote = forBlock?.[i] ?? precommits.votes[i];
    if (!vote) return ABSENT;
    const isForBlock = equalBlockId(vote.blockId, blockId);
    if (!isForBlock && !isNilBlockId(vote.blockId)) return ABSENT;
    return {
      flag: isForBlock ? FLAG_COMMIT : FLAG_NIL,
      validatorAddress: vote.validatorAddress,
      timeNs: vote.timeNs,
      signature: vote.signature,
    };
  });
  // `votes` is sparse where nobody voted: map skips holes.
  for (let i = 0; i < signatures.length; i++) signatures[i] ??= ABSENT;
  return { height, round, blockId, signatures };
}

/**
 * The commit as the next proposal carries it. A vote for nil may be by a clock that is behind, and by one who does not know the block: those
 * are left out where with them the median of the times would not be after `timeNs`, that of the block (CometBFT carries all, and
 * its chain stands still; docs/decisions/0010).
 */
export function timelyCommit(commit: Commit, validators: ValidatorSet, timeNs: TimeNs): Commit {
  const isTimely = (each: Commit): boolean => {
    const median = medianTime(each, validators);
    return typeof median === 'bigint' && median > timeNs;
  };
  if (isTimely(commit)) return commit;
  const signatures = commit.signatures.map((each) => (each.flag === FLAG_NIL ? ABSENT : each));
  const forBlock = { ...commit, signatures };
  return isTimely(forBlock) ? forBlock : commit;
}

/** The precommits that a stored commit stands for, counted again (consensus after a restart). */
export function tallyOf(commit: Commit, validators: ValidatorSet): VoteTally {
  const tally = new VoteTally(validators);
  commit.signatures.forEach((signature, index) => {
    if (signature.flag === FLAG_ABSENT) return;
    tally.tally(voteOfCommit(commit, index), validators.validators[index]?.power ?? 0n);
  });
  return tally;
}
