// Random domain values: well shaped, not necessarily well formed.

import fc from 'fast-check';
import type { ExecTxResult, ResponseFinalizeBlock } from '../../protocol/abci.ts';
import { addressOf } from '../../protocol/keys.ts';
import type {
  Block,
  BlockId,
  ChainState,
  Commit,
  CommitSig,
  ConsensusParams,
  DuplicateVoteEvidence,
  Evidence,
  ExtendedCommit,
  Header,
  LightClientAttackEvidence,
  MerkleProof,
  Part,
  Proposal,
  PublicKey,
  SignedHeader,
  Validator,
  ValidatorSet,
  Vote,
} from '../../protocol/types.ts';
import { ZERO_TIME_NS } from '../../protocol/types.ts';

export const bytes = (most: number, least = 0): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: least, maxLength: most });
export const int64 = fc.oneof(fc.bigInt(0n, 200n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n));
const uint64 = fc.oneof(fc.bigInt(0n, 200n), fc.bigInt(0n, 2n ** 64n - 1n));
export const int32 = fc.oneof(fc.nat(200), fc.integer());
const uint32 = fc.oneof(fc.nat(200), fc.integer({ min: 0, max: 4_294_967_295 }));
const hash = fc.oneof(bytes(32, 32), fc.constant(new Uint8Array(0)));
/** Any time of the years 1 to 9999; Go's zero time and 1970 among them. */
export const timeNs = fc.oneof(
  fc.bigInt(ZERO_TIME_NS, 253_402_300_799_999_999_999n),
  fc.bigInt(0n, 2n ** 61n),
  fc.constantFrom(ZERO_TIME_NS, 0n, -1n, 1n),
);

export const blockId: fc.Arbitrary<BlockId> = fc.record({
  hash,
  parts: fc.record({ total: uint32, hash }),
});

export const vote: fc.Arbitrary<Vote> = fc.record({
  type: fc.constantFrom(0, 1, 2, 32),
  height: int64,
  round: int32,
  blockId,
  timeNs,
  validatorAddress: bytes(20),
  validatorIndex: int32,
  signature: bytes(64),
  extension: bytes(300),
  extensionSignature: bytes(64),
});

export const proposal: fc.Arbitrary<Proposal> = fc.record({
  type: fc.constantFrom(0, 32),
  height: int64,
  round: int32,
  polRound: fc.integer({ min: -1, max: 5 }),
  blockId,
  timeNs,
  signature: bytes(64),
});

const sigFields = {
  flag: fc.constantFrom(0, 1, 2, 3),
  validatorAddress: bytes(20),
  timeNs,
  signature: bytes(64),
};
export const commitSig: fc.Arbitrary<CommitSig> = fc.record(sigFields);
const commitFields = { height: int64, round: int32, blockId };
export const commit: fc.Arbitrary<Commit> = fc.record({
  ...commitFields,
  signatures: fc.array(commitSig, { maxLength: 4 }),
});
export const extendedCommit: fc.Arbitrary<ExtendedCommit> = fc.record({
  ...commitFields,
  signatures: fc.array(fc.record({ ...sigFields, extension: bytes(20), extensionSignature: bytes(64) }), {
    maxLength: 3,
  }),
});

const proof: fc.Arbitrary<MerkleProof> = fc.record({
  total: int64,
  index: int64,
  leafHash: hash,
  aunts: fc.array(bytes(32), { maxLength: 4 }),
});
export const part: fc.Arbitrary<Part> = fc.record({ index: uint32, bytes: bytes(400), proof });

export const header: fc.Arbitrary<Header> = fc.record({
  version: fc.record({ block: uint64, app: uint64 }),
  chainId: fc.string({ unit: 'grapheme', maxLength: 20 }),
  height: int64,
  timeNs,
  lastBlockId: blockId,
  lastCommitHash: hash,
  dataHash: hash,
  validatorsHash: hash,
  nextValidatorsHash: hash,
  consensusHash: hash,
  appHash: bytes(40),
  lastResultsHash: hash,
  evidenceHash: hash,
  proposerAddress: bytes(20),
});

