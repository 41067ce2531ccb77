// The form of things before anybody trusts them (CometBFT ValidateBasic, spec 4.6): sizes, ranges,
// recomputed hashes; no signatures, no chain state.

import { utf8Encode } from '#platform';
import { compareBlockIdKeys, isCompleteBlockId, isNilBlockId } from './block-id.ts';
import { equalBytes } from './bytes.ts';
import { commitHash, dataHash, evidenceListHash, headerHash, validatorsHash } from './hashes.ts';
import { ADDRESS_BYTES, addressOf } from './keys.ts';
import { merkleProofForm } from './merkle.ts';
import { type Refusal, refuse } from './refusal.ts';
import {
  BLOCK_PART_BYTES,
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  CHAIN_ID_LENGTH_MAX,
  type Commit,
  type CommitSig,
  type Evidence,
  type ExtendedCommit,
  type ExtendedCommitSig,
  FLAG_ABSENT,
  FLAG_COMMIT,
  FLAG_NIL,
  type Header,
  type LightBlock,
  type Part,
  type PartSetHeader,
  PRECOMMIT,
  PREVOTE,
  PROPOSAL,
  type Proposal,
  SIGNATURE_BYTES_MAX,
  type SignedHeader,
  type Validator,
  type ValidatorSet,
  VOTE_EXTENSION_BYTES_MAX,
  VOTING_POWER_TOTAL_MAX,
  type Vote,
  ZERO_TIME_NS,
} from './types.ts';

export { blockIdKey, compareBlockIdKeys, equalBlockId, isCompleteBlockId, isNilBlockId } from './block-id.ts';

const HASH_BYTES = 32;

/** A check says what is wrong, in words that name the field, or nothing. */
type Fault = string | null;

const refusal = <Why extends string>(why: Why, fault: Fault): Refusal<Why> | null =>
  fault === null ? null : refuse(why, fault);

/** The first fault of many. Later checks run only when the earlier ones found nothing. */
function firstFault(...checks: readonly (() => Fault)[]): Fault {
  for (const check of checks) {
    const fault = check();
    if (fault !== null) return fault;
  }
  return null;
}

const hashFault = (field: string, hash: Uint8Array): Fault =>
  hash.length === 0 || hash.length === HASH_BYTES
    ? null
    : `${field} must be empty or 32 bytes, not ${hash.length}`;

const addressFault = (field: string, address: Uint8Array): Fault =>
  address.length === ADDRESS_BYTES ? null : `${field} must be ${ADDRESS_BYTES} bytes, not ${address.length}`;

function signatureFault(field: string, signature: Uint8Array): Fault {
  if (signature.length === 0) return `${field} is missing`;
  return signature.length > SIGNATURE_BYTES_MAX
    ? `${field} must be at most ${SIGNATURE_BYTES_MAX} bytes, not ${signature.length}`
    : null;
}

const blockIdFault = (field: string, id: BlockId): Fault =>
  hashFault(`${field}.hash`, id.hash) ?? hashFault(`${field}.parts.hash`, id.parts.hash);

export const isVoteType = (type: number): boolean => type === PREVOTE || type === PRECOMMIT;

export const validateBlockId = (id: BlockId): Refusal<'malformed-block-id'> | null =>
  refusal('malformed-block-id', blockIdFault('block_id', id));

export const validatePartSetHeader = (header: PartSetHeader): Refusal<'malformed-block-id'> | null =>
  refusal('malformed-block-id', hashFault('part_set_header.hash', header.hash));

function extensionFault(vote: Vote): Fault {
  const { extension, extensionSignature } = vote;
  if (vote.type !== PRECOMMIT || isNilBlockId(vote.blockId)) {
    if (extension.length > 0) return 'vote.extension belongs on a precommit for a block only';
    return extensionSignature.length > 0
      ? 'vote.extension_signature belongs on a precommit for a block only'
      : null;
  }
  if (extensionSignature.length > SIGNATURE_BYTES_MAX) {
    return `vote.extension_signature must be at most ${SIGNATURE_BYTES_MAX} bytes`;
  }
  return extension.length > 0 && extensionSignature.length === 0
    ? 'vote.extension_signature is missing beside an extension'
    : null;
}

