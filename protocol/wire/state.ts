// The bytes of consensus parameters and of the chain's state between blocks (spec 3.1, 3.4).

import { Lately } from '../lately.ts';
import { NS_PER_S } from '../time.ts';
import {
  type ChainState,
  type ConsensusParams,
  type ConsensusParamsUpdate,
  type ConsensusVersion,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  SOFTWARE_VERSION,
  type ValidatorSet,
  ZERO_TIME_NS,
} from '../types.ts';
import { readBlockId, writeBlockId } from './block-id.ts';
import { NO_VERSION, readVersion, writeVersion } from './header.ts';
import { decodeWith, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeValidatorSet, NO_VALIDATOR_SET, readValidatorSet } from './validator.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

const NO_BLOCK_PARAMS: ConsensusParams['block'] = { maxBytes: 0n, maxGas: 0n };
const NO_EVIDENCE_PARAMS: ConsensusParams['evidence'] = { maxAgeBlocks: 0n, maxAgeNs: 0n, maxBytes: 0n };
/** What parameters without any field mean. */
export const NO_PARAMS: ConsensusParams = {
  block: NO_BLOCK_PARAMS,
  evidence: NO_EVIDENCE_PARAMS,
  validator: { publicKeyTypes: [] },
  version: { app: 0n },
  abci: { voteExtensionsEnableHeight: 0n },
};

/** google.protobuf.Duration truncates towards zero, so that both fields have one sign. */
function writeDuration(writer: ProtoWriter, durationNs: bigint): void {
  const seconds = durationNs / NS_PER_S;
  writer.int64(0x08, seconds);
  writer.int(0x10, Number(durationNs - seconds * NS_PER_S));
}

const DURATION_NS_END = 9_223_372_036_854_775_808n; // Go's Duration is an int64

function readDuration(reader: ProtoReader): bigint {
  let [seconds, nanos] = [0n, 0];
  while (reader.next()) {
    if (reader.tag === 0x08) seconds = reader.int64();
    else if (reader.tag === 0x10) nanos = reader.int32();
    else reader.skip(2);
  }
  const durationNs = seconds * NS_PER_S + BigInt(nanos);
  const signsAgree = seconds === 0n || nanos === 0 || seconds < 0n === nanos < 0;
  const fits = durationNs < DURATION_NS_END && durationNs >= -DURATION_NS_END;
  if (!signsAgree || !fits || nanos <= -1_000_000_000 || nanos >= 1_000_000_000) {
    throw new Malformed(`duration of ${seconds} seconds and ${nanos} nanoseconds`);
  }
  return durationNs;
}

function writeBlockParams(writer: ProtoWriter, params: ConsensusParams['block']): void {
  writer.int64(0x08, params.maxBytes);
  writer.int64(0x10, params.maxGas);
}

function readBlockParams(reader: ProtoReader, was: ConsensusParams['block']): ConsensusParams['block'] {
  let { maxBytes, maxGas } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) maxBytes = reader.int64();
    else if (reader.tag === 0x10) maxGas = reader.int64();
    else reader.skip(2);
  }
  return { maxBytes, maxGas };
}

function writeEvidenceParams(writer: ProtoWriter, params: ConsensusParams['evidence']): void {
  writer.int64(0x08, params.maxAgeBlocks);
  writer.message(0x12, writeDuration, params.maxAgeNs);
  writer.int64(0x18, params.maxBytes);
}

function readEvidenceParams(
  reader: ProtoReader,
  was: ConsensusParams['evidence'],
): ConsensusParams['evidence'] {
  let { maxAgeBlocks, maxAgeNs, maxBytes } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) maxAgeBlocks = reader.int64();
    else if (reader.tag === 0x12) maxAgeNs = reader.message(readDuration, null);
    else if (reader.tag === 0x18) maxBytes = reader.int64();
    else reader.skip(3);
  }
  return { maxAgeBlocks, maxAgeNs, maxBytes };
}

