// Between generated messages and the domain: what several of them share, and a door that turns what their
// decoders throw into refusals.

import type * as proto from '../gen/abci.ts';
import type { PublicKey as ProtoPublicKey } from '../gen/crypto.ts';
import type { Duration } from '../gen/google/protobuf/duration.ts';
import type { Timestamp } from '../gen/google/protobuf/timestamp.ts';
import type { ConsensusParams as ProtoConsensusParams } from '../gen/types.ts';
import { ED25519_KEY_BYTES, SECP256K1_KEY_BYTES } from '../keys.ts';
import { refuse } from '../refusal.ts';
import { NS_PER_S, secondsOf, timeOf } from '../time.ts';
import {
  type ConsensusParamsUpdate,
  type PublicKey,
  type TimeNs,
  type ValidatorUpdate,
  ZERO_TIME_NS,
} from '../types.ts';
import { Malformed, type MalformedBytes } from './reader.ts';

/** Nothing of ours is changed by an encoder; the generated types just do not say so. */
export const list = <T>(values: readonly T[]): T[] => values as T[];

/**
 * `decode` is generated: whatever it throws means bytes that are not such a message. `from` throws
 * Malformed alone.
 */
export function decodeGenerated<P, T>(
  what: string,
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => P,
  from: (message: P) => T,
): T | MalformedBytes {
  let message: P;
  try {
    message = decode(bytes);
  } catch {
    return refuse('malformed-bytes', `${what} cannot be decoded`);
  }
  try {
    return from(message);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return refuse('malformed-bytes', `${what} cannot be decoded: ${error.message}`);
  }
}

export function toTimestamp(timeNs: TimeNs): Timestamp {
  const seconds = secondsOf(timeNs);
  return { seconds, nanos: Number(timeNs - seconds * NS_PER_S) };
}

/** An absent time is Go's zero time; nanos and years outside their range are no time at all. */
export function fromTimestamp(time: Timestamp | undefined): TimeNs {
  if (!time) return ZERO_TIME_NS;
  const { seconds, nanos } = time;
  if (seconds < -62_135_596_800n || seconds >= 253_402_300_800n || nanos < 0 || nanos >= 1_000_000_000) {
    throw new Malformed(`time of ${seconds} seconds and ${nanos} nanoseconds`);
  }
  return timeOf(seconds, nanos);
}

export function toDuration(durationNs: bigint): Duration {
  const seconds = durationNs / NS_PER_S;
  return { seconds, nanos: Number(durationNs - seconds * NS_PER_S) };
}

const fromDuration = (duration: Duration | undefined): bigint =>
  duration ? timeOf(duration.seconds, duration.nanos) : 0n;

export const toPublicKey = (key: PublicKey): ProtoPublicKey => ({
  sum:
    key.type === 'ed25519'
      ? { $case: 'ed25519', ed25519: key.bytes }
      : { $case: 'secp256k1', secp256k1: key.bytes },
});

export function fromPublicKey(key: ProtoPublicKey | undefined): PublicKey {
  const sum = key?.sum;
  if (sum?.$case === 'ed25519' && sum.ed25519.length === ED25519_KEY_BYTES) {
    return { type: 'ed25519', bytes: sum.ed25519 };
  }
  if (sum?.$case === 'secp256k1' && sum.secp256k1.length === SECP256K1_KEY_BYTES) {
    return { type: 'secp256k1', bytes: sum.secp256k1 };
  }
  throw new Malformed('public key of an unknown kind or size');
}

export const toValidatorUpdate = (update: ValidatorUpdate): proto.ValidatorUpdate => ({
  pubKey: toPublicKey(update.publicKey),
  power: update.power,
});

export const fromValidatorUpdate = (update: proto.ValidatorUpdate): ValidatorUpdate => ({
  publicKey: fromPublicKey(update.pubKey),
  power: update.power,
});

/** Members that are absent stay so. */
export function toParams(params: ConsensusParamsUpdate): ProtoConsensusParams {
  const { block, evidence, validator, version, abci } = params;
  return {
    block,
    evidence: evidence && {
      maxAgeNumBlocks: evidence.maxAgeBlocks,
      maxAgeDuration: toDuration(evidence.maxAgeNs),
      maxBytes: evidence.maxBytes,
    },
    validator: validator && { pubKeyTypes: list(validator.publicKeyTypes) },
    version,
    abci,
  };
}

export function fromParams(params: ProtoConsensusParams): ConsensusParamsUpdate {
  const { block, evidence, validator, version, abci } = params;
  return {
    ...(block && { block }),
    ...(evidence && {
      evidence: {
        maxAgeBlocks: evidence.maxAgeNumBlocks,
        maxAgeNs: fromDuration(evidence.maxAgeDuration),
        maxBytes: evidence.maxBytes,
      },
    }),
    ...(validator && { validator: { publicKeyTypes: validator.pubKeyTypes } }),
    ...(version && { version }),
    ...(abci && { abci }),
  };
}
