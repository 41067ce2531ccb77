// All that turns domain values into bytes and bytes into domain values.

export * from './abci.ts';
export { decodeBlock, decodeBlockMeta, encodeBlock, encodeBlockMeta } from './block.ts';
export {
  decodeBlockId,
  decodePartSetHeader,
  encodeBlockId,
  encodePartSetHeader,
} from './block-id.ts';
export {
  decodeCommit,
  decodeCommitSig,
  decodeExtendedCommit,
  encodeCommit,
  encodeCommitSig,
  encodeExtendedCommit,
} from './commit.ts';
export type { MalformedMessage } from './consensus.ts';
export {
  decodeConsensusMessage,
  decodeOwnConsensusMessage,
  encodeConsensusMessage,
  validateConsensusMessage,
} from './consensus.ts';
export {
  decodeBareEvidence,
  decodeEvidence,
  decodeEvidenceList,
  decodeLightBlock,
  decodeSignedHeader,
  encodeBareEvidence,
  encodeEvidence,
  encodeEvidenceList,
  encodeLightBlock,
  encodeSignedHeader,
} from './evidence.ts';
export {
  decodeBlocksyncMessage,
  decodeEvidenceMessage,
  decodeMempoolMessage,
  encodeBlocksyncMessage,
  encodeEvidenceMessage,
  encodeMempoolMessage,
} from './gossip.ts';
export { decodeHeader, encodeHeader } from './header.ts';
export {
  decodeBitArray,
  decodeMerkleProof,
  decodePart,
  encodeBitArray,
  encodeMerkleProof,
  encodePart,
} from './part.ts';
export type { MalformedBytes } from './reader.ts';
export {
  decodeChainState,
  decodeConsensusParams,
  decodeConsensusParamsUpdate,
  encodeChainState,
  encodeConsensusParams,
} from './state.ts';
export {
  decodePublicKey,
  decodeValidator,
  decodeValidatorSet,
  encodePublicKey,
  encodeSimpleValidator,
  encodeValidator,
  encodeValidatorSet,
} from './validator.ts';
export { decodeProposal, decodeVote, encodeProposal, encodeVote } from './vote.ts';
