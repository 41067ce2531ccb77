// What a node has shown that it has of one height, in one life, by sending it: it has the votes until the height is over, and parts of a block until
// the round after the one that they were sent for is.

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
  /** By the set that they belong to, and the last round that they were sent for. */
  private readonly parts = new Map<string, { readonly indexes: Indexes; round: number }>();

  forgets(): void {
    if (this.votes.size > 0) this.votes.clear();
    if (this.parts.size > 0) this.parts.clear();
  }

  entersRound(round: number): void {
    for (const [set, sent] of this.parts) if (sent.round < round - 1) this.parts.delete(set);
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

  sendsPart(part: Part, round: number): void {
    const set = setOfPart(part);
    if (set === null) return;
    const sent = this.parts.get(set) ?? { indexes: new Indexes(), round };
    if (!sent.indexes.has(part.index)) sent.indexes.add(part.index);
    sent.round = Math.max(sent.round, round);
    this.parts.set(set, sent);
  }

  /** Whose votes for this value it has, in a round and step; null: it has shown none. */
  votersFor(place: Pick<Vote, 'type' | 'round'>, blockId: BlockId): Indexes | null {
    return this.votes.get(slotOf(place))?.find(({ id }) => equalBlockId(id, blockId))?.voters ?? null;
  }

  partsOf(header: PartSetHeader): Indexes | null {
    return this.parts.size > 0 ? (this.parts.get(setOfParts(header))?.indexes ?? null) : null;
  }
}
