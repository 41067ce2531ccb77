// Signatures do not change the course of a play: of every one, from simulated to real ones, nothing differs but bytes.

import { expect, it } from 'vitest';
import { plays } from '../../scenarios/index.ts';
import { runScenario } from '../../sim/run.ts';

it.each(plays.map((play) => [play.name, play] as const))('%s takes the same course', (_, play) => {
  const sim = runScenario(play, { seed: 77, crypto: 'sim' });
  const real = runScenario(play, { seed: 77, crypto: 'ed25519' });
  expect(real.shape).toBe(sim.shape);
  expect(real.holds).toBe(sim.holds);
  expect(real.digest).not.toBe(sim.digest);
});
