// Keys as JSON (spec 2.1, 2.4, 2.5): public keys, node_key.json, priv_validator_key.json and the signer's
// state.

import { base64Of, concatBytes, equalBytes, hexOf, hexUpperOf } from '../bytes.ts';
import {
  addressOf,
  ED25519_KEY_BYTES,
  type KeyPair,
  keyPairOfSeed,
  SECP256K1_KEY_BYTES,
  secp256k1KeyPairOf,
} from '../keys.ts';
import type { PublicKey } from '../types.ts';
import {
  base64At,
  fault,
  hexAt,
  int32At,
  int64At,
  type JsonObject,
  type MalformedJson,
  objectAt,
  parseDocument,
  readJson,
  wrappedAt,
} from './reader.ts';

const SEED_BYTES = 32;

/**
 * Where the signer stands (CometBFT FilePVLastSignState). Step: 0 none, 1 propose, 2 prevote, 3 precommit.
 */
export interface SignState {
  readonly height: bigint;
  readonly round: number;
  readonly step: number;
  readonly signature: Uint8Array;
  /** The length-prefixed canonical bytes that the signature is over. */
  readonly signBytes: Uint8Array;
}

export const publicKeyForm = (key: PublicKey): { type: string; value: string } => ({
  type: key.type === 'ed25519' ? 'tendermint/PubKeyEd25519' : 'tendermint/PubKeySecp256k1',
  value: base64Of(key.bytes),
});

export function publicKeyAt(value: unknown, at: string): PublicKey {
  const { name, value: encoded } = wrappedAt(value, at);
  const bytes = base64At(encoded, `${at}.value`);
  if (name === 'PubKeyEd25519') {
    if (bytes.length !== ED25519_KEY_BYTES)
      fault(`${at}.value`, `${ED25519_KEY_BYTES} bytes, as its type is ${name}`);
    return { type: 'ed25519', bytes };
  }
  if (name !== 'PubKeySecp256k1')
    fault(`${at}.type`, 'tendermint/PubKeyEd25519 or tendermint/PubKeySecp256k1');
  if (bytes.length !== SECP256K1_KEY_BYTES)
    fault(`${at}.value`, `${SECP256K1_KEY_BYTES} bytes, as its type is ${name}`);
  return { type: 'secp256k1', bytes };
}

export const publicKeyOfJson = (value: unknown): PublicKey | MalformedJson =>
  readJson(() => publicKeyAt(value, 'pub_key'));

function privateKeyForm(pair: KeyPair): { type: string; value: string } {
  return pair.publicKey.type === 'ed25519'
    ? { type: 'tendermint/PrivKeyEd25519', value: base64Of(concatBytes(pair.seed, pair.publicKey.bytes)) }
    : { type: 'tendermint/PrivKeySecp256k1', value: base64Of(pair.seed) };
}

/** An ed25519 private key is 64 bytes: the seed and the public key, which must belong together. */
function privateKeyAt(value: unknown, at: string): KeyPair {
  const { name, value: encoded } = wrappedAt(value, at);
  const bytes = base64At(encoded, `${at}.value`);
  if (name === 'PrivKeySecp256k1') {
    if (bytes.length !== SEED_BYTES) fault(`${at}.value`, `${SEED_BYTES} bytes, as its type is ${name}`);
    return secp256k1KeyPairOf(bytes) ?? fault(`${at}.value`, 'a secp256k1 secret');
  }
  if (name !== 'PrivKeyEd25519')
    fault(`${at}.type`, 'tendermint/PrivKeyEd25519 or tendermint/PrivKeySecp256k1');
  if (bytes.length !== SEED_BYTES + ED25519_KEY_BYTES)
    fault(`${at}.value`, '64 bytes: seed, then public key');
  const pair = keyPairOfSeed(bytes.slice(0, SEED_BYTES));
  return equalBytes(pair.publicKey.bytes, bytes.subarray(SEED_BYTES))
    ? pair
    : fault(`${at}.value`, 'a seed followed by its own public key');
}

