// In settings that the swarm does not draw oracles accuse nobody who does as it was told to.

import { expect, it } from 'vitest';
import {
  crash,
  everyone,
  heal,
  height,
  isolate,
  runScenario,
  type Scenario,
  scenario,
  txs,
  v0,
  validators,
  when,
} from '../../../sim/index.ts';

const SKIP = { consensus: { skipTimeoutCommit: true } };

const holds = (play: Scenario, seed = 1): void =>
  expect(runScenario(play, { seed, shape: false }).violations).toEqual([]);

it.each([1, 2, 3, 1_000_000])('a chain that begins at height %i', (initialHeight) => {
  holds(
    scenario('begins later', {
      cast: validators(4, { initialHeight }),
      load: txs({ perSecond: 3 }),
      ends: everyone.decides(height(initialHeight + 4), { within: '60s' }),
    }),
  );
});

it('who has all precommits in its log begins the next height at once, and has heard none in this life', () => {
  for (let nth = 20; nth < 40; nth++)
    holds(
      scenario('dies with all precommits', {
        cast: validators(2),
        settings: SKIP,
        act: [
          when(
            v0.decides(height(1)),
            crash('v1', {
              how: 'clean',
              point: { when: 'after', op: 'flush', on: 'consensus', nth },
              restart: '1s',
            }),
          ),
        ],
        ends: everyone.decides(height(20), { within: '120s' }),
      }),
    );
});

it('who is behind has heard the precommits of later heights when it comes to them', () => {
  holds(
    scenario('is behind', {
      cast: validators(4, { candidates: 1 }),
      settings: { consensus: { ...SKIP.consensus, timeoutCommitNs: 200_000_000n } },
      load: txs({ perSecond: 3 }),
      act: [when(v0.decides(height(3)), isolate('c0')), when(v0.decides(height(8)), heal())],
      ends: everyone.decides(height(18), { within: '300s' }),
    }),
    8,
  );
});
