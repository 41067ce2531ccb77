// What a node says of itself is true: where it stands, which round decided the height before, and whether its own is decided, which votes and parts it
// has, and for what it saw two thirds. Peers count on it: what one says that it has it is not given, and what it says that it lacks it is given again.

import { membership } from '../../../protocol/bit-array.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { BitArray, VoteType } from '../../../protocol/types.ts';
import { STEP } from '../../steps.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import type { Indexes } from '../ghost/indexes.ts';
import { Shown } from '../ghost/shown.ts';
import type { HeardHeight } from '../ghost/tally.ts';

type Said<T extends ConsensusMessage['type']> = Extract<ConsensusMessage, { type: T }>;

const SECOND_NS = 1_000_000_000;

const kindOf = (voteType: number): 'prevotes' | 'precommits' =>
  voteType === PREVOTE ? 'prevotes' : 'precommits';

/** The first index that is claimed and not held; -1: there is none. */
function firstFalse(claimed: BitArray, holds: (index: number) => boolean): number {
  const has = membership(claimed);
  for (let i = 0; i < claimed.bits; i++) if (has(i) && !holds(i)) return i;
  return -1;
}

/** The first index that is not claimed, and held; -1: there is none. */
function firstDenied(claimed: BitArray, held: Indexes | null): number {
  if (!held) return -1;
  const has = membership(claimed);
  for (let i = 0; i < claimed.bits; i++) if (!has(i) && held.has(i)) return i;
  return -1;
}

/** How long a height has lasted, in whole seconds: who starts again counts from then, as if it had just committed the height before (updateToState). */
function secondsOf(
  { height, secondsSinceStart: seconds }: Said<'new-round-step'>,
  lifeNs: number,
): string | null {
  if (seconds >= 0n && Number(seconds) <= lifeNs / SECOND_NS) return null;
  return `that height ${height} began ${seconds} s ago`;
}

/** What one node says of itself, and where it stands; what it has is counted where it is heard. */
export class Claims {
  private readonly initialHeight: bigint;
  private readonly roundOnDisk: (height: bigint) => number | null;
  /** Where it stands in this life; -1: it has not begun. */
  private height = -1n;
  private round = 0;
  private step = 0;
  /** The last height that was decided, as far as it is known, and by which round. */
  private decision: { readonly height: bigint; readonly round: number } | null = null;
  private readonly shown = new Shown();

  /** @param roundOnDisk which round decided a height, as its disk has it. */
  constructor(initialHeight: bigint, roundOnDisk: (height: bigint) => number | null) {
    this.initialHeight = initialHeight;
    this.roundOnDisk = roundOnDisk;
  }

  startsLife(): void {
    this.height = -1n;
    this.decision = null;
    this.shown.forgets();
  }

  decides(height: bigint, round: number): void {
    this.stands(height + 1n, 0, STEP.newHeight);
    this.decision = { height, round };
  }

  stands(height: bigint, round: number, step: number): void {
    if (round !== this.round) this.shown.entersRound(round);
    this.round = round;
    this.step = step;
    if (height === this.height) return;
    this.height = height;
    this.shown.forgets();
  }

  /** What it has itself it sends. Of a round ahead it may let go again what it has. */
  sends(message: Said<'vote' | 'block-part'>): void {
    if (message.type === 'block-part') {
      if (message.height === this.height) this.shown.sendsPart(message.part, message.round);
    } else if (message.vote.height === this.height && message.vote.round <= this.round)
      this.shown.sendsVote(message.vote);
  }

  /**
   * What of this is not true; null: nothing, as far as anybody can tell. Of heights before its own a node says what its disk has.
   * @param lifeNs how long the clock of its machine has run in this life.
   */
  falsehoodIn(
    message: ConsensusMessage,
    heard: (height: bigint) => HeardHeight | null,
    lifeNs: number,
  ): string | null {
    if (message.type === 'new-round-step')
      return this.standingOf(message) ?? this.lastCommitOf(message) ?? secondsOf(message, lifeNs);
    if (this.height < 0n || message.type === 'vote' || message.type === 'proposal') return null;
    if (message.type === 'vote-set-maj23' && message.height < this.height) return this.decidedBy(message);
    const votes = message.height === this.height ? heard(message.height) : null;
    if (!votes) return null;
    switch (message.type) {
      case 'has-vote':
        return this.voteOf(message, votes);
      case 'vote-set-bits':
        return this.votesOf(message, votes);
      case 'vote-set-maj23':
        return this.twoThirdsOf(message, votes);
      case 'new-valid-block':
        return this.decisionOf(message, votes) ?? this.partsOf(message, votes);
      default:
        return null;
    }
  }

