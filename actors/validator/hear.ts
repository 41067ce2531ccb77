// What peers say on the consensus channels, sorted: whose is it, is it stale, is it true, and what does it change.

import type { PeerView } from '../../machines/consensus/peer-view.ts';
import type { VoteTally } from '../../machines/consensus/votes.ts';
import { bitArrayOf } from '../../protocol/bit-array.ts';
import { equalPartSetHeaders } from '../../protocol/block-id.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { CHANNEL_EVIDENCE, type ConsensusMessage } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { blockBytesMax } from '../../protocol/rules/params.ts';
import { proposalSignBytes } from '../../protocol/sign-bytes.ts';
import { BLOCK_PART_BYTES, PRECOMMIT, PREVOTE, type ValidatorSet, type Vote } from '../../protocol/types.ts';
import { equalBlockId } from '../../protocol/validate.ts';
import type { Payload, PeerId } from '../turn.ts';
import { hearEvidence } from './evidence.ts';
import { startIfComplete } from './execute.ts';
import { answerStep, offerTo, send } from './gossiping.ts';
import { encodeRecord } from './logbook.ts';
import { isSigned } from './shared.ts';
import { hearRoundStep, standsAt } from './standing.ts';
import type { ValidatorState } from './state.ts';
import { messageOf, payloadOf, unpadded } from './words.ts';

/** Kept of one peer for the next height while we finish this one: votes of a large set and a block; the rest is offered again. */
const FUTURE_MESSAGES_PER_PEER_MAX = 1024;
const FUTURE_BYTES_PER_PEER_MAX = 8 * 1024 * 1024;

/** Strangers whose last words are kept until they are peers, and how much each may have said. */
export const EARLY_PEERS_MAX = 64;
const EARLY_BYTES_MAX = 1024;

export function hear(v: ValidatorState, peer: PeerId, payloads: readonly Payload[]): void {
  if (v.mode === 'halted') return;
  const view = v.views.get(peer);
  if (!view) return keepEarly(v, peer, payloads);
  const { height, round } = view;
  view.beginsEnvelope();
  let saysWhere = false;
  for (const said of payloads) {
    if (v.isGivenUp(peer)) return;
    const payload = unpadded(said);
    if (payload.channel === CHANNEL_EVIDENCE) {
      hearEvidence(v, peer, payload.bytes);
      continue;
    }
    const message = messageOf(payload);
    if (isRefusal(message)) {
      v.score(peer, message.because);
      return;
    }
    if (message.type === 'new-round-step') saysWhere = true;
    hearMessage(v, view, payload, message);
  }
  // Behind its round step it says what it has: that is not sent again.
  if (saysWhere) answerStep(v, view, height, payloads.length === 1);
  answer(v, view);
  if (view.height !== height || view.round !== round) v.ticking.stir();
}

/** Not greeted yet, or gone. Where it stands it says once, and perhaps a moment before we are told that it is there. */
function keepEarly(v: ValidatorState, peer: PeerId, payloads: readonly Payload[]): void {
  const { early } = v;
  if (payloads.reduce((sum, { bytes }) => sum + bytes.length, 0) > EARLY_BYTES_MAX) return;
  early.delete(peer);
  early.set(peer, payloads);
  const [oldest] = early.keys();
  if (early.size > EARLY_PEERS_MAX && oldest !== undefined) early.delete(oldest);
}

/** A peer is there: what it said a moment ago counts. */
export function hearEarly(v: ValidatorState, peer: PeerId): void {
  const payloads = v.early.get(peer);
  if (payloads && v.early.delete(peer)) hear(v, peer, payloads);
}