function voteFault(vote: Vote): Fault {
  if (!isVoteType(vote.type)) return `vote.type must be ${PREVOTE} or ${PRECOMMIT}, not ${vote.type}`;
  if (vote.height <= 0n) return `vote.height must be above 0, not ${vote.height}`;
  if (vote.round < 0) return `vote.round must not be negative: ${vote.round}`;
  if (!isNilBlockId(vote.blockId) && !isCompleteBlockId(vote.blockId)) {
    return 'vote.block_id must be either empty or complete';
  }
  if (vote.validatorIndex < 0) return `vote.validator_index must not be negative: ${vote.validatorIndex}`;
  return (
    addressFault('vote.validator_address', vote.validatorAddress) ??
    signatureFault('vote.signature', vote.signature) ??
    extensionFault(vote)
  );
}

export const validateVote = (vote: Vote): Refusal<'malformed-vote'> | null =>
  refusal('malformed-vote', voteFault(vote));

function proposalFault(proposal: Proposal): Fault {
  if (proposal.type !== PROPOSAL) return `proposal.type must be ${PROPOSAL}, not ${proposal.type}`;
  if (proposal.height < 0n) return `proposal.height must not be negative: ${proposal.height}`;
  if (proposal.round < 0) return `proposal.round must not be negative: ${proposal.round}`;
  if (proposal.polRound < -1) return `proposal.pol_round must be at least -1, not ${proposal.polRound}`;
  if (!isCompleteBlockId(proposal.blockId)) return 'proposal.block_id must be complete';
  return signatureFault('proposal.signature', proposal.signature);
}

export const validateProposal = (proposal: Proposal): Refusal<'malformed-proposal'> | null =>
  refusal('malformed-proposal', proposalFault(proposal));

function partFault(part: Part): Fault {
  if (part.bytes.length > BLOCK_PART_BYTES) {
    return `part.bytes must be at most ${BLOCK_PART_BYTES}, not ${part.bytes.length}`;
  }
  const index = BigInt(part.index);
  if (index < part.proof.total - 1n && part.bytes.length !== BLOCK_PART_BYTES) {
    return `part.bytes must be ${BLOCK_PART_BYTES} in all parts but the last, not ${part.bytes.length}`;
  }
  if (index !== part.proof.index)
    return `part.index ${index} and part.proof.index ${part.proof.index} must agree`;
  return merkleProofForm(part.proof)?.because ?? null;
}

export const validatePart = (part: Part): Refusal<'malformed-part'> | null =>
  refusal('malformed-part', partFault(part));

function headerFault(header: Header): Fault {
  const { version, chainId, height } = header;
  if (version.block !== BLOCK_PROTOCOL) {
    return `header.version.block must be ${BLOCK_PROTOCOL}, not ${version.block}`;
  }
  // UTF-8 takes at most three bytes per unit, so short ids need no encoding to be measured.
  if (chainId.length * 3 > CHAIN_ID_LENGTH_MAX && utf8Encode(chainId).length > CHAIN_ID_LENGTH_MAX) {
    return `header.chain_id must be at most ${CHAIN_ID_LENGTH_MAX} bytes`;
  }
  if (height <= 0n) return `header.height must be above 0, not ${height}`;
  return (
    blockIdFault('header.last_block_id', header.lastBlockId) ??
    hashFault('header.last_commit_hash', header.lastCommitHash) ??
    hashFault('header.data_hash', header.dataHash) ??
    hashFault('header.evidence_hash', header.evidenceHash) ??
    addressFault('header.proposer_address', header.proposerAddress) ??
    hashFault('header.validators_hash', header.validatorsHash) ??
    hashFault('header.next_validators_hash', header.nextValidatorsHash) ??
    hashFault('header.consensus_hash', header.consensusHash) ??
    hashFault('header.last_results_hash', header.lastResultsHash)
  );
}

export const validateHeader = (header: Header): Refusal<'malformed-header'> | null =>
  refusal('malformed-header', headerFault(header));

