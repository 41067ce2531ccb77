// ed25519 by OpenSSL: what every Node brings.

import * as nodeCrypto from 'node:crypto';
import { type Ed25519, keyCache } from './ed25519.ts';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const privateKeyOf = keyCache((seed) =>
  nodeCrypto.createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' }),
);
const publicKeyOf = keyCache((raw) =>
  nodeCrypto.createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' }),
);

export const openssl: Ed25519 = {
  name: 'OpenSSL',

  publicKey(seed) {
    const spki = nodeCrypto.createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' });
    return Uint8Array.from(spki.subarray(SPKI_PREFIX.length));
  },

  sign(seed, message) {
    const { buffer, byteOffset, length } = nodeCrypto.sign(null, message, privateKeyOf(seed));
    return new Uint8Array(buffer, byteOffset, length);
  },

  verify(publicKey, message, signature) {
    try {
      return nodeCrypto.verify(null, message, publicKeyOf(publicKey), signature);
    } catch {
      return false; // some engines throw on encodings that they do not like; ZIP-215 decides then
    }
  },
};
