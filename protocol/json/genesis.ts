// genesis.json and consensus parameters as JSON (spec 2.2, 2.3): read with tolerance for numbers, written
// as CometBFT writes them.

import { utf8Decode, utf8Encode } from '#platform';
import { equalBytes, hexUpperOf } from '../bytes.ts';
import { addressOf } from '../keys.ts';
import { DEFAULT_PARAMS, validateParams } from '../rules/params.ts';
import { formatTime } from '../time.ts';
import {
  CHAIN_ID_LENGTH_MAX,
  type ConsensusParams,
  EMPTY_BYTES,
  type Genesis,
  type GenesisValidator,
  ZERO_TIME_NS,
} from '../types.ts';
import { escapedText, indentedText } from './indent.ts';
import { publicKeyAt, publicKeyForm } from './keys.ts';
import { memberText } from './member-text.ts';
import {
  fault,
  hexAt,
  int64At,
  JsonFault,
  type JsonObject,
  listAt,
  type MalformedJson,
  objectAt,
  parseDocument,
  readJson,
  textAt,
  timeAt,
  uint64At,
} from './reader.ts';

const memberOf = (object: JsonObject, key: string, at: string): JsonObject =>
  object[key] === undefined || object[key] === null ? {} : objectAt(object[key], `${at}.${key}`);

/** Members that are missing are zero, not default (a file without `block` is then refused for its zero). */
export function paramsAt(value: unknown, at: string): ConsensusParams {
  const params = objectAt(value, at);
  const block = memberOf(params, 'block', at);
  const evidence = memberOf(params, 'evidence', at);
  const validator = memberOf(params, 'validator', at);
  const version = memberOf(params, 'version', at);
  const abci = memberOf(params, 'abci', at);
  const number = (from: JsonObject, path: string, key: string) => int64At(from[key], `${at}.${path}.${key}`);
  return {
    block: { maxBytes: number(block, 'block', 'max_bytes'), maxGas: number(block, 'block', 'max_gas') },
    evidence: {
      maxAgeBlocks: number(evidence, 'evidence', 'max_age_num_blocks'),
      maxAgeNs: number(evidence, 'evidence', 'max_age_duration'),
      maxBytes: number(evidence, 'evidence', 'max_bytes'),
    },
    validator: {
      publicKeyTypes: listAt(validator['pub_key_types'], `${at}.validator.pub_key_types`, textAt),
    },
    // app_version is what 0.34 called it.
    version: { app: uint64At(version['app'] ?? version['app_version'], `${at}.version.app`) },
    abci: { voteExtensionsEnableHeight: number(abci, 'abci', 'vote_extensions_enable_height') },
  };
}

/** As RPC and genesis print them; not validated. */
export const paramsOfJson = (value: unknown): ConsensusParams | MalformedJson =>
  readJson(() => paramsAt(value, 'consensus_params'));

export const paramsForm = (params: ConsensusParams) => ({
  block: { max_bytes: String(params.block.maxBytes), max_gas: String(params.block.maxGas) },
  evidence: {
    max_age_num_blocks: String(params.evidence.maxAgeBlocks),
    max_age_duration: String(params.evidence.maxAgeNs),
    max_bytes: String(params.evidence.maxBytes),
  },
  validator: { pub_key_types: params.validator.publicKeyTypes },
  version: { app: String(params.version.app) },
  abci: { vote_extensions_enable_height: String(params.abci.voteExtensionsEnableHeight) },
});

function genesisValidatorAt(value: unknown, at: string): GenesisValidator {
  const entry = objectAt(value, at);
  const publicKey = publicKeyAt(entry['pub_key'], `${at}.pub_key`);
  const power = int64At(entry['power'], `${at}.power`);
  const name = textAt(entry['name'], `${at}.name`);
  if (power === 0n) {
    throw new JsonFault(`the genesis file cannot contain validators with no voting power: ${at}`);
  }
  if (power < 0n) fault(`${at}.power`, 'above 0');
  const written = hexAt(entry['address'], `${at}.address`);
  const address = addressOf(publicKey);
  if (written.length > 0 && !equalBytes(written, address)) {
    fault(`${at}.address`, `${hexUpperOf(address)}, which follows from its pub_key (or be left out)`);
  }
  return { address, publicKey, power, name };
}

function chainIdAt(value: unknown): string {
  const chainId = textAt(value, 'chain_id');
  if (chainId === '') throw new JsonFault('genesis doc must include non-empty chain_id');
  if (utf8Encode(chainId).length > CHAIN_ID_LENGTH_MAX) {
    throw new JsonFault(`chain_id in genesis doc is too long (max: ${CHAIN_ID_LENGTH_MAX})`);
  }
  return chainId;
}

function genesisParamsAt(value: unknown): ConsensusParams {
  if (value === undefined || value === null) return DEFAULT_PARAMS;
  const params = paramsAt(value, 'consensus_params');
  const refusal = validateParams(params);
  if (refusal) throw new JsonFault(`consensus_params: ${refusal.because}`);
  return params;
}

/**
 * CometBFT GenesisDocFromJSON with ValidateAndComplete, but for one thing: a genesis_time that is missing
 * stays Go's zero time, because "now" is for the caller to say.
 */
export const parseGenesis = (text: string): Genesis | MalformedJson =>
  readJson(() => {
    const doc = objectAt(parseDocument(text, 'genesis'), 'genesis');
    const initialHeight = int64At(doc['initial_height'], 'initial_height');
    if (initialHeight < 0n) throw new JsonFault(`initial_height cannot be negative (got ${initialHeight})`);
    const appState = (doc['app_state'] ?? null) === null ? null : memberText(text, 'app_state');
    const time = doc['genesis_time'];
    return {
      genesisTimeNs: time === undefined || time === null ? ZERO_TIME_NS : timeAt(time, 'genesis_time'),
      chainId: chainIdAt(doc['chain_id']),
      initialHeight: initialHeight === 0n ? 1n : initialHeight,
      consensusParams: genesisParamsAt(doc['consensus_params']),
      validators: listAt(doc['validators'], 'validators', genesisValidatorAt),
      appHash: hexAt(doc['app_hash'], 'app_hash'),
      appState: appState === null ? EMPTY_BYTES : utf8Encode(appState),
    };
  });

/** The document without its app_state, as an object in CometBFT's key order. */
export const genesisForm = (genesis: Genesis) => ({
  genesis_time: formatTime(genesis.genesisTimeNs),
  chain_id: genesis.chainId,
  initial_height: String(genesis.initialHeight),
  consensus_params: paramsForm(genesis.consensusParams),
  ...(genesis.validators.length > 0 && {
    validators: genesis.validators.map((validator) => ({
      address: hexUpperOf(validator.address),
      pub_key: publicKeyForm(validator.publicKey),
      power: String(validator.power),
      name: validator.name,
    })),
  }),
  app_hash: hexUpperOf(genesis.appHash),
});

/** The file that CometBFT writes, to the byte (GenesisDoc.SaveAs): app_state is indented anew, and no number in it changes. */
export function formatGenesis(genesis: Genesis): string {
  const text = JSON.stringify(genesisForm(genesis), null, 2);
  if (genesis.appState.length === 0) return escapedText(text);
  const appState = indentedText(utf8Decode(genesis.appState), 1);
  return escapedText(`${text.slice(0, -2)},\n  "app_state": ${appState}\n}`);
}