export function hearMessage(
  v: ValidatorState,
  view: PeerView,
  payload: Payload,
  message: ConsensusMessage,
): void {
  if (message.type === 'new-round-step') return hearRoundStep(v, view, message);
  if (v.mode !== 'consensus') return; // while syncing, votes and blocks come another way (spec 5.11)
  switch (message.type) {
    case 'has-vote':
      return view.markVote(message.height, message.round, message.voteType, message.index, size(v));
    case 'vote':
      return hearVote(v, view, payload, message.vote);
    case 'proposal':
      return hearProposal(v, view, payload, message);
    case 'block-part':
      return hearPart(v, view, payload, message);
    case 'new-valid-block':
      return hearValidBlock(v, view, message);
    case 'vote-set-maj23':
      return hearMaj23(v, view, message);
    case 'vote-set-bits':
      return hearVoteSetBits(v, view, message);
    case 'proposal-pol':
      return; // our own offers send the POL's votes themselves
  }
}

const size = (v: ValidatorState): number => v.consensus.validators.validators.length;

function keepForLater(v: ValidatorState, peer: PeerId, payload: Payload, message: ConsensusMessage): void {
  let kept = v.futureOf.get(peer);
  if (!kept) {
    kept = { messages: 0, bytes: 0 };
    v.futureOf.set(peer, kept);
  }
  const { length } = payload.bytes;
  if (kept.messages >= FUTURE_MESSAGES_PER_PEER_MAX || kept.bytes + length > FUTURE_BYTES_PER_PEER_MAX)
    return;
  kept.messages++;
  kept.bytes += length;
  v.future.push({ peer, payload, message });
}

function log(v: ValidatorState, peer: PeerId, payload: Payload): void {
  if (v.isReplaying) return;
  const { channel, bytes } = payload;
  const record = encodeRecord({ type: 'heard', peer, channel, bytes });
  v.does({ type: 'append', log: 'consensus', record });
  v.asking.learn();
  v.ticking.stir();
}

// --- votes -------------------------------------------------------------------------------------------------------------

function hearVote(v: ValidatorState, view: PeerView, payload: Payload, vote: Vote): void {
  const { consensus } = v;
  if (vote.height === consensus.height) {
    standsAt(v, view, vote.height);
    const known = consensus.rounds.get(vote.round);
    const tally = vote.type === PREVOTE ? known?.prevotes : known?.precommits;
    if (!admitVote(v, view, vote, tally, consensus.validators)) return;
    const outcome = consensus.onVote(vote, view.peer);
    if (outcome.tally === 'added') return log(v, view.peer, payload);
    if (outcome.tally === 'conflict') {
      if (outcome.kept) log(v, view.peer, payload);
      sawConflict(v, outcome.first, outcome.second);
    }
    return;
  }
  if (vote.height === consensus.height + 1n)
    return keepForLater(v, view.peer, payload, { type: 'vote', vote });
  if (vote.height !== consensus.height - 1n) return;
  standsAt(v, view, vote.height);
  const { lastCommit } = consensus;
  if (!lastCommit || consensus.step !== 'newHeight') return;
  const { precommits } = lastCommit;
  if (vote.type !== PRECOMMIT || vote.round !== lastCommit.round) return;
  if (!admitVote(v, view, vote, precommits, precommits.validators)) return;
  const first = precommits.votes[vote.validatorIndex];
  if (first) sawConflict(v, first, vote);
  else if (consensus.onLateCommit(vote)) startIfComplete(v);
}

/** Who proved against itself that it votes twice says nothing with a third vote, and whether it is true need not be asked. */
const isThird = (v: ValidatorState, vote: Vote, tally: VoteTally | undefined): boolean =>
  tally?.isSurplus(vote) === true && v.evidencePool.isProven(vote);

/**
 * Whether it is true, and not counted yet. Who sends a vote has it: one that is true, or that we know by its signature. A copy of that with
 * another signature says nothing, and is not worth looking at.
 */
function admitVote(
  v: ValidatorState,
  view: PeerView,
  vote: Vote,
  tally: VoteTally | undefined,
  validators: ValidatorSet,
): boolean {
  if (isThird(v, vote, tally)) return false;
  const known = tally?.votesFor(vote.blockId)?.[vote.validatorIndex];
  const isTold = known
    ? equalBytes(known.signature, vote.signature)
    : verifyVote(v, view.peer, vote, validators);
  if (!isTold) return false;
  view.markVote(vote.height, vote.round, vote.type, vote.validatorIndex, validators.validators.length);
  return !known;
}

