// What a node has shown that it has of one height, in one life, by sending it: it has the votes until the height is over, and parts of blocks until
// its round is: it may let go of those of rounds before.

import type { BlockId, Part, PartSetHeader, Vote } from '../../../protocol/types.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { slotOf } from './about-votes.ts';
import { Indexes } from './indexes.ts';
import { setOfPart, setOfParts } from './seen.ts';

interface Value {
  readonly id: BlockId;
  readonly voters: Indexes;
}

export class Shown {
  /** By round and type. */
  private readonly votes = new Map<number, Value[]>();
  /** By the set that they belong to. */
  private readonly parts = new Map<string, Indexes>();

  forgets(): void {
    if (this.votes.size > 0) this.votes.clear();
    if (this.parts.size > 0) this.parts.clear();
  }

  leavesRound(): void {
    if (this.parts.size > 0) this.parts.clear();
  }

  sendsVote(vote: Vote): void {
    const slot = slotOf(vote);
    let values = this.votes.get(slot);
    if (!values) {
      values = [];
      this.votes.set(slot, values);
    }
    let value = values.find(({ id }) => equalBlockId(id, vote.blockId));
    if (!value) {
      value = { id: vote.blockId, voters: new Indexes() };
      values.push(value);
    }
    value.voters.add(vote.validatorIndex);
  }

  sendsPart(part: Part): void {
    const set = setOfPart(part);
    if (set === null) return;
    const indexes = this.parts.get(set) ?? new Indexes();
    if (!indexes.has(part.index)) indexes.add(part.index);
    this.parts.set(set, indexes);
  }

  /** Whose votes for this value it has, in a round and step; null: it has shown none. */
  votersFor(place: Pick<Vote, 'type' | 'round'>, blockId: BlockId): Indexes | null {
    return this.votes.get(slotOf(place))?.find(({ id }) => equalBlockId(id, blockId))?.voters ?? null;
  }

  partsOf(header: PartSetHeader): Indexes | null {
    return this.parts.size > 0 ? (this.parts.get(setOfParts(header)) ?? null) : null;
  }
}
