// Plays that show planted bugs hold where none is planted, under the very seeds.

import { expect, it } from 'vitest';
import { plays } from '../../scenarios/index.ts';
import { runScenario } from '../../sim/run.ts';
import { NOTICED } from './noticed.ts';

const healthy = new Map(NOTICED.map(([play, seed]) => [`${play}, seed ${seed}`, { play, seed }] as const));

it.each([...healthy])('%s, holds', (_, { play: name, seed }) => {
  const play = plays.find((each) => each.name === name);
  if (!play) throw new Error(`there is no play ${name}`);
  expect(runScenario(play, { seed: Number(seed) }).violations).toEqual([]);
});