/** Index, address, no unasked extension, and the signature. A false vote costs the peer its connection. */
function verifyVote(v: ValidatorState, peer: PeerId, vote: Vote, validators: ValidatorSet): boolean {
  const voter = validators.validators[vote.validatorIndex];
  if (!voter || !equalBytes(voter.address, vote.validatorAddress)) {
    v.score(
      peer,
      `vote of index ${vote.validatorIndex} names another validator than the set of height ${vote.height}`,
    );
    return false;
  }
  if (vote.extension.length > 0 || vote.extensionSignature.length > 0) {
    v.score(peer, 'vote carries an extension, and extensions are not enabled');
    return false;
  }
  const { verify } = v.config;
  if (isSigned(verify, v.chain.chainId, voter.publicKey, vote)) return true;
  v.score(
    peer,
    `vote of validator ${vote.validatorIndex} at ${vote.height}/${vote.round} has a wrong signature`,
  );
  return false;
}

function sawConflict(v: ValidatorState, first: Vote, second: Vote): void {
  const mine = v.config.key?.address;
  if (mine && equalBytes(mine, first.validatorAddress)) {
    v.warn(
      `somebody signs with our key: two votes at ${first.height}/${first.round}. Stop the other node that uses it`,
    );
    return;
  }
  v.evidencePool.sawConflict(first, second);
}

function hearMaj23(
  v: ValidatorState,
  view: PeerView,
  message: Extract<ConsensusMessage, { type: 'vote-set-maj23' }>,
): void {
  const { consensus } = v;
  if (message.height !== consensus.height) return;
  const round = consensus.rounds.get(message.round);
  if (!round) return;
  const tally = message.voteType === PREVOTE ? round.prevotes : round.precommits;
  if (!tally.claim(view.peer, message.blockId)) {
    v.score(view.peer, `claims two thirds for two blocks at ${message.height}/${message.round}`);
    return;
  }
  if (!view.mayAnswerClaim(v.turn.monoNs, consensus.config.gossipNs)) return;
  const have = (tally.votesFor(message.blockId) ?? []).flatMap((vote, i) => (vote ? [i] : []));
  if (have.length === size(v)) return;
  send(
    v,
    [view.peer],
    [
      payloadOf({
        type: 'vote-set-bits',
        height: message.height,
        round: message.round,
        voteType: message.voteType,
        blockId: message.blockId,
        votes: bitArrayOf(size(v), have),
      }),
    ],
  );
}

/** Whether the questions of this envelope are answered: when all of it is read, so that the answer leaves out what the peer has. */
function openAnswer(v: ValidatorState, view: PeerView): boolean {
  if (view.owed === null && view.mayAnswer(v.turn.monoNs, v.consensus.config.gossipNs)) view.owed = [];
  return view.owed !== null;
}

function answer(v: ValidatorState, view: PeerView): void {
  const { owed } = view;
  if (owed === null) return;
  view.owed = null;
  view.askedFor.clear();
  offerTo(v, view, owed);
}

/** The peer says which votes for an id it has: what it lacks of them it gets, though it may have a conflicting vote. */
function hearVoteSetBits(
  v: ValidatorState,
  view: PeerView,
  message: Extract<ConsensusMessage, { type: 'vote-set-bits' }>,
): void {
  const { height, round, voteType, blockId } = message;
  const { consensus } = v;
  if (height === consensus.height) {
    standsAt(v, view, height);
    if (view.claimedHeight !== height) view.askedHeight = height;
  }
  const tally = tallyOf(v, height, round, voteType);
  if (!tally || !openAnswer(v, view) || !view.asksFirst(height, round, voteType, blockId)) return;
  const votes = tally.votesFor(blockId) ?? [];
  for (const vote of view.takeLacking(height, round, voteType, votes, message.votes, tally.votes.length))
    view.owed?.push({ type: 'vote', vote });
}

