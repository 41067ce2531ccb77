// The oracles that watch every run, over one ghost of the chain.

import type { OracleMaker } from '../oracle.ts';
import { admissionOracle } from './admission.ts';
import { applicationOracle } from './application.ts';
import { blameOracle } from './blame.ts';
import { chainOracle } from './chain.ts';
import { dialingOracle } from './dialing.ts';
import { durableOracle } from './durable.ts';
import { evidenceOracle } from './evidence.ts';
import { fetchingOracle } from './fetching.ts';
import { GhostChain } from './ghost.ts';
import { greetingOracle } from './greeting.ts';
import { hygiene } from './hygiene.ts';
import { joiningOracle } from './joining.ts';
import { justifiedSends } from './justified.ts';
import { lightClient } from './light.ts';
import { livelockOracle } from './livelock.ts';
import { logbookOracle } from './logbook.ts';
import { memoryOracle } from './memory.ts';
import { mempoolOracle } from './mempool.ts';
import { offersOracle } from './offers.ts';
import { presentOracle } from './present.ts';
import { progressRules } from './progress.ts';
import { proposalOracle } from './proposals.ts';
import { resourceBounds } from './resources.ts';
import { servingOracle } from './serving.ts';
import { storesOracle } from './stores.ts';
import { timeouts } from './timeouts.ts';
import { turnsOracle } from './turns.ts';
import { lockLemma, voteUniqueness } from './votes.ts';
import { waitingOracle } from './waiting.ts';

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
