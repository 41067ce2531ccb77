// Owns one step of trust: from a header that a light client trusts to another it was given (spec 5.15;
// CometBFT `light/verifier.go`).

import { equalBytes } from '../bytes.ts';
import { headerHash, validatorsHash } from '../hashes.ts';
import { type Refusal, refuse } from '../refusal.ts';
import {
  type CommitRefusal,
  TRUST_LEVEL_DEFAULT,
  type TrustLevel,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from '../rules/commit.ts';
import type { Verify } from '../signatures.ts';
import type { Header, SignedHeader, TimeNs, ValidatorSet } from '../types.ts';
import { validateHeader, validateSignedHeader } from '../validate.ts';

/** Whom a light client believes, until when, and what time it is. */
export interface TrustOptions {
  readonly level: TrustLevel;
  /** A header is trusted this long after its own time; shorter than it takes to unbond stake. */
  readonly periodNs: bigint;
  /** How far a header's time may be ahead of `nowNs`. */
  readonly clockDriftNs: bigint;
  readonly nowNs: TimeNs;
}

export const TRUST_CLOCK_DRIFT_DEFAULT_NS = 10_000_000_000n;

/** `cannot-be-trusted`: too few of those trusted signed; a header nearer by may bridge the gap. */
export type LightRefusal = Refusal<'cannot-be-trusted' | 'invalid' | 'expired' | 'trust-level'>;

const invalid = (because: string): LightRefusal => refuse('invalid', because);

/** A level in [1/3, 1]. */
export function validateTrustLevel({ numerator, denominator }: TrustLevel): LightRefusal | null {
  if (denominator !== 0n && numerator * 3n >= denominator && numerator <= denominator) return null;
  return refuse('trust-level', `trustLevel must be within [1/3, 1], given ${numerator}/${denominator}`);
}

export const isHeaderExpired = (header: Header, periodNs: bigint, nowNs: TimeNs): boolean =>
  header.timeNs + periodNs <= nowNs;

/**
 * A step to any later height (`Verify`). `trustedSet`: the set of the trusted header, or the one it names as
 * next.
 */
export function verifyStep(
  trusted: SignedHeader,
  trustedSet: ValidatorSet,
  untrusted: SignedHeader,
  untrustedSet: ValidatorSet,
  options: TrustOptions,
  verify: Verify,
): LightRefusal | null {
  return untrusted.header.height === trusted.header.height + 1n
    ? verifyAdjacent(trusted, untrusted, untrustedSet, options, verify)
    : verifyNonAdjacent(trusted, trustedSet, untrusted, untrustedSet, options, verify);
}

/** To the next height: the trusted header already names the set that must sign it (`VerifyAdjacent`). */
export function verifyAdjacent(
  trusted: SignedHeader,
  untrusted: SignedHeader,
  untrustedSet: ValidatorSet,
  options: TrustOptions,
  verify: Verify,
): LightRefusal | null {
  if (untrusted.header.height !== trusted.header.height + 1n) {
    return invalid('headers must be adjacent in height');
  }
  const form = verifyNew(trusted.header, untrusted, untrustedSet, options);
  if (form !== null) return form;
  if (!equalBytes(untrusted.header.validatorsHash, trusted.header.nextValidatorsHash)) {
    return invalid('the validators of the new header are not the next validators of the trusted one');
  }
  return byOwnSet(trusted.header.chainId, untrusted, untrustedSet, verify);
}

/**
 * Over a gap: enough of the trusted set must have signed, then two thirds of the new one
 * (`VerifyNonAdjacent`).
 */
export function verifyNonAdjacent(
  trusted: SignedHeader,
  trustedSet: ValidatorSet,
  untrusted: SignedHeader,
  untrustedSet: ValidatorSet,
  options: TrustOptions,
  verify: Verify,
): LightRefusal | null {
  if (untrusted.header.height === trusted.header.height + 1n) {
    return invalid('headers must be non adjacent in height');
  }
  const form = verifyNew(trusted.header, untrusted, untrustedSet, options);
  if (form !== null) return form;
  const { chainId } = trusted.header;
  const bridge = verifyCommitLightTrusting(chainId, trustedSet, untrusted.commit, options.level, verify);
  if (bridge !== null) return ofBridge(bridge);
  // Last, because who serves us chooses how large this set is.
  return byOwnSet(chainId, untrusted, untrustedSet, verify);
}

/** One height back, by hash alone (`VerifyBackwards`). */
export function verifyBackwards(untrusted: Header, trusted: Header): LightRefusal | null {
  const form = validateHeader(untrusted);
  if (form !== null) return invalid(form.because);
  if (untrusted.chainId !== trusted.chainId) return invalid('header belongs to another chain');
  if (untrusted.timeNs >= trusted.timeNs) {
    return invalid('expected older header time to be before new header time');
  }
  if (!equalBytes(headerHash(untrusted), trusted.lastBlockId.hash)) {
    return invalid("older header hash does not match trusted header's last block");
  }
  return null;
}

/**
 * The trusted header still counts, and the new one is later, well formed and of the set it was given with.
 */
function verifyNew(
  trusted: Header,
  untrusted: SignedHeader,
  untrustedSet: ValidatorSet,
  { periodNs, clockDriftNs, nowNs }: TrustOptions,
): LightRefusal | null {
  if (isHeaderExpired(trusted, periodNs, nowNs)) {
    return refuse('expired', `the trusted header of height ${trusted.height} has expired`);
  }
  const form = validateSignedHeader(untrusted, trusted.chainId);
  if (form !== null) return invalid(form.because);
  const { header } = untrusted;
  if (header.height <= trusted.height) {
    const heights = `${header.height} to be greater than one of old header ${trusted.height}`;
    return invalid(`expected new header height ${heights}`);
  }
  if (header.timeNs <= trusted.timeNs) {
    return invalid('expected new header time to be after old header time');
  }
  if (header.timeNs >= nowNs + clockDriftNs) return invalid('new header has a time from the future');
  if (!equalBytes(header.validatorsHash, validatorsHash(untrustedSet))) {
    return invalid('expected new header validators to match those that were supplied');
  }
  return null;
}

function byOwnSet(
  chainId: string,
  { header, commit }: SignedHeader,
  set: ValidatorSet,
  verify: Verify,
): LightRefusal | null {
  const refusal = verifyCommitLight(chainId, set, commit.blockId, header.height, commit, verify);
  return refusal === null ? null : invalid(refusal.because);
}

const ofBridge = (refusal: CommitRefusal): LightRefusal =>
  refusal.refused === 'not-enough-power'
    ? refuse('cannot-be-trusted', `cant trust new val set: ${refusal.because}`)
    : invalid(refusal.because);

export { TRUST_LEVEL_DEFAULT, type TrustLevel };
