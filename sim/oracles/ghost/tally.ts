// What one node heard of the votes, proposals and parts of recent heights, its own included: the oracles' own count.

import { equalBytes } from '../../../protocol/bytes.ts';
import type { BlockId, Part, PartSetHeader, Proposal, Vote } from '../../../protocol/types.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import { type GhostSet, type GhostValidator, isQuorum } from './ghost.ts';
import { Indexes } from './indexes.ts';
import { setOfPart, setOfParts } from './seen.ts';

/** Heights kept of each node: it may hear of the next one early, and of the last one late. */
const HEIGHTS_KEPT = 4;

interface Value {
  readonly id: BlockId;
  readonly voters: Indexes;
  power: bigint;
}

/** Votes of one kind in one round. */
class Votes {
  readonly values: Value[] = [];
  /** Whoever voted, for whatever. */
  readonly voters = new Indexes();
  power = 0n;

  add(vote: Vote, power: bigint): void {
    const { blockId } = vote;
    let value = this.values.find(({ id }) => equalBlockId(id, blockId));
    if (!value) {
      value = { id: blockId, voters: new Indexes(), power: 0n };
      this.values.push(value);
    }
    if (!value.voters.has(vote.validatorIndex)) {
      value.voters.add(vote.validatorIndex);
      value.power += power;
    }
    if (this.voters.has(vote.validatorIndex)) return;
    this.voters.add(vote.validatorIndex);
    this.power += power;
  }

  /** `own` of the node itself counts wherever it may be: what it says is in its log before anybody hears it. */
  powerFor(id: BlockId, own: GhostValidator | null, index: number): bigint {
    const power = this.values.find((value) => equalBlockId(value.id, id))?.power ?? 0n;
    return own && !this.voters.has(index) ? power + own.power : power;
  }

  /** Of a block that is told of by its hash: the most for any parts of it. */
  powerForHash(hash: Uint8Array, own: GhostValidator | null, index: number): bigint {
    let most = 0n;
    for (const { id, power } of this.values) if (power > most && equalBytes(id.hash, hash)) most = power;
    return own && !this.voters.has(index) ? most + own.power : most;
  }

  powerOfAny(own: GhostValidator | null, index: number): bigint {
    return own && !this.voters.has(index) ? this.power + own.power : this.power;
  }
}

export class HeardRound {
  readonly proposals: Proposal[] = [];
  readonly prevotes = new Votes();
  readonly precommits = new Votes();
}

export class HeardHeight {
  readonly height: bigint;
  private readonly set: GhostSet;
  private readonly rounds = new Map<number, HeardRound>();
  /** By the set that they belong to. */
  private readonly parts = new Map<string, Set<number>>();
  private readonly own: GhostValidator | null;
  private readonly ownIndex: number;

  /** @param address of the node that hears, hex. */
  constructor(height: bigint, set: GhostSet, address: string) {
    this.height = height;
    this.set = set;
    this.ownIndex = set.members.findIndex((member) => member.address === address);
    this.own = set.members[this.ownIndex] ?? null;
  }

  isProposer(round: number): boolean {
    return this.own !== null && this.set.atRound(round) === this.own.address;
  }

  round(number: number): HeardRound {
    let round = this.rounds.get(number);
    if (!round) {
      round = new HeardRound();
      this.rounds.set(number, round);
    }
    return round;
  }

  addVote(vote: Vote): void {
    const power = this.set.members[vote.validatorIndex]?.power;
    if (power === undefined) return;
    const round = this.round(vote.round);
    (vote.type === PREVOTE ? round.prevotes : round.precommits).add(vote, power);
  }

  /** One that reached the node or left it. */
  addPart(part: Part): void {
    const set = setOfPart(part);
    if (set === null) return;
    const indexes = this.parts.get(set);
    if (indexes) indexes.add(part.index);
    else this.parts.set(set, new Set([part.index]));
  }

  hasPart(parts: PartSetHeader, index: number): boolean {
    return this.parts.get(setOfParts(parts))?.has(index) === true;
  }

