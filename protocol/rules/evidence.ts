// Owns the rules of evidence: how a double vote is written down, and when a proof of misbehaviour holds (spec
// 5.10; CometBFT `evidence/verify.go`, `types/evidence.go`). What was already committed is known to the pool,
// not here.

import { equalBytes, hexUpperOf } from '../bytes.ts';
import { headerHash } from '../hashes.ts';
import { addressOf } from '../keys.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { voteSignBytes } from '../sign-bytes.ts';
import type { Verify } from '../signatures.ts';
import {
  type ChainState,
  type Commit,
  type ConsensusParams,
  type DuplicateVoteEvidence,
  type Evidence,
  FLAG_COMMIT,
  type Header,
  type LightBlock,
  type LightClientAttackEvidence,
  type SignedHeader,
  type TimeNs,
  type Validator,
  type ValidatorSet,
  type Vote,
} from '../types.ts';
import { compareBlockIdKeys, equalBlockId } from '../validate.ts';
import {
  TRUST_LEVEL_DEFAULT,
  verifyCommitLightAllSignatures,
  verifyCommitLightTrustingAllSignatures,
} from './commit.ts';
import { byPowerThenAddress, validatorByAddress } from './validator-set.ts';

export type EvidenceRefusal = Refusal<
  | 'evidence-unknown-height'
  | 'evidence-time'
  | 'evidence-expired'
  | 'evidence-stranger'
  | 'evidence-not-conflicting'
  | 'evidence-power'
  | 'evidence-signature'
  | 'evidence-extension'
  | 'evidence-commit'
  | 'evidence-header'
  | 'evidence-byzantine-validators'
>;

/** Height of the misbehaviour: the votes' height, or the last height that attacker and victim agreed on. */
export const evidenceHeight = (evidence: Evidence): bigint =>
  evidence.kind === 'duplicate-vote' ? evidence.voteA.height : evidence.commonHeight;

/** Too old only when both ages exceed their limits, measured from the last committed block. */
export const isExpired = (params: ConsensusParams, ageBlocks: bigint, ageNs: bigint): boolean =>
  ageBlocks > params.evidence.maxAgeBlocks && ageNs > params.evidence.maxAgeNs;

/**
 * Two votes of one validator, in the order of their block ids' keys (`NewDuplicateVoteEvidence`). `set`,
 * `blockTimeNs`: of their height.
 */
export function makeDuplicateVote(
  vote1: Vote,
  vote2: Vote,
  blockTimeNs: TimeNs,
  set: ValidatorSet,
): DuplicateVoteEvidence | EvidenceRefusal {
  const validator = validatorByAddress(set, vote1.validatorAddress);
  if (validator === null) {
    const who = hexUpperOf(vote1.validatorAddress);
    return refuse('evidence-stranger', `validator ${who} not in validator set`);
  }
  const inOrder = compareBlockIdKeys(vote1.blockId, vote2.blockId) < 0;
  return {
    kind: 'duplicate-vote',
    voteA: inOrder ? vote1 : vote2,
    voteB: inOrder ? vote2 : vote1,
    powerTotal: set.powerTotal,
    validatorPower: validator.power,
    timeNs: blockTimeNs,
  };
}

/**
 * `VerifyDuplicateVote`: `set` is that of the votes' height. The form (order of the votes included) was
 * checked before.
 */
export function verifyDuplicateVote(
  evidence: DuplicateVoteEvidence,
  chainId: string,
  set: ValidatorSet,
  verify: Verify,
): EvidenceRefusal | null {
  const { voteA, voteB } = evidence;
  const validator = validatorByAddress(set, voteA.validatorAddress);
  if (validator === null) {
    const who = hexUpperOf(voteA.validatorAddress);
    return refuse('evidence-stranger', `address ${who} was not a validator at height ${voteA.height}`);
  }
  if (voteA.height !== voteB.height || voteA.round !== voteB.round || voteA.type !== voteB.type) {
    return refuse('evidence-not-conflicting', 'height, round or type of the two votes differ');
  }
  if (!equalBytes(voteA.validatorAddress, voteB.validatorAddress)) {
    return refuse('evidence-not-conflicting', 'validator addresses of the two votes differ');
  }
  if (equalBlockId(voteA.blockId, voteB.blockId)) {
    return refuse('evidence-not-conflicting', 'both votes are for the same block id');
  }
  if (!equalBytes(addressOf(validator.publicKey), voteA.validatorAddress)) {
    return refuse('evidence-stranger', "the voter's address is not that of its public key");
  }
  if (validator.power !== evidence.validatorPower) {
    const powers = `${evidence.validatorPower} != ${validator.power}`;
    return refuse(
      'evidence-power',
      `validator power of the evidence and of our set do not match (${powers})`,
    );
  }
  const power = verifyPowerTotal(evidence, set);
  if (power !== null) return power;
  for (const vote of [voteA, voteB]) {
    if (!verify(validator.publicKey, voteSignBytes(chainId, vote), vote.signature)) {
      return refuse('evidence-signature', 'a vote of the evidence is not signed by the validator');
    }
  }
  return null;
}

