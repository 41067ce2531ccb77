import { expect, it } from 'vitest';
import { everyone, height, liar, runScenario, scenario, validators } from '../../sim/index.ts';
import { QUICK } from '../../sim/swarm/index.ts';

it('who proves a double vote before its peers are past that height tells them when they are, not ten seconds later', () => {
  const play = scenario('evidence comes too early', {
    cast: validators(3, { candidates: 2, degree: 3 }),
    liars: [liar('v0', 'double-voter', ['c0'], { times: 1 })],
    settings: { consensus: QUICK },
    // In some of these thin meshes every height needs a second round or a third.
    ends: everyone.decides(height(14), { within: '200s' }),
  });
  for (let seed = 1; seed <= 20; seed++) expect(runScenario(play, { seed }).violations).toEqual([]);
});
