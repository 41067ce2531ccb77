// Owns signing in the simulator: real ed25519, or "sim-crypto", whose signatures cost a hash and cannot be
// forged inside the simulation.

import { ed25519PublicKey, ed25519Sign, sha256, utf8Encode } from '#platform';
import { byteKey, equalBytes, roomFor } from '../protocol/bytes.ts';
import { must } from '../protocol/refusal.ts';
import type { Verify } from '../protocol/signatures.ts';
import type { PublicKey } from '../protocol/types.ts';
import type { Sign } from '../runtime/kernel/ports.ts';
import type { Agenda, Life } from './agenda.ts';
import type { Stream } from './choices.ts';
import { drawSpan, MICROSECOND, type Span, span } from './latency.ts';

/** A private key in the hand of its keeper: signs at once. */
export interface SigningKey {
  /** 32 bytes of an ed25519 key. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export const ed25519Key = (seed: Uint8Array): SigningKey => ({
  publicKey: ed25519PublicKey(seed),
  sign: (message) => ed25519Sign(seed, message),
});

/** Signatures remembered: those of some heights of a hundred validators. A power of two. */
const REMEMBERED = 8192;
/** A slot of memory: the signature (64), the key (32), the message. Longer messages are not remembered. */
const SLOT_BYTES = 256;
const KEY_AT = 64;
const MESSAGE_AT = 96;

/** Does `bytes` stand in `memory` from `at` on? */
function standsAt(memory: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (memory[at + i] !== bytes[i]) return false;
  return true;
}

/**
 * Signature = A, SHA-256(secret, A) with A = SHA-256(secret, public key, message). The secret is the world's; no actor ever sees it, so a
 * liar can only sign with the key whose `SigningKey` it was given. Public keys are real, so addresses and
 * sets are too.
 */
export class SimCrypto {
  private readonly secret: Uint8Array;
  private scratch = new Uint8Array(512);
  private readonly isRemembering: boolean;
  // Slot by the first bytes of the signature; what stands there is compared in full.
  private readonly slots: Uint8Array;
  private readonly messageSizes: Uint8Array;
  private readonly keys = new Map<string, SigningKey>();

  /** With `forget` every verification hashes: the verdicts are the same. */
  constructor(secret: Uint8Array, memory: 'remember' | 'forget' = 'remember') {
    must(secret.length === 32, 'the secret of a world has 32 bytes');
    this.secret = secret;
    this.isRemembering = memory === 'remember';
    this.slots = new Uint8Array(this.isRemembering ? REMEMBERED * SLOT_BYTES : 0);
    this.messageSizes = new Uint8Array(this.isRemembering ? REMEMBERED : 0);
  }

  key(seed: Uint8Array): SigningKey {
    const name = byteKey(seed);
    let key = this.keys.get(name);
    if (!key) {
      const publicKey = ed25519PublicKey(seed);
      key = { publicKey, sign: (message) => this.signAs(publicKey, message) };
      this.keys.set(name, key);
    }
    return key;
  }

  private signAs(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
    const signature = this.mac(publicKey, message);
    if (this.isRemembering) this.remember(publicKey, message, signature);
    return signature;
  }

  private mac(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
    // The secret and the key have fixed lengths, so no two inputs run together.
    const length = 64 + message.length;
    if (length > this.scratch.length) this.scratch = new Uint8Array(length * 2);
    const { scratch } = this;
    scratch.set(this.secret);
    scratch.set(publicKey, 32);
    scratch.set(message, 64);
    const first = sha256(scratch.subarray(0, length));
    scratch.set(first, 32);
    const signature = roomFor(64);
    signature.set(first);
    signature.set(sha256(scratch.subarray(0, 64)), 32);
    return signature;
  }

  private remember(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): void {
    if (message.length > SLOT_BYTES - MESSAGE_AT) return;
    const slot = slotOf(signature);
    const at = slot * SLOT_BYTES;
    this.slots.set(signature, at);
    this.slots.set(publicKey, at + KEY_AT);
    this.slots.set(message, at + MESSAGE_AT);
    this.messageSizes[slot] = message.length;
  }

  private isRemembered(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    if (!this.isRemembering) return false;
    const slot = slotOf(signature);
    const at = slot * SLOT_BYTES;
    return (
      this.messageSizes[slot] === message.length &&
      standsAt(this.slots, at, signature) &&
      standsAt(this.slots, at + KEY_AT, publicKey) &&
      standsAt(this.slots, at + MESSAGE_AT, message)
    );
  }

  readonly verify: Verify = (key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean => {
    if (key.type !== 'ed25519' || key.bytes.length !== 32 || signature.length !== 64) return false;
    if (this.isRemembered(key.bytes, message, signature)) return true;
    const isGood = equalBytes(this.mac(key.bytes, message), signature);
    if (isGood && this.isRemembering) this.remember(key.bytes, message, signature);
    return isGood;
  };
}

const SECRET = sha256(utf8Encode('the secret of sim-crypto'));
const remembering = new SimCrypto(SECRET);
const forgetting = new SimCrypto(SECRET, 'forget');

/**
 * The sim-crypto of every world: one constant secret, so that a trace can be replayed by anybody. Its memory is two megabytes and holds
 * for all worlds, since what it remembers is true in each.
 */
export const worldCrypto = (memory: 'remember' | 'forget' = 'remember'): SimCrypto =>
  memory === 'remember' ? remembering : forgetting;

const slotOf = (signature: Uint8Array): number =>
  ((signature[0] as number) | ((signature[1] as number) << 8)) & (REMEMBERED - 1);

export const SIGNING: Span = span(10 * MICROSECOND, 100 * MICROSECOND);

/** The sign port of one life: answers in order, after a drawn moment. */
export class SimSign implements Sign {
  readonly publicKey: Uint8Array;
  private readonly agenda: Agenda;
  private readonly life: Life;
  private readonly stream: Stream;
  private readonly key: SigningKey;
  private readonly pace: { readonly signing: Span };
  private lastAt = 0;

  /** `pace` says how long the next signature takes. */
  constructor(agenda: Agenda, life: Life, stream: Stream, key: SigningKey, pace = { signing: SIGNING }) {
    this.agenda = agenda;
    this.life = life;
    this.stream = stream;
    this.key = key;
    this.pace = pace;
    this.publicKey = key.publicKey;
  }

  sign(bytes: Uint8Array, done: (signature: Uint8Array) => void): void {
    const { agenda } = this;
    const signature = this.key.sign(bytes);
    this.lastAt = Math.max(agenda.now + drawSpan(this.stream, this.pace.signing), this.lastAt + 1);
    agenda.at(this.lastAt, () => done(signature), 0, this.life);
  }
}