/**
 * Whether both votes are as their signer made them, and as nodes take votes. The index of the voter and the extension are not under the
 * signature of the vote, and `VerifyDuplicateVote` looks at neither: whoever passes evidence on could make a new one of it, and have a double
 * vote punished twice. Votes have no extensions yet: a double voter could sign one of any size, and hang it on each proof against itself. A block
 * with such evidence is valid, as for CometBFT; this is for what peers offer.
 */
export function verifyAsMade(
  { voteA, voteB }: DuplicateVoteEvidence,
  set: ValidatorSet,
): EvidenceRefusal | null {
  for (const vote of [voteA, voteB]) {
    const voter = set.validators[vote.validatorIndex];
    if (!voter || !equalBytes(voter.address, vote.validatorAddress))
      return refuse(
        'evidence-stranger',
        `the voter does not stand at index ${vote.validatorIndex} of its set`,
      );
    if (vote.extension.length + vote.extensionSignature.length > 0)
      return refuse(
        'evidence-extension',
        'a vote of the evidence carries an extension, and extensions are not enabled',
      );
  }
  return null;
}

/**
 * `VerifyLightClientAttack`. `common`, `commonSet`: ours at `commonHeight`; `trusted`: ours at the
 * conflicting block's height, or our latest if we are not there yet. Evidence of amnesia is always refused:
 * once it has been through protobuf, upstream refuses it.
 */
export function verifyLightClientAttack(
  evidence: LightClientAttackEvidence,
  common: SignedHeader,
  trusted: SignedHeader,
  commonSet: ValidatorSet,
  verify: Verify,
): EvidenceRefusal | null {
  const { header, commit } = evidence.conflictingBlock.signedHeader;
  const { chainId } = trusted.header;
  if (common.header.height !== header.height) {
    const jump = verifyCommitLightTrustingAllSignatures(
      chainId,
      commonSet,
      commit,
      TRUST_LEVEL_DEFAULT,
      verify,
    );
    if (jump !== null) {
      return refuse('evidence-commit', `skipping verification of conflicting block failed: ${jump.because}`);
    }
  } else if (isLunatic(evidence.conflictingBlock, trusted.header)) {
    const because =
      'the conflicting block of the common height should be, but is not, derived from the chain';
    return refuse('evidence-header', because);
  }
  const set = evidence.conflictingBlock.validatorSet;
  const own = verifyCommitLightAllSignatures(chainId, set, commit.blockId, header.height, commit, verify);
  if (own !== null) {
    return refuse('evidence-commit', `invalid commit from conflicting block: ${own.because}`);
  }
  const power = verifyPowerTotal(evidence, commonSet);
  if (power !== null) return power;
  if (header.height > trusted.header.height && header.timeNs > trusted.header.timeNs) {
    return refuse(
      'evidence-time',
      "the conflicting block is ahead of us, and so is its time: that's no attack",
    );
  }
  if (equalBytes(headerHash(trusted.header), headerHash(header))) {
    return refuse('evidence-header', 'our header has the hash of the conflicting one');
  }
  return verifyByzantineValidators(evidence, byzantineValidators(evidence, commonSet, trusted));
}

/**
 * Who attacked, by power then address (`GetByzantineValidators`). A lunatic header: those of the common set
 * that signed it. Another header of the same round: those that signed both. Otherwise, amnesia: nobody can be
 * told.
 */
export function byzantineValidators(
  evidence: LightClientAttackEvidence,
  commonSet: ValidatorSet,
  trusted: SignedHeader,
): readonly Validator[] {
  const { signedHeader, validatorSet } = evidence.conflictingBlock;
  const attackers: Validator[] = [];
  const lunatic = isLunatic(evidence.conflictingBlock, trusted.header);
  if (!lunatic && trusted.commit.round !== signedHeader.commit.round) return attackers;
  for (let i = 0; i < signedHeader.commit.signatures.length; i++) {
    const signature = signedHeader.commit.signatures[i]!;
    if (signature.flag !== FLAG_COMMIT) continue;
    if (!lunatic && trusted.commit.signatures[i]?.flag !== FLAG_COMMIT) continue;
    const attacker = validatorByAddress(lunatic ? commonSet : validatorSet, signature.validatorAddress);
    if (attacker !== null) attackers.push(attacker);
  }
  return attackers.sort(byPowerThenAddress);
}