  addProposal(proposal: Proposal): void {
    const { proposals } = this.round(proposal.round);
    const { polRound, blockId } = proposal;
    const isKnown = proposals.some(
      (each) => each.polRound === polRound && equalBlockId(each.blockId, blockId),
    );
    if (!isKnown) proposals.push(proposal);
  }

  isPolka(round: number, id: BlockId): boolean {
    return isQuorum(this.round(round).prevotes.powerFor(id, this.own, this.ownIndex), this.set.total);
  }

  isDecided(round: number, id: BlockId): boolean {
    return isQuorum(this.round(round).precommits.powerFor(id, this.own, this.ownIndex), this.set.total);
  }

  /** The same of a block that is told of by its hash: with whatever parts, but all for the same. */
  isMostForHash(kind: 'prevotes' | 'precommits', round: number, hash: Uint8Array): boolean {
    return isQuorum(this.round(round)[kind].powerForHash(hash, this.own, this.ownIndex), this.set.total);
  }

  /** Two thirds of some round precommitted one block. */
  get isOver(): boolean {
    for (const [number, { precommits }] of this.rounds)
      for (const { id } of precommits.values)
        if (id.hash.length > 0 && this.isDecided(number, id)) return true;
    return false;
  }

  isMostOfAny(kind: 'prevotes' | 'precommits', round: number): boolean {
    return isQuorum(this.round(round)[kind].powerOfAny(this.own, this.ownIndex), this.set.total);
  }

  /** The node has a vote of this index there, for whatever. */
  hasVoter(kind: 'prevotes' | 'precommits', round: number, index: number): boolean {
    return index === this.ownIndex || this.round(round)[kind].voters.has(index);
  }

  /** Whose votes for this value the node has there, by index. */
  votersFor(kind: 'prevotes' | 'precommits', round: number, id: BlockId): (index: number) => boolean {
    const voters = this.round(round)[kind].values.find((each) => equalBlockId(each.id, id))?.voters;
    return (index) => index === this.ownIndex || voters?.has(index) === true;
  }

  /** More than a third was heard of in this round, by vote or proposal. It has not spoken there itself: it speaks in rounds that it has begun. */
  isThirdIn(number: number): boolean {
    const round = this.round(number);
    const heard = new Indexes();
    heard.addAll(round.prevotes.voters);
    heard.addAll(round.precommits.voters);
    const { members, total } = this.set;
    const proposer = round.proposals.length > 0 ? this.set.atRound(number) : null;
    let sum = 0n;
    members.forEach(({ address, power }, index) => {
      if (heard.has(index) || address === proposer) sum += power;
    });
    return sum * 3n > total;
  }
}

/** Per height, as far as the ghost knows who votes in it. */
export class Heard {
  private readonly heights: HeardHeight[] = [];
  /** The one asked for last: mostly the next, too. */
  private last: HeardHeight | null = null;
  private readonly setAt: (height: bigint) => GhostSet | undefined;
  private readonly address: string;

  /** @param address of the node that hears, hex; empty: it has no key. */
  constructor(setAt: (height: bigint) => GhostSet | undefined, address: string) {
    this.setAt = setAt;
    this.address = address;
  }

  at(height: bigint): HeardHeight | null {
    if (this.last?.height === height) return this.last;
    const found = this.find(height);
    if (found) this.last = found;
    return found;
  }

  private find(height: bigint): HeardHeight | null {
    for (const each of this.heights) if (each.height === height) return each;
    const oldest = this.heights[0];
    if (oldest && height < oldest.height && this.heights.length >= HEIGHTS_KEPT) return null;
    const set = this.setAt(height);
    if (!set) return null;
    const fresh = new HeardHeight(height, set, this.address);
    const before = this.heights.at(-1);
    this.heights.push(fresh);
    const isLast = !before || before.height < height;
    if (!isLast) this.heights.sort((a, b) => (a.height < b.height ? -1 : 1));
    if (this.heights.length > HEIGHTS_KEPT) this.heights.shift();
    return fresh;
  }
}
