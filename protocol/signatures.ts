// Who signed what: ZIP-215 ed25519 and low-S secp256k1 verification, signing, and a bounded memory of
// verdicts.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import * as noble from '@noble/ed25519';
import { ed25519Sign, ed25519VerifyStrict, sha512 } from '#platform';
import { byteKey, concatBytes, equalBytes, hexOf, settled } from './bytes.ts';
import { ED25519_KEY_BYTES, type KeyPair, SECP256K1_KEY_BYTES } from './keys.ts';
import { must } from './refusal.ts';
import type { PublicKey } from './types.ts';

export type Verify = (key: PublicKey, message: Uint8Array, signature: Uint8Array) => boolean;

export const SIGNATURE_BYTES = 64;

// The library declares arrays over ArrayBuffer alone; any Uint8Array serves it.
noble.hashes.sha512 = sha512 as NonNullable<typeof noble.hashes.sha512>;

/** ZIP-215 by the slow library alone: the one that decides what the platform's strict rules reject. */
export function verifyZip215(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (key.length !== ED25519_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  return noble.verify(signature, message, key, { zip215: true });
}

const Scalars = secp256k1.Point.Fn;

/** A number of 32 bytes modulo the order of the group. */
const reduced = (bytes: Uint8Array): Uint8Array =>
  Scalars.toBytes(Scalars.create(BigInt(`0x${hexOf(bytes)}`)));

/** R and S are what is left of them modulo the order, and then S must be low (CometBFT signatureFromBytes). */
function verifySecp256k1(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (key.length !== SECP256K1_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  const half = SIGNATURE_BYTES / 2;
  const numbers = concatBytes(reduced(signature.subarray(0, half)), reduced(signature.subarray(half)));
  try {
    return secp256k1.verify(numbers, message, key, { prehash: true, lowS: true, format: 'compact' });
  } catch {
    return false; // r or s is zero, or a key that is no point
  }
}

/**
 * Does `key` sign `message`? The platform's strict verification implies ZIP-215 validity, so its yes is
 * final and cheap; its every no is asked again by ZIP-215 rules, because all nodes must agree on
 * adversarial signatures (spec 4.2).
 */
export function verifySignature(key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (key.type === 'secp256k1') return verifySecp256k1(key.bytes, message, signature);
  return ed25519VerifyStrict(key.bytes, message, signature) || verifyZip215(key.bytes, message, signature);
}

/** 64 bytes: ed25519 over the message, or secp256k1 over its SHA-256 as R and S with the low S. */
export function signMessage(pair: KeyPair, message: Uint8Array): Uint8Array {
  if (pair.publicKey.type === 'ed25519') return ed25519Sign(pair.seed, message);
  return secp256k1.sign(message, pair.seed, { prehash: true, lowS: true, format: 'compact' });
}

interface Verdict {
  readonly key: PublicKey;
  readonly message: Uint8Array;
  readonly valid: boolean;
}

const isVerdictOn = (verdict: Verdict, key: PublicKey, message: Uint8Array): boolean =>
  verdict.key.type === key.type &&
  equalBytes(verdict.message, message) &&
  equalBytes(verdict.key.bytes, key.bytes);

/**
 * The same verdicts, remembered by content: the newest `max` to `2 max` of them, one for each signature.
 * Rejections too, since a bad signature costs the most to refuse (1.2 ms) and whoever sends one sends it
 * again. Arguments are kept: they must not change later. Messages are moved out of the slabs that they were cut from: remembered for thousands
 * of heights they would keep all of them.
 */
export function rememberingVerify(verify: Verify, max = 65_536): Verify {
  must(max > 0, 'a memory of verdicts must hold at least one');
  // Two generations: when the young one is full it becomes the old one, and what is asked of the old is
  // young again.
  let young = new Map<string, Verdict>();
  let old = new Map<string, Verdict>();
  return (key, message, signature) => {
    const name = byteKey(signature);
    const fresh = young.get(name);
    if (fresh && isVerdictOn(fresh, key, message)) return fresh.valid;
    const aged = old.get(name);
    const verdict =
      aged && isVerdictOn(aged, key, message)
        ? aged
        : { key, message: settled(message), valid: verify(key, message, signature) };
    if (young.size >= max) {
      old = young;
      young = new Map();
    }
    young.set(name, verdict);
    return verdict.valid;
  };
}