/** Lower-case hex of the address of the node's key: the name by which peers know it. */
export const nodeIdOf = (publicKey: PublicKey): string => hexOf(addressOf(publicKey));

export const parseNodeKey = (text: string): KeyPair | MalformedJson =>
  readJson(() => privateKeyAt(objectAt(parseDocument(text, 'node key'), 'node key')['priv_key'], 'priv_key'));

/** Compact and without a last newline, as the file is. */
export const formatNodeKey = (pair: KeyPair): string => JSON.stringify({ priv_key: privateKeyForm(pair) });

export interface PrivValidatorKey {
  readonly pair: KeyPair;
  /** From the `last_*` fields of the single-file layout before 0.31; null where there are none. */
  readonly legacyState: SignState | null;
}

function legacyStateAt(file: JsonObject): SignState | null {
  if (!['last_height', 'last_round', 'last_step'].some((key) => Object.hasOwn(file, key))) return null;
  return {
    height: int64At(file['last_height'], 'last_height'),
    round: int32At(file['last_round'], 'last_round'),
    step: int32At(file['last_step'], 'last_step'),
    signature: base64At(file['last_signature'], 'last_signature'),
    signBytes: hexAt(file['last_signbytes'], 'last_signbytes'),
  };
}

/** Public key and address are computed from the private key; what the file says of them is not read. */
export const parsePrivValidatorKey = (text: string): PrivValidatorKey | MalformedJson =>
  readJson(() => {
    const file = objectAt(parseDocument(text, 'private validator key'), 'private validator key');
    return { pair: privateKeyAt(file['priv_key'], 'priv_key'), legacyState: legacyStateAt(file) };
  });

export const privValidatorKeyForm = (
  pair: KeyPair,
): { address: string; pub_key: unknown; priv_key: unknown } => ({
  address: hexUpperOf(pair.address),
  pub_key: publicKeyForm(pair.publicKey),
  priv_key: privateKeyForm(pair),
});

/** With `legacy` the file also carries the `last_*` triple, which today's readers skip. */
export const formatPrivValidatorKey = (pair: KeyPair, legacy?: SignState): string =>
  JSON.stringify(
    {
      ...privValidatorKeyForm(pair),
      ...(legacy && {
        last_height: String(legacy.height),
        last_round: String(legacy.round),
        last_step: legacy.step,
      }),
    },
    null,
    2,
  );

const STEP_MAX = 3;

export const parsePrivValidatorState = (text: string): SignState | MalformedJson =>
  readJson(() => {
    const file = objectAt(parseDocument(text, 'private validator state'), 'private validator state');
    const state: SignState = {
      height: int64At(file['height'], 'height'),
      round: int32At(file['round'], 'round'),
      step: int32At(file['step'], 'step'),
      signature: base64At(file['signature'], 'signature'),
      signBytes: hexAt(file['signbytes'], 'signbytes'),
    };
    // A file that lost its place must not read as "never signed".
    if (!['height', 'round', 'step'].every((key) => Object.hasOwn(file, key))) {
      fault('private validator state', 'an object with height, round and step');
    }
    if (state.height < 0n) fault('height', 'at least 0');
    if (state.round < 0) fault('round', 'at least 0');
    // A key that signed there would say again what nobody can check.
    if (state.signBytes.length > 0 && state.signature.length === 0)
      fault('signature', 'what signbytes were signed with');
    return state.step >= 0 && state.step <= STEP_MAX ? state : fault('step', `from 0 to ${STEP_MAX}`);
  });

export const formatPrivValidatorState = (state: SignState): string =>
  JSON.stringify(
    {
      height: String(state.height),
      round: state.round,
      step: state.step,
      ...(state.signature.length > 0 && { signature: base64Of(state.signature) }),
      ...(state.signBytes.length > 0 && { signbytes: hexUpperOf(state.signBytes) }),
    },
    null,
    2,
  );
