// What purity takes from the platform: SHA-2, RIPEMD-160, ed25519, UTF-8 and Latin-1. One import, `#platform`; nothing else below floor 4 may ask the world for anything.

/** A SHA-256 that takes its bytes piece by piece. `digest` ends it; `copy` forks it so that a running digest can be read. */
export interface RunningSha256 {
  update(bytes: Uint8Array): void;
  copy(): RunningSha256;
  digest(): Uint8Array;
}

/** One-shot hashes; a fresh array each. */
export function sha256(bytes: Uint8Array): Uint8Array;
export function sha512(bytes: Uint8Array): Uint8Array;
export function ripemd160(bytes: Uint8Array): Uint8Array;
export function runningSha256(): RunningSha256;

/** ed25519 keys from a 32-byte seed (RFC 8032); `sign` gives 64 bytes. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array;
export function ed25519Sign(seed: Uint8Array, message: Uint8Array): Uint8Array;

/**
 * The platform's own, RFC 8032-strict verification. True is final (it implies ZIP-215 validity); false is not: ask ZIP-215 then.
 */
export function ed25519VerifyStrict(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean;

/** Whose library signs and verifies. */
export function ed25519Engine(): string;

/** Two lower-case digits a byte. */
export function hexEncode(bytes: Uint8Array): string;
/** One char per byte. */
export function latin1Decode(bytes: Uint8Array): string;
export function utf8Encode(text: string): Uint8Array;
/** Malformed input decodes with U+FFFD, as the WHATWG decoder does. */
export function utf8Decode(bytes: Uint8Array): string;
