// Who spoke in time is not absent: the last commit in a proposer's block holds every precommit for the block before that came before
// round 0 began, of a round that its proposer had reached. Applications punish who is absent, and timeout_commit is there for those who are a little late. Who lies
// may have said something else first. And who has all precommits waits for none, where skip_timeout_commit says so.

import type { NodeEvent } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import type { Block, Commit, Vote } from '../../../protocol/types.ts';
import { machinesByAddress } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { equalBlockId, isNilBlockId } from '../canonical/block-id.ts';
import { CHANNEL_VOTE, FLAG_ABSENT, PRECOMMIT } from '../canonical/numbers.ts';
import { countedUntil } from '../ghost/between-heights.ts';
import { type GhostChain, type GhostSet, isTrueVote } from '../ghost/ghost.ts';
import { GivenUp } from '../ghost/given-up.ts';
import { Greeted } from '../ghost/greeted.ts';
import { endsEnvelope, messagesIn } from '../ghost/messages.ts';

/** More than any set has. */
const VALIDATORS_MAX = 65_536;

/** The one before that under way, that one, and the next: a block is known when the first node stores it. */
const HEIGHTS_HEARD = 3;

interface Arrived {
  readonly vote: Vote;
  readonly atNs: number;
}

/** Precommits of one height as they reached one node, in one life, the first of each validator and round. */
class Hearing {
  readonly height: bigint;
  readonly life: number;
  readonly arrived: Arrived[] = [];
  /** Rounds and indexes of those. */
  private readonly places = new Set<number>();
  /** When round 0 of the next height began. */
  endedNs: number | null = null;
  /** In which round the node decided, and when its block was executed. */
  executed: { readonly round: number; readonly atNs: number } | null = null;

  constructor(height: bigint, life: number) {
    this.height = height;
    this.life = life;
  }

  hears(vote: Vote, atNs: number): void {
    if (this.endedNs !== null) return;
    const { size } = this.places;
    this.places.add(vote.round * VALIDATORS_MAX + vote.validatorIndex);
    if (this.places.size > size) this.arrived.push({ vote, atNs });
  }

  ofRound(round: number): readonly Arrived[] {
    return this.arrived.filter(({ vote }) => vote.round === round);
  }
}