function writeKeyTypes(writer: ProtoWriter, types: readonly string[]): void {
  for (const type of types) writer.chosenText(0x0a, type);
}

function readKeyTypes(reader: ProtoReader, was: readonly string[]): readonly string[] {
  const types = [...was];
  while (reader.next()) {
    if (reader.tag === 0x0a) types.push(reader.text());
    else reader.skip(1);
  }
  return types;
}

function readOneNumber(reader: ProtoReader, was: bigint): bigint {
  let value = was;
  while (reader.next()) {
    if (reader.tag === 0x08) value = reader.uint64();
    else reader.skip(1);
  }
  return value;
}

/** Whole parameters have all five members; an update has those that it replaces. */
export function writeConsensusParams(writer: ProtoWriter, params: ConsensusParamsUpdate): void {
  if (params.block) writer.message(0x0a, writeBlockParams, params.block);
  if (params.evidence) writer.message(0x12, writeEvidenceParams, params.evidence);
  if (params.validator) writer.message(0x1a, writeKeyTypes, params.validator.publicKeyTypes);
  if (params.version) writer.message(0x22, (to, app) => to.int64(0x08, app), params.version.app);
  if (params.abci) {
    writer.message(0x2a, (to, height) => to.int64(0x08, height), params.abci.voteExtensionsEnableHeight);
  }
}

export function readConsensusParams(reader: ProtoReader, was: ConsensusParamsUpdate): ConsensusParamsUpdate {
  const params: { -readonly [K in keyof ConsensusParamsUpdate]: ConsensusParamsUpdate[K] } = { ...was };
  while (reader.next()) {
    if (reader.tag === 0x0a) params.block = reader.message(readBlockParams, params.block ?? NO_BLOCK_PARAMS);
    else if (reader.tag === 0x12) {
      params.evidence = reader.message(readEvidenceParams, params.evidence ?? NO_EVIDENCE_PARAMS);
    } else if (reader.tag === 0x1a) {
      params.validator = {
        publicKeyTypes: reader.message(readKeyTypes, params.validator?.publicKeyTypes ?? []),
      };
    } else if (reader.tag === 0x22) {
      params.version = { app: reader.message(readOneNumber, params.version?.app ?? 0n) };
    } else if (reader.tag === 0x2a) {
      const height = reader.message(readOneNumber, params.abci?.voteExtensionsEnableHeight ?? 0n);
      params.abci = { voteExtensionsEnableHeight: BigInt.asIntN(64, height) };
    } else reader.skip(5);
  }
  return params;
}

export const encodeConsensusParams = (params: ConsensusParamsUpdate): Uint8Array =>
  encodeWith(writeConsensusParams, params);
/** Members that are absent stay so: an update. */
export const decodeConsensusParamsUpdate = (bytes: Uint8Array): ConsensusParamsUpdate | MalformedBytes =>
  decodeWith('ConsensusParams', bytes, readConsensusParams, {});
/** Members that are absent are zero: a record of all parameters. */
export const decodeConsensusParams = (bytes: Uint8Array): ConsensusParams | MalformedBytes =>
  decodeWith('ConsensusParams', bytes, readWholeParams, null);

const readWholeParams = (reader: ProtoReader): ConsensusParams => ({
  ...NO_PARAMS,
  ...readConsensusParams(reader, {}),
});

/** state.Version: the versions of the protocols, and of the software that wrote them. */
function writeStateVersion(writer: ProtoWriter, version: ConsensusVersion): void {
  writer.message(0x0a, writeVersion, version);
  writer.text(0x12, SOFTWARE_VERSION);
}

function readStateVersion(reader: ProtoReader, was: ConsensusVersion): ConsensusVersion {
  let version = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) version = reader.message(readVersion, version);
    else if (reader.tag === 0x12) reader.text();
    else reader.skip(2);
  }
  return version;
}