const publicKey: fc.Arbitrary<PublicKey> = fc.oneof(
  fc.record({ type: fc.constant('ed25519' as const), bytes: bytes(32, 32) }),
  fc.record({ type: fc.constant('secp256k1' as const), bytes: bytes(33, 33) }),
);
export const validator: fc.Arbitrary<Validator> = fc
  .record({ publicKey, power: int64, priority: int64 })
  .map((fields) => ({ address: addressOf(fields.publicKey), ...fields }));
export const validatorSet: fc.Arbitrary<ValidatorSet> = fc
  .record({
    validators: fc.array(validator, { maxLength: 4 }),
    proposer: fc.option(validator),
  })
  .map((set) => ({ ...set, powerTotal: set.validators.reduce((sum, { power }) => sum + power, 0n) }));

const signedHeader: fc.Arbitrary<SignedHeader> = fc.record({ header, commit });
const duplicateVote: fc.Arbitrary<DuplicateVoteEvidence> = fc.record({
  kind: fc.constant('duplicate-vote' as const),
  voteA: vote,
  voteB: vote,
  powerTotal: int64,
  validatorPower: int64,
  timeNs,
});
export const lightClientAttack: fc.Arbitrary<LightClientAttackEvidence> = fc.record({
  kind: fc.constant('light-client-attack' as const),
  conflictingBlock: fc.record({ signedHeader, validatorSet }),
  commonHeight: int64,
  byzantineValidators: fc.array(validator, { maxLength: 2 }),
  powerTotal: int64,
  timeNs,
});
export const evidence: fc.Arbitrary<Evidence> = fc.oneof(duplicateVote, lightClientAttack);

export const block: fc.Arbitrary<Block> = fc.record({
  header,
  txs: fc.array(bytes(300), { maxLength: 4 }),
  evidence: fc.array(evidence, { maxLength: 2 }),
  lastCommit: fc.option(commit),
});

export const params: fc.Arbitrary<ConsensusParams> = fc.record({
  block: fc.record({ maxBytes: int64, maxGas: int64 }),
  evidence: fc.record({ maxAgeBlocks: int64, maxAgeNs: int64, maxBytes: int64 }),
  validator: fc.record({ publicKeyTypes: fc.array(fc.string({ maxLength: 10 }), { maxLength: 3 }) }),
  version: fc.record({ app: uint64 }),
  abci: fc.record({ voteExtensionsEnableHeight: int64 }),
});

export const chainState: fc.Arbitrary<ChainState> = fc.record({
  version: fc.record({ block: uint64, app: uint64 }),
  chainId: fc.string({ maxLength: 20 }),
  initialHeight: int64,
  lastBlockHeight: int64,
  lastBlockId: blockId,
  lastBlockTimeNs: timeNs,
  nextValidators: validatorSet,
  validators: validatorSet,
  lastValidators: validatorSet,
  lastHeightValidatorsChanged: int64,
  consensusParams: params,
  lastHeightConsensusParamsChanged: int64,
  lastResultsHash: hash,
  appHash: bytes(40),
});

const event = fc.record({
  type: fc.string({ maxLength: 10 }),
  attributes: fc.array(
    fc.record({ key: fc.string({ maxLength: 5 }), value: fc.string({ maxLength: 5 }), index: fc.boolean() }),
    { maxLength: 3 },
  ),
});
export const execTxResult: fc.Arbitrary<ExecTxResult> = fc.record({
  code: uint32,
  data: bytes(20),
  log: fc.string({ maxLength: 10 }),
  info: fc.string({ maxLength: 10 }),
  gasWanted: int64,
  gasUsed: int64,
  events: fc.array(event, { maxLength: 2 }),
  codespace: fc.string({ maxLength: 5 }),
});
export const finalized: fc.Arbitrary<ResponseFinalizeBlock> = fc
  .record({
    events: fc.array(event, { maxLength: 2 }),
    txResults: fc.array(execTxResult, { maxLength: 2 }),
    validatorUpdates: fc.array(fc.record({ publicKey, power: int64 }), { maxLength: 2 }),
    consensusParamUpdates: fc.option(params),
    appHash: bytes(32),
  })
  .map(({ consensusParamUpdates, ...rest }) => ({
    ...rest,
    ...(consensusParamUpdates && { consensusParamUpdates }),
  }));
