// The domain values as generated messages: the oracle that the codecs written by hand are compared with.

import type * as s from '../../protocol/gen/state.ts';
import type * as p from '../../protocol/gen/types.ts';
import type {
  Block,
  BlockId,
  ChainState,
  Commit,
  CommitSig,
  Evidence,
  ExtendedCommit,
  Header,
  Part,
  Proposal,
  Validator,
  ValidatorSet,
  Vote,
} from '../../protocol/types.ts';
import { SOFTWARE_VERSION } from '../../protocol/types.ts';
import { list, toParams, toPublicKey, toTimestamp } from '../../protocol/wire/generated.ts';

export const blockIdOf = (id: BlockId): p.BlockID => ({ hash: id.hash, partSetHeader: id.parts });

export const voteOf = (vote: Vote): p.Vote => ({
  type: vote.type as p.SignedMsgType,
  height: vote.height,
  round: vote.round,
  blockId: blockIdOf(vote.blockId),
  timestamp: toTimestamp(vote.timeNs),
  validatorAddress: vote.validatorAddress,
  validatorIndex: vote.validatorIndex,
  signature: vote.signature,
  extension: vote.extension,
  extensionSignature: vote.extensionSignature,
});

export const proposalOf = (proposal: Proposal): p.Proposal => ({
  type: proposal.type as p.SignedMsgType,
  height: proposal.height,
  round: proposal.round,
  polRound: proposal.polRound,
  blockId: blockIdOf(proposal.blockId),
  timestamp: toTimestamp(proposal.timeNs),
  signature: proposal.signature,
});

export const commitSigOf = (sig: CommitSig): p.CommitSig => ({
  blockIdFlag: sig.flag as p.BlockIDFlag,
  validatorAddress: sig.validatorAddress,
  timestamp: toTimestamp(sig.timeNs),
  signature: sig.signature,
});

export const commitOf = (commit: Commit): p.Commit => ({
  height: commit.height,
  round: commit.round,
  blockId: blockIdOf(commit.blockId),
  signatures: commit.signatures.map(commitSigOf),
});

export const extendedCommitOf = (commit: ExtendedCommit): p.ExtendedCommit => ({
  height: commit.height,
  round: commit.round,
  blockId: blockIdOf(commit.blockId),
  extendedSignatures: commit.signatures.map((sig) => ({
    ...commitSigOf(sig),
    extension: sig.extension,
    extensionSignature: sig.extensionSignature,
  })),
});

export const partOf = (part: Part): p.Part => ({
  index: part.index,
  bytes: part.bytes,
  proof: { ...part.proof, aunts: list(part.proof.aunts) },
});

export const headerOf = (header: Header): p.Header => ({
  ...header,
  time: toTimestamp(header.timeNs),
  lastBlockId: blockIdOf(header.lastBlockId),
});

export const validatorOf = (validator: Validator): p.Validator => ({
  address: validator.address,
  pubKey: toPublicKey(validator.publicKey),
  votingPower: validator.power,
  proposerPriority: validator.priority,
});

export const validatorSetOf = (set: ValidatorSet): p.ValidatorSet => ({
  validators: set.validators.map(validatorOf),
  proposer: set.proposer ? validatorOf(set.proposer) : undefined,
  totalVotingPower: 0n,
});

export function evidenceOf(evidence: Evidence): p.Evidence {
  const timestamp = toTimestamp(evidence.timeNs);
  const totalVotingPower = evidence.powerTotal;
  if (evidence.kind === 'duplicate-vote') {
    const duplicateVoteEvidence = {
      voteA: voteOf(evidence.voteA),
      voteB: voteOf(evidence.voteB),
      totalVotingPower,
      validatorPower: evidence.validatorPower,
      timestamp,
    };
    return { sum: { $case: 'duplicateVoteEvidence', duplicateVoteEvidence } };
  }
  const { signedHeader, validatorSet } = evidence.conflictingBlock;
  const lightClientAttackEvidence = {
    conflictingBlock: {
      signedHeader: { header: headerOf(signedHeader.header), commit: commitOf(signedHeader.commit) },
      validatorSet: validatorSetOf(validatorSet),
    },
    commonHeight: evidence.commonHeight,
    byzantineValidators: evidence.byzantineValidators.map(validatorOf),
    totalVotingPower,
    timestamp,
  };
  return { sum: { $case: 'lightClientAttackEvidence', lightClientAttackEvidence } };
}

export const blockOf = (block: Block): p.Block => ({
  header: headerOf(block.header),
  data: { txs: list(block.txs) },
  evidence: { evidence: block.evidence.map(evidenceOf) },
  lastCommit: block.lastCommit ? commitOf(block.lastCommit) : undefined,
});

export const stateOf = (state: ChainState): s.State => ({
  ...state,
  version: { consensus: state.version, software: SOFTWARE_VERSION },
  lastBlockId: blockIdOf(state.lastBlockId),
  lastBlockTime: toTimestamp(state.lastBlockTimeNs),
  nextValidators: validatorSetOf(state.nextValidators),
  validators: validatorSetOf(state.validators),
  lastValidators: validatorSetOf(state.lastValidators),
  consensusParams: toParams(state.consensusParams),
});
