// What reached one node of the height that it is at, in this life, and since when the rules of the paper bind it to act.
// Only what it cannot have let fall counts: whole proposals, true signatures, two rounds ahead of each peer.

import type { PeerId } from '../../../actors/turn.ts';
import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import { Lately, LatelyAt } from '../../../protocol/lately.ts';
import { leafHash, merkleProofRoot } from '../../../protocol/merkle.ts';
import {
  type BlockId,
  NIL_BLOCK_ID,
  type Part,
  type PartSetHeader,
  type Proposal,
  type Vote,
} from '../../../protocol/types.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { BLOCK_PART_BYTES, PREVOTE } from '../canonical/numbers.ts';
import type { FirstWords } from './first-words.ts';
import { type GhostSet, isQuorum } from './ghost.ts';
import { Indexes } from './indexes.ts';

/** A peer may make a node keep so many rounds beyond the next one (spec 5.2). */
const ROUNDS_AHEAD_PER_PEER = 2;

/** Who spoke, by index, and how strong they are together. */
class Crowd {
  power = 0n;
  private readonly indexes = new Indexes();

  has(index: number): boolean {
    return this.indexes.has(index);
  }

  add(index: number, power: bigint): void {
    if (this.indexes.has(index)) return;
    this.indexes.add(index);
    this.power += power;
  }
}

/** A round in which more than a third spoke, and since when. */
interface Skip {
  readonly round: number;
  readonly sinceNs: number;
}

/** A block that a polka of this round made valid, and since when. */
interface Valid {
  readonly round: number;
  readonly sinceNs: number;
}

/** A proposal of the round after its own, and the parts that came behind it. */
interface Next {
  readonly proposal: Proposal;
  readonly set: string;
  readonly parts: Set<number>;
}

/** The votes of one kind in one round. */
class Votes {
  readonly voters = new Indexes();
  /** When two thirds had voted, for whatever (L34, L47). */
  mostNs: number | null = null;
  private power = 0n;
  private readonly blocks: { readonly id: BlockId; power: bigint }[] = [];

  /** The power behind a block, or nil. */
  powerFor(id: BlockId): bigint {
    for (const each of this.blocks) if (equalBlockId(each.id, id)) return each.power;
    return 0n;
  }

  /** One more spoke. */
  counts(power: bigint, total: bigint, nowNs: number): void {
    this.power += power;
    if (isQuorum(this.power, total)) this.mostNs ??= nowNs;
  }

  /** The power behind the block with this one. */
  add(id: BlockId, power: bigint): bigint {
    for (const each of this.blocks) {
      if (!equalBlockId(each.id, id)) continue;
      each.power += power;
      return each.power;
    }
    this.blocks.push({ id, power });
    return power;
  }
}

/** What the parts of a block have in common. A true root may come with a false number of parts: those are others. */
const nameOfSet = ({ total, hash }: PartSetHeader): string => `${total}.${hexOf(hash)}`;
const named = new Lately<PartSetHeader, string>(8);
export const setOfParts = (header: PartSetHeader): string => named.of(header, nameOfSet);

/** Parts that were looked into: each reaches many nodes. */
const sets = new LatelyAt<Part, string | null>(256);

/** The set that a part belongs to; null: it is not what its proof is about, or not as long as all but the last are. */
export function setOfPart(part: Part): string | null {
  let known = sets.get(part.index, part);
  if (known === undefined) {
    const { index, bytes, proof } = part;
    const root = merkleProofRoot(proof);
    const isFull = bytes.length === BLOCK_PART_BYTES || BigInt(index) === proof.total - 1n;
    const isTrue =
      root && isFull && Number(proof.index) === index && equalBytes(proof.leafHash, leafHash(bytes));
    known = isTrue ? nameOfSet({ total: Number(proof.total), hash: root }) : null;
    sets.set(index, part, known);
  }
  return known;
}

