// Owns the consensus parameters: their defaults, their bounds, and how an application changes them (spec 2.3;
// CometBFT `types/params.go`).

import { type Refusal, refuse } from '../refusal.ts';
import { BLOCK_BYTES_MAX, type ConsensusParams, type ConsensusParamsUpdate } from '../types.ts';

export const DEFAULT_PARAMS: ConsensusParams = {
  block: { maxBytes: 22_020_096n, maxGas: -1n },
  evidence: { maxAgeBlocks: 100_000n, maxAgeNs: 172_800_000_000_000n, maxBytes: 1_048_576n },
  validator: { publicKeyTypes: ['ed25519'] },
  version: { app: 0n },
  abci: { voteExtensionsEnableHeight: 0n },
};

/**
 * Names that parameters may hold. No ML-DSA-65 key can join a set of ours; its name alone changes nothing.
 */
const PUBLIC_KEY_TYPES: readonly string[] = ['ed25519', 'secp256k1', 'ml_dsa_65'];

export type ParamsRefusal = Refusal<'params'>;

const wrong = (because: string): ParamsRefusal => refuse('params', because);

/** `block.max_bytes`, with -1 read as the largest block there may be. */
export const blockBytesMax = (params: ConsensusParams): bigint =>
  params.block.maxBytes === -1n ? BLOCK_BYTES_MAX : params.block.maxBytes;

/** Of int64, and of Go's `time.Duration` in nanoseconds (292 years): beyond, what is read from the bytes is another number, or none. */
const INT64_MAX = 9_223_372_036_854_775_807n;

/** `ConsensusParams.ValidateBasic`. */
export function validateParams(params: ConsensusParams): ParamsRefusal | null {
  const { block, evidence, validator, abci } = params;
  if (block.maxBytes === 0n) return wrong('block.MaxBytes cannot be 0');
  if (block.maxBytes < -1n) {
    return wrong(`block.MaxBytes must be -1 or greater than 0. Got ${block.maxBytes}`);
  }
  if (block.maxBytes > BLOCK_BYTES_MAX) {
    return wrong(`block.MaxBytes is too big. ${block.maxBytes} > ${BLOCK_BYTES_MAX}`);
  }
  if (block.maxGas < -1n) {
    return wrong(`block.MaxGas must be greater or equal to -1. Got ${block.maxGas}`);
  }
  if (evidence.maxAgeBlocks <= 0n) {
    return wrong(`evidence.MaxAgeNumBlocks must be greater than 0. Got ${evidence.maxAgeBlocks}`);
  }
  if (evidence.maxAgeNs <= 0n) {
    return wrong(`evidence.MaxAgeDuration must be greater than 0. Got ${evidence.maxAgeNs}`);
  }
  for (const [field, value] of [
    ['block.MaxGas', block.maxGas],
    ['evidence.MaxAgeNumBlocks', evidence.maxAgeBlocks],
    ['evidence.MaxAgeDuration', evidence.maxAgeNs],
  ] as const)
    if (value > INT64_MAX) return wrong(`${field} is too big. ${value} > ${INT64_MAX}`);
  if (evidence.maxBytes > blockBytesMax(params)) {
    const bound = `${evidence.maxBytes} > ${block.maxBytes}`;
    return wrong(`evidence.MaxBytesEvidence is greater than upper bound, ${bound}`);
  }
  if (evidence.maxBytes < 0n) {
    return wrong(`evidence.MaxBytes must be non negative. Got: ${evidence.maxBytes}`);
  }
  if (abci.voteExtensionsEnableHeight < 0n) {
    const got = `${abci.voteExtensionsEnableHeight}`;
    return wrong(`ABCI.VoteExtensionsEnableHeight cannot be negative. Got: ${got}`);
  }
  if (validator.publicKeyTypes.length === 0) {
    return wrong('len(Validator.PubKeyTypes) must be greater than 0');
  }
  const unknown = validator.publicKeyTypes.findIndex((type) => !PUBLIC_KEY_TYPES.includes(type));
  if (unknown === -1) return null;
  const named = `params.Validator.PubKeyTypes[${unknown}], ${validator.publicKeyTypes[unknown]}`;
  return wrong(`${named}, is an unknown pubkey type`);
}

/**
 * `ConsensusParams.Update`: sub-messages that are present replace all their fields. Nothing is checked here.
 */
export function updateParams(
  current: ConsensusParams,
  update: ConsensusParamsUpdate | undefined,
): ConsensusParams {
  if (update === undefined) return current;
  return {
    block: update.block ?? current.block,
    evidence: update.evidence ?? current.evidence,
    validator: update.validator ?? current.validator,
    version: update.version ?? current.version,
    abci: update.abci ?? current.abci,
  };
}

/**
 * `ConsensusParams.ValidateUpdate`: when vote extensions may be switched on, processed at `height`. Once
 * their height has come they can be neither moved nor switched off; until then both are allowed, but never to
 * a height that is not in the future.
 */
export function validateParamsUpdate(
  current: ConsensusParams,
  update: ConsensusParamsUpdate | undefined,
  height: bigint,
): ParamsRefusal | null {
  if (update?.abci === undefined) return null;
  const was = current.abci.voteExtensionsEnableHeight;
  const next = update.abci.voteExtensionsEnableHeight;
  const heights = `enable height: ${was}, wanted: ${next}, current height ${height}`;
  if (next < 0n) return wrong('VoteExtensionsEnableHeight must be positive');
  if (was <= 0n && next === 0n) return null;
  if (next === was) return null;
  if (next === 0n) {
    return was <= height ? wrong(`vote extensions cannot be disabled once enabled, ${heights}`) : null;
  }
  if (next <= height) {
    return wrong(`vote extensions cannot be updated to a past or current height, ${heights}`);
  }
  if (was > 0n && was <= height) {
    return wrong(`vote extensions cannot be modified once enabled, ${heights}`);
  }
  return null;
}

export const voteExtensionsEnabled = (params: ConsensusParams, height: bigint): boolean => {
  const from = params.abci.voteExtensionsEnableHeight;
  return from !== 0n && from <= height;
};
