// Owns the chain's state between blocks: how it starts, which block may follow, and what it is after that
// block (spec 5.4, 5.5, 5.8; CometBFT `state/state.go`, `state/validation.go`, `state/execution.go`).

import type { ResponseFinalizeBlock, ResponseInitChain } from '../abci.ts';
import { equalBytes, hexUpperOf } from '../bytes.ts';
import { commitHash, dataHash, evidenceListHash, paramsHash, resultsHash } from '../hashes.ts';
import { ED25519_KEY_BYTES, SECP256K1_KEY_BYTES } from '../keys.ts';
import { Lately } from '../lately.ts';
import { merkleRoot } from '../merkle.ts';
import { isRefusal, must, type Refusal, refuse } from '../refusal.ts';
import type { Verify } from '../signatures.ts';
import {
  type Address,
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  type ChainState,
  type Commit,
  type ConsensusParams,
  EMPTY_BYTES,
  type Evidence,
  type Genesis,
  type Header,
  NIL_BLOCK_ID,
  type TimeNs,
  type ValidatorUpdate,
} from '../types.ts';
import { equalBlockId, validateBlock } from '../validate.ts';
import { encodeEvidenceList } from '../wire/evidence.ts';
import { type CommitRefusal, verifyCommit } from './commit.ts';
import { medianTime } from './median-time.ts';
import { type ParamsRefusal, updateParams, validateParams, validateParamsUpdate } from './params.ts';
import {
  applyUpdates,
  EMPTY_VALIDATOR_SET,
  hasAddress,
  hashOfSet,
  incrementPriority,
  makeValidatorSet,
  type ValidatorSetRefusal,
} from './validator-set.ts';

export { commitInfo, extendedCommitInfo, misbehaviorOf } from './commit-info.ts';

export type UpdatesRefusal = Refusal<'update-negative-power' | 'update-key-type' | 'update-key-size'>;
export type NextStateRefusal = UpdatesRefusal | ValidatorSetRefusal | ParamsRefusal;
export type InitChainRefusal =
  | Refusal<'app-hash' | 'no-validators' | 'update-key-size'>
  | ValidatorSetRefusal;

/**
 * State before the initial block (`MakeGenesisState`). The application's version and InitChain's answer are
 * not in it yet.
 */
export function genesisState(genesis: Genesis): ChainState | ValidatorSetRefusal {
  const validators = makeValidatorSet(genesis.validators);
  if (isRefusal(validators)) return validators;
  return {
    version: { block: BLOCK_PROTOCOL, app: 0n },
    chainId: genesis.chainId,
    initialHeight: genesis.initialHeight,
    lastBlockHeight: 0n,
    lastBlockId: NIL_BLOCK_ID,
    lastBlockTimeNs: genesis.genesisTimeNs,
    nextValidators: validators.validators.length > 0 ? incrementPriority(validators, 1) : validators,
    validators,
    lastValidators: EMPTY_VALIDATOR_SET,
    lastHeightValidatorsChanged: genesis.initialHeight,
    consensusParams: genesis.consensusParams,
    lastHeightConsensusParamsChanged: genesis.initialHeight,
    lastResultsHash: EMPTY_BYTES,
    appHash: genesis.appHash,
  };
}

/**
 * The genesis state once the application has answered InitChain. Validators and parameters that it returns
 * replace ours. An app hash named by genesis must be the application's (the user's rule: upstream overwrites
 * it).
 */
export function applyInitChain(
  state: ChainState,
  genesis: Genesis,
  response: ResponseInitChain,
): ChainState | InitChainRefusal {
  if (genesis.appHash.length > 0 && !equalBytes(genesis.appHash, response.appHash)) {
    const hashes = `genesis ${hexUpperOf(genesis.appHash)}, InitChain ${hexUpperOf(response.appHash)}`;
    return refuse('app-hash', `app_hash of the genesis file is not the application's: ${hashes}`);
  }
  if (response.validators.length === 0 && genesis.validators.length === 0) {
    return refuse('no-validators', 'validator set is nil in genesis and still empty after InitChain');
  }
  let { validators, nextValidators, consensusParams, version } = state;
  if (response.validators.length > 0) {
    const replaced = oddKey(response.validators) ?? makeValidatorSet(response.validators);
    if (isRefusal(replaced)) return replaced;
    validators = replaced;
    nextValidators = incrementPriority(replaced, 1);
  }
  if (response.consensusParams !== undefined) {
    consensusParams = updateParams(consensusParams, response.consensusParams);
    version = { block: version.block, app: consensusParams.version.app };
  }
  const appHash = response.appHash.length > 0 ? response.appHash : state.appHash;
  const lastResultsHash = merkleRoot([]);
  return { ...state, version, validators, nextValidators, consensusParams, appHash, lastResultsHash };
}