  private standingOf({ height, round, step }: Said<'new-round-step'>): string | null {
    if (this.height < 0n || (height === this.height && round === this.round && step === this.step))
      return null;
    return `that it is at ${height}/${round}, step ${step}, and is at ${this.height}/${this.round}, step ${this.step}`;
  }

  /** Who says otherwise is no peer of CometBFT's (NewRoundStepMessage.ValidateHeight). */
  private lastCommitOf({ height, lastCommitRound }: Said<'new-round-step'>): string | null {
    const decidedBy = height === this.initialHeight ? -1 : this.roundOf(height - 1n);
    const isTrue = decidedBy === null ? lastCommitRound >= 0 : lastCommitRound === decidedBy;
    if (isTrue) return null;
    const truth = decidedBy === -1 ? 'there was none' : `it was round ${decidedBy ?? '0 or a later one'}`;
    return `that round ${lastCommitRound} decided height ${height - 1n}, and ${truth}`;
  }

  private roundOf(height: bigint): number | null {
    if (this.decision?.height === height) return this.decision.round;
    const round = this.roundOnDisk(height);
    if (round !== null) this.decision = { height, round };
    return round;
  }

  /** Of a height that is over the precommits that it decided by are the two thirds that it knows of. */
  private decidedBy({ height, round, voteType }: Said<'vote-set-maj23'>): string | null {
    const by = voteType === PREVOTE ? null : this.roundOf(height);
    if (by === null || by === round) return null;
    return `that two thirds precommitted in round ${round} of height ${height}, and it was round ${by}`;
  }

  private decisionOf({ height, isCommit }: Said<'new-valid-block'>, votes: HeardHeight): string | null {
    if (isCommit) return votes.isOver ? null : `that height ${height} is decided`;
    return this.step === STEP.commit ? `that height ${height} is not decided` : null;
  }

  private voteOf({ height, round, voteType, index }: Said<'has-vote'>, votes: HeardHeight): string | null {
    if (votes.hasVoter(kindOf(voteType), round, index)) return null;
    return `that it has vote ${index} of the ${kindOf(voteType)} of ${height}/${round}`;
  }

  private votesOf(message: Said<'vote-set-bits'>, votes: HeardHeight): string | null {
    const { height, round, voteType, blockId } = message;
    const kind = kindOf(voteType);
    const index = firstFalse(message.votes, votes.votersFor(kind, round, blockId));
    if (index >= 0) return `that it has vote ${index} of the ${kind} of ${height}/${round} for one value`;
    const place = { type: voteType as VoteType, round };
    const denied = firstDenied(message.votes, this.shown.votersFor(place, blockId));
    return denied < 0
      ? null
      : `that it lacks vote ${denied} of the ${kind} of ${height}/${round}, which it has sent`;
  }

  private twoThirdsOf(message: Said<'vote-set-maj23'>, votes: HeardHeight): string | null {
    const { height, round, voteType, blockId } = message;
    const isTrue = voteType === PREVOTE ? votes.isPolka(round, blockId) : votes.isDecided(round, blockId);
    return isTrue ? null : `that it saw two thirds of the ${kindOf(voteType)} of ${height}/${round} agree`;
  }

  private partsOf(
    { height, round, parts, have }: Said<'new-valid-block'>,
    votes: HeardHeight,
  ): string | null {
    // Its own block nobody may have been there to hear.
    for (let each = 0; each <= round; each++) if (votes.isProposer(each)) return null;
    if (!have) return null;
    const index = firstFalse(have, (i) => votes.hasPart(parts, i));
    if (index >= 0) return `that it has part ${index} of a block of ${height}/${round}`;
    const denied = firstDenied(have, this.shown.partsOf(parts));
    return denied < 0
      ? null
      : `that it lacks part ${denied} of a block of ${height}/${round}, which it has sent`;
  }
}
