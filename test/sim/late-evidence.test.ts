import { expect, it } from 'vitest';
import {
  anyone,
  at,
  core,
  crash,
  drop,
  everyone,
  height,
  liar,
  runScenario,
  scenario,
  these,
  validators,
  whenOrAt,
} from '../../sim/index.ts';
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

it('what a node was told and stored as it died is its first evidence: its period began with its life, not with what comes later', () => {
  const play = scenario('evidence is stored and not told of', {
    cast: { powers: [1001, 177, 1000] },
    liars: [liar('v1', 'double-voter', ['v0'], { ppm: 300_000 })],
    act: [
      whenOrAt(anyone.decides(height(5)), '120s', core('v2', 'v0')),
      at(
        '0s',
        drop('parts', { to: ['v2', 'v0'], height: 3, round: 0 }),
        drop('proposals', { to: ['v0', 'v1'], height: 4, round: 0 }),
      ),
      at('1544ms', crash('v1', { point: { op: 'append', when: 'after', nth: 36 } })),
      at('1558ms', crash('v2', { how: 'clean', point: { op: 'write', when: 'after', nth: 13 } })),
      at(
        '6509ms',
        crash('v2', { how: 'lose', restart: '946ms', point: { op: 'sign', when: 'after', nth: 5 } }),
      ),
    ],
    ends: these().decides(height(6), { within: '205s' }),
  });
  const { violations, nodes } = runScenario(play, { seed: 106427564135709n });
  expect(violations).toEqual([]);
  expect(nodes[2]).toMatchObject({ name: 'v2', lives: 3 });
});
