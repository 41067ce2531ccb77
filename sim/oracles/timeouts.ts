// Timeouts grow with the round (paper, "Termination"): every timer of a step is as long as the configuration says
// for its round. A chain on links slower than its first timeouts decides only because of that.

import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';

type ConsensusConfig = Machine['config']['consensus'];

const least: Readonly<Record<string, (config: ConsensusConfig, round: bigint) => bigint>> = {
  propose: (config, round) => config.timeoutProposeNs + round * config.timeoutProposeDeltaNs,
  prevote: (config, round) => config.timeoutPrevoteNs + round * config.timeoutPrevoteDeltaNs,
  precommit: (config, round) => config.timeoutPrecommitNs + round * config.timeoutPrecommitDeltaNs,
};

export const timeouts: OracleMaker = (report): Oracle => ({
  name: 'timeouts',
  effects: ['schedule'],
  leaving(at, actor, effect) {
    if (effect.type !== 'schedule' || actor !== 'validator') return;
    const [step = '', height = '0', round = '0'] = effect.timer.split(' ');
    const expected = Object.hasOwn(least, step)
      ? least[step]?.(at.config.consensus, BigInt(round))
      : undefined;
    if (expected === undefined || effect.afterNs >= expected) return;
    const what = `waits ${effect.afterNs} ns to ${step} in round ${round}; the timeout is ${expected} ns`;
    report(`${at.name} ${what}`, at, BigInt(height));
  },
});
