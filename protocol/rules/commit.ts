// Owns the question whether a commit proves a decision: who must have signed it, and how much power that
// takes (spec 5.4; CometBFT `types/validation.go`). Accepts and refuses exactly what CometBFT does, for the
// same reason.

import { equalBytes, hexUpperOf } from '../bytes.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { voteSignBytes } from '../sign-bytes.ts';
import { SIGNATURE_BYTES, type Verify } from '../signatures.ts';
import {
  type BlockId,
  type Commit,
  type CommitSig,
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  FLAG_NIL,
  NIL_BLOCK_ID,
  PRECOMMIT,
  SIGNATURE_BYTES_MAX,
  type Validator,
  type ValidatorSet,
  type Vote,
} from '../types.ts';
import { equalBlockId } from '../validate.ts';
import { powerNeeded } from './quorum.ts';
import { indexByAddress, proposerOf } from './validator-set.ts';

export type CommitRefusal =
  | Refusal<
      | 'commit-size'
      | 'commit-height'
      | 'commit-block-id'
      | 'commit-signature-form'
      | 'wrong-address'
      | 'wrong-signature'
      | 'double-vote'
      | 'trust-level'
    >
  | (Refusal<'not-enough-power'> & { readonly got: bigint; readonly needed: bigint });

/** How much of a trusted set must have signed, as a fraction of its power; more than that is enough. */
export interface TrustLevel {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export const TRUST_LEVEL_DEFAULT: TrustLevel = { numerator: 1n, denominator: 3n };

/**
 * For a block's last commit: every signature that is there must be right, those for nil too (`VerifyCommit`).
 */
export function verifyCommit(
  chainId: string,
  set: ValidatorSet,
  blockId: BlockId,
  height: bigint,
  commit: Commit,
  verify: Verify,
): CommitRefusal | null {
  const form = verifyForm(set, blockId, height, commit);
  if (form !== null) return form;
  return tally({ chainId, set, commit, verify, nilToo: true, all: true, byAddress: false }, neededBy(set));
}

/**
 * For light clients: signatures for the block, until they carry more than two thirds (`VerifyCommitLight`).
 */
export function verifyCommitLight(
  chainId: string,
  set: ValidatorSet,
  blockId: BlockId,
  height: bigint,
  commit: Commit,
  verify: Verify,
): CommitRefusal | null {
  return light(chainId, set, blockId, height, commit, verify, false);
}

/** As `verifyCommitLight`, but no signature for the block goes unread: for evidence. */
export function verifyCommitLightAllSignatures(
  chainId: string,
  set: ValidatorSet,
  blockId: BlockId,
  height: bigint,
  commit: Commit,
  verify: Verify,
): CommitRefusal | null {
  return light(chainId, set, blockId, height, commit, verify, true);
}

/**
 * Whether more than `level` of a set trusted earlier signed a commit of a possibly other set
 * (`VerifyCommitLightTrusting`).
 */
export function verifyCommitLightTrusting(
  chainId: string,
  set: ValidatorSet,
  commit: Commit,
  level: TrustLevel,
  verify: Verify,
): CommitRefusal | null {
  return trusting(chainId, set, commit, level, verify, false);
}

/** As `verifyCommitLightTrusting`, but no signature for the block goes unread: for evidence. */
export function verifyCommitLightTrustingAllSignatures(
  chainId: string,
  set: ValidatorSet,
  commit: Commit,
  level: TrustLevel,
  verify: Verify,
): CommitRefusal | null {
  return trusting(chainId, set, commit, level, verify, true);
}

/**
 * The precommit that signature `index` of a commit stands for (`Commit.GetVote`): what was signed, and by
 * whom.
 */
export function voteOfCommit(commit: Commit, index: number): Vote {
  const { flag, validatorAddress, timeNs, signature } = commit.signatures[index]!;
  return {
    type: PRECOMMIT,
    height: commit.height,
    round: commit.round,
    blockId: flag === FLAG_COMMIT ? commit.blockId : NIL_BLOCK_ID,
    timeNs,
    validatorAddress,
    validatorIndex: index,
    signature,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
}

/** `verifyBasicValsAndCommit`: the commit is about this block, and has a place for each member. */
function verifyForm(
  set: ValidatorSet,
  blockId: BlockId,
  height: bigint,
  commit: Commit,
): CommitRefusal | null {
  const members = set.validators.length;
  if (members !== commit.signatures.length) {
    const got = commit.signatures.length;
    return refuse('commit-size', `Invalid commit -- wrong set size: ${members} vs ${got}`);
  }
  if (height !== commit.height) {
    return refuse('commit-height', `Invalid commit -- wrong height: ${height} vs ${commit.height}`);
  }
  if (!equalBlockId(blockId, commit.blockId)) {
    const names = `want ${hexUpperOf(blockId.hash)}, got ${hexUpperOf(commit.blockId.hash)}`;
    return refuse('commit-block-id', `invalid commit -- wrong block ID: ${names}`);
  }
  return null;
}

function light(
  chainId: string,
  set: ValidatorSet,
  blockId: BlockId,
  height: bigint,
  commit: Commit,
  verify: Verify,
  all: boolean,
): CommitRefusal | null {
  const form = verifyForm(set, blockId, height, commit);
  if (form !== null) return form;
  return tally({ chainId, set, commit, verify, nilToo: false, all, byAddress: false }, neededBy(set));
}

const INT64_MAX = 9_223_372_036_854_775_807n;

function trusting(
  chainId: string,
  set: ValidatorSet,
  commit: Commit,
  level: TrustLevel,
  verify: Verify,
  all: boolean,
): CommitRefusal | null {
  if (level.denominator === 0n) return refuse('trust-level', 'trustLevel has zero Denominator');
  const share = set.powerTotal * level.numerator;
  if (share > INT64_MAX) return refuse('trust-level', 'trustLevel numerator is too big: int64 overflow');
  const tolerated = share / level.denominator;
  return tally({ chainId, set, commit, verify, nilToo: false, all, byAddress: true }, tolerated);
}

/** What must be exceeded, as upstream counts; one less than the quorum. */
const neededBy = (set: ValidatorSet): bigint => powerNeeded(set.powerTotal) - 1n;

interface Tally {
  readonly chainId: string;
  readonly set: ValidatorSet;
  readonly commit: Commit;
  readonly verify: Verify;
  /** Signatures for nil are verified too; they never count. */
  readonly nilToo: boolean;
  /** Go on after enough power was found. */
  readonly all: boolean;
  /** Signers are looked up by address, strangers passed over; else they stand in set order. */
  readonly byAddress: boolean;
}

/**
 * `verifyCommitBatch` and `verifyCommitSingle`. With a batch the power is counted before any signature is
 * verified, one by one each is verified as it is counted: of a commit with both faults, the one found first
 * decides whether a light client bisects.
 */
function tally(asked: Tally, tolerated: bigint): CommitRefusal | null {
  const { set, commit, all } = asked;
  const batched = isBatched(set, commit);
  const waiting: number[] = [];
  const signers: Validator[] = [];
  const seen = asked.byAddress ? new Map<number, number>() : null;
  let got = 0n;
  for (let i = 0; i < commit.signatures.length; i++) {
    const signature = commit.signatures[i]!;
    if (asked.nilToo ? signature.flag === FLAG_ABSENT : signature.flag !== FLAG_COMMIT) continue;
    if (signature.flag !== FLAG_NIL && signature.flag !== FLAG_COMMIT) return malformed(i);
    if (!batched && !isWellFormed(signature)) return malformed(i);
    const signer = signerOf(asked, seen, i);
    if (signer === null) continue;
    if ('refused' in signer) return signer;
    if (batched) {
      // A batch looks at lengths as it is filled: before power is counted, and before any signature is verified.
      if (signature.signature.length !== SIGNATURE_BYTES) return wrongSignature(i);
      waiting.push(i);
      signers.push(signer);
    } else if (!isSignedBy(asked, signer, i)) return wrongSignature(i);
    if (signature.flag === FLAG_COMMIT) got += signer.power;
    if (!all && got > tolerated) break;
  }
  if (got <= tolerated) {
    const because = `invalid commit -- insufficient voting power: got ${got}, needed more than ${tolerated}`;
    return { refused: 'not-enough-power', because, got, needed: tolerated };
  }
  const wrong = waiting.find((index, place) => !isSignedBy(asked, signers[place]!, index));
  return wrong === undefined ? null : wrongSignature(wrong);
}

/** Batches are for two or more signatures of a set that has ed25519 keys only. */
function isBatched(set: ValidatorSet, commit: Commit): boolean {
  if (commit.signatures.length < 2 || set.validators.length === 0) return false;
  if (proposerOf(set).publicKey.type !== 'ed25519') return false;
  return set.validators.every((validator) => validator.publicKey.type === 'ed25519');
}

/** Who signed at `index`; null for a stranger where strangers are passed over. */
function signerOf(
  { set, commit, byAddress }: Tally,
  seen: Map<number, number> | null,
  index: number,
): Validator | CommitRefusal | null {
  const address = commit.signatures[index]!.validatorAddress;
  if (!byAddress || seen === null) {
    const expected = set.validators[index]!;
    if (equalBytes(expected.address, address)) return expected;
    const names = `expected ${hexUpperOf(expected.address)}, got ${hexUpperOf(address)}`;
    return refuse('wrong-address', `validator address mismatch at index ${index}: ${names}`);
  }
  const place = indexByAddress(set, address);
  if (place === -1) return null;
  const first = seen.get(place);
  if (first !== undefined) {
    return refuse('double-vote', `double vote from ${hexUpperOf(address)} (${first} and ${index})`);
  }
  seen.set(place, index);
  return set.validators[place]!;
}

function isSignedBy({ chainId, commit, verify }: Tally, signer: Validator, index: number): boolean {
  const { flag, timeNs, signature } = commit.signatures[index]!;
  const { height, round } = commit;
  const blockId = flag === FLAG_COMMIT ? commit.blockId : NIL_BLOCK_ID;
  const message = voteSignBytes(chainId, { type: PRECOMMIT, height, round, blockId, timeNs });
  return verify(signer.publicKey, message, signature);
}

const isWellFormed = ({ validatorAddress, signature }: CommitSig): boolean =>
  validatorAddress.length === 20 && signature.length > 0 && signature.length <= SIGNATURE_BYTES_MAX;

const malformed = (index: number): CommitRefusal =>
  refuse('commit-signature-form', `invalid signature at index ${index}: flag, address or length`);

const wrongSignature = (index: number): CommitRefusal =>
  refuse('wrong-signature', `wrong signature (#${index})`);
