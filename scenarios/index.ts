// All plays, by the names that `sim list` shows.

import type { Play } from '../sim/scenario/play.ts';
import { calm } from './calm.ts';
import { clockSkew, fullDisk, slowDisk, timeGoesOn } from './clocks-and-disks.ts';
import {
  falseEvidence,
  forgedBlocks,
  forgedCommits,
  forgedPolka,
  forgedProposals,
  forgedVotes,
  invalidBlocks,
  invalidBlocksForOne,
  mislabelledParts,
  nilIsNoCommit,
} from './forgeries.ts';
import { forkByAmnesia, forkByTwoVotes } from './forks.ts';
import { hiddenLock } from './hidden-lock.ts';
import { lockSplits } from './lock-splits.ts';
import {
  latePolkaIsValid,
  lockHolds,
  olderPolkaRefused,
  validValueReproposed,
  valueOutlivesCrash,
} from './locks.ts';
import { applicationDecides, gasIsCounted, oldBlocksGo } from './own-application.ts';
import {
  asymmetricPartition,
  evenSplit,
  lessThanOneThirdSilent,
  minorityPartition,
  oneThirdSilent,
  permanentCut,
} from './partitions.ts';
import {
  oldCopiesOfAll,
  oldCopy,
  powerCutAsOneDecides,
  powerCutBetweenStores,
  voteOutlivesLostLog,
  voteOutlivesPowerCut,
} from './power-cut.ts';
import {
  equivocatingProposer,
  equivocatorPunished,
  evidenceOutlivesRestart,
  evidenceTooOld,
  evidenceTravels,
  lateDoubleVote,
  lateEvidence,
  proposerDown,
} from './proposers.ts';
import {
  crashAroundSync,
  laggingNodeCatchesUp,
  laterBeginning,
  lostCatchUp,
  lyingSyncPeer,
} from './recovery.ts';
import { swarm } from './swarm.ts';
import { tour } from './tour.ts';
import {
  emptyBlocksAtIntervals,
  heldTransactions,
  noEmptyBlocks,
  poolLetsGo,
  refusedTransactions,
  smallBlocks,
  staleNumbers,
  transactionStorm,
  transactionsTravel,
} from './transactions.ts';
import { setReplaced, tyrantOverthrown, validatorJoinsAndLeaves } from './validator-set.ts';

export const plays: readonly Play[] = [
  tour,
  calm,
  lockHolds,
  validValueReproposed,
  latePolkaIsValid,
  valueOutlivesCrash,
  hiddenLock,
  lockSplits,
  minorityPartition,
  evenSplit,
  asymmetricPartition,
  permanentCut,
  oneThirdSilent,
  lessThanOneThirdSilent,
  proposerDown,
  equivocatingProposer,
  equivocatorPunished,
  evidenceTravels,
  evidenceOutlivesRestart,
  lateDoubleVote,
  lateEvidence,
  evidenceTooOld,
  forgedPolka,
  mislabelledParts,
  forkByTwoVotes,
  forkByAmnesia,
  crashAroundSync,
  voteOutlivesPowerCut,
  voteOutlivesLostLog,
  powerCutBetweenStores,
  powerCutAsOneDecides,
  oldCopy,
  oldCopiesOfAll,
  lostCatchUp,
  laterBeginning,
  laggingNodeCatchesUp,
  lyingSyncPeer,
  forgedBlocks,
  forgedCommits,
  nilIsNoCommit,
  slowDisk,
  fullDisk,
  clockSkew,
  timeGoesOn,
  transactionStorm,
  smallBlocks,
  refusedTransactions,
  staleNumbers,
  heldTransactions,
  poolLetsGo,
  transactionsTravel,
  applicationDecides,
  oldBlocksGo,
  gasIsCounted,
  noEmptyBlocks,
  emptyBlocksAtIntervals,
  validatorJoinsAndLeaves,
  setReplaced,
  tyrantOverthrown,
  olderPolkaRefused,
  forgedVotes,
  forgedProposals,
  invalidBlocks,
  invalidBlocksForOne,
  falseEvidence,
  swarm,
];
