// The bytes of commits, plain and extended (spec 3.1).

import {
  type Commit,
  type CommitSig,
  EMPTY_BYTES,
  type ExtendedCommit,
  type ExtendedCommitSig,
  NIL_BLOCK_ID,
  VOTES_MAX,
  ZERO_TIME_NS,
} from '../types.ts';
import { readSharedBlockId, writeBlockId } from './block-id.ts';
import { decodeWith, growing, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

const NO_COMMIT_SIG: CommitSig = {
  flag: 0,
  validatorAddress: EMPTY_BYTES,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY_BYTES,
};
const NO_EXTENDED_COMMIT_SIG: ExtendedCommitSig = {
  ...NO_COMMIT_SIG,
  extension: EMPTY_BYTES,
  extensionSignature: EMPTY_BYTES,
};
/** What a message without fields means; also the commit of the initial block. */
export const NO_COMMIT: Commit = { height: 0n, round: 0, blockId: NIL_BLOCK_ID, signatures: [] };
export const NO_EXTENDED_COMMIT: ExtendedCommit = {
  height: 0n,
  round: 0,
  blockId: NIL_BLOCK_ID,
  signatures: [],
};

export function writeCommitSig(writer: ProtoWriter, sig: CommitSig): void {
  writer.int(0x08, sig.flag);
  writer.bytes(0x12, sig.validatorAddress);
  writer.time(0x1a, sig.timeNs);
  writer.bytes(0x22, sig.signature);
}

/** An enum on the wire, one byte for CometBFT, which drops the rest: 258 is 2, for the hash of the commit too. */
const readFlag = (reader: ProtoReader): number => reader.int32() & 255;

function readCommitSig(reader: ProtoReader, was: CommitSig): CommitSig {
  let { flag, validatorAddress, timeNs, signature } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) flag = readFlag(reader);
    else if (reader.tag === 0x12) validatorAddress = reader.bytes();
    else if (reader.tag === 0x1a) timeNs = reader.time();
    else if (reader.tag === 0x22) signature = reader.bytes();
    else reader.skip(4);
  }
  return { flag, validatorAddress, timeNs, signature };
}

function writeExtendedCommitSig(writer: ProtoWriter, sig: ExtendedCommitSig): void {
  writeCommitSig(writer, sig);
  writer.bytes(0x2a, sig.extension);
  writer.bytes(0x32, sig.extensionSignature);
}

function readExtendedCommitSig(reader: ProtoReader, was: ExtendedCommitSig): ExtendedCommitSig {
  let { flag, validatorAddress, timeNs, signature, extension, extensionSignature } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) flag = readFlag(reader);
    else if (reader.tag === 0x12) validatorAddress = reader.bytes();
    else if (reader.tag === 0x1a) timeNs = reader.time();
    else if (reader.tag === 0x22) signature = reader.bytes();
    else if (reader.tag === 0x2a) extension = reader.bytes();
    else if (reader.tag === 0x32) extensionSignature = reader.bytes();
    else reader.skip(6);
  }
  return { flag, validatorAddress, timeNs, signature, extension, extensionSignature };
}

/** No set is larger: of more nobody need make objects, each many times as long as its bytes (CometBFT MaxVotesCount). */
function mustHaveRoom(reader: ProtoReader, { length }: readonly unknown[]): void {
  reader.member();
  if (length >= VOTES_MAX) throw new Malformed(`more than ${VOTES_MAX} signatures`);
}

export function writeCommit(writer: ProtoWriter, commit: Commit): void {
  writer.int64(0x08, commit.height);
  writer.int(0x10, commit.round);
  writer.message(0x1a, writeBlockId, commit.blockId);
  for (const sig of commit.signatures) writer.message(0x22, writeCommitSig, sig);
}

export function readCommit(reader: ProtoReader, was: Commit): Commit {
  let { height, round, blockId } = was;
  const signatures = growing(was.signatures);
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x1a) blockId = readSharedBlockId(reader, blockId);
    else if (reader.tag === 0x22) {
      mustHaveRoom(reader, signatures);
      signatures.push(reader.message(readCommitSig, NO_COMMIT_SIG));
    } else reader.skip(4);
  }
  return { height, round, blockId, signatures };
}

export function writeExtendedCommit(writer: ProtoWriter, commit: ExtendedCommit): void {
  writer.int64(0x08, commit.height);
  writer.int(0x10, commit.round);
  writer.message(0x1a, writeBlockId, commit.blockId);
  for (const sig of commit.signatures) writer.message(0x22, writeExtendedCommitSig, sig);
}

export function readExtendedCommit(reader: ProtoReader, was: ExtendedCommit): ExtendedCommit {
  let { height, round, blockId } = was;
  const signatures = growing(was.signatures);
  while (reader.next()) {
    if (reader.tag === 0x08) height = reader.int64();
    else if (reader.tag === 0x10) round = reader.int32();
    else if (reader.tag === 0x1a) blockId = readSharedBlockId(reader, blockId);
    else if (reader.tag === 0x22) {
      mustHaveRoom(reader, signatures);
      signatures.push(reader.message(readExtendedCommitSig, NO_EXTENDED_COMMIT_SIG));
    } else reader.skip(4);
  }
  return { height, round, blockId, signatures };
}

export const encodeCommitSig = (sig: CommitSig): Uint8Array => encodeWith(writeCommitSig, sig);
export const decodeCommitSig = (bytes: Uint8Array): CommitSig | MalformedBytes =>
  decodeWith('CommitSig', bytes, readCommitSig, NO_COMMIT_SIG);

export const encodeCommit = (commit: Commit): Uint8Array => encodeWith(writeCommit, commit);
export const decodeCommit = (bytes: Uint8Array): Commit | MalformedBytes =>
  decodeWith('Commit', bytes, readCommit, NO_COMMIT);

export const encodeExtendedCommit = (commit: ExtendedCommit): Uint8Array =>
  encodeWith(writeExtendedCommit, commit);
export const decodeExtendedCommit = (bytes: Uint8Array): ExtendedCommit | MalformedBytes =>
  decodeWith('ExtendedCommit', bytes, readExtendedCommit, NO_EXTENDED_COMMIT);
