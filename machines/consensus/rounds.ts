// One height's rounds: which votes and proposals stand in each, and who has spoken in rounds ahead of ours.

import { moreThanThird } from '../../protocol/rules/quorum.ts';
import { PREVOTE, type Proposal, type ValidatorSet, type Vote } from '../../protocol/types.ts';
import { equalBlockId } from '../../protocol/validate.ts';
import { type Tallied, VoteTally } from './votes.ts';

/**
 * Beyond the round after ours a peer may make us keep votes of so many rounds: where it is, and one that it catches up from (spec 5.2).
 * For another one it gives up its oldest: who decided in a later round must be able to show that.
 */
const CATCH_UP_ROUNDS_PER_PEER_MAX = 2;
/** Rounds that a peer may open in a height one after the other: a flood would fill the log otherwise. */
const CATCH_UP_CHANGES_PER_PEER_MAX = 64;
/**
 * Rounds that votes of one validator may open in a height, whoever passes them on: strangers come and go, each with as many of its own. Whose votes
 * are not heard in more than these is a liar, or one of less than a third of the power: with more, rounds are skipped.
 */
const CATCH_UP_OPENINGS_PER_VALIDATOR_MAX = 256;
/**
 * Nobody honest is so many rounds ahead: with CometBFT's timeouts they take thousands of years. Whoever skips a round plays its proposer's turn,
 * and a coalition that names the last of all would have us play two billions.
 */
const SKIP_MAX = 1_000_000;
/** Rounds that are kept of peers that went, together: our neighbours believe that we have their votes. */
const CATCH_UP_ROUNDS_LEFT_MAX = 16;
/** Of an equivocating proposer others are kept beside the first: a quorum may name any. More than this many ids cannot have one. */
const PROPOSALS_PER_ROUND_MAX = 3;

export interface Round {
  readonly round: number;
  readonly prevotes: VoteTally;
  readonly precommits: VoteTally;
  /** Proposals of this round's proposer whose signature verified; more than one when it equivocates. */
  readonly proposals: Proposal[];
  /** Who has sent anything in this round, by index, and their power (L55 counts any message). */
  readonly spoke: boolean[];
  spokePower: bigint;
}

export type VoteOutcome = Tallied | { readonly tally: 'too-far'; readonly round: number };

/** The rounds ahead of ours that a peer keeps open, oldest first, and how many it has opened. */
interface CatchUp {
  readonly rounds: number[];
  changes: number;
}

export class Rounds {
  readonly height: bigint;
  readonly validators: ValidatorSet;
  private readonly byRound = new Map<number, Round>();
  private readonly catchUp = new Map<string, CatchUp>();
  /** Rounds ahead of ours that a peer kept open that has gone, oldest first. */
  private readonly left: number[] = [];
  /** Which rounds ahead of ours each validator's votes have opened, by index: true votes may be passed on again and again, by anybody. */
  private readonly opened: Set<number>[] = [];
  /** The furthest round that more than a third of the power speaks in; -1: none. */
  private furthestSpoken = -1;

  constructor(height: bigint, validators: ValidatorSet) {
    this.height = height;
    this.validators = validators;
  }

  get(round: number): Round | undefined {
    return this.byRound.get(round);
  }

  at(round: number): Round {
    let found = this.byRound.get(round);
    if (!found) {
      found = {
        round,
        prevotes: new VoteTally(this.validators),
        precommits: new VoteTally(this.validators),
        proposals: [],
        spoke: [],
        spokePower: 0n,
      };
      this.byRound.set(round, found);
    }
    return found;
  }

  all(): IterableIterator<Round> {
    return this.byRound.values();
  }

  /** Counts a verified vote. `peer` is empty for our own. `current` is the round that we are in. */
  tally(vote: Vote, power: bigint, peer: string, current: number): VoteOutcome {
    if (vote.round > current + 1 && !this.catchUpTo(vote, peer, current))
      return { tally: 'too-far', round: vote.round };
    const round = this.at(vote.round);
    const outcome = (vote.type === PREVOTE ? round.prevotes : round.precommits).tally(vote, power);
    if (outcome.tally === 'added') this.spoke(round, vote.validatorIndex, power);
    return outcome;
  }