export type BlockRefusal =
  | Refusal<
      | 'block-form'
      | 'block-version'
      | 'block-chain-id'
      | 'block-height'
      | 'block-last-block-id'
      | 'block-app-hash'
      | 'block-consensus-hash'
      | 'block-last-results-hash'
      | 'block-validators-hash'
      | 'block-next-validators-hash'
      | 'block-last-commit'
      | 'block-proposer'
      | 'block-time'
      | 'block-time-ahead'
      | 'block-evidence'
    >
  | CommitRefusal;

/** What a validation asks of others. */
export interface BlockChecks {
  readonly verify: Verify;
  /** All evidence of the block, by who knows the past; never called with an empty list. */
  readonly verifyEvidence: (evidence: readonly Evidence[]) => Refusal | null;
  /**
   * For prevotes only: a header time at or beyond this is refused. An application that decided is never
   * refused for its clock.
   */
  readonly timeLimitNs?: TimeNs;
  /** The last commit was verified already (`ValidateBlockSkipLastCommit`). */
  readonly lastCommitVerified?: boolean;
}

/** The height of the next block. */
export const heightAfter = ({ lastBlockHeight, initialHeight }: ChainState): bigint =>
  lastBlockHeight === 0n ? initialHeight : lastBlockHeight + 1n;

/** Whether `block` may be the next one (`BlockExecutor.ValidateBlock`). */
export function validateBlockInState(
  state: ChainState,
  block: Block,
  checks: BlockChecks,
): BlockRefusal | null {
  const known = validBlocks.get(block);
  if (known?.state !== state || known.verify !== checks.verify) {
    const refusal = validateOnce(state, block, checks);
    if (refusal !== null) return refusal;
    if (checks.lastCommitVerified !== true) validBlocks.set(block, { state, verify: checks.verify });
  }
  return validateClock(block.header, checks.timeLimitNs) ?? validateEvidence(state, block, checks);
}

/**
 * A block is validated when it is prevoted, precommitted and committed; what cannot have changed is looked at
 * once.
 */
const validBlocks = new Lately<Block, { readonly state: ChainState; readonly verify: Verify }>(32);

/** All that follows from state, block and signatures alone. */
function validateOnce(state: ChainState, block: Block, checks: BlockChecks): BlockRefusal | null {
  const form = validateBlock(block);
  if (form !== null) return refuse('block-form', form.because);
  const { header, lastCommit } = block;
  if (lastCommit === null) return refuse('block-form', 'nil LastCommit');
  const refusal =
    validatePlace(state, header) ??
    validateHashes(state, header) ??
    validateLastCommit(state, header, lastCommit, checks);
  if (refusal !== null) return refusal;
  if (header.proposerAddress.length !== 20 || !hasAddress(state.validators, header.proposerAddress)) {
    const who = hexUpperOf(header.proposerAddress);
    return refuse('block-proposer', `block.Header.ProposerAddress ${who} is not a validator`);
  }
  return validateTime(state, header, lastCommit);
}

const KEY_BYTES = { ed25519: ED25519_KEY_BYTES, secp256k1: SECP256K1_KEY_BYTES } as const;

/** `PubKeyFromProto`: what is stored with such a key nobody could read again. */
function oddKey(updates: readonly ValidatorUpdate[]): Refusal<'update-key-size'> | null {
  for (const { publicKey } of updates) {
    const expected = KEY_BYTES[publicKey.type];
    const { length } = publicKey.bytes;
    if (expected !== undefined && length !== expected)
      return refuse(
        'update-key-size',
        `invalid size for a public key of ${publicKey.type}. Got ${length}, expected ${expected}`,
      );
  }
  return null;
}

