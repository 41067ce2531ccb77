// The bytes of public keys, validators and validator sets (spec 3.1). Total power and the type of keys are
// never taken from others.

import { ED25519_KEY_BYTES, SECP256K1_KEY_BYTES } from '../keys.ts';
import { EMPTY_BYTES, type PublicKey, type Validator, type ValidatorSet } from '../types.ts';
import { decodeWith, growing, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

const NO_KEY: PublicKey = { type: 'ed25519', bytes: EMPTY_BYTES };
const NO_VALIDATOR: Validator = { address: EMPTY_BYTES, publicKey: NO_KEY, power: 0n, priority: 0n };
export const NO_VALIDATOR_SET: ValidatorSet = { validators: [], proposer: null, powerTotal: 0n };

export const writePublicKey = (writer: ProtoWriter, key: PublicKey): void =>
  writer.chosenBytes(key.type === 'ed25519' ? 0x0a : 0x12, key.bytes);

/** The key's kind is a oneof: the last one stands (CometBFT PubKeyFromProto checks its size). */
export function readPublicKey(reader: ProtoReader, was: PublicKey): PublicKey {
  let key = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) key = { type: 'ed25519', bytes: reader.bytes() };
    else if (reader.tag === 0x12) key = { type: 'secp256k1', bytes: reader.bytes() };
    else if (reader.tag === 0x22) throw new Malformed('ml_dsa_65 keys are not supported');
    else reader.skip(2);
  }
  const size = key.type === 'ed25519' ? ED25519_KEY_BYTES : SECP256K1_KEY_BYTES;
  if (key.bytes.length !== size) throw new Malformed(`${key.type} public key of ${key.bytes.length} bytes`);
  return key;
}

export function writeValidator(writer: ProtoWriter, validator: Validator): void {
  writer.bytes(0x0a, validator.address);
  writer.message(0x12, writePublicKey, validator.publicKey);
  writer.int64(0x18, validator.power);
  writer.int64(0x20, validator.priority);
}

export function readValidator(reader: ProtoReader, was: Validator): Validator {
  let { address, publicKey, power, priority } = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) address = reader.bytes();
    else if (reader.tag === 0x12) publicKey = reader.message(readPublicKey, publicKey);
    else if (reader.tag === 0x18) power = reader.int64();
    else if (reader.tag === 0x20) priority = reader.int64();
    else reader.skip(4);
  }
  if (publicKey === NO_KEY) throw new Malformed('a validator without a public key');
  return { address, publicKey, power, priority };
}

/** For lists and first occurrences: a validator merges with nothing. */
export function readNewValidator(reader: ProtoReader): Validator {
  reader.member();
  return reader.message(readValidator, NO_VALIDATOR);
}

/**
 * total_voting_power is always 0 on the wire: bytes of sets are hashed, so a cached value must not show
 * (CometBFT ToProto).
 */
export function writeValidatorSet(writer: ProtoWriter, set: ValidatorSet): void {
  for (const validator of set.validators) writer.message(0x0a, writeValidator, validator);
  if (set.proposer) writer.message(0x12, writeValidator, set.proposer);
}

export function readValidatorSet(reader: ProtoReader, was: ValidatorSet): ValidatorSet {
  const validators = growing(was.validators);
  let { proposer, powerTotal } = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) {
      const validator = readNewValidator(reader);
      validators.push(validator);
      powerTotal += validator.power;
    } else if (reader.tag === 0x12) proposer = reader.message(readValidator, proposer ?? NO_VALIDATOR);
    else if (reader.tag === 0x18) reader.int64();
    else reader.skip(3);
  }
  return { validators, proposer, powerTotal };
}

/** SimpleValidator: the leaf of a validators hash. */
function writeSimpleValidator(writer: ProtoWriter, validator: Pick<Validator, 'publicKey' | 'power'>): void {
  writer.message(0x0a, writePublicKey, validator.publicKey);
  writer.int64(0x10, validator.power);
}

export const encodeSimpleValidator = (validator: Pick<Validator, 'publicKey' | 'power'>): Uint8Array =>
  encodeWith(writeSimpleValidator, validator);

export const encodePublicKey = (key: PublicKey): Uint8Array => encodeWith(writePublicKey, key);
export const decodePublicKey = (bytes: Uint8Array): PublicKey | MalformedBytes =>
  decodeWith('PublicKey', bytes, readPublicKey, NO_KEY);

export const encodeValidator = (validator: Validator): Uint8Array => encodeWith(writeValidator, validator);
export const decodeValidator = (bytes: Uint8Array): Validator | MalformedBytes =>
  decodeWith('Validator', bytes, readValidator, NO_VALIDATOR);

export const encodeValidatorSet = (set: ValidatorSet): Uint8Array => encodeWith(writeValidatorSet, set);
export const decodeValidatorSet = (bytes: Uint8Array): ValidatorSet | MalformedBytes =>
  decodeWith('ValidatorSet', bytes, readValidatorSet, NO_VALIDATOR_SET);