function commitSigFault(field: string, sig: CommitSig): Fault {
  if (sig.flag === FLAG_ABSENT) {
    if (sig.validatorAddress.length > 0) return `${field}.validator_address must be empty for an absent vote`;
    if (sig.timeNs !== ZERO_TIME_NS) return `${field}.timestamp must be the zero time for an absent vote`;
    return sig.signature.length > 0 ? `${field}.signature must be empty for an absent vote` : null;
  }
  if (sig.flag !== FLAG_COMMIT && sig.flag !== FLAG_NIL) {
    return `${field}.block_id_flag must be ${FLAG_ABSENT}, ${FLAG_COMMIT} or ${FLAG_NIL}, not ${sig.flag}`;
  }
  return (
    addressFault(`${field}.validator_address`, sig.validatorAddress) ??
    signatureFault(`${field}.signature`, sig.signature)
  );
}

function extendedSigFault(field: string, sig: ExtendedCommitSig): Fault {
  const fault = commitSigFault(field, sig);
  if (fault !== null) return fault;
  if (sig.flag === FLAG_COMMIT) {
    if (sig.extension.length > VOTE_EXTENSION_BYTES_MAX) {
      return `${field}.extension must be at most ${VOTE_EXTENSION_BYTES_MAX} bytes`;
    }
    return sig.extensionSignature.length > SIGNATURE_BYTES_MAX
      ? `${field}.extension_signature must be at most ${SIGNATURE_BYTES_MAX} bytes`
      : null;
  }
  return sig.extension.length > 0 && sig.extensionSignature.length === 0
    ? `${field}.extension_signature is missing beside an extension`
    : null;
}

function anyCommitFault<Sig extends CommitSig>(
  field: string,
  commit: { height: bigint; round: number; blockId: BlockId; signatures: readonly Sig[] },
  sigFault: (field: string, sig: Sig) => Fault,
): Fault {
  if (commit.height < 0n) return `${field}.height must not be negative: ${commit.height}`;
  if (commit.round < 0) return `${field}.round must not be negative: ${commit.round}`;
  const idFault = blockIdFault(`${field}.block_id`, commit.blockId);
  if (idFault !== null) return idFault;
  // The commit of the initial block has height 0 and is empty.
  if (commit.height > 0n && isNilBlockId(commit.blockId)) return `${field}.block_id must not be nil`;
  if (commit.height > 0n && commit.signatures.length === 0) return `${field}.signatures must not be empty`;
  for (let i = 0; i < commit.signatures.length; i++) {
    const fault = sigFault(`${field}.signatures[${i}]`, commit.signatures[i]!);
    if (fault !== null) return fault;
  }
  return null;
}

const commitFault = (field: string, commit: Commit): Fault => anyCommitFault(field, commit, commitSigFault);

export const validateCommit = (commit: Commit): Refusal<'malformed-commit'> | null =>
  refusal('malformed-commit', commitFault('commit', commit));

export const validateExtendedCommit = (commit: ExtendedCommit): Refusal<'malformed-commit'> | null =>
  refusal('malformed-commit', anyCommitFault('extended_commit', commit, extendedSigFault));

function validatorFault(field: string, validator: Validator): Fault {
  if (validator.power < 0n) return `${field}.voting_power must not be negative: ${validator.power}`;
  return equalBytes(validator.address, addressOf(validator.publicKey))
    ? null
    : `${field}.address does not follow from its public key`;
}

function validatorSetFault(field: string, set: ValidatorSet): Fault {
  if (set.validators.length === 0) return `${field} must not be empty`;
  let powerTotal = 0n;
  for (let i = 0; i < set.validators.length; i++) {
    const fault = validatorFault(`${field}.validators[${i}]`, set.validators[i]!);
    if (fault !== null) return fault;
    powerTotal += set.validators[i]!.power;
  }
  if (powerTotal > VOTING_POWER_TOTAL_MAX) return `${field} has more power than ${VOTING_POWER_TOTAL_MAX}`;
  const { proposer } = set;
  if (!proposer) return `${field}.proposer is missing`;
  return (
    validatorFault(`${field}.proposer`, proposer) ??
    (set.validators.some((validator) => equalBytes(validator.address, proposer.address))
      ? null
      : `${field}.proposer is not one of its validators`)
  );
}

