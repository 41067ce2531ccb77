// What each peer has, is being sent, and was told: so that gossip offers what is missing, once, and never floods in circles (spec 5.11).

import { membership } from '../../protocol/bit-array.ts';
import { byteKey } from '../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import type { BitArray, BlockId, Part, PartSetHeader, Vote } from '../../protocol/types.ts';
import { blockIdKey } from '../../protocol/validate.ts';

/** The peer has it: it said so, sent it, or moved past it. */
const HAS = 1;
/** We sent it; links may have lost it. */
const SENT = 2;
/** We told the peer that we have it. */
const TOLD = 4;

/** Types of votes are below this. */
const TYPES = 64;

/** One byte of marks per validator or part. */
export type Marks = Uint8Array;

/** Rounds, part sets and proposals that we keep marks of, per peer; more than honest peers speak of. The oldest go first; of rounds and part sets those that nobody spoke of for longest. */
const MARKS_KEPT_MAX = 64;
/** A peer counts as one that asks for so many heights after it did: in each it asks only some of its peers. */
const ASKING_HEIGHTS = 16n;
/** Times that a peer may have us look up what it lacks, in one gossip period: its claims and part sets of one tick. */
const ANSWERS_PER_PERIOD_MAX = 8;
/** The same of its claims of two thirds: honest peers make five in a tick, and those of many ticks may come at once. */
const CLAIM_ANSWERS_PER_PERIOD_MAX = 256;

const keyOfParts = ({ total, hash }: PartSetHeader): string => `${total}/${byteKey(hash)}`;

