// Key pairs and the addresses of public keys (spec 4.2).

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ed25519PublicKey, ripemd160, sha256, utf8Encode } from '#platform';
import { byteKey } from './bytes.ts';
import { remembers } from './lately.ts';
import type { Address, PublicKey } from './types.ts';

export const ADDRESS_BYTES = 20;
export const ED25519_KEY_BYTES = 32;
export const SECP256K1_KEY_BYTES = 33;

/** What signs. The kind is that of the public key. */
export interface KeyPair {
  /** 32 bytes: the seed of RFC 8032 (ed25519), or the scalar, big endian (secp256k1). */
  readonly seed: Uint8Array;
  readonly publicKey: PublicKey;
  readonly address: Address;
}

/** Validators and signers asked about again and again. */
const ADDRESSES_REMEMBERED_MAX = 4096;
const addresses = new Map<string, Address>();

/** First 20 bytes of SHA-256 (ed25519), or RIPEMD-160 of SHA-256 (secp256k1). */
export function addressOf(key: PublicKey): Address {
  const name = byteKey(key.bytes) + key.type;
  let address = remembers() ? addresses.get(name) : undefined;
  if (!address) {
    const hash = sha256(key.bytes);
    address = key.type === 'ed25519' ? hash.slice(0, ADDRESS_BYTES) : ripemd160(hash);
    if (addresses.size >= ADDRESSES_REMEMBERED_MAX) addresses.clear();
    addresses.set(name, address);
  }
  return address;
}

export function keyPairOfSeed(seed: Uint8Array): KeyPair {
  const publicKey: PublicKey = { type: 'ed25519', bytes: ed25519PublicKey(seed) };
  return { seed, publicKey, address: addressOf(publicKey) };
}

/** Null when the 32 bytes are no scalar of the curve. */
export function secp256k1KeyPairOf(secret: Uint8Array): KeyPair | null {
  if (!secp256k1.utils.isValidSecretKey(secret)) return null;
  const publicKey: PublicKey = { type: 'secp256k1', bytes: secp256k1.getPublicKey(secret, true) };
  return { seed: secret, publicKey, address: addressOf(publicKey) };
}

/** CometBFT GenPrivKeyFromSecret: for tests and plays, where a key needs a name. */
export const ed25519FromSecret = (secret: string): KeyPair => keyPairOfSeed(sha256(utf8Encode(secret)));
