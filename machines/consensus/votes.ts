// Counts votes of one kind in one round, and remembers the first two-thirds it saw. Trusts its caller on signatures.

import { powerNeeded } from '../../protocol/rules/quorum.ts';
import type { BlockId, ValidatorSet, Vote } from '../../protocol/types.ts';
import { blockIdKey, isNilBlockId } from '../../protocol/validate.ts';

/** The votes for one block id (or nil), beside each other. */
interface Bucket {
  readonly blockId: BlockId;
  sum: bigint;
  /** By validator index; an equivocator may stand in more than one bucket. */
  readonly votes: (Vote | undefined)[];
}

export type Tallied =
  | { readonly tally: 'added' }
  | { readonly tally: 'known' }
  /** The validator has voted for another id in this round: `first` and `second` make evidence. Counted only if `kept`. */
  | { readonly tally: 'conflict'; readonly first: Vote; readonly second: Vote; readonly kept: boolean };

const ADDED: Tallied = { tally: 'added' };
const KNOWN: Tallied = { tally: 'known' };

export class VoteTally {
  readonly validators: ValidatorSet;
  /** First vote of each validator, by index. */
  readonly votes: (Vote | undefined)[];
  /** How many validators have voted. */
  count = 0;
  /** Power of all who voted, each once. */
  sumAny = 0n;
  /** The first id (nil has an empty hash) with more than two thirds; never changes once set. */
  twoThirds: BlockId | null = null;
  private readonly needed: bigint;
  private readonly buckets = new Map<string, Bucket>();
  /** What each peer claims to have seen two thirds for; null until one does. */
  private claims: Map<string, string> | null = null;

  constructor(validators: ValidatorSet) {
    this.validators = validators;
    this.votes = new Array<Vote | undefined>(validators.validators.length);
    this.needed = powerNeeded(validators.powerTotal);
  }

  /** More than two thirds of the power voted for anything at all. */
  get hasTwoThirdsAny(): boolean {
    return this.sumAny >= this.needed;
  }

  get hasAll(): boolean {
    return this.count === this.votes.length;
  }

  /** More than two thirds voted nil. */
  get isNilTwoThirds(): boolean {
    return this.twoThirds !== null && isNilBlockId(this.twoThirds);
  }

  has(index: number): boolean {
    return this.votes[index] !== undefined;
  }

  /** The votes kept for an id, by index; undefined where nobody voted for it. */
  votesFor(blockId: BlockId): readonly (Vote | undefined)[] | undefined {
    return this.buckets.get(blockIdKey(blockId))?.votes;
  }

  /** What has been voted for (nil has an empty hash), in the order in which it first was. */
  ids(): BlockId[] {
    const ids: BlockId[] = [];
    for (const { blockId, sum } of this.buckets.values()) if (sum > 0n) ids.push(blockId);
    return ids;
  }

  sumFor(blockId: BlockId): bigint {
    return this.buckets.get(blockIdKey(blockId))?.sum ?? 0n;
  }

  /** Its voter stands for another id, and for this one nobody does: it would not be kept. */
  isSurplus(vote: Vote): boolean {
    const first = this.votes[vote.validatorIndex];
    return first !== undefined && !this.buckets.has(blockIdKey(vote.blockId));
  }

  tally(vote: Vote, power: bigint): Tallied {
    const key = blockIdKey(vote.blockId);
    const first = this.votes[vote.validatorIndex];
    let bucket = this.buckets.get(key);
    if (bucket?.votes[vote.validatorIndex] !== undefined) return KNOWN;
    if (first !== undefined) {
      // Kept only where somebody else already stands, or a peer claims two thirds: memory stays within the square of the set.
      const kept = bucket !== undefined;
      if (bucket) this.count_(bucket, vote, power);
      return { tally: 'conflict', first, second: vote, kept };
    }
    this.votes[vote.validatorIndex] = vote;
    this.count++;
    this.sumAny += power;
    if (!bucket) {
      bucket = { blockId: vote.blockId, sum: 0n, votes: new Array(this.votes.length) };
      this.buckets.set(key, bucket);
    }
    this.count_(bucket, vote, power);
    return ADDED;
  }

  private count_(bucket: Bucket, vote: Vote, power: bigint): void {
    bucket.votes[vote.validatorIndex] = vote;
    bucket.sum += power;
    if (this.twoThirds === null && bucket.sum >= this.needed) this.twoThirds = bucket.blockId;
  }

  /** The peer is gone: what it alone claimed is forgotten, so that strangers who come and go leave nothing. */
  forgetClaim(peer: string): void {
    const { claims } = this;
    const key = claims?.get(peer);
    if (!claims || key === undefined) return;
    claims.delete(peer);
    const bucket = this.buckets.get(key);
    if (!bucket || bucket.sum > 0n) return;
    for (const other of claims.values()) if (other === key) return;
    this.buckets.delete(key);
  }

  /** A peer says that it saw two thirds for this id. False: the same peer claimed another id before, which is a lie. */
  claim(peer: string, blockId: BlockId): boolean {
    const key = blockIdKey(blockId);
    this.claims ??= new Map();
    const before = this.claims.get(peer);
    if (before !== undefined) return before === key;
    this.claims.set(peer, key);
    const bucket = this.buckets.get(key);
    if (!bucket) this.buckets.set(key, { blockId, sum: 0n, votes: new Array(this.votes.length) });
    return true;
  }
}
