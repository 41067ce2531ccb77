// The platform keeper for Node: native hashes and ed25519. Below floor 4 only it, and the two engines for ed25519 beside it, may import `node:`.

import * as nodeCrypto from 'node:crypto';
import type { Ed25519 } from './ed25519.ts';
import { openssl } from './ed25519-openssl.ts';
import { sodium } from './ed25519-sodium.ts';
import type { RunningSha256 } from './platform.d.ts';

const bytesOf = (buffer: Buffer): Uint8Array =>
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
const digestOf = (algorithm: string, bytes: Uint8Array): Uint8Array =>
  bytesOf(nodeCrypto.createHash(algorithm).update(bytes).digest());

// crypto.hash (Node 20.12) costs half of createHash on short inputs, and a third again when it answers with a string of bytes instead of
// a Buffer made on the native side.
type OneShot = (algorithm: string, data: Uint8Array, encoding: 'latin1') => string;
const oneShot = (nodeCrypto as unknown as { hash?: OneShot }).hash;

function hashed(algorithm: 'sha256' | 'sha512', size: number, bytes: Uint8Array): Uint8Array {
  if (!oneShot) return digestOf(algorithm, bytes);
  const text = oneShot(algorithm, bytes, 'latin1');
  const digest = new Uint8Array(size);
  for (let i = 0; i < size; i++) digest[i] = text.charCodeAt(i);
  return digest;
}

export const sha256 = (bytes: Uint8Array): Uint8Array => hashed('sha256', 32, bytes);
export const sha512 = (bytes: Uint8Array): Uint8Array => hashed('sha512', 64, bytes);
export const ripemd160 = (bytes: Uint8Array): Uint8Array => digestOf('ripemd160', bytes);

const running = (hash: nodeCrypto.Hash): RunningSha256 => ({
  update: (bytes) => void hash.update(bytes),
  copy: () => running(hash.copy()),
  digest: () => bytesOf(hash.digest()),
});
export const runningSha256 = (): RunningSha256 => running(nodeCrypto.createHash('sha256'));

/** Made when a signature is asked for: to load an addon takes longer than most runs need. */
let engine: Ed25519 | null = null;
const ed25519 = (): Ed25519 => {
  engine ??= sodium() ?? openssl;
  return engine;
};

export const ed25519PublicKey = (seed: Uint8Array): Uint8Array => ed25519().publicKey(seed);
export const ed25519Sign = (seed: Uint8Array, message: Uint8Array): Uint8Array =>
  ed25519().sign(seed, message);
export const ed25519VerifyStrict = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean =>
  publicKey.length === 32 && signature.length === 64 && ed25519().verify(publicKey, message, signature);
export const ed25519Engine = (): string => ed25519().name;

const { hexSlice, latin1Slice } = Buffer.prototype as unknown as {
  hexSlice(this: Uint8Array, start: number, end: number): string;
  latin1Slice(this: Uint8Array, start: number, end: number): string;
};
export const hexEncode = (bytes: Uint8Array): string => hexSlice.call(bytes, 0, bytes.length);
export const latin1Decode = (bytes: Uint8Array): string => latin1Slice.call(bytes, 0, bytes.length);

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
/** V8 keeps an array of so many bytes inside its object, and the encoder's way there and back costs more than these steps. */
const SHORT_CHARS_MAX = 64;

export function utf8Encode(text: string): Uint8Array {
  const { length } = text;
  if (length > SHORT_CHARS_MAX) return encoder.encode(text);
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return encoder.encode(text);
    bytes[i] = code;
  }
  return bytes;
}

export const utf8Decode = (bytes: Uint8Array): string => decoder.decode(bytes);