/** A header that no honest node could derive from the chain (`ConflictingHeaderIsInvalid`). */
export function isLunatic(conflicting: LightBlock, trusted: Header): boolean {
  const { header } = conflicting.signedHeader;
  return (
    !equalBytes(trusted.validatorsHash, header.validatorsHash) ||
    !equalBytes(trusted.nextValidatorsHash, header.nextValidatorsHash) ||
    !equalBytes(trusted.consensusHash, header.consensusHash) ||
    !equalBytes(trusted.appHash, header.appHash) ||
    !equalBytes(trusted.lastResultsHash, header.lastResultsHash)
  );
}

/** What a node knows of its own past; null where it has nothing. */
export interface EvidenceFacts {
  readonly state: ChainState;
  readonly heightLatest: bigint;
  header(height: bigint): Header | null;
  /**
   * The commit that block `height` + 1 carried: none yet for the latest height, even if its votes were seen.
   */
  commit(height: bigint): Commit | null;
  validators(height: bigint): ValidatorSet | null;
}

/** All that a pool must check of evidence that is not committed yet (`Pool.verify`). */
export function verifyEvidence(
  evidence: Evidence,
  facts: EvidenceFacts,
  verify: Verify,
): EvidenceRefusal | null {
  const { state } = facts;
  const height = evidenceHeight(evidence);
  const header = facts.header(height);
  const set = facts.validators(height);
  if (header === null) return refuse('evidence-unknown-height', `don't have header #${height}`);
  if (evidence.timeNs !== header.timeNs) {
    return refuse('evidence-time', "the evidence's time is not that of the block it is associated with");
  }
  const ageBlocks = state.lastBlockHeight - height;
  if (isExpired(state.consensusParams, ageBlocks, state.lastBlockTimeNs - header.timeNs)) {
    return refuse('evidence-expired', `evidence from height ${height} is too old`);
  }
  if (set === null) return refuse('evidence-unknown-height', `don't have validators of height ${height}`);
  if (evidence.kind === 'duplicate-vote') return verifyDuplicateVote(evidence, state.chainId, set, verify);

  const common = signedHeaderAt(facts, height);
  if ('refused' in common) return common;
  const conflicting = evidence.conflictingBlock.signedHeader.header;
  let trusted: SignedHeader | EvidenceRefusal = common;
  if (height !== conflicting.height) {
    trusted = signedHeaderAt(facts, conflicting.height);
    if ('refused' in trusted) {
      // We may not be there yet: then a header ahead of us must at least violate the order of time.
      trusted = signedHeaderAt(facts, facts.heightLatest);
      if ('refused' in trusted) return trusted;
      if (trusted.header.timeNs < conflicting.timeNs) {
        return refuse('evidence-time', 'our latest block is older than the conflicting block');
      }
    }
  }
  return verifyLightClientAttack(evidence, common, trusted, set, verify);
}

function signedHeaderAt(facts: EvidenceFacts, height: bigint): SignedHeader | EvidenceRefusal {
  const header = facts.header(height);
  if (header === null) return refuse('evidence-unknown-height', `don't have header at height #${height}`);
  const commit = facts.commit(height);
  if (commit === null) return refuse('evidence-unknown-height', `don't have commit at height #${height}`);
  return { header, commit };
}

function verifyPowerTotal(evidence: Evidence, set: ValidatorSet): EvidenceRefusal | null {
  if (evidence.powerTotal === set.powerTotal) return null;
  const powers = `${evidence.powerTotal} != ${set.powerTotal}`;
  return refuse('evidence-power', `total power of the evidence and of our set do not match (${powers})`);
}

/**
 * `validateABCIEvidence`. The application punishes the address of the listed key: a key that is not the
 * attacker's would punish an innocent validator.
 */
function verifyByzantineValidators(
  { byzantineValidators: listed }: LightClientAttackEvidence,
  attackers: readonly Validator[],
): EvidenceRefusal | null {
  const wrong = (because: string): EvidenceRefusal => refuse('evidence-byzantine-validators', because);
  if (attackers.length === 0) {
    return wrong(`expected nil validators from an amnesia light client attack but got ${listed.length}`);
  }
  if (attackers.length !== listed.length) {
    return wrong(`expected ${attackers.length} byzantine validators from evidence but got ${listed.length}`);
  }
  for (let i = 0; i < attackers.length; i++) {
    const attacker = attackers[i]!;
    const accused = listed[i]!;
    if (!equalBytes(accused.address, attacker.address)) {
      return wrong(`unexpected byzantine validator address ${hexUpperOf(accused.address)} at index ${i}`);
    }
    if (accused.power !== attacker.power) {
      return wrong(`unexpected byzantine validator power; expected ${attacker.power}, got ${accused.power}`);
    }
    if (!equalBytes(accused.address, addressOf(accused.publicKey))) {
      return wrong(`byzantine validator at index ${i} has an address that is not its public key's`);
    }
  }
  return null;
}