/**
 * `validateValidatorUpdates`, by the parameters in force before this block's own update. Removals may be of
 * any key.
 */
export function validateUpdates(
  updates: readonly ValidatorUpdate[],
  params: ConsensusParams,
): UpdatesRefusal | null {
  const odd = oddKey(updates);
  if (odd !== null) return odd;
  for (const { publicKey, power } of updates) {
    if (power < 0n) return refuse('update-negative-power', `voting power can't be negative: ${power}`);
    if (power === 0n || params.validator.publicKeyTypes.includes(publicKey.type)) continue;
    const key = `validator ${hexUpperOf(publicKey.bytes)} is using pubkey ${publicKey.type}`;
    return refuse('update-key-type', `${key}, which is unsupported for consensus`);
  }
  return null;
}

/**
 * State after the block with `header` (`updateState`). Updates of block H are in force at H+2, parameters at
 * H+1; the app hash is the response's. That there is a result for each transaction is checked by the caller,
 * who has the block.
 */
export function nextState(
  state: ChainState,
  blockId: BlockId,
  header: Header,
  response: ResponseFinalizeBlock,
): ChainState | NextStateRefusal {
  const form = validateUpdates(response.validatorUpdates, state.consensusParams);
  if (form !== null) return form;
  const changed = applyUpdates(state.nextValidators, response.validatorUpdates);
  if (isRefusal(changed)) return changed;

  const update = response.consensusParamUpdates;
  let { version, consensusParams } = state;
  if (update !== undefined) {
    consensusParams = updateParams(consensusParams, update);
    const refusal =
      validateParams(consensusParams) ?? validateParamsUpdate(state.consensusParams, update, header.height);
    if (refusal !== null) return refusal;
    version = { block: version.block, app: consensusParams.version.app };
  }
  return {
    version,
    chainId: state.chainId,
    initialHeight: state.initialHeight,
    lastBlockHeight: header.height,
    lastBlockId: blockId,
    lastBlockTimeNs: header.timeNs,
    nextValidators: incrementPriority(changed, 1),
    validators: state.nextValidators,
    lastValidators: state.validators,
    lastHeightValidatorsChanged:
      response.validatorUpdates.length > 0 ? header.height + 2n : state.lastHeightValidatorsChanged,
    consensusParams,
    lastHeightConsensusParamsChanged:
      update !== undefined ? header.height + 1n : state.lastHeightConsensusParamsChanged,
    lastResultsHash: resultsHash(response.txResults),
    appHash: response.appHash,
  };
}

/**
 * A block for `height` on top of `state` (`State.MakeBlock`): its time is the last commit's median, or
 * genesis time.
 */
export function makeBlock(
  state: ChainState,
  height: bigint,
  txs: readonly Uint8Array[],
  lastCommit: Commit,
  evidence: readonly Evidence[],
  proposerAddress: Address,
): Block {
  const timeNs =
    height === state.initialHeight ? state.lastBlockTimeNs : medianTime(lastCommit, state.lastValidators);
  must(typeof timeNs === 'bigint', 'a proposer holds a commit of a stranger');
  const header: Header = {
    version: state.version,
    chainId: state.chainId,
    height,
    timeNs,
    lastBlockId: state.lastBlockId,
    lastCommitHash: commitHash(lastCommit),
    dataHash: dataHash(txs),
    validatorsHash: hashOfSet(state.validators),
    nextValidatorsHash: hashOfSet(state.nextValidators),
    consensusHash: paramsHash(state.consensusParams),
    appHash: state.appHash,
    lastResultsHash: state.lastResultsHash,
    evidenceHash: evidenceListHash(evidence),
    proposerAddress,
  };
  return { header, txs, evidence, lastCommit };
}

