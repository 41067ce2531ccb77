// What peers say on the consensus channels, as bytes (spec 3.2): a oneof of nine, form-checked as it is
// decoded.

import type { ConsensusMessage } from '../messages.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { BLOCK_PARTS_MAX, type BlockId, NIL_BLOCK_ID, NIL_PART_SET_HEADER, VOTES_MAX } from '../types.ts';
import {
  isVoteType,
  validateBlockId,
  validatePart,
  validatePartSetHeader,
  validateProposal,
  validateVote,
} from '../validate.ts';
import { readBlockId, readPartSetHeader, writeBlockId, writePartSetHeader } from './block-id.ts';
import { NO_BITS, NO_PART, readBitArray, readPart, writeBitArray, writePart } from './part.ts';
import { decodeWith, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import { NO_PROPOSAL, NO_VOTE, readProposal, readVote, writeProposal, writeVote } from './vote.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

type Kind = ConsensusMessage['type'];
type Of<K extends Kind> = Extract<ConsensusMessage, { type: K }>;
type Writers = { readonly [K in Kind]: (writer: ProtoWriter, message: Of<K>) => void };

const TAGS: { readonly [K in Kind]: number } = {
  'new-round-step': 0x0a,
  'new-valid-block': 0x12,
  proposal: 0x1a,
  'proposal-pol': 0x22,
  'block-part': 0x2a,
  vote: 0x32,
  'has-vote': 0x3a,
  'vote-set-maj23': 0x42,
  'vote-set-bits': 0x4a,
};

function writeHeightRound(writer: ProtoWriter, at: { height: bigint; round: number }): void {
  writer.int64(0x08, at.height);
  writer.int(0x10, at.round);
}

const WRITERS: Writers = {
  'new-round-step': (writer, message) => {
    writeHeightRound(writer, message);
    writer.int(0x18, message.step);
    writer.int64(0x20, message.secondsSinceStart);
    writer.int(0x28, message.lastCommitRound);
  },
  'new-valid-block': (writer, message) => {
    writeHeightRound(writer, message);
    writer.message(0x1a, writePartSetHeader, message.parts);
    if (message.have) writer.message(0x22, writeBitArray, message.have);
    writer.bool(0x28, message.isCommit);
  },
  proposal: (writer, message) => writer.message(0x0a, writeProposal, message.proposal),
  'proposal-pol': (writer, message) => {
    writer.int64(0x08, message.height);
    writer.int(0x10, message.polRound);
    writer.message(0x1a, writeBitArray, message.pol);
  },
  'block-part': (writer, message) => {
    writeHeightRound(writer, message);
    writer.message(0x1a, writePart, message.part);
  },
  vote: (writer, message) => writer.message(0x0a, writeVote, message.vote),
  'has-vote': (writer, message) => {
    writeHeightRound(writer, message);
    writer.int(0x18, message.voteType);
    writer.int(0x20, message.index);
  },
  'vote-set-maj23': (writer, message) => {
    writeHeightRound(writer, message);
    writer.int(0x18, message.voteType);
    writer.message(0x22, writeBlockId, message.blockId);
  },
  'vote-set-bits': (writer, message) => {
    writeHeightRound(writer, message);
    writer.int(0x18, message.voteType);
    writer.message(0x22, writeBlockId, message.blockId);
    writer.message(0x2a, writeBitArray, message.votes);
  },
};

export function writeConsensusMessage(writer: ProtoWriter, message: ConsensusMessage): void {
  const write = WRITERS[message.type] as (writer: ProtoWriter, message: ConsensusMessage) => void;
  writer.message(TAGS[message.type], write, message);
}

function readNewRoundStep(reader: ProtoReader): Of<'new-round-step'> {
  let [height, round, step, secondsSinceStart, lastCommitRound] = [0n, 0, 0, 0n, 0];
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x18) step = reader.uint32();
    else if (reader.tag === 0x20) secondsSinceStart = reader.int64();
    else if (reader.tag === 0x28) lastCommitRound = reader.int32();
    else reader.skip(5);
  }
  return { type: 'new-round-step', height, round, step, secondsSinceStart, lastCommitRound };
}