export const presentOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const byAddress = machinesByAddress(about);
    const hearings = new Map<Machine, Hearing[]>();
    const greeted = new Greeted();
    const givenUp = new GivenUp(ghost, about);
    const hearingOf = (at: Machine, height: bigint): Hearing | undefined =>
      hearings.get(at)?.find((each) => each.height === height && each.life === at.lives);

    /** Of the height before, and of that under way what is of a round that it has begun: until its block is stored it may be this or that. */
    const isTimely = (at: Machine, { height, round }: Vote): boolean =>
      height === at.height || (height === at.height + 1n && round <= at.round);

    /** A vote of others, or what its signer tells it of its own. */
    const hears = (at: Machine, vote: Vote): void => {
      if (vote.type !== PRECOMMIT || !isTimely(at, vote)) return;
      if (at.mode !== 'consensus' || at.node?.isPaused !== false) return;
      let hearing = hearingOf(at, vote.height);
      if (!hearing) {
        hearing = new Hearing(vote.height, at.lives);
        hearings.set(at, [hearing, ...(hearings.get(at) ?? [])].slice(0, HEIGHTS_HEARD));
      }
      hearing.hears(vote, about.now());
    };

    const executes = (at: Machine, { height, round }: Extract<NodeEvent, { type: 'committed' }>): void => {
      const hearing = hearingOf(at, height);
      if (hearing && at.mode === 'consensus') hearing.executed = { round, atNs: about.now() };
    };

    const begins = (at: Machine, { height, round, step }: Extract<NodeEvent, { type: 'step' }>): void => {
      if (round !== 0 || step !== STEP.newRound) return;
      const hearing = hearingOf(at, height - 1n);
      if (!hearing || hearing.endedNs !== null) return;
      hearing.endedNs = about.now();
      if (!at.config.consensus.skipTimeoutCommit || !wereAllThere(at, hearing)) return;
      const what = `${at.name} had all precommits of ${height - 1n} and waited on; skip_timeout_commit is set`;
      report(what, at, height);
    };

    /** For certain, and long before the next height began: nothing was left to wait for. */
    const wereAllThere = (at: Machine, hearing: Hearing): boolean => {
      const { height, executed, endedNs } = hearing;
      const set = ghost.set(height);
      const before = endedNs === null ? null : countedUntil(at, endedNs);
      if (!set || !executed || before === null || executed.atNs > before) return false;
      const arrived = hearing.ofRound(executed.round);
      return (
        arrived.length === set.members.length &&
        arrived.every(({ vote, atNs }) => atNs <= before && isTrueVote(about, set, vote))
      );
    };

    const isOfHonest = ({ validatorAddress }: Vote): boolean => {
      const voter = byAddress.get(hexOf(validatorAddress));
      return !!voter && about.isHonest(voter);
    };

    /** All of them are there, and dated after their block: a vote for nil takes no time from the next one, and is not left out (docs/decisions/0010). */
    const areAllLater = (set: GhostSet, hearing: Hearing, { height, round }: Commit): boolean => {
      const timeNs = ghost.timeNs(height);
      const arrived = hearing.ofRound(round);
      return (
        timeNs !== undefined &&
        arrived.length === set.members.length &&
        arrived.every(({ vote }) => vote.timeNs > timeNs && isOfHonest(vote) && isTrueVote(about, set, vote))
      );
    };

    /** A block of the chain, the first time that an honest node stores it. */
    const decides = ({ header, lastCommit }: Block): void => {
      const at = byAddress.get(hexOf(header.proposerAddress));
      const hearing = at && about.isHonest(at) ? hearingOf(at, header.height - 1n) : undefined;
      const set = ghost.set(header.height - 1n);
      if (!at || !hearing?.endedNs || !lastCommit || !set) return;
      const before = countedUntil(at, hearing.endedNs);
      if (before === null) return;
      for (const { vote, atNs } of hearing.ofRound(lastCommit.round)) {
        if (atNs > before || lastCommit.signatures[vote.validatorIndex]?.flag !== FLAG_ABSENT) continue;
        if (!isOfHonest(vote) || !isTrueVote(about, set, vote)) continue;
        if (isNilBlockId(vote.blockId) && !areAllLater(set, hearing, lastCommit)) continue;
        if (!isNilBlockId(vote.blockId) && !equalBlockId(vote.blockId, lastCommit.blockId)) continue;
        const voter = byAddress.get(hexOf(vote.validatorAddress))?.name;
        const what = `${at.name} proposed block ${header.height} as if ${voter} had been absent from ${vote.height}`;
        report(`${what}, and had its precommit`, at, header.height);
      }
    };
    ghost.onBlock.push((_at, block) => decides(block));

    return {
      name: 'present',
      effects: ['tell'],
      events: ['peer', 'step', 'committed'],
      started: (at) => greeted.starts(at),
      published(at, _actor, event) {
        if (event.type === 'peer') greeted.greets(at, event.peer, event.up, about.now());
        else if (event.type === 'step') begins(at, event);
        else if (event.type === 'committed') executes(at, event);
      },
      leaving(at, actor, effect) {
        if (actor !== 'signer' || effect.type !== 'tell' || !about.isHonest(at)) return;
        if (effect.message.type === 'signed-vote') hears(at, effect.message.vote);
      },
      heard(at, from, payloads) {
        if (!about.isHonest(at) || givenUp.mayBe(from, payloads)) return;
        const messages = messagesIn(payloads);
        for (let i = 0; i < messages.length; i++) {
          const message = messages[i];
          // Of an envelope the node reads nothing behind what is no word.
          if (!message && endsEnvelope(payloads[i]?.channel ?? 0)) return;
          if (message?.type !== 'vote' || payloads[i]?.channel !== CHANNEL_VOTE) continue;
          if (greeted.hears(at, from, about.now())) hears(at, message.vote);
        }
      },
    };
  };