function validatePlace(state: ChainState, header: Header): BlockRefusal | null {
  const { version } = header;
  if (version.app !== state.version.app || version.block !== state.version.block) {
    const want = `Expected ${state.version.block}/${state.version.app}`;
    return refuse(
      'block-version',
      `wrong Block.Header.Version. ${want}, got ${version.block}/${version.app}`,
    );
  }
  if (header.chainId !== state.chainId) {
    const names = `Expected ${state.chainId}, got ${header.chainId}`;
    return refuse('block-chain-id', `wrong Block.Header.ChainID. ${names}`);
  }
  const height = heightAfter(state);
  if (header.height !== height) {
    return refuse('block-height', `wrong Block.Header.Height. Expected ${height}, got ${header.height}`);
  }
  if (equalBlockId(header.lastBlockId, state.lastBlockId)) return null;
  return wrongHash('block-last-block-id', 'LastBlockID', state.lastBlockId.hash, header.lastBlockId.hash);
}

function validateHashes(state: ChainState, header: Header): BlockRefusal | null {
  if (!equalBytes(header.appHash, state.appHash)) {
    return wrongHash('block-app-hash', 'AppHash', state.appHash, header.appHash);
  }
  const consensusHash = paramsHash(state.consensusParams);
  if (!equalBytes(header.consensusHash, consensusHash)) {
    return wrongHash('block-consensus-hash', 'ConsensusHash', consensusHash, header.consensusHash);
  }
  if (!equalBytes(header.lastResultsHash, state.lastResultsHash)) {
    const { lastResultsHash } = state;
    return wrongHash('block-last-results-hash', 'LastResultsHash', lastResultsHash, header.lastResultsHash);
  }
  const validators = hashOfSet(state.validators);
  if (!equalBytes(header.validatorsHash, validators)) {
    return wrongHash('block-validators-hash', 'ValidatorsHash', validators, header.validatorsHash);
  }
  const next = hashOfSet(state.nextValidators);
  if (equalBytes(header.nextValidatorsHash, next)) return null;
  return wrongHash('block-next-validators-hash', 'NextValidatorsHash', next, header.nextValidatorsHash);
}

function wrongHash<Why extends string>(
  refused: Why,
  field: string,
  expected: Uint8Array,
  got: Uint8Array,
): Refusal<Why> {
  const hashes = `Expected ${hexUpperOf(expected)}, got ${hexUpperOf(got)}`;
  return refuse(refused, `wrong Block.Header.${field}. ${hashes}`);
}

function validateLastCommit(
  state: ChainState,
  header: Header,
  lastCommit: Commit,
  { verify, lastCommitVerified }: BlockChecks,
): BlockRefusal | null {
  if (header.height === state.initialHeight) {
    if (lastCommit.signatures.length === 0) return null;
    return refuse('block-last-commit', "initial block can't have LastCommit signatures");
  }
  if (lastCommitVerified === true) return null;
  const { chainId, lastValidators, lastBlockId } = state;
  return verifyCommit(chainId, lastValidators, lastBlockId, header.height - 1n, lastCommit, verify);
}

function validateClock(header: Header, limitNs: TimeNs | undefined): BlockRefusal | null {
  if (limitNs === undefined || header.timeNs < limitNs) return null;
  const ahead = `${header.timeNs - limitNs} ns beyond what our clock tolerates`;
  return refuse('block-time-ahead', `block time is too far in the future: ${ahead}`);
}

function validateTime(state: ChainState, header: Header, lastCommit: Commit): BlockRefusal | null {
  if (header.height === state.initialHeight) {
    if (header.timeNs === state.lastBlockTimeNs) return null;
    return refuse('block-time', 'block time is not equal to genesis time');
  }
  if (header.timeNs <= state.lastBlockTimeNs) {
    return refuse('block-time', 'block time not greater than last block time');
  }
  const median = medianTime(lastCommit, state.lastValidators);
  if (isRefusal(median)) return refuse('block-time', median.because);
  if (header.timeNs === median) return null;
  return refuse('block-time', `invalid block time. Expected ${median} ns, got ${header.timeNs} ns`);
}

function validateEvidence(
  state: ChainState,
  { evidence }: Block,
  { verifyEvidence }: BlockChecks,
): BlockRefusal | null {
  if (evidence.length === 0) return null;
  const size = BigInt(encodeEvidenceList(evidence).length);
  const { maxBytes } = state.consensusParams.evidence;
  if (size > maxBytes) {
    return refuse('block-evidence', `evidence takes ${size} bytes, more than the ${maxBytes} allowed`);
  }
  const refusal = verifyEvidence(evidence);
  return refusal === null ? null : refuse('block-evidence', refusal.because);
}
