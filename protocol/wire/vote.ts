// The bytes of votes and proposals (spec 3.1).

import { EMPTY_BYTES, NIL_BLOCK_ID, type Proposal, type Vote, ZERO_TIME_NS } from '../types.ts';
import { readSharedBlockId, writeBlockId } from './block-id.ts';
import { decodeWith, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

/** What a message without fields means; an absent time is Go's zero time, an empty one is 1970. */
export const NO_VOTE: Vote = {
  type: 0,
  height: 0n,
  round: 0,
  blockId: NIL_BLOCK_ID,
  timeNs: ZERO_TIME_NS,
  validatorAddress: EMPTY_BYTES,
  validatorIndex: 0,
  signature: EMPTY_BYTES,
  extension: EMPTY_BYTES,
  extensionSignature: EMPTY_BYTES,
};

export const NO_PROPOSAL: Proposal = {
  type: 0,
  height: 0n,
  round: 0,
  polRound: 0,
  blockId: NIL_BLOCK_ID,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY_BYTES,
};

export function writeVote(writer: ProtoWriter, vote: Vote): void {
  writer.int(0x08, vote.type);
  writer.int64(0x10, vote.height);
  writer.int(0x18, vote.round);
  writer.message(0x22, writeBlockId, vote.blockId);
  writer.time(0x2a, vote.timeNs);
  writer.bytes(0x32, vote.validatorAddress);
  writer.int(0x38, vote.validatorIndex);
  writer.bytes(0x42, vote.signature);
  writer.bytes(0x4a, vote.extension);
  writer.bytes(0x52, vote.extensionSignature);
}

export function readVote(reader: ProtoReader, was: Vote): Vote {
  let { type, height, round, blockId, timeNs, validatorAddress, validatorIndex } = was;
  let { signature, extension, extensionSignature } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) type = reader.int32();
    else if (reader.tag === 0x10) height = reader.int64();
    else if (reader.tag === 0x18) round = reader.int32();
    else if (reader.tag === 0x22) blockId = readSharedBlockId(reader, blockId);
    else if (reader.tag === 0x2a) timeNs = reader.time();
    else if (reader.tag === 0x32) validatorAddress = reader.bytes();
    else if (reader.tag === 0x38) validatorIndex = reader.int32();
    else if (reader.tag === 0x42) signature = reader.bytes();
    else if (reader.tag === 0x4a) extension = reader.bytes();
    else if (reader.tag === 0x52) extensionSignature = reader.bytes();
    else reader.skip(10);
  }
  return {
    type,
    height,
    round,
    blockId,
    timeNs,
    validatorAddress,
    validatorIndex,
    signature,
    extension,
    extensionSignature,
  };
}

export function writeProposal(writer: ProtoWriter, proposal: Proposal): void {
  writer.int(0x08, proposal.type);
  writer.int64(0x10, proposal.height);
  writer.int(0x18, proposal.round);
  writer.int(0x20, proposal.polRound);
  writer.message(0x2a, writeBlockId, proposal.blockId);
  writer.time(0x32, proposal.timeNs);
  writer.bytes(0x3a, proposal.signature);
}

export function readProposal(reader: ProtoReader, was: Proposal): Proposal {
  let { type, height, round, polRound, blockId, timeNs, signature } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) type = reader.int32();
    else if (reader.tag === 0x10) height = reader.int64();
    else if (reader.tag === 0x18) round = reader.int32();
    else if (reader.tag === 0x20) polRound = reader.int32();
    else if (reader.tag === 0x2a) blockId = readSharedBlockId(reader, blockId);
    else if (reader.tag === 0x32) timeNs = reader.time();
    else if (reader.tag === 0x3a) signature = reader.bytes();
    else reader.skip(7);
  }
  return { type, height, round, polRound, blockId, timeNs, signature };
}

export const encodeVote = (vote: Vote): Uint8Array => encodeWith(writeVote, vote);
export const decodeVote = (bytes: Uint8Array): Vote | MalformedBytes =>
  decodeWith('Vote', bytes, readVote, NO_VOTE);

export const encodeProposal = (proposal: Proposal): Uint8Array => encodeWith(writeProposal, proposal);
export const decodeProposal = (bytes: Uint8Array): Proposal | MalformedBytes =>
  decodeWith('Proposal', bytes, readProposal, NO_PROPOSAL);
