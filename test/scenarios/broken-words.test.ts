// What the play of words that are none promises: for each of its babbles that it costs the connection, and for no two the same.

import { expect, it } from 'vitest';
import { brokenWords } from '../../scenarios/broken-words.ts';
import type { Oracle } from '../../sim/oracle.ts';
import { runScenario } from '../../sim/run.ts';

it('each reason that it names is that of one babble alone', () => {
  const reasons = new Set<string>();
  const listens = (): Oracle => ({
    name: 'reasons',
    effects: ['score'],
    leaving: (_at, _actor, effect) => {
      if (effect.type === 'score' && effect.drop) reasons.add(effect.because);
    },
  });
  expect(runScenario(brokenWords, { seed: 1, oracles: [listens] }).holds).toBe(true);
  const promised = (brokenWords.holds ?? []).map((claim) => ('sometime' in claim && claim.sometime) || null);
  const words = promised.map((condition) => condition?.because ?? 'no reason');
  const meant = words.map((each) => [...reasons].filter((reason) => reason.includes(each)));
  expect(meant.filter((each) => each.length !== 1)).toEqual([]);
  expect(new Set(meant.flat()).size).toBe(words.length);
  expect([...reasons].filter((reason) => !meant.flat().includes(reason))).toEqual([]);
});