export const validateValidatorSet = (set: ValidatorSet): Refusal<'malformed-validator-set'> | null =>
  refusal('malformed-validator-set', validatorSetFault('validator_set', set));

function signedHeaderFault(signed: SignedHeader, chainId: string): Fault {
  const { header, commit } = signed;
  return firstFault(
    () => headerFault(header),
    () => commitFault('commit', commit),
    () => (header.chainId === chainId ? null : `header.chain_id must be ${chainId}, not ${header.chainId}`),
    () =>
      commit.height === header.height
        ? null
        : `commit.height ${commit.height} and header.height ${header.height} must agree`,
    () =>
      equalBytes(commit.blockId.hash, headerHash(header)) ? null : 'commit.block_id must be of the header',
  );
}

export const validateSignedHeader = (
  signed: SignedHeader,
  chainId: string,
): Refusal<'malformed-signed-header'> | null =>
  refusal('malformed-signed-header', signedHeaderFault(signed, chainId));

function lightBlockFault(block: LightBlock, chainId: string): Fault {
  return firstFault(
    () => signedHeaderFault(block.signedHeader, chainId),
    () => validatorSetFault('validator_set', block.validatorSet),
    () =>
      equalBytes(block.signedHeader.header.validatorsHash, validatorsHash(block.validatorSet))
        ? null
        : 'header.validators_hash is not of the validator set',
  );
}

export const validateLightBlock = (
  block: LightBlock,
  chainId: string,
): Refusal<'malformed-light-block'> | null =>
  refusal('malformed-light-block', lightBlockFault(block, chainId));

function evidenceFault(evidence: Evidence): Fault {
  if (evidence.kind === 'duplicate-vote') {
    const { voteA, voteB } = evidence;
    const fault = voteFault(voteA) ?? voteFault(voteB);
    if (fault !== null) return fault;
    return compareBlockIdKeys(voteA.blockId, voteB.blockId) < 0
      ? null
      : 'vote_a and vote_b must differ and stand in the order of their block ids';
  }
  const { conflictingBlock, commonHeight, powerTotal } = evidence;
  const { header } = conflictingBlock.signedHeader;
  if (powerTotal <= 0n) return `total_voting_power must be above 0, not ${powerTotal}`;
  if (commonHeight <= 0n) return `common_height must be above 0, not ${commonHeight}`;
  if (commonHeight > header.height) return 'common_height must not be above the conflicting height';
  return lightBlockFault(conflictingBlock, header.chainId);
}

export const validateEvidence = (evidence: Evidence): Refusal<'malformed-evidence'> | null =>
  refusal('malformed-evidence', evidenceFault(evidence));

function blockFault(block: Block): Fault {
  const { header, lastCommit } = block;
  const fault = headerFault(header);
  if (fault !== null) return fault;
  if (!lastCommit) return 'block.last_commit is missing';
  return firstFault(
    () => commitFault('block.last_commit', lastCommit),
    () =>
      equalBytes(header.lastCommitHash, commitHash(lastCommit))
        ? null
        : 'header.last_commit_hash is not of block.last_commit',
    () => (equalBytes(header.dataHash, dataHash(block.txs)) ? null : 'header.data_hash is not of block.data'),
    () => {
      for (let i = 0; i < block.evidence.length; i++) {
        const wrong = evidenceFault(block.evidence[i]!);
        if (wrong !== null) return `block.evidence[${i}]: ${wrong}`;
      }
      return null;
    },
    () =>
      equalBytes(header.evidenceHash, evidenceListHash(block.evidence))
        ? null
        : 'header.evidence_hash is not of block.evidence',
  );
}

/** Everything that a block says about itself, hashes recomputed. */
export const validateBlock = (block: Block): Refusal<'malformed-block'> | null =>
  refusal('malformed-block', blockFault(block));