function readNewValidBlock(reader: ProtoReader): Of<'new-valid-block'> {
  let [height, round, isCommit] = [0n, 0, false];
  let parts = NIL_PART_SET_HEADER;
  let have: Of<'new-valid-block'>['have'] = null;
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x1a) parts = reader.message(readPartSetHeader, parts);
    else if (reader.tag === 0x22) have = reader.message(readBitArray, have ?? NO_BITS);
    else if (reader.tag === 0x28) isCommit = reader.bool();
    else reader.skip(5);
  }
  return { type: 'new-valid-block', height, round, parts, have, isCommit };
}

function readProposalMessage(reader: ProtoReader): Of<'proposal'> {
  let proposal = NO_PROPOSAL;
  while (reader.next()) {
    if (reader.tag === 0x0a) proposal = reader.message(readProposal, proposal);
    else reader.skip(1);
  }
  return { type: 'proposal', proposal };
}

function readProposalPol(reader: ProtoReader): Of<'proposal-pol'> {
  let [height, polRound, pol] = [0n, 0, NO_BITS];
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) polRound = reader.int32();
    else if (reader.tag === 0x1a) pol = reader.message(readBitArray, pol);
    else reader.skip(3);
  }
  return { type: 'proposal-pol', height, polRound, pol };
}

function readBlockPart(reader: ProtoReader): Of<'block-part'> {
  let [height, round, part] = [0n, 0, NO_PART];
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x1a) part = reader.message(readPart, part);
    else reader.skip(3);
  }
  return { type: 'block-part', height, round, part };
}

function readVoteMessage(reader: ProtoReader): Of<'vote'> {
  let vote = NO_VOTE;
  while (reader.next()) {
    if (reader.tag === 0x0a) vote = reader.message(readVote, vote);
    else reader.skip(1);
  }
  return { type: 'vote', vote };
}

function readHasVote(reader: ProtoReader): Of<'has-vote'> {
  let [height, round, voteType, index] = [0n, 0, 0, 0];
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x18) voteType = reader.int32();
    else if (reader.tag === 0x20) index = reader.int32();
    else reader.skip(4);
  }
  return { type: 'has-vote', height, round, voteType, index };
}

function readVoteSetMaj23(reader: ProtoReader): Of<'vote-set-maj23'> {
  let [height, round, voteType] = [0n, 0, 0];
  let blockId: BlockId = NIL_BLOCK_ID;
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x18) voteType = reader.int32();
    else if (reader.tag === 0x22) blockId = reader.message(readBlockId, blockId);
    else reader.skip(4);
  }
  return { type: 'vote-set-maj23', height, round, voteType, blockId };
}

function readVoteSetBits(reader: ProtoReader): Of<'vote-set-bits'> {
  let [height, round, voteType, votes] = [0n, 0, 0, NO_BITS];
  let blockId: BlockId = NIL_BLOCK_ID;
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x18) voteType = reader.int32();
    else if (reader.tag === 0x22) blockId = reader.message(readBlockId, blockId);
    else if (reader.tag === 0x2a) votes = reader.message(readBitArray, votes);
    else reader.skip(5);
  }
  return { type: 'vote-set-bits', height, round, voteType, blockId, votes };
}

