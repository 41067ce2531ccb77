// What to tell one peer now: the proposals, parts and votes of the heights we can speak of that it lacks (spec 5.11), within a bound.

import { bitArrayOf, bitArrayWhere } from '../../protocol/bit-array.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import {
  type BlockId,
  NIL_BLOCK_ID,
  type Part,
  PRECOMMIT,
  PREVOTE,
  type Vote,
  type VoteType,
} from '../../protocol/types.ts';
import type { BlockEntry } from './blocks.ts';
import { STEP_NUMBER } from './chart.ts';
import type { Consensus } from './consensus.ts';
import type { PeerView } from './peer-view.ts';
import type { VoteTally } from './votes.ts';

/** Votes in one offer: the largest set that one envelope should carry. */
const VOTES_PER_OFFER_MAX = 256;
/** Parts in one offer: 64 of 64 KiB each. */
const PARTS_PER_OFFER_MAX = 64;
/** Ids that an ask speaks of, per kind of vote: a block, nil, and what an equivocating proposer made besides. */
const IDS_PER_ASK_MAX = 3;

/** The height before ours, kept so that a peer one behind can finish it. */
export interface Finished {
  readonly height: bigint;
  readonly entry: BlockEntry;
  readonly round: number;
}

/** Our own standing, when the peer was not told it yet. */
export function roundStep(
  consensus: Consensus,
  view: PeerView,
  startedSeconds: bigint,
): ConsensusMessage | null {
  const { height, round, step } = consensus;
  const standing = `${height}/${round}`;
  if (view.told === standing) return null;
  view.told = standing;
  view.toldHeight = height;
  return {
    type: 'new-round-step',
    height,
    round,
    step: STEP_NUMBER[step],
    secondsSinceStart: startedSeconds,
    lastCommitRound: consensus.lastCommit?.round ?? -1,
  };
}

/** Everything that the peer lacks of what we have, as far as we know; marked as sent. */
export function offer(consensus: Consensus, finished: Finished | null, view: PeerView): ConsensusMessage[] {
  const out: ConsensusMessage[] = [];
  if (view.height === consensus.height) offerHeight(consensus, view, out);
  else if (finished && view.height === finished.height) offerFinished(consensus, finished, view, out);
  return out;
}

function offerHeight(consensus: Consensus, view: PeerView, out: ConsensusMessage[]): void {
  const rounds = new Set([view.round, consensus.round]);
  if (consensus.decision) rounds.add(consensus.decision.round);
  for (const number of rounds) {
    const round = consensus.rounds.get(number);
    if (!round) continue;
    for (const proposal of round.proposals) {
      if (view.takeProposal(number, proposal.blockId)) out.push({ type: 'proposal', proposal });
      if (proposal.polRound >= 0) offerVotes(consensus, view, proposal.polRound, PREVOTE, out);
      offerParts(consensus.height, number, consensus.blocks.get(proposal.blockId), view, out);
    }
    offerVotes(consensus, view, number, PREVOTE, out);
    offerVotes(consensus, view, number, PRECOMMIT, out);
    for (const tally of [round.prevotes, round.precommits]) {
      if (tally.twoThirds)
        offerParts(consensus.height, number, consensus.blocks.get(tally.twoThirds), view, out);
    }
  }
}

function offerVotes(
  consensus: Consensus,
  view: PeerView,
  number: number,
  type: number,
  out: ConsensusMessage[],
): void {
  const round = consensus.rounds.get(number);
  if (!round) return;
  const tally = type === PREVOTE ? round.prevotes : round.precommits;
  const votes = view.takeMissing(consensus.height, number, type, tally.votes, VOTES_PER_OFFER_MAX);
  for (const vote of votes) out.push({ type: 'vote', vote });
}

function offerParts(
  height: bigint,
  round: number,
  entry: BlockEntry | undefined,
  view: PeerView,
  out: ConsensusMessage[],
): void {
  if (!entry) return;
  const parts = view.takeMissingParts(
    entry.id.parts,
    (index) => entry.parts.part(index),
    PARTS_PER_OFFER_MAX,
  );
  for (const part of parts) out.push({ type: 'block-part', height, round, part });
}

/** The peer is one height behind: the precommits that decided it, and the block. */
function offerFinished(
  consensus: Consensus,
  finished: Finished,
  view: PeerView,
  out: ConsensusMessage[],
): void {
  const precommits = consensus.lastCommit?.precommits;
  if (!precommits) return;
  const { height, round } = finished;
  const votes = precommits.votesFor(finished.entry.id) ?? [];
  const missing = view.takeMissing(height, round, PRECOMMIT, votes, VOTES_PER_OFFER_MAX);
  if (missing.length > 0) out.push(provedBy(height, round, finished.entry.id));
  for (const vote of missing) out.push({ type: 'vote', vote });
  offerParts(height, round, finished.entry, view, out);
}

/**
 * Goes before the precommits of a decided height: who was told another vote by one of these validators then counts this one too
 * (CometBFT queryMaj23Routine, catch-up commit).
 */
