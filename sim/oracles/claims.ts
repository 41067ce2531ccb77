// What a node says of itself is true: where it stands, which votes and parts it has, and for what it saw two thirds. Peers count on it: what one
// says that it has it is not given.

import { membership } from '../../protocol/bit-array.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { type BitArray, type Part, PREVOTE } from '../../protocol/types.ts';
import { STEP } from '../steps.ts';
import { setOfPart, setOfParts } from './seen.ts';
import type { HeardHeight } from './tally.ts';

type Said<T extends ConsensusMessage['type']> = Extract<ConsensusMessage, { type: T }>;

const kindOf = (voteType: number): 'prevotes' | 'precommits' =>
  voteType === PREVOTE ? 'prevotes' : 'precommits';

/** The first index that is claimed and not held; -1: there is none. */
function firstFalse(claimed: BitArray, holds: (index: number) => boolean): number {
  const has = membership(claimed);
  for (let i = 0; i < claimed.bits; i++) if (has(i) && !holds(i)) return i;
  return -1;
}

/** What one node says, and what it needs beside the votes that it heard to say so. */
export class Claims {
  /** In this life; null: it has not begun. */
  private at: { readonly height: bigint; readonly round: number; readonly step: number } | null = null;
  /** The height that it decided last in this life, and by which round. */
  private decided: { readonly height: bigint; readonly round: number } | null = null;
  /** Parts that reached it or left it, in all lives, by the set that they belong to. */
  private readonly parts = new Map<string, { height: bigint; readonly indexes: Set<number> }>();

  startsLife(): void {
    this.at = null;
    this.decided = null;
  }

  decides(height: bigint, round: number): void {
    this.decided = { height, round };
    this.stands(height + 1n, 0, STEP.newHeight);
  }

  stands(height: bigint, round: number, step: number): void {
    this.at = { height, round, step };
    for (const [set, old] of this.parts) if (old.height < height) this.parts.delete(set);
  }

  hasPart(height: bigint, part: Part): void {
    const set = setOfPart(part);
    if (set === null) return;
    const known = this.parts.get(set) ?? { height, indexes: new Set() };
    if (known.height < height) known.height = height;
    known.indexes.add(part.index);
    this.parts.set(set, known);
  }

  /** What of this is not true; null: nothing, as far as anybody can tell. Of heights before its own a node says what its disk has. */
  falsehoodIn(message: ConsensusMessage, heard: (height: bigint) => HeardHeight | null): string | null {
    const { at } = this;
    if (!at || message.type === 'vote' || message.type === 'proposal') return null;
    if (message.type === 'new-round-step') return this.standingOf(message, at);
    const votes = message.height === at.height ? heard(message.height) : null;
    if (!votes) return null;
    switch (message.type) {
      case 'has-vote':
        return this.voteOf(message, votes);
      case 'vote-set-bits':
        return this.votesOf(message, votes);
      case 'vote-set-maj23':
        return this.twoThirdsOf(message, votes);
      case 'new-valid-block':
        return this.partsOf(message, votes);
      default:
        return null;
    }
  }

  private standingOf(message: Said<'new-round-step'>, at: NonNullable<Claims['at']>): string | null {
    const { height, round, step, lastCommitRound } = message;
    // In its first word to a peer it begins.
    if (height !== at.height || round !== at.round || (step !== at.step && step !== STEP.newHeight))
      return `that it is at ${height}/${round}, step ${step}, and is at ${at.height}/${at.round}, step ${at.step}`;
    const { decided } = this;
    if (decided?.height !== height - 1n || decided.round === lastCommitRound) return null;
    return `that round ${lastCommitRound} decided height ${decided.height}, and it was round ${decided.round}`;
  }

  private voteOf({ height, round, voteType, index }: Said<'has-vote'>, votes: HeardHeight): string | null {
    if (votes.hasVoter(kindOf(voteType), round, index)) return null;
    return `that it has vote ${index} of the ${kindOf(voteType)} of ${height}/${round}`;
  }

  private votesOf(message: Said<'vote-set-bits'>, votes: HeardHeight): string | null {
    const { height, round, voteType, blockId } = message;
    const kind = kindOf(voteType);
    const index = firstFalse(message.votes, (i) => votes.hasVoterFor(kind, round, blockId.hash, i));
    return index < 0 ? null : `that it has vote ${index} of the ${kind} of ${height}/${round} for one value`;
  }

  private twoThirdsOf(message: Said<'vote-set-maj23'>, votes: HeardHeight): string | null {
    const { height, round, voteType, blockId } = message;
    const isTrue =
      voteType === PREVOTE ? votes.isPolka(round, blockId.hash) : votes.isDecided(round, blockId.hash);
    return isTrue ? null : `that it saw two thirds of the ${kindOf(voteType)} of ${height}/${round} agree`;
  }

  private partsOf(
    { height, round, parts, have }: Said<'new-valid-block'>,
    votes: HeardHeight,
  ): string | null {
    // Its own block nobody may have been there to hear.
    for (let each = 0; each <= round; each++) if (votes.isProposer(each)) return null;
    const known = this.parts.get(setOfParts(parts))?.indexes;
    const index = have ? firstFalse(have, (i) => known?.has(i) === true) : -1;
    return index < 0 ? null : `that it has part ${index} of a block of ${height}/${round}`;
  }
}
