// The platform keeper for engines without `node:` (a browser worker): the same promises from the noble libraries, slower.

import * as ed from '@noble/ed25519';
import { ripemd160 as nobleRipemd } from '@noble/hashes/legacy.js';
import { sha256 as nobleSha256, sha512 as nobleSha512 } from '@noble/hashes/sha2.js';
import type { RunningSha256 } from './platform.d.ts';

ed.hashes.sha512 = nobleSha512;

export const sha256 = (bytes: Uint8Array): Uint8Array => nobleSha256(bytes);
export const sha512 = (bytes: Uint8Array): Uint8Array => nobleSha512(bytes);
export const ripemd160 = (bytes: Uint8Array): Uint8Array => nobleRipemd(bytes);

const running = (hash: ReturnType<typeof nobleSha256.create>): RunningSha256 => ({
  update: (bytes) => void hash.update(bytes),
  copy: () => running(hash.clone()),
  digest: () => hash.digest(),
});
export const runningSha256 = (): RunningSha256 => running(nobleSha256.create());

export const ed25519PublicKey = (seed: Uint8Array): Uint8Array => ed.getPublicKey(seed);
export const ed25519Sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => ed.sign(message, seed);
export function ed25519VerifyStrict(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    return ed.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

export const ed25519Engine = (): string => 'noble';

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function hexEncode(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Arguments of one call; longer texts are made piece by piece. */
const PIECE_BYTES = 1024;

export function latin1Decode(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  return text;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
export const utf8Encode = (text: string): Uint8Array => encoder.encode(text);
export const utf8Decode = (bytes: Uint8Array): string => decoder.decode(bytes);
