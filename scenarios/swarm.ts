// All faults at once, as a seed mixes them.

import { drawn } from '../sim/scenario/words.ts';
import { swarmPlay } from '../sim/swarm/index.ts';
import { widePlay } from '../sim/swarm/wide.ts';

export const swarm = drawn(
  'swarm',
  'whatever faults the seed draws; then a core heals, the rest stays as it is, and the core goes on',
  swarmPlay,
);

export const wideSwarm = drawn(
  'wide-swarm',
  'the swarm in other settings: timeouts, limits, first heights, slow keys, and every liar',
  widePlay,
);
