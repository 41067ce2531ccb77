// What the proposer and the voters of one height said first to a node, and how often its peers spoke of rounds ahead, over its lives
// and pauses. A log brings back what an earlier life heard, and a node that counts the first word of a double-dealer takes no second one.

import type { PeerId } from '../../../actors/turn.ts';
import type { BlockId, Proposal, Vote } from '../../../protocol/types.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PREVOTE } from '../canonical/numbers.ts';

const isSame = (a: Proposal, b: Proposal): boolean =>
  equalBlockId(a.blockId, b.blockId) && a.polRound === b.polRound;

/** Rounds beyond the next one that a peer may open in a height, one after the other (spec 5.2). */
const OPENED_PER_PEER_MAX = 64;

export class FirstWords {
  readonly height: bigint;
  /** By round. */
  private readonly proposals = new Map<number, Proposal>();
  /** Rounds whose proposer said two things. */
  private readonly twofold = new Set<number>();
  /** By round, then by index of the voter: the block. */
  private readonly prevotes = new Map<number, (BlockId | undefined)[]>();
  private readonly precommits = new Map<number, (BlockId | undefined)[]>();
  private readonly opened = new Map<PeerId, number>();

  constructor(height: bigint) {
    this.height = height;
  }

  /** A true proposal of this height. */
  proposed(proposal: Proposal): void {
    const first = this.proposals.get(proposal.round);
    if (!first) this.proposals.set(proposal.round, proposal);
    else if (!isSame(first, proposal)) this.twofold.add(proposal.round);
  }

  isTwofold(round: number): boolean {
    return this.twofold.has(round);
  }

  /** A true vote of this height. False: its voter had said something else before. */
  voted({ type, round, validatorIndex, blockId }: Vote): boolean {
    const rounds = type === PREVOTE ? this.prevotes : this.precommits;
    let said = rounds.get(round);
    if (!said) {
      said = [];
      rounds.set(round, said);
    }
    const first = said[validatorIndex];
    if (first === undefined) said[validatorIndex] = blockId;
    return first === undefined || equalBlockId(first, blockId);
  }

  /** A peer speaks of another round far ahead. False: it has too often, and is not listened to. */
  opens(peer: PeerId): boolean {
    const times = (this.opened.get(peer) ?? 0) + 1;
    this.opened.set(peer, times);
    return times <= OPENED_PER_PEER_MAX;
  }
}