/** Where votes of this kind are counted: of our height, or the precommits that decided the one before. */
function tallyOf(v: ValidatorState, height: bigint, number: number, type: number): VoteTally | null {
  const { consensus } = v;
  if (height === consensus.height) {
    const round = consensus.rounds.get(number);
    return (type === PREVOTE ? round?.prevotes : round?.precommits) ?? null;
  }
  const { lastCommit } = consensus;
  const isLast = height === consensus.height - 1n && type === PRECOMMIT && lastCommit?.round === number;
  return isLast ? lastCommit.precommits : null;
}

/** The peer says which parts of a block it has: it gets the others now, or, from behind, when it is served next. */
function hearValidBlock(
  v: ValidatorState,
  view: PeerView,
  message: Extract<ConsensusMessage, { type: 'new-valid-block' }>,
): void {
  const { consensus } = v;
  if (message.height === consensus.height) standsAt(v, view, message.height);
  if (message.height > consensus.height || message.height !== view.height || !message.have) return;
  const isHere = message.height === consensus.height;
  if (isHere ? !openAnswer(v, view) : !view.mayAnswer(v.turn.monoNs, consensus.config.gossipNs)) return;
  view.markParts(message.parts, message.have);
  // Who counts the parts of a proposal has seen it, or what two thirds said of it.
  for (const { blockId } of (isHere && consensus.rounds.get(message.round)?.proposals) || [])
    if (equalPartSetHeaders(blockId.parts, message.parts)) view.takeProposal(message.round, blockId);
}

// --- proposals and parts -----------------------------------------------------------------------------------------------

function hearProposal(
  v: ValidatorState,
  view: PeerView,
  payload: Payload,
  message: Extract<ConsensusMessage, { type: 'proposal' }>,
): void {
  const { consensus } = v;
  const { proposal } = message;
  if (proposal.height === consensus.height + 1n) return keepForLater(v, view.peer, payload, message);
  if (proposal.height !== consensus.height || proposal.round > consensus.round + 1) return;
  standsAt(v, view, proposal.height);
  view.markProposal(proposal.round, proposal.blockId);
  const known = consensus.rounds.get(proposal.round)?.proposals;
  if (known?.some((each) => equalBlockId(each.blockId, proposal.blockId))) return;
  if (consensus.rounds.isCrowded(proposal.round)) return; // before its signature, which costs more than it does
  if (proposal.polRound >= proposal.round) {
    v.score(
      view.peer,
      `proposal at ${proposal.height}/${proposal.round} claims a POL of round ${proposal.polRound}`,
    );
    return;
  }
  const partsMax = (blockBytesMax(v.chain.consensusParams) - 1n) / BigInt(BLOCK_PART_BYTES) + 1n;
  if (BigInt(proposal.blockId.parts.total) > partsMax) {
    v.score(
      view.peer,
      `proposal names ${proposal.blockId.parts.total} parts; block.max_bytes allows ${partsMax}`,
    );
    return;
  }
  const proposer = consensus.proposer(proposal.round);
  if (
    !v.config.verify(proposer.publicKey, proposalSignBytes(v.chain.chainId, proposal), proposal.signature)
  ) {
    v.score(view.peer, `proposal at ${proposal.height}/${proposal.round} is not signed by its proposer`);
    return;
  }
  if (consensus.onProposal(proposal) === 'kept') log(v, view.peer, payload);
}

function hearPart(
  v: ValidatorState,
  view: PeerView,
  payload: Payload,
  message: Extract<ConsensusMessage, { type: 'block-part' }>,
): void {
  const { consensus } = v;
  if (message.height === consensus.height + 1n) return keepForLater(v, view.peer, payload, message);
  if (message.height !== consensus.height) return;
  const added = consensus.onPart(message.part);
  if (added === 'unwanted') return;
  view.markPart(added.entry.id.parts, message.part.index);
  if (!added.isNew) return;
  log(v, view.peer, payload);
}

/** The next height begins: what was heard for it too early is heard now. */
export function hearFuture(v: ValidatorState): void {
  const waiting = v.future;
  v.future = [];
  if (v.futureOf.size > 0) v.futureOf.clear();
  for (const { peer, payload, message } of waiting) {
    const view = v.views.get(peer);
    if (view && !v.isGivenUp(peer)) hearMessage(v, view, payload, message);
  }
}
