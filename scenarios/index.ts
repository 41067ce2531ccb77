// All plays, by the names that `sim list` shows.

import type { Play } from '../sim/scenario/play.ts';
import { calm } from './calm.ts';
import { lockSplits } from './lock-splits.ts';
import { lockHolds, validValueReproposed } from './locks.ts';
import {
  asymmetricPartition,
  evenSplit,
  lessThanOneThirdSilent,
  minorityPartition,
  oneThirdSilent,
  permanentCut,
} from './partitions.ts';
import { voteOutlivesPowerCut } from './power-cut.ts';
import { equivocatingProposer, equivocatorPunished, proposerDown } from './proposers.ts';
import { crashAroundSync, laggingNodeCatchesUp } from './recovery.ts';
import { swarm } from './swarm.ts';
import { tour } from './tour.ts';
import { validatorJoinsAndLeaves } from './validator-set.ts';

export const plays: readonly Play[] = [
  tour,
  calm,
  lockHolds,
  validValueReproposed,
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
  crashAroundSync,
  voteOutlivesPowerCut,
  laggingNodeCatchesUp,
  validatorJoinsAndLeaves,
  swarm,
];
