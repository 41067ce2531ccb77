// The bytes of evidence, and of the signed headers and light blocks inside it (spec 3.1). Evidence must be
// whole to be decoded.

import {
  type Commit,
  type DuplicateVoteEvidence,
  type Evidence,
  type Header,
  type LightBlock,
  type LightClientAttackEvidence,
  type SignedHeader,
  type Validator,
  type ValidatorSet,
  type Vote,
  ZERO_TIME_NS,
} from '../types.ts';
import { NO_COMMIT, readCommit, writeCommit } from './commit.ts';
import { NO_HEADER, readHeader, writeHeader } from './header.ts';
import { decodeWith, growing, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import {
  NO_VALIDATOR_SET,
  readNewValidator,
  readValidatorSet,
  writeValidator,
  writeValidatorSet,
} from './validator.ts';
import { NO_VOTE, readVote, writeVote } from './vote.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

function writeSignedHeader(writer: ProtoWriter, signed: SignedHeader): void {
  writer.message(0x0a, writeHeader, signed.header);
  writer.message(0x12, writeCommit, signed.commit);
}

function readSignedHeader(reader: ProtoReader, was: SignedHeader | null): SignedHeader {
  let header: Header | null = was?.header ?? null;
  let commit: Commit | null = was?.commit ?? null;
  while (reader.next()) {
    if (reader.tag === 0x0a) header = reader.message(readHeader, header ?? NO_HEADER);
    else if (reader.tag === 0x12) commit = reader.message(readCommit, commit ?? NO_COMMIT);
    else reader.skip(2);
  }
  if (!header || !commit) throw new Malformed('a signed header needs a header and a commit');
  return { header, commit };
}

function writeLightBlock(writer: ProtoWriter, block: LightBlock): void {
  writer.message(0x0a, writeSignedHeader, block.signedHeader);
  writer.message(0x12, writeValidatorSet, block.validatorSet);
}

function readLightBlock(reader: ProtoReader, was: LightBlock | null): LightBlock {
  let signedHeader: SignedHeader | null = was?.signedHeader ?? null;
  let validatorSet: ValidatorSet | null = was?.validatorSet ?? null;
  while (reader.next()) {
    if (reader.tag === 0x0a) signedHeader = reader.message(readSignedHeader, signedHeader);
    else if (reader.tag === 0x12)
      validatorSet = reader.message(readValidatorSet, validatorSet ?? NO_VALIDATOR_SET);
    else reader.skip(2);
  }
  if (!signedHeader || !validatorSet)
    throw new Malformed('a light block needs a signed header and a validator set');
  return { signedHeader, validatorSet };
}

function writeDuplicateVote(writer: ProtoWriter, evidence: DuplicateVoteEvidence): void {
  writer.message(0x0a, writeVote, evidence.voteA);
  writer.message(0x12, writeVote, evidence.voteB);
  writer.int64(0x18, evidence.powerTotal);
  writer.int64(0x20, evidence.validatorPower);
  writer.time(0x2a, evidence.timeNs);
}

function readDuplicateVote(reader: ProtoReader): DuplicateVoteEvidence {
  let voteA: Vote | null = null;
  let voteB: Vote | null = null;
  let powerTotal = 0n;
  let validatorPower = 0n;
  let timeNs = ZERO_TIME_NS;
  while (reader.next()) {
    if (reader.tag === 0x0a) voteA = reader.message(readVote, voteA ?? NO_VOTE);
    else if (reader.tag === 0x12) voteB = reader.message(readVote, voteB ?? NO_VOTE);
    else if (reader.tag === 0x18) powerTotal = reader.int64();
    else if (reader.tag === 0x20) validatorPower = reader.int64();
    else if (reader.tag === 0x2a) timeNs = reader.time();
    else reader.skip(5);
  }
  if (!voteA || !voteB) throw new Malformed('duplicate vote evidence needs two votes');
  return { kind: 'duplicate-vote', voteA, voteB, powerTotal, validatorPower, timeNs };
}

function writeLightClientAttack(writer: ProtoWriter, evidence: LightClientAttackEvidence): void {
  writer.message(0x0a, writeLightBlock, evidence.conflictingBlock);
  writer.int64(0x10, evidence.commonHeight);
  for (const validator of evidence.byzantineValidators) writer.message(0x1a, writeValidator, validator);
  writer.int64(0x20, evidence.powerTotal);
  writer.time(0x2a, evidence.timeNs);
}

function readLightClientAttack(reader: ProtoReader): LightClientAttackEvidence {
  let conflictingBlock: LightBlock | null = null;
  let commonHeight = 0n;
  const byzantineValidators: Validator[] = [];
  let powerTotal = 0n;
  let timeNs = ZERO_TIME_NS;
  while (reader.next()) {
    if (reader.tag === 0x0a) conflictingBlock = reader.message(readLightBlock, conflictingBlock);
    else if (reader.tag === 0x10) commonHeight = reader.int64();
    else if (reader.tag === 0x1a) byzantineValidators.push(readNewValidator(reader));
    else if (reader.tag === 0x20) powerTotal = reader.int64();
    else if (reader.tag === 0x2a) timeNs = reader.time();
    else reader.skip(5);
  }
  if (!conflictingBlock) throw new Malformed('light client attack evidence needs a conflicting block');
  return {
    kind: 'light-client-attack',
    conflictingBlock,
    commonHeight,
    byzantineValidators,
    powerTotal,
    timeNs,
  };
}

function writeBareEvidence(writer: ProtoWriter, evidence: Evidence): void {
  if (evidence.kind === 'duplicate-vote') writeDuplicateVote(writer, evidence);
  else writeLightClientAttack(writer, evidence);
}

/** The wrapped form, types.Evidence: a oneof of the bare ones. */
function writeEvidence(writer: ProtoWriter, evidence: Evidence): void {
  writer.message(evidence.kind === 'duplicate-vote' ? 0x0a : 0x12, writeBareEvidence, evidence);
}

function readEvidence(reader: ProtoReader): Evidence {
  let evidence: Evidence | null = null;
  while (reader.next()) {
    if (reader.tag === 0x0a) evidence = reader.message(readDuplicateVote, null);
    else if (reader.tag === 0x12) evidence = reader.message(readLightClientAttack, null);
    else reader.skip(2);
  }
  if (!evidence) throw new Malformed('evidence of no known kind');
  return evidence;
}

export function writeEvidenceList(writer: ProtoWriter, list: readonly Evidence[]): void {
  for (const evidence of list) writer.message(0x0a, writeEvidence, evidence);
}

export function readEvidenceList(reader: ProtoReader, was: readonly Evidence[]): readonly Evidence[] {
  const list = growing(was);
  while (reader.next()) {
    if (reader.tag === 0x0a) {
      reader.member();
      list.push(reader.message(readEvidence, null));
    } else reader.skip(1);
  }
  return list;
}

/** The bare message: what the evidence hash and the identity of a duplicate vote are made of (spec 4.5). */
export const encodeBareEvidence = (evidence: Evidence): Uint8Array => encodeWith(writeBareEvidence, evidence);
export const decodeBareEvidence = (kind: Evidence['kind'], bytes: Uint8Array): Evidence | MalformedBytes =>
  kind === 'duplicate-vote'
    ? decodeWith('DuplicateVoteEvidence', bytes, readDuplicateVote, null)
    : decodeWith('LightClientAttackEvidence', bytes, readLightClientAttack, null);

export const encodeEvidence = (evidence: Evidence): Uint8Array => encodeWith(writeEvidence, evidence);
export const decodeEvidence = (bytes: Uint8Array): Evidence | MalformedBytes =>
  decodeWith('Evidence', bytes, readEvidence, null);

export const encodeEvidenceList = (list: readonly Evidence[]): Uint8Array =>
  encodeWith(writeEvidenceList, list);
export const decodeEvidenceList = (bytes: Uint8Array): readonly Evidence[] | MalformedBytes =>
  decodeWith('EvidenceList', bytes, readEvidenceList, []);

export const encodeSignedHeader = (signed: SignedHeader): Uint8Array => encodeWith(writeSignedHeader, signed);
export const decodeSignedHeader = (bytes: Uint8Array): SignedHeader | MalformedBytes =>
  decodeWith('SignedHeader', bytes, readSignedHeader, null);

export const encodeLightBlock = (block: LightBlock): Uint8Array => encodeWith(writeLightBlock, block);
export const decodeLightBlock = (bytes: Uint8Array): LightBlock | MalformedBytes =>
  decodeWith('LightBlock', bytes, readLightBlock, null);