function readConsensusMessage(reader: ProtoReader): ConsensusMessage {
  let message: ConsensusMessage | null = null;
  while (reader.next()) {
    if (reader.tag === 0x0a) message = reader.message(readNewRoundStep, null);
    else if (reader.tag === 0x12) message = reader.message(readNewValidBlock, null);
    else if (reader.tag === 0x1a) message = reader.message(readProposalMessage, null);
    else if (reader.tag === 0x22) message = reader.message(readProposalPol, null);
    else if (reader.tag === 0x2a) message = reader.message(readBlockPart, null);
    else if (reader.tag === 0x32) message = reader.message(readVoteMessage, null);
    else if (reader.tag === 0x3a) message = reader.message(readHasVote, null);
    else if (reader.tag === 0x42) message = reader.message(readVoteSetMaj23, null);
    else if (reader.tag === 0x4a) message = reader.message(readVoteSetBits, null);
    else reader.skip(9);
  }
  if (!message) throw new Malformed('a message of no known kind');
  return message;
}

export type MalformedMessage = Refusal<'malformed-message'>;
const malformed = (because: string): MalformedMessage => refuse('malformed-message', because);

const STEP_MIN = 1;
const STEP_MAX = 8;

/**
 * What CometBFT disconnects a peer for (consensus reactor ValidateBasic). Heights against the initial
 * height are the reader's to check: only a node knows its chain.
 */
export function validateConsensusMessage(message: ConsensusMessage): Refusal | null {
  if ('height' in message && message.height < 0n)
    return malformed(`height must not be negative: ${message.height}`);
  // The round of vote-set-bits is not looked at, here as there.
  if ('round' in message && message.type !== 'vote-set-bits' && message.round < 0) {
    return malformed(`round must not be negative: ${message.round}`);
  }
  if ('voteType' in message && !isVoteType(message.voteType)) {
    return malformed(`type must be prevote or precommit, not ${message.voteType}`);
  }
  switch (message.type) {
    case 'new-round-step':
      if (message.step < STEP_MIN || message.step > STEP_MAX) return malformed(`step ${message.step}`);
      return message.lastCommitRound < -1 ? malformed(`last_commit_round ${message.lastCommitRound}`) : null;
    case 'new-valid-block': {
      const bits = message.have?.bits ?? 0;
      if (bits === 0) return malformed('block_parts must not be empty');
      if (bits !== message.parts.total)
        return malformed(`block_parts of ${bits} bits for ${message.parts.total} parts`);
      if (bits > BLOCK_PARTS_MAX) return malformed(`block_parts of more than ${BLOCK_PARTS_MAX} bits`);
      return validatePartSetHeader(message.parts);
    }
    case 'proposal':
      return validateProposal(message.proposal);
    case 'proposal-pol':
      if (message.polRound < 0)
        return malformed(`proposal_pol_round must not be negative: ${message.polRound}`);
      if (message.pol.bits === 0) return malformed('proposal_pol must not be empty');
      return message.pol.bits > VOTES_MAX ? malformed(`proposal_pol of more than ${VOTES_MAX} bits`) : null;
    case 'block-part':
      return validatePart(message.part);
    case 'vote':
      return validateVote(message.vote);
    case 'has-vote':
      return message.index < 0 ? malformed(`index must not be negative: ${message.index}`) : null;
    case 'vote-set-maj23':
      return validateBlockId(message.blockId);
    case 'vote-set-bits':
      if (message.votes.bits > VOTES_MAX) return malformed(`votes of more than ${VOTES_MAX} bits`);
      return validateBlockId(message.blockId);
  }
}

export const encodeConsensusMessage = (message: ConsensusMessage): Uint8Array =>
  encodeWith(writeConsensusMessage, message);

/** Bytes only: for a log of our own, whose messages were checked when they were heard. */
export const decodeOwnConsensusMessage = (bytes: Uint8Array): ConsensusMessage | MalformedBytes =>
  decodeWith('consensus.Message', bytes, readConsensusMessage, null);

/** Bytes and form. */
export function decodeConsensusMessage(bytes: Uint8Array): ConsensusMessage | Refusal {
  const message = decodeOwnConsensusMessage(bytes);
  if ('refused' in message) return message;
  return validateConsensusMessage(message) ?? message;
}