/** Adds to a map that a peer could otherwise grow without end. */
function keep<Key, T>(map: Map<Key, T>, key: Key, value: T): void {
  map.set(key, value);
  if (map.size <= MARKS_KEPT_MAX) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** So much in each period, which begins with what is taken first. */
class Allowance {
  private readonly most: number;
  private sinceNs = -1n;
  private taken = 0;

  constructor(most: number) {
    this.most = most;
  }

  takes(nowNs: bigint, periodNs: bigint): boolean {
    if (this.sinceNs < 0n || nowNs - this.sinceNs >= periodNs) {
      this.sinceNs = nowNs;
      this.taken = 0;
    }
    return ++this.taken <= this.most;
  }
}

/** It goes last from now on: a round or a block that is proposed again and again is spoken of long after it began. Few maps come to be half full. */
function used<Key, T>(map: Map<Key, T>, key: Key): T | undefined {
  const value = map.get(key);
  if (value !== undefined && map.size > MARKS_KEPT_MAX / 2) {
    map.delete(key);
    map.set(key, value);
  }
  return value;
}

export class PeerView {
  readonly peer: string;
  height = 0n;
  round = -1;
  /** What we last told it about ourselves, so that a round step is told once: height and round. */
  told = '';
  /** The last height of ours that it was told of; -1: none. */
  toldHeight = -1n;
  /** When the peer last asked from behind, on our monotonic clock; paces what we serve it. */
  servedNs = -1n;
  /** Where it stood when it was last given what it lacked: from behind, or as it came to our height. */
  servedHeight = 0n;
  /** A height that we are reading from our store for it; 0: none. */
  reading = 0n;
  /** The block of `reading`, until its commit is read too. */
  readBlock: Uint8Array | null = null;
  /** By round and type. */
  private votes = new Map<number, Marks>();
  private parts = new Map<string, Marks>();
  private proposals = new Map<string, number>();
  /** The last height at which it asked for what it lacks: who asks is answered, and not offered anything on a tick. */
  askedHeight = -ASKING_HEIGHTS;
  /** The last height at which we claimed two thirds: its bits of that height answer us, and ask nothing. */
  claimedHeight = -1n;
  /** What the questions of the envelope under way are answered with; null: it asks nothing. */
  owed: ConsensusMessage[] | null = null;
  /** What it asks about in that envelope. */
  readonly askedFor = new Set<string>();
  private readonly answers = new Allowance(ANSWERS_PER_PERIOD_MAX);
  private readonly claimAnswers = new Allowance(CLAIM_ANSWERS_PER_PERIOD_MAX);

  constructor(peer: string) {
    this.peer = peer;
  }

  /** One that was not read to its end is owed no answer. */
  beginsEnvelope(): void {
    this.owed = null;
    if (this.askedFor.size > 0) this.askedFor.clear();
  }

  /** A round step of the peer. */
  onRoundStep(height: bigint, round: number): void {
    if (height !== this.height) this.forgetHeight();
    this.height = height;
    this.round = round;
  }

  /** Marks are of one height: the peer's. */
  forgetHeight(): void {
    if (this.votes.size > 0) this.votes.clear();
    if (this.parts.size > 0) this.parts.clear();
    if (this.proposals.size > 0) this.proposals.clear();
  }

  /**
   * It asks for that height again: the votes that it said to have are not those that it needs. The parts that it has it counts, and a block of
   * many is had in pieces: forgotten, the same piece would be sent for ever.
   */
  forgetAllButParts(): void {
    if (this.votes.size > 0) this.votes.clear();
    if (this.proposals.size > 0) this.proposals.clear();
    this.forgetSentParts();
  }

  private forgetSentParts(): void {
    for (const marks of this.parts.values())
      for (let i = 0; i < marks.length; i++) marks[i] = (marks[i] as number) & HAS;
  }

  /** Speaking of a height above the one we knew says that the peer is there, if a round step was lost. */
  assumeHeight(height: bigint): void {
    if (height <= this.height) return;
    this.onRoundStep(height, 0);
  }

  private voteMarks(height: bigint, round: number, type: number, validators: number): Marks | null {
    if (height !== this.height) return null;
    const key = round * TYPES + type;
    let marks = used(this.votes, key);
    if (!marks || marks.length !== validators) {
      marks = new Uint8Array(validators);
      keep(this.votes, key, marks);
    }
    return marks;
  }

  markVote(height: bigint, round: number, type: number, index: number, validators: number): void {
    const marks = this.voteMarks(height, round, type, validators);
    if (marks && index < marks.length) marks[index] = (marks[index] as number) | HAS;
  }

  sentVote(vote: Vote, validators: number): void {
    const marks = this.voteMarks(vote.height, vote.round, vote.type, validators);
    if (marks) marks[vote.validatorIndex] = (marks[vote.validatorIndex] as number) | SENT;
  }

  /** Those of these votes that the peer neither has nor is being sent; marks them sent. */
  takeMissing(
    height: bigint,
    round: number,
    type: number,
    votes: readonly (Vote | undefined)[],
    limit: number,
  ): Vote[] {
    const marks = this.voteMarks(height, round, type, votes.length);
    const missing: Vote[] = [];
    if (!marks) return missing;
    for (let i = 0; i < votes.length && missing.length < limit; i++) {
      const vote = votes[i];
      if (vote === undefined || ((marks[i] as number) & (HAS | SENT)) !== 0) continue;
      marks[i] = (marks[i] as number) | SENT;
      missing.push(vote);
    }
    return missing;
  }

  /**
   * The peer says which votes for one id it has: those that it lacks; marks them sent. When it asks, what it is being sent is left out;
   * when it answers our claim, it is sent again at once.
   */
  takeLacking(
    height: bigint,
    round: number,
    type: number,
    votes: readonly (Vote | undefined)[],
    have: BitArray,
    validators: number,
  ): Vote[] {
    const lacking: Vote[] = [];
    const marks = this.voteMarks(height, round, type, validators);
    if (!marks) return lacking;
    const onTheWay = this.claimedHeight === height ? 0 : SENT;
    const has = membership(have);
    for (let i = 0; i < validators; i++) {
      const vote = votes[i];
      if (has(i)) marks[i] = (marks[i] as number) | HAS;
      else if (vote && ((marks[i] as number) & onTheWay) === 0) {
        marks[i] = SENT; // it may have another vote of this validator
        lacking.push(vote);
      }
    }
    return lacking;
  }

  /** Indexes of these votes that the peer does not have and was not told of; marks them told. */
  takeUntold(height: bigint, round: number, type: number, votes: readonly (Vote | undefined)[]): number[] {
    const marks = this.voteMarks(height, round, type, votes.length);
    const untold: number[] = [];
    if (!marks) return untold;
    for (let i = 0; i < votes.length; i++) {
      if (votes[i] === undefined || ((marks[i] as number) & (HAS | SENT | TOLD)) !== 0) continue;
      marks[i] = (marks[i] as number) | TOLD;
      untold.push(i);
    }
    return untold;
  }

  private partMarks(parts: PartSetHeader): Marks {
    const key = keyOfParts(parts);
    let marks = used(this.parts, key);
    if (!marks) {
      marks = new Uint8Array(parts.total);
      keep(this.parts, key, marks);
    }
    return marks;
  }

  /** Only rounds of before have named their block: it may have let go of it. */
  forgetParts(parts: PartSetHeader): void {
    this.parts.delete(keyOfParts(parts));
  }

  markPart(parts: PartSetHeader, index: number): void {
    const marks = this.partMarks(parts);
    if (index < marks.length) marks[index] = HAS;
  }

  /** The peer says which parts it has: what it lacks was lost, whatever we sent. */
  markParts(parts: PartSetHeader, have: BitArray): void {
    const marks = this.partMarks(parts);
    for (let i = 0; i < marks.length && i < have.bits; i++) {
      const bit = ((have.elems[i >> 6] ?? 0n) >> BigInt(i & 63)) & 1n;
      marks[i] = bit === 1n ? HAS : 0;
    }
  }

  takeMissingParts(parts: PartSetHeader, part: (index: number) => Part | undefined, limit: number): Part[] {
    const marks = this.partMarks(parts);
    const missing: Part[] = [];
    for (let i = 0; i < marks.length && missing.length < limit; i++) {
      if (((marks[i] as number) & (HAS | SENT)) !== 0) continue;
      const found = part(i);
      if (!found) continue;
      marks[i] = (marks[i] as number) | SENT;
      missing.push(found);
    }
    return missing;
  }

  /** Whether it gets by asking what others have, so that nothing need be offered. */
  asks(height: bigint): boolean {
    return this.askedHeight + ASKING_HEIGHTS >= height;
  }

  /** Whether the envelope under way has not asked the same before: it is answered once. */
  asksFirst(height: bigint, round: number, type: number, blockId: BlockId): boolean {
    const { size } = this.askedFor;
    return this.askedFor.add(`${height}/${round}/${type}/${blockIdKey(blockId)}`).size > size;
  }

  /** Whether to answer what the peer asks for outright. An answer may be 10,000 times as long as the question. */
  mayAnswer(nowNs: bigint, periodNs: bigint): boolean {
    return this.answers.takes(nowNs, periodNs);
  }

  /** Whether to say which votes for an id we have, which is a bit for each validator. */
  mayAnswerClaim(nowNs: bigint, periodNs: bigint): boolean {
    return this.claimAnswers.takes(nowNs, periodNs);
  }

  /** True the first time: then it counts as sent. */
  takeProposal(round: number, blockId: BlockId): boolean {
    const key = `${round}/${blockIdKey(blockId)}`;
    if (this.proposals.has(key)) return false;
    keep(this.proposals, key, SENT);
    return true;
  }

  markProposal(round: number, blockId: BlockId): void {
    keep(this.proposals, `${round}/${blockIdKey(blockId)}`, HAS);
  }

  /** What was sent or told and never confirmed may be lost: offer it again. */
  forgetUnconfirmed(): void {
    for (const marks of this.votes.values())
      for (let i = 0; i < marks.length; i++) marks[i] = (marks[i] as number) & HAS;
    this.forgetSentParts();
    for (const [key, mark] of this.proposals) if (mark === SENT) this.proposals.delete(key);
    this.told = '';
  }
}
