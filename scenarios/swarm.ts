// All faults at once, as a seed mixes them.

import { drawn } from '../sim/scenario/words.ts';
import { swarmPlay } from '../sim/swarm/index.ts';

export const swarm = drawn(
  'swarm',
  'whatever faults the seed draws; then a core heals, the rest stays as it is, and the core goes on',
  swarmPlay,
);
