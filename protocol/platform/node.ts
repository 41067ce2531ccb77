// The platform keeper for Node: native hashes and ed25519. The only file below floor 4 that may import `node:`.

import * as nodeCrypto from 'node:crypto';
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

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
/** A key object costs as much to make as a verification; this many validators' keys stay made. */
const KEY_OBJECTS_MAX = 4096;

function keyCache(
  make: (raw: Uint8Array) => nodeCrypto.KeyObject,
): (raw: Uint8Array) => nodeCrypto.KeyObject {
  const made = new Map<string, nodeCrypto.KeyObject>();
  return (raw) => {
    const name = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1');
    let key = made.get(name);
    if (!key) {
      if (made.size >= KEY_OBJECTS_MAX) made.clear();
      key = make(raw);
      made.set(name, key);
    }
    return key;
  };
}
const privateKey = keyCache((seed) =>
  nodeCrypto.createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' }),
);
const publicKeyOf = keyCache((raw) =>
  nodeCrypto.createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' }),
);

export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  const spki = nodeCrypto.createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' });
  return bytesOf(Buffer.from(spki.subarray(SPKI_PREFIX.length)));
}

export const ed25519Sign = (seed: Uint8Array, message: Uint8Array): Uint8Array =>
  bytesOf(nodeCrypto.sign(null, message, privateKey(seed)));

export function ed25519VerifyStrict(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    return nodeCrypto.verify(null, message, publicKeyOf(publicKey), signature);
  } catch {
    return false; // some engines throw on encodings that they do not like; ZIP-215 decides then
  }
}

const { latin1Slice } = Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
};
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
