// ed25519 by libsodium, in half the time that OpenSSL takes, where its addon is installed and loads: decision 13.

import { createRequire } from 'node:module';
import { type Ed25519, keyCache } from './ed25519.ts';

/** Of `sodium-native`, which brings no types. A secret key is the seed and the public key behind it. */
interface Sodium {
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void;
  crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
}

/** Null: it is an optional dependency, and there are systems without it. */
export function sodium(): Ed25519 | null {
  try {
    return engineOf(createRequire(import.meta.url)('sodium-native') as Sodium);
  } catch {
    return null;
  }
}

function engineOf(library: Sodium): Ed25519 {
  const pairOf = keyCache((seed) => {
    const pair = { publicKey: new Uint8Array(32), secretKey: new Uint8Array(64) };
    library.crypto_sign_seed_keypair(pair.publicKey, pair.secretKey, seed);
    return pair;
  });
  return {
    name: 'libsodium',

    publicKey: (seed) => pairOf(seed).publicKey.slice(),

    sign(seed, message) {
      const signature = new Uint8Array(64);
      library.crypto_sign_detached(signature, message, pairOf(seed).secretKey);
      return signature;
    },

    verify: (publicKey, message, signature) =>
      library.crypto_sign_verify_detached(signature, message, publicKey),
  };
}
