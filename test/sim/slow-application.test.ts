// Who waits for a slow application has done nothing wrong.

import { expect, it } from 'vitest';
import { after, application, at, everyone, height, powers, scenario } from '../../sim/index.ts';
import { runScenario } from '../../sim/run.ts';

const MS = 1_000_000n;

/** v0 has four turns of ten. Its application makes the block of one when the round is over, and that of the next when it has made that. */
it.each(['1900ms', '2000ms', '2100ms'] as const)(
  'a proposer is not blamed while its application makes a block (%s)',
  (blocks) => {
    const consensus = {
      timeoutProposeNs: 500n * MS,
      timeoutProposeDeltaNs: 500n * MS,
      timeoutPrevoteNs: 200n * MS,
      timeoutPrevoteDeltaNs: 100n * MS,
      timeoutPrecommitNs: 200n * MS,
      timeoutPrecommitDeltaNs: 100n * MS,
    };
    const play = scenario('a slow application and short rounds', {
      cast: powers(40, 20, 20, 20),
      settings: { consensus },
      act: [at('2s', application('v0', { blocks })), after('20s', application('v0', {}))],
      ends: everyone.decides(height(5), { within: '60s' }),
    });
    for (let seed = 1; seed <= 3; seed++)
      expect(runScenario(play, { seed, shape: false }).violations, `seed ${seed}`).toEqual([]);
  },
);
