// The oracles that watch every run, over one ghost of the chain.

import type { OracleMaker } from '../oracle.ts';
import { applicationOracle } from './application/application.ts';
import { chainOracle } from './chain/chain.ts';
import { lightClient } from './chain/light.ts';
import { justifiedSends } from './consensus/justified.ts';
import { presentOracle } from './consensus/present.ts';
import { progressRules } from './consensus/progress.ts';
import { proposalOracle } from './consensus/proposals.ts';
import { timeouts } from './consensus/timeouts.ts';
import { turnsOracle } from './consensus/turns.ts';
import { lockLemma, voteUniqueness } from './consensus/votes.ts';
import { waitingOracle } from './consensus/waiting.ts';
import { durableOracle } from './disk/durable.ts';
import { logbookOracle } from './disk/logbook.ts';
import { storesOracle } from './disk/stores.ts';
import { evidenceOracle } from './evidence/evidence.ts';
import { GhostChain } from './ghost/ghost.ts';
import { offersOracle } from './gossip/offers.ts';
import { hygiene } from './machine/hygiene.ts';
import { livelockOracle } from './machine/livelock.ts';
import { memoryOracle } from './machine/memory.ts';
import { resourceBounds } from './machine/resources.ts';
import { admissionOracle } from './mempool/admission.ts';
import { mempoolOracle } from './mempool/mempool.ts';
import { blameOracle } from './peers/blame.ts';
import { dialingOracle } from './peers/dialing.ts';
import { fetchingOracle } from './peers/fetching.ts';
import { greetingOracle } from './peers/greeting.ts';
import { joiningOracle } from './peers/joining.ts';
import { servingOracle } from './peers/serving.ts';

export interface OraclesOfRun {
  readonly ghost: GhostChain;
  readonly makers: readonly OracleMaker[];
}

/** Only who keeps the ghost: liars and the watch over liveness read it. */
export function chainAlone(genesisText: string): OraclesOfRun {
  const ghost = new GhostChain(genesisText);
  return { ghost, makers: [chainOver(ghost)] };
}

const chainOver =
  (ghost: GhostChain): OracleMaker =>
  (report, about) =>
    chainOracle(ghost, about.verify)(report, about);

/** Fresh for every run: a ghost remembers what it saw. */
export function allOracles(genesisText: string): OraclesOfRun {
  const ghost = new GhostChain(genesisText);
  return {
    ghost,
    makers: [
      voteUniqueness,
      proposalOracle(ghost),
      turnsOracle(ghost),
      lockLemma(ghost),
      justifiedSends(ghost),
      progressRules(ghost),
      evidenceOracle(ghost),
      lightClient(ghost),
      presentOracle(ghost),
      offersOracle(ghost),
      joiningOracle(ghost),
      mempoolOracle(ghost),
      admissionOracle(ghost),
      applicationOracle(ghost),
      chainOver(ghost),
      storesOracle(ghost),
      logbookOracle(ghost),
      durableOracle,
      resourceBounds,
      memoryOracle(ghost),
      livelockOracle,
      timeouts(ghost),
      waitingOracle(ghost),
      blameOracle,
      servingOracle,
      fetchingOracle,
      greetingOracle,
      dialingOracle,
      hygiene,
    ],
  };
}
