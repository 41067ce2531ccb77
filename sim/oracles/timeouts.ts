// Timeouts grow with the round (paper, "Termination"): every timer of a step is as long as the configuration says
// for its round. A chain on links slower than its first timeouts decides only because of that. And after a commit a node waits for
// late precommits as long as it was told to (spec 5.2).

import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { STEP } from '../steps.ts';
import { saidLateNs } from './pace.ts';
import { timerOf } from './timers.ts';

type ConsensusConfig = Machine['config']['consensus'];

const least: Readonly<Record<string, (config: ConsensusConfig, round: bigint) => bigint>> = {
  propose: (config, round) => config.timeoutProposeNs + round * config.timeoutProposeDeltaNs,
  prevote: (config, round) => config.timeoutPrevoteNs + round * config.timeoutPrevoteDeltaNs,
  precommit: (config, round) => config.timeoutPrecommitNs + round * config.timeoutPrecommitDeltaNs,
};

/** When a node, in this life, said that it entered the commit of a height: by its own clock, and by the world's. */
interface Commit {
  readonly height: bigint;
  readonly count: number;
  readonly atNs: number;
}

export const timeouts: OracleMaker = (report, about): Oracle => {
  const commits = new Map<Machine, Commit>();

  const begins = (at: Machine, height: bigint): void => {
    const { skipTimeoutCommit, timeoutCommitNs } = at.config.consensus;
    const last = commits.get(at);
    if (skipTimeoutCommit || last?.height !== height - 1n) return;
    if (at.heldUntilNs >= last.atNs) return; // it was held back in between
    const waited = at.clock.count() - last.count;
    if (waited + saidLateNs(at) >= Number(timeoutCommitNs)) return;
    const what = `begins height ${height} ${waited} ns after its commit; timeout_commit is ${timeoutCommitNs} ns`;
    report(`${at.name} ${what}`, at, height);
  };

  return {
    name: 'timeouts',
    effects: ['schedule'],
    events: ['step'],
    started: (at) => void commits.delete(at),
    published(at, _actor, event) {
      if (event.type !== 'step') return;
      const { height, round, step } = event;
      if (step === STEP.commit) commits.set(at, { height, count: at.clock.count(), atNs: about.now() });
      else if (step === STEP.newRound && round === 0) begins(at, height);
    },
    leaving(at, actor, effect) {
      if (effect.type !== 'schedule' || actor !== 'validator') return;
      const { step, height, round } = timerOf(effect.timer);
      const expected = Object.hasOwn(least, step)
        ? least[step]?.(at.config.consensus, BigInt(round))
        : undefined;
      if (expected === undefined || effect.afterNs === expected) return;
      const what = `waits ${effect.afterNs} ns to ${step} in round ${round}; the timeout is ${expected} ns`;
      report(`${at.name} ${what}`, at, height);
    },
  };
};
