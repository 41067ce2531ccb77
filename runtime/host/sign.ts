// Keeps the Sign port with a key held in memory (the file it comes from is read by home/key-files.ts).

import { ed25519PublicKey, ed25519Sign } from '#platform';
import type { Sign } from '../kernel/ports.ts';

/** @param seed the 32 bytes of RFC 8032 that a key file holds. */
export function signKeeper(seed: Uint8Array): Sign {
  return {
    publicKey: ed25519PublicKey(seed),
    sign: (bytes, done) => queueMicrotask(() => done(ed25519Sign(seed, bytes))),
  };
}
