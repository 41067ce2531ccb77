// Owns what the application is told about votes and misbehaviour, apart from the block itself (spec 5.5, 5.6;
// CometBFT `BuildLastCommitInfo`, `BuildExtendedCommitInfo`, `EvidenceList.ToABCI`).

import {
  type AbciValidator,
  type CommitInfo,
  type ExtendedCommitInfo,
  MISBEHAVIOR_DUPLICATE_VOTE,
  MISBEHAVIOR_LIGHT_CLIENT_ATTACK,
  type Misbehavior,
} from '../abci.ts';
import { equalBytes } from '../bytes.ts';
import { addressOf } from '../keys.ts';
import { must } from '../refusal.ts';
import {
  type Commit,
  EMPTY_BYTES,
  type Evidence,
  type ExtendedCommit,
  FLAG_ABSENT,
  type Validator,
  type ValidatorSet,
} from '../types.ts';

const abciValidator = ({ address, power }: Validator): AbciValidator => ({ address, power });

/**
 * Who voted in a block's last commit, by the set of that height; nobody for the initial block's empty commit.
 */
export function commitInfo(lastCommit: Commit, lastValidators: ValidatorSet): CommitInfo {
  const { validators } = lastValidators;
  must(
    lastCommit.signatures.length === validators.length,
    'a last commit and its validator set differ in size',
  );
  const votes = validators.map((validator, i) => ({
    validator: abciValidator(validator),
    flag: lastCommit.signatures[i]!.flag,
  }));
  return { round: lastCommit.round, votes };
}

/**
 * The same with vote extensions, where the commit has them. Unlike the commit of a block it is the proposer's
 * own view.
 */
export function extendedCommitInfo(
  commit: Commit | ExtendedCommit,
  validators: ValidatorSet,
): ExtendedCommitInfo {
  const members = validators.validators;
  must(
    commit.signatures.length === members.length,
    'an extended commit and its validator set differ in size',
  );
  const votes = members.map((validator, i) => {
    const signature = commit.signatures[i]!;
    const isMember = equalBytes(signature.validatorAddress, validator.address);
    must(signature.flag === FLAG_ABSENT || isMember, 'an extended commit has a vote out of place');
    const extended = 'extension' in signature;
    return {
      validator: abciValidator(validator),
      flag: signature.flag,
      voteExtension: extended ? signature.extension : EMPTY_BYTES,
      extensionSignature: extended ? signature.extensionSignature : EMPTY_BYTES,
    };
  });
  return { round: commit.round, votes };
}

/** One entry for a double vote, one per attacker for an attack on light clients. */
export function misbehaviorOf(evidence: readonly Evidence[]): Misbehavior[] {
  const entries: Misbehavior[] = [];
  for (const proof of evidence) {
    const { powerTotal, timeNs } = proof;
    if (proof.kind === 'duplicate-vote') {
      entries.push({
        type: MISBEHAVIOR_DUPLICATE_VOTE,
        validator: { address: proof.voteA.validatorAddress, power: proof.validatorPower },
        height: proof.voteA.height,
        timeNs,
        powerTotal,
      });
      continue;
    }
    for (const { publicKey, power } of proof.byzantineValidators) {
      entries.push({
        type: MISBEHAVIOR_LIGHT_CLIENT_ATTACK,
        validator: { address: addressOf(publicKey), power },
        height: proof.commonHeight,
        timeNs,
        powerTotal,
      });
    }
  }
  return entries;
}