export class Seen {
  readonly height: bigint;
  readonly set: GhostSet;
  round = 0;
  /** When it began the height, and came to its round and to these steps of it. */
  begunNs: number | null = null;
  roundNs: number | null = null;
  proposeNs: number | null = null;
  prevoteNs: number | null = null;
  /** The furthest round ahead of its own in which more than a third spoke, and since when (L55). */
  skip: Skip | null = null;
  /** The first such round that it has not come to, where a further one has taken its place. */
  skipBefore: Skip | null = null;
  proposal: Proposal | null = null;
  /** The set of its parts. */
  private proposedParts = '';
  /** L22, L28: when the only proposal of this round stood before it, with its block and the polka that it names. */
  wholeNs: number | null = null;
  /** L28: as it came to prevote, all was there to prevote the proposal. */
  isOwed = false;
  /** L44: when two thirds of prevotes for nil of this round stood before it. */
  nilNs: number | null = null;
  /** L49: when two thirds of precommits of one round, for one block, stood before it. */
  decidedNs: number | null = null;
  /** The latest block that it holds whole, with its polka, of the round that it was in (L36). */
  valid: Valid | null = null;
  /** The one before it, of an earlier round. */
  private validBefore: Valid | null = null;
  /** Rounds ahead, and who speaks in them. */
  private readonly ahead = new Map<number, Crowd>();
  /** Which rounds beyond the next each peer has spoken of, oldest first. */
  private readonly opened = new Map<PeerId, number[]>();
  private readonly words: FirstWords;
  /** Indexes of parts that came, by the set that they belong to. */
  private readonly parts = new Map<string, Set<number>>();
  /** Of those of the proposal the ones that came when it was there: others may be let fall. */
  private readonly wanted = new Set<number>();
  /** The first of that round. */
  private next: Next | null = null;
  /** By round. */
  private readonly prevotes = new Map<number, Votes>();
  private readonly precommits = new Map<number, Votes>();

  /** `words`: what it was told of this height so far, in other lives, too. */
  constructor(words: FirstWords, set: GhostSet) {
    this.height = words.height;
    this.set = set;
    this.words = words;
  }

  /** What made a block valid after `sinceNs` came too late in the round that it leaves: the application had no time to judge it. */
  enters(round: number, sinceNs: number, nowNs: number): void {
    if (round <= this.round) return;
    if (this.valid && this.valid.round === this.round && this.valid.sinceNs > sinceNs)
      this.valid = this.validBefore;
    this.validBefore = this.valid;
    this.round = round;
    this.roundNs = null;
    this.proposeNs = null;
    this.proposal = null;
    this.proposedParts = '';
    this.wholeNs = null;
    this.isOwed = false;
    this.prevoteNs = null;
    this.nilNs = null;
    if (this.parts.size > 0) this.parts.clear();
    if (this.wanted.size > 0) this.wanted.clear();
    if (this.skip && this.skip.round <= round) this.skip = null;
    if (this.skipBefore && this.skipBefore.round <= round) this.skipBefore = null;
    const { next } = this;
    this.next = null;
    if (next?.proposal.round === round) this.beginsWith(next);
    this.look(nowNs);
  }

  private beginsWith({ proposal, set, parts }: Next): void {
    this.proposal = proposal;
    this.proposedParts = set;
    this.parts.set(set, parts);
    for (const index of parts) this.wanted.add(index);
  }

  /** It votes in this round: from now on a polka makes its block valid (L36). */
  comesToPrevote(nowNs: number): void {
    this.prevoteNs ??= nowNs;
    this.look(nowNs);
  }

  private powerOf(index: number): bigint {
    return this.set.members[index]?.power ?? 0n;
  }

  // --- rounds ahead ----------------------------------------------------------------------------------------

  /** Whether a vote of a round ahead would tell anything new. */
  isNewAhead({ round, validatorIndex }: Vote): boolean {
    return this.ahead.get(round)?.has(validatorIndex) !== true;
  }

  speaksAhead({ round, validatorIndex }: Vote, peer: PeerId, nowNs: number): void {
    if (round > this.round + 1 && !this.opens(round, peer)) return;
    this.speaks(round, validatorIndex, nowNs);
  }

  private speaks(round: number, index: number, nowNs: number): void {
    let speakers = this.ahead.get(round);
    if (!speakers) {
      speakers = new Crowd();
      this.ahead.set(round, speakers);
    }
    speakers.add(index, this.powerOf(index));
    const isFurther = !this.skip || this.skip.round < round;
    if (!isFurther || speakers.power * 3n <= this.set.total) return;
    this.skipBefore ??= this.skip;
    this.skip = { round, sinceNs: nowNs };
  }

