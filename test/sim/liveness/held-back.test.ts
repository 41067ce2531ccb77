// What a slow signer was at when all trouble ended is waited for: the bound has it.

import { expect, it } from 'vitest';
import { at, core, everyone, height, scenario, signer, validators } from '../../../sim/index.ts';
import { runScenario } from '../../../sim/run.ts';

const MS = 1_000_000n;
const QUICK = {
  timeoutProposeNs: 1_500n * MS,
  timeoutProposeDeltaNs: 0n,
  timeoutPrevoteNs: 300n * MS,
  timeoutPrevoteDeltaNs: 50n * MS,
  timeoutPrecommitNs: 300n * MS,
  timeoutPrecommitDeltaNs: 50n * MS,
  timeoutCommitNs: 200n * MS,
};

it.each([3_900, 4_200, 4_500])(
  'chaos ends at %d ms, while the next proposer’s key is at a signature',
  (endsMs) => {
    const play = scenario('a signature that takes longer than a height is under way as chaos ends', {
      name: 'signature-under-way',
      cast: validators(4),
      settings: { consensus: QUICK },
      act: [at('1s', signer('v0', '2500ms')), at(`${endsMs}ms`, core('v0', 'v1', 'v2', 'v3'))],
      ends: everyone.decides(height(14), { within: '120s' }),
    });
    const { violations, liveness } = runScenario(play, { seed: 1 });
    expect(violations).toEqual([]);
    expect(liveness?.ratio).toBeGreaterThan(0);
  },
);
