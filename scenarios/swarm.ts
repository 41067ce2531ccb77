// All base faults at once, as a seed mixes them.

import { drawn } from '../sim/scenario/words.ts';
import { swarmPlay } from '../sim/swarm.ts';

export const swarm = drawn(
  'swarm',
  'whatever faults the seed draws, then everything heals and all go on',
  swarmPlay,
);
