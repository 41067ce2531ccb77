// What an engine for ed25519 does, and how keys that it has prepared are found again.

export interface Ed25519 {
  readonly name: string;
  /** 32 bytes each. */
  publicKey(seed: Uint8Array): Uint8Array;
  /** 64 bytes, the same of every engine (RFC 8032). */
  sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  /** Of a key of 32 bytes and a signature of 64; yes only where ZIP-215 says yes. */
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

/** To prepare a key costs as much as a verification; this many validators' keys stay prepared. */
const KEYS_MAX = 4096;

export function keyCache<Key>(make: (raw: Uint8Array) => Key): (raw: Uint8Array) => Key {
  const made = new Map<string, Key>();
  return (raw) => {
    const name = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1');
    let key = made.get(name);
    if (!key) {
      if (made.size >= KEYS_MAX) made.clear();
      key = make(raw);
      made.set(name, key);
    }
    return key;
  };
}