  /** False: the node does not let this peer open one more. */
  private opens(round: number, peer: PeerId): boolean {
    const rounds = this.opened.get(peer) ?? [];
    this.opened.set(peer, rounds);
    if (rounds.includes(round)) return true;
    if (!this.words.opens(peer)) return false;
    rounds.push(round);
    if (rounds.length > ROUNDS_AHEAD_PER_PEER) this.ahead.delete(rounds.shift() as number);
    return true;
  }

  // --- this round and those before -------------------------------------------------------------------------

  private ofKind(type: Vote['type']): Map<number, Votes> {
    return type === PREVOTE ? this.prevotes : this.precommits;
  }

  isNewVote({ type, round, validatorIndex }: Vote): boolean {
    return this.ofKind(type).get(round)?.voters.has(validatorIndex) !== true;
  }

  /** When two thirds of its round had cast such votes; null: they have not. */
  mostNs(type: Vote['type']): number | null {
    return this.ofKind(type).get(this.round)?.mostNs ?? null;
  }

  /** Of who says two things the first counts: the other one a node counts only when others claim it. */
  voted(vote: Vote, nowNs: number): void {
    const { type, round, blockId, validatorIndex } = vote;
    if (!this.set.members[validatorIndex]) return; // its own words say that, too, and are not looked into before
    const rounds = this.ofKind(type);
    let votes = rounds.get(round);
    if (!votes) {
      votes = new Votes();
      rounds.set(round, votes);
    }
    if (votes.voters.has(validatorIndex)) return;
    votes.voters.add(validatorIndex);
    const isFirst = this.words.voted(vote);
    // Beyond the next round it may be let fall, or kept: it counts for nothing.
    if (round > this.round + 1) return;
    const own = this.powerOf(validatorIndex);
    const { total } = this.set;
    votes.counts(own, total, nowNs);
    if (!isFirst) return;
    const power = votes.add(blockId, own);
    if (!isQuorum(power, total) || isQuorum(power - own, total)) return; // a vote changes nothing else
    if (type === PREVOTE) this.look(nowNs);
    else if (blockId.hash.length > 0) this.decidedNs ??= nowNs;
  }

  /** The proposal is true, and of this round or one ahead. */
  proposed(proposal: Proposal, nowNs: number): void {
    this.words.proposed(proposal); // one ahead, too: it keeps it, so that another one of that round is the second
    if (proposal.round > this.round) {
      if (proposal.round === this.round + 1) this.proposedNext(proposal, nowNs);
      return;
    }
    if (!this.proposal) {
      this.proposal = proposal;
      this.proposedParts = setOfParts(proposal.blockId.parts);
    }
    this.look(nowNs);
  }

  /** Its proposer has spoken there, whatever else it says (L55). */
  private proposedNext(proposal: Proposal, nowNs: number): void {
    this.next ??= { proposal, set: setOfParts(proposal.blockId.parts), parts: new Set() };
    const proposer = this.set.atRound(proposal.round);
    const index = this.set.members.findIndex(({ address }) => address === proposer);
    this.speaks(proposal.round, index, nowNs);
  }

  /** `round`: as who sent it says. */
  part(part: Part, round: number, nowNs: number): void {
    const set = setOfPart(part);
    if (set === null) return;
    if (set === this.next?.set) this.next.parts.add(part.index);
    if (round !== this.round) return;
    const parts = this.parts.get(set) ?? new Set();
    this.parts.set(set, parts.add(part.index));
    if (this.proposal && this.proposedParts === set) this.wanted.add(part.index);
    this.look(nowNs);
  }

  private isPolka(round: number, id: BlockId): boolean {
    return isQuorum(this.prevotes.get(round)?.powerFor(id) ?? 0n, this.set.total);
  }

  private look(nowNs: number): void {
    const { round, proposal } = this;
    if (this.nilNs === null && this.isPolka(round, NIL_BLOCK_ID)) this.nilNs = nowNs;
    if (!proposal) return;
    const { polRound, blockId } = proposal;
    const { total } = blockId.parts;
    if (this.wholeNs === null && !this.words.isTwofold(round) && this.wanted.size >= total)
      if (polRound < 0 || this.isPolka(polRound, blockId)) this.wholeNs = nowNs;
    if ((this.parts.get(this.proposedParts)?.size ?? 0) < total) return;
    if (this.prevoteNs === null || this.valid?.round === round) return;
    if (this.isPolka(round, blockId)) this.valid = { round, sinceNs: nowNs };
  }
}