  private catchUpTo({ round, validatorIndex }: Vote, peer: string, current: number): boolean {
    if (round - current > SKIP_MAX) return false;
    const own = this.catchUp.get(peer) ?? { rounds: [], changes: 0 };
    const { rounds } = own;
    if (rounds.includes(round)) return true;
    if (own.changes >= CATCH_UP_CHANGES_PER_PEER_MAX) return false;
    const opened = this.opened[validatorIndex] ?? new Set<number>();
    if (!opened.has(round) && opened.size >= CATCH_UP_OPENINGS_PER_VALIDATOR_MAX) return false;
    this.catchUp.set(peer, own);
    if (!this.byRound.has(round)) own.changes++;
    this.opened[validatorIndex] = opened.add(round);
    rounds.push(round);
    if (rounds.length > CATCH_UP_ROUNDS_PER_PEER_MAX) this.letGo(rounds.shift() as number, current);
    return true;
  }

  /** Of a round ahead that no peer keeps open any more, nothing stays, unless somebody honest spoke in it (f+1). */
  private letGo(number: number, current: number): void {
    const round = this.byRound.get(number);
    if (!round || number <= current + 1 || moreThanThird(round.spokePower, this.validators.powerTotal))
      return;
    for (const { rounds } of this.catchUp.values()) if (rounds.includes(number)) return;
    if (this.left.includes(number)) return;
    this.byRound.delete(number);
  }

  /** The log does not know who went: a replay may know of more rounds than its life did, never of fewer. */
  peerDown(peer: string, current: number): void {
    const own = this.catchUp.get(peer);
    for (const round of own?.rounds.splice(0) ?? []) if (!this.left.includes(round)) this.left.push(round);
    // What it brought about counts for as long as the height lasts; who brought about nothing is not remembered.
    if (own?.changes === 0) this.catchUp.delete(peer);
    while (this.left.length > CATCH_UP_ROUNDS_LEFT_MAX) this.letGo(this.left.shift() as number, current);
    for (const { prevotes, precommits } of this.byRound.values()) {
      prevotes.forgetClaim(peer);
      precommits.forgetClaim(peer);
    }
  }

  /** No other proposal of this round is kept. */
  isCrowded(number: number): boolean {
    return (this.byRound.get(number)?.proposals.length ?? 0) >= PROPOSALS_PER_ROUND_MAX;
  }

  /** Null: kept. Otherwise why the proposal is not kept. */
  propose(proposal: Proposal, proposerIndex: number, power: bigint): 'known' | 'crowded' | null {
    const round = this.at(proposal.round);
    if (round.proposals.some((each) => equalBlockId(each.blockId, proposal.blockId))) return 'known';
    if (this.isCrowded(proposal.round)) return 'crowded';
    round.proposals.push(proposal);
    this.spoke(round, proposerIndex, power);
    return null;
  }

  private spoke(round: Round, index: number, power: bigint): void {
    if (round.spoke[index]) return;
    round.spoke[index] = true;
    round.spokePower += power;
    if (round.round > this.furthestSpoken && moreThanThird(round.spokePower, this.validators.powerTotal)) {
      this.furthestSpoken = round.round;
    }
  }

  /** Its proposer proposed, or validator `index` spoke in it, or somebody honest did (f+1). */
  isBegun(number: number, index: number): boolean {
    const round = this.byRound.get(number);
    if (!round) return false;
    if (round.proposals.length > 0 || round.spoke[index] === true) return true;
    return moreThanThird(round.spokePower, this.validators.powerTotal);
  }

  /** L55: the furthest round after `current` in which more than a third of the power (f+1) has spoken; -1: none. */
  skipTo(current: number): number {
    return this.furthestSpoken > current ? this.furthestSpoken : -1;
  }
}
