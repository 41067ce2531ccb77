// A run is made again for its digest alone: without the oracles that only watch it is the same run.

import { describe, expect, it } from 'vitest';
import { digestAgain, runScenario } from '../../sim/run.ts';
import { drawn } from '../../sim/scenario/words.ts';
import { swarmPlay } from '../../sim/swarm/index.ts';

describe('a run that is made again', () => {
  const swarm = drawn('swarm', 'whatever faults the seed draws', swarmPlay);

  // Between them: a liar, a set that changes, a straggler, restarts.
  it.each(['1', '2', '3', '8', '13', '127'])('has the same digest, seed %s', (seed) => {
    const first = runScenario(swarm, { seed });
    expect(first.violations).toEqual([]);
    expect(digestAgain(swarm, { seed })).toBe(first.digest);
  });
});
