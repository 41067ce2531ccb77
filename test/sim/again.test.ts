// A run is made again for its digest alone: without the oracles that only watch it is the same run.

import { describe, expect, it } from 'vitest';
import { unreachable } from '../../protocol/refusal.ts';
import { plays } from '../../scenarios/index.ts';
import { decodeRecording, encodeRecording, type Recording } from '../../sim/recording.ts';
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

  // Its liar accuses by who votes and what was decided: from the ghost, which the oracle of the chain keeps.
  it('has it also where liars read the chain', () => {
    const play = plays.find(({ name }) => name === 'false-evidence') ?? unreachable('a play');
    expect(digestAgain(play, { seed: '1' })).toBe(runScenario(play, { seed: '1' }).digest);
  });
});

it('a run is its choices: with those of another seed it is that one, and what follows them is drawn', () => {
  const play = plays.find(({ name }) => name === 'tour') ?? unreachable('a play');
  const kept: Recording[] = [];
  const first = runScenario(play, { seed: '1', watch: { choices: (choices) => kept.push(choices) } });
  const [choices] = kept as [Recording];
  const read = decodeRecording(encodeRecording(choices)) as Recording;
  expect(runScenario(play, { seed: '2', recorded: read }).digest).toBe(first.digest);
  expect(runScenario(play, { seed: '2' }).digest).not.toBe(first.digest);
  const half = choices.firstOf(choices.length >> 1);
  expect(runScenario(play, { seed: '1', recorded: half }).digest).toBe(first.digest);
  expect(runScenario(play, { seed: '2', recorded: half }).digest).not.toBe(first.digest);
});
