// What a block and its evidence are as bytes, as CometBFT has them, written a second time: of these are the parts of a block, hence its id, and
// the hash and the identity of evidence (spec 3.1, 4.5).

import { utf8Encode } from '#platform';
import type {
  Block,
  Commit,
  CommitSig,
  Evidence,
  Header,
  LightBlock,
  PublicKey,
  SignedHeader,
  Validator,
  ValidatorSet,
  Vote,
} from '../../../protocol/types.ts';
import { type Words, words, writeId, writeTime } from './protobuf.ts';

function writeVersion(to: Words, { block, app }: Header['version']): void {
  to.int(1, block).int(2, app);
}

function writeHeader(to: Words, header: Header): void {
  to.message(1, writeVersion, header.version)
    .text(2, utf8Encode(header.chainId))
    .int(3, header.height)
    .message(4, writeTime, header.timeNs)
    .message(5, writeId, header.lastBlockId)
    .text(6, header.lastCommitHash)
    .text(7, header.dataHash)
    .text(8, header.validatorsHash)
    .text(9, header.nextValidatorsHash)
    .text(10, header.consensusHash)
    .text(11, header.appHash)
    .text(12, header.lastResultsHash)
    .text(13, header.evidenceHash)
    .text(14, header.proposerAddress);
}

export function writeTxs(to: Words, txs: readonly Uint8Array[]): void {
  for (const tx of txs) to.item(1, tx);
}

/** Also the leaf of a commit's hash. */
export function writeSignature(to: Words, { flag, validatorAddress, timeNs, signature }: CommitSig): Words {
  return to.int(1, flag).text(2, validatorAddress).message(3, writeTime, timeNs).text(4, signature);
}

function writeCommit(to: Words, { height, round, blockId, signatures }: Commit): void {
  to.int(1, height).int(2, round).message(3, writeId, blockId);
  for (const each of signatures) to.message(4, writeSignature, each);
}

export function writeBlock(to: Words, { header, txs, evidence, lastCommit }: Block): void {
  to.message(1, writeHeader, header).message(2, writeTxs, txs).message(3, writeEvidenceList, evidence);
  if (lastCommit) to.message(4, writeCommit, lastCommit);
}

export const blockBytes = (block: Block): Uint8Array => written(writeBlock, block);

// --- evidence --------------------------------------------------------------------------------------------------------

export function writeVote(to: Words, vote: Vote): void {
  to.int(1, vote.type)
    .int(2, vote.height)
    .int(3, vote.round)
    .message(4, writeId, vote.blockId)
    .message(5, writeTime, vote.timeNs)
    .text(6, vote.validatorAddress)
    .int(7, vote.validatorIndex)
    .text(8, vote.signature)
    .text(9, vote.extension)
    .text(10, vote.extensionSignature);
}

const ED25519 = 1;
const SECP256K1 = 2;

export const writeKey = (to: Words, { type, bytes }: PublicKey): Words =>
  to.item(type === 'ed25519' ? ED25519 : SECP256K1, bytes);

function writeValidator(to: Words, { address, publicKey, power, priority }: Validator): void {
  to.text(1, address).message(2, writeKey, publicKey).int(3, power).int(4, priority);
}

/** Without its total: that is in nobody's bytes. */
function writeSet(to: Words, { validators, proposer }: ValidatorSet): void {
  for (const each of validators) to.message(1, writeValidator, each);
  if (proposer) to.message(2, writeValidator, proposer);
}

function writeSignedHeader(to: Words, { header, commit }: SignedHeader): void {
  to.message(1, writeHeader, header).message(2, writeCommit, commit);
}

function writeLightBlock(to: Words, { signedHeader, validatorSet }: LightBlock): void {
  to.message(1, writeSignedHeader, signedHeader).message(2, writeSet, validatorSet);
}

/** Alone: the leaf of the hash of evidence. */
export function writeBareEvidence(to: Words, evidence: Evidence): Words {
  if (evidence.kind === 'duplicate-vote')
    return to
      .message(1, writeVote, evidence.voteA)
      .message(2, writeVote, evidence.voteB)
      .int(3, evidence.powerTotal)
      .int(4, evidence.validatorPower)
      .message(5, writeTime, evidence.timeNs);
  to.message(1, writeLightBlock, evidence.conflictingBlock).int(2, evidence.commonHeight);
  for (const each of evidence.byzantineValidators) to.message(3, writeValidator, each);
  return to.int(4, evidence.powerTotal).message(5, writeTime, evidence.timeNs);
}

const DUPLICATE_VOTE = 1;
const LIGHT_CLIENT_ATTACK = 2;

/** By its kind. */
function writeEvidence(to: Words, evidence: Evidence): void {
  to.message(
    evidence.kind === 'duplicate-vote' ? DUPLICATE_VOTE : LIGHT_CLIENT_ATTACK,
    writeBareEvidence,
    evidence,
  );
}

function writeEvidenceList(to: Words, list: readonly Evidence[]): void {
  for (const each of list) to.message(1, writeEvidence, each);
}

/** What of `evidence.max_bytes` a block's evidence takes. */
export const evidenceListBytes = (list: readonly Evidence[]): Uint8Array => written(writeEvidenceList, list);

function written<T>(write: (to: Words, value: T) => unknown, value: T): Uint8Array {
  write(words, value);
  return words.take();
}
