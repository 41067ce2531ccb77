// Timeouts grow with the round (paper, "Termination"): every timer of a step is as long as the configuration says
// for its round. A chain on links slower than its first timeouts decides only because of that. And after a commit a node waits for
// late precommits as long as it was told to (spec 5.2).

import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { Vote } from '../../../protocol/types.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { PRECOMMIT } from '../canonical/numbers.ts';
import { isOwn } from '../ghost/about-votes.ts';
import type { GhostChain, GhostSet } from '../ghost/ghost.ts';
import { messagesIn } from '../ghost/messages.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { timerOf } from '../ghost/timers.ts';

type ConsensusConfig = Machine['config']['consensus'];

const least: ReadonlyMap<string, (config: ConsensusConfig, round: bigint) => bigint> = new Map([
  ['propose', (config, round) => config.timeoutProposeNs + round * config.timeoutProposeDeltaNs],
  ['prevote', (config, round) => config.timeoutPrevoteNs + round * config.timeoutPrevoteDeltaNs],
  ['precommit', (config, round) => config.timeoutPrecommitNs + round * config.timeoutPrecommitDeltaNs],
  ['empty', (config) => config.createEmptyBlocksIntervalNs],
]);

/** When a node, in this life, said that it entered the commit of a height: by its own clock, and by the world's. */
interface Commit {
  readonly height: bigint;
  readonly count: number;
  readonly atNs: number;
}

/** A node that is behind keeps some of what it hears of later heights. */
const HEIGHTS_AHEAD = 64n;

/** Whose precommits of a height a node has heard, by round, in any life: its log may have them. */
class Precommits {
  private readonly heard = new PerMachine(() => new Map<number, Map<number, Set<number>>>());

  /** Of others: its own is no news to it. */
  hears(at: Machine, vote: Vote): void {
    const { type, height, round, validatorIndex } = vote;
    if (isOwn(at, vote)) return;
    if (type !== PRECOMMIT || height < at.height || height > at.height + HEIGHTS_AHEAD) return;
    const heights = this.heard.of(at);
    let rounds = heights.get(Number(height));
    if (!rounds) {
      for (const old of heights.keys()) if (old < Number(at.height)) heights.delete(old);
      rounds = new Map();
      heights.set(Number(height), rounds);
    }
    const voters = rounds.get(round) ?? new Set();
    rounds.set(round, voters.add(validatorIndex));
  }

  /** Of all others in this set, in one round. */
  areAll(at: Machine, height: bigint, set: GhostSet | undefined): boolean {
    const members = set?.members ?? [];
    const others = members.filter(({ address }) => address !== hexFor(at)).length;
    for (const voters of this.heard.get(at)?.get(Number(height))?.values() ?? [])
      if (voters.size >= others) return true;
    return others === 0;
  }
}

export const timeouts =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const commits = new Map<Machine, Commit>();
    const precommits = new Precommits();
    /** When a node, in this life, gave its application the block of a height. */
    const decisions = new Map<Machine, Commit>();
    const isSkipping = about.machines.some(({ config }) => config.consensus.skipTimeoutCommit);

    const begins = (at: Machine, height: bigint): void => {
      const { skipTimeoutCommit, timeoutCommitNs } = at.config.consensus;
      const last = commits.get(at);
      if (last?.height !== height - 1n) return;
      if (skipTimeoutCommit && precommits.areAll(at, last.height, ghost.set(last.height))) return;
      if (at.heldUntilNs >= last.atNs) return; // it was held back in between
      const waited = at.clock.count() - last.count;
      if (waited + saidLateNs(at) >= Number(timeoutCommitNs)) return;
      const lacks = skipTimeoutCommit ? ', and a precommit is missing' : '';
      const what = `begins height ${height} ${waited} ns after its commit; timeout_commit is ${timeoutCommitNs} ns`;
      report(`${at.name} ${what}${lacks}`, at, height);
    };

    /** timeout_commit runs from the decision, not from when the application has answered (CometBFT CommitTime). */
    const waits = (at: Machine, height: bigint, afterNs: bigint): void => {
      const { timeoutCommitNs } = at.config.consensus;
      if (afterNs > timeoutCommitNs)
        report(
          `${at.name} waits ${afterNs} ns to start; timeout_commit is ${timeoutCommitNs} ns`,
          at,
          height,
        );
      const decided = decisions.get(at);
      if (decided?.height !== height - 1n || afterNs === 0n || at.heldUntilNs >= decided.atNs) return;
      const whole = Number(afterNs) + at.clock.count() - decided.count;
      if (whole <= Number(timeoutCommitNs) + saidLateNs(at)) return;
      const what = `waits until ${whole} ns after its decision to start; timeout_commit is ${timeoutCommitNs} ns`;
      report(`${at.name} ${what}`, at, height);
    };

    return {
      name: 'timeouts',
      effects: ['schedule', 'tell'],
      events: ['step'],
      started(at) {
        commits.delete(at);
        decisions.delete(at);
      },
      ...(isSkipping && {
        heard(at: Machine, _from: PeerId | null, payloads: readonly Payload[]) {
          for (const message of messagesIn(payloads))
            if (message?.type === 'vote') precommits.hears(at, message.vote);
        },
      }),
      published(at, _actor, event) {
        if (event.type !== 'step') return;
        const { height, round, step } = event;
        if (step === STEP.commit) commits.set(at, { height, count: at.clock.count(), atNs: about.now() });
        else if (step === STEP.newRound && round === 0) begins(at, height);
      },
      leaving(at, actor, effect) {
        if (actor !== 'validator') return;
        if (effect.type === 'tell') {
          const { message } = effect;
          if (message.type !== 'request' || message.request.type !== 'finalize-block') return;
          const { height } = message.request.value;
          if (at.mode === 'consensus')
            decisions.set(at, { height, count: at.clock.count(), atNs: about.now() });
        }
        if (effect.type !== 'schedule') return;
        const { step, height, round } = timerOf(effect.timer);
        if (step === 'start') waits(at, height, effect.afterNs);
        const expected = least.get(step)?.(at.config.consensus, BigInt(round));
        if (expected === undefined || effect.afterNs === expected) return;
        const what = `waits ${effect.afterNs} ns to ${step} in round ${round}; the timeout is ${expected} ns`;
        report(`${at.name} ${what}`, at, height);
      },
    };
  };