const provedBy = (height: bigint, round: number, blockId: BlockId): ConsensusMessage => ({
  type: 'vote-set-maj23',
  height,
  round,
  voteType: PRECOMMIT,
  blockId,
});

/**
 * A peer further behind: the stored commit as votes, all of them, for it cannot say which of that height it has; and the block's parts, of which
 * it can.
 */
export function serveStored(
  height: bigint,
  round: number,
  votes: readonly (Vote | undefined)[],
  parts: readonly Part[],
  blockId: BlockId,
  view: PeerView,
): ConsensusMessage[] {
  const out: ConsensusMessage[] = [provedBy(height, round, blockId)];
  for (const vote of view.takeMissing(height, round, PRECOMMIT, votes, votes.length)) {
    out.push({ type: 'vote', vote });
  }
  for (const part of view.takeMissingParts(blockId.parts, (index) => parts[index], PARTS_PER_OFFER_MAX)) {
    out.push({ type: 'block-part', height, round, part });
  }
  return out;
}

/** What we have and the peer may not know of: has-votes of this round. */
export function announce(consensus: Consensus, view: PeerView): ConsensusMessage[] {
  const out: ConsensusMessage[] = [];
  if (view.height !== consensus.height) return out;
  const { height } = consensus;
  const round = consensus.rounds.get(consensus.round);
  if (!round) return out;
  for (const [type, tally] of [
    [PREVOTE, round.prevotes],
    [PRECOMMIT, round.precommits],
  ] as const) {
    for (const index of view.takeUntold(height, round.round, type, tally.votes)) {
      out.push({ type: 'has-vote', height, round: round.round, voteType: type, index });
    }
  }
  return out;
}

/** What we have in this round, so that the peer answers with the rest; even when it is nothing. */
export function ask(consensus: Consensus): ConsensusMessage[] {
  const out: ConsensusMessage[] = [];
  const { height, round: number } = consensus;
  const round = consensus.rounds.get(number);
  if (!round) return out;
  for (const entry of consensus.blocks.all()) {
    const { parts } = entry.id;
    // Of one that is on its way we would get everything a second time.
    if (!entry.parts.isComplete) continue;
    const have = bitArrayWhere(parts.total, () => true);
    const isCommit = consensus.decision !== null;
    out.push({ type: 'new-valid-block', height, round: number, parts, have, isCommit });
  }
  out.push(...bitsOf(consensus, PREVOTE, round.prevotes), ...bitsOf(consensus, PRECOMMIT, round.precommits));
  if (out.length === 0) out.push(bitsFor(consensus, PREVOTE, round.prevotes, NIL_BLOCK_ID));
  return out;
}

const bitsOf = (consensus: Consensus, voteType: VoteType, tally: VoteTally): ConsensusMessage[] =>
  tally
    .ids()
    .slice(0, IDS_PER_ASK_MAX)
    .map((id) => bitsFor(consensus, voteType, tally, id));

function bitsFor(
  consensus: Consensus,
  voteType: VoteType,
  tally: VoteTally,
  blockId: BlockId,
): ConsensusMessage {
  const have = tally.votesFor(blockId) ?? [];
  const votes = bitArrayWhere(tally.votes.length, (i) => have[i] !== undefined);
  return {
    type: 'vote-set-bits',
    height: consensus.height,
    round: consensus.round,
    voteType,
    blockId,
    votes,
  };
}

/** A proposal or two thirds named a block that we do not have whole: peers that have its parts should send them. */
export function askForParts(consensus: Consensus): ConsensusMessage[] {
  const out: ConsensusMessage[] = [];
  for (const entry of consensus.blocks.all()) {
    if (entry.parts.isComplete) continue;
    const { total } = entry.id.parts;
    if (total === 0) continue;
    const have: number[] = [];
    for (let i = 0; i < total; i++) if (entry.parts.has(i)) have.push(i);
    out.push({
      type: 'new-valid-block',
      height: consensus.height,
      round: consensus.round,
      parts: entry.id.parts,
      have: bitArrayOf(total, have),
      isCommit: consensus.decision !== null,
    });
  }
  return out;
}

/**
 * Two-thirds claims, so that peers send us the conflicting votes we may lack, and count those of ours that
 * they hold others of (CometBFT queryMaj23Routine). The polka that a proposal brings is claimed as well: whoever
 * was told another vote in that round cannot see it otherwise, and would refuse the proposal for ever.
 */
export function claims(consensus: Consensus): ConsensusMessage[] {
  const round = consensus.rounds.get(consensus.round);
  if (!round) return [];
  const out: ConsensusMessage[] = [];
  const claim = (number: number, voteType: VoteType, blockId: BlockId | null | undefined): void => {
    if (blockId)
      out.push({ type: 'vote-set-maj23', height: consensus.height, round: number, voteType, blockId });
  };
  claim(round.round, PREVOTE, round.prevotes.twoThirds);
  claim(round.round, PRECOMMIT, round.precommits.twoThirds);
  for (const { polRound } of round.proposals) {
    if (polRound >= 0) claim(polRound, PREVOTE, consensus.rounds.get(polRound)?.prevotes.twoThirds);
  }
  return out;
}