function writeChainState(writer: ProtoWriter, state: ChainState): void {
  writer.message(0x0a, writeStateVersion, state.version);
  writer.text(0x12, state.chainId);
  writer.int64(0x18, state.lastBlockHeight);
  writer.message(0x22, writeBlockId, state.lastBlockId);
  writer.time(0x2a, state.lastBlockTimeNs);
  writer.chosenBytes(0x32, bytesOfSet(state.nextValidators));
  writer.chosenBytes(0x3a, bytesOfSet(state.validators));
  writer.chosenBytes(0x42, bytesOfSet(state.lastValidators));
  writer.int64(0x48, state.lastHeightValidatorsChanged);
  writer.message(0x52, writeConsensusParams, state.consensusParams);
  writer.int64(0x58, state.lastHeightConsensusParamsChanged);
  writer.bytes(0x62, state.lastResultsHash);
  writer.bytes(0x6a, state.appHash);
  writer.int64(0x70, state.initialHeight);
}

const NO_STATE: ChainState = {
  version: NO_VERSION,
  chainId: '',
  initialHeight: 0n,
  lastBlockHeight: 0n,
  lastBlockId: NIL_BLOCK_ID,
  lastBlockTimeNs: ZERO_TIME_NS,
  nextValidators: NO_VALIDATOR_SET,
  validators: NO_VALIDATOR_SET,
  lastValidators: NO_VALIDATOR_SET,
  lastHeightValidatorsChanged: 0n,
  consensusParams: NO_PARAMS,
  lastHeightConsensusParamsChanged: 0n,
  lastResultsHash: EMPTY_BYTES,
  appHash: EMPTY_BYTES,
};

function readChainState(reader: ProtoReader, was: ChainState): ChainState {
  const state: { -readonly [Field in keyof ChainState]: ChainState[Field] } = { ...was };
  while (reader.next()) {
    if (reader.tag === 0x0a) state.version = reader.message(readStateVersion, state.version);
    else if (reader.tag === 0x12) state.chainId = reader.text();
    else if (reader.tag === 0x18) state.lastBlockHeight = reader.int64();
    else if (reader.tag === 0x22) state.lastBlockId = reader.message(readBlockId, state.lastBlockId);
    else if (reader.tag === 0x2a) state.lastBlockTimeNs = reader.time();
    else if (reader.tag === 0x32)
      state.nextValidators = reader.message(readValidatorSet, state.nextValidators);
    else if (reader.tag === 0x3a) state.validators = reader.message(readValidatorSet, state.validators);
    else if (reader.tag === 0x42)
      state.lastValidators = reader.message(readValidatorSet, state.lastValidators);
    else if (reader.tag === 0x48) state.lastHeightValidatorsChanged = reader.int64();
    else if (reader.tag === 0x52) state.consensusParams = reader.message(readWholeParams, null);
    else if (reader.tag === 0x58) state.lastHeightConsensusParamsChanged = reader.int64();
    else if (reader.tag === 0x62) state.lastResultsHash = reader.bytes();
    else if (reader.tag === 0x6a) state.appHash = reader.bytes();
    else if (reader.tag === 0x70) state.initialHeight = reader.int64();
    else reader.skip(14);
  }
  return state;
}

/** A set is in three states, one after the other. */
const setBytes = new Lately<ValidatorSet, Uint8Array>(16);

const bytesOfSet = (set: ValidatorSet): Uint8Array => setBytes.of(set, encodeValidatorSet);

/** state.State: what is stored after each block. */
export function encodeChainState(state: ChainState): Uint8Array {
  // Beforehand: inside an encoding the scratch buffer is taken.
  for (const set of [state.nextValidators, state.validators, state.lastValidators]) bytesOfSet(set);
  return encodeWith(writeChainState, state);
}
export const decodeChainState = (bytes: Uint8Array): ChainState | MalformedBytes =>
  decodeWith('State', bytes, readChainState, NO_STATE);
