// Owns the way of a light client through a chain: which heights it asks for, in which order, until it trusts
// the target or knows why not (spec 5.15; CometBFT `light/client.go`). It is a generator that yields the
// height it wants and is handed the block, so that whoever drives it may be synchronous or not.

import { equalBytes } from '../bytes.ts';
import { headerHash } from '../hashes.ts';
import { isRefusal, refuse } from '../refusal.ts';
import { verifyCommitLight } from '../rules/commit.ts';
import type { Verify } from '../signatures.ts';
import type { Hash, LightBlock } from '../types.ts';
import { validateLightBlock } from '../validate.ts';
import {
  type LightRefusal,
  type TrustOptions,
  validateTrustLevel,
  verifyBackwards,
  verifyStep,
} from './verify.ts';

/** Where a failed verification stood: between a height it trusted and one it could not. */
export type SkippingRefusal =
  | LightRefusal
  | { readonly refused: 'no-block'; readonly because: string; readonly height: bigint };

/**
 * The blocks trusted on the way, oldest first: the trusted one, ..., the target (when going back: target
 * last).
 */
export interface TrustPath {
  readonly path: readonly LightBlock[];
}

/** Yields heights; wants the block of each, or null if nobody has it. */
export type LightWalk<Result> = Generator<bigint, Result, LightBlock | null>;

export interface LightClientOptions extends TrustOptions {
  readonly chainId: string;
}

/**
 * The pivot lies this far, in sixteenths, between what is trusted and what is not: just above the middle, as
 * upstream's.
 */
const PIVOT_SIXTEENTHS = 9n;

/**
 * From a height and hash that the user trusts to `target`. Fetches the trusted block first, then the target,
 * then what lies between as needed; below the trusted height it walks back block by block.
 */
export function* walkFromTrust(
  trust: { readonly height: bigint; readonly hash: Hash },
  target: bigint,
  options: LightClientOptions,
  verify: Verify,
): LightWalk<TrustPath | SkippingRefusal> {
  const level = validateTrustLevel(options.level);
  if (level !== null) return level;
  if (options.periodNs <= 0n)
    return refuse('expired', `trusting period must be greater than zero, not ${options.periodNs}`);
  const trusted = yield* fetchBlock(trust.height, options.chainId);
  if (isRefusal(trusted)) return trusted;
  const { header, commit } = trusted.signedHeader;
  if (!equalBytes(headerHash(header), trust.hash)) {
    return refuse('invalid', "the header at the trusted height has not the trusted header's hash");
  }
  const signed = verifyCommitLight(
    options.chainId,
    trusted.validatorSet,
    commit.blockId,
    header.height,
    commit,
    verify,
  );
  if (signed !== null) return refuse('invalid', `invalid commit: ${signed.because}`);
  return yield* walkFromBlock(trusted, target, options, verify);
}

/** From a block that is trusted already to `target`, forwards by skipping or backwards by hash. */
export function* walkFromBlock(
  trusted: LightBlock,
  target: bigint,
  options: LightClientOptions,
  verify: Verify,
): LightWalk<TrustPath | SkippingRefusal> {
  if (target === trusted.signedHeader.header.height) return { path: [trusted] };
  const block = yield* fetchBlock(target, options.chainId);
  if (isRefusal(block)) return block;
  return target < trusted.signedHeader.header.height
    ? yield* walkBack(trusted, block, options.chainId)
    : yield* skip(trusted, block, options, verify);
}

/**
 * `verifySkipping`: try the target; while too few of those we trust signed, try something nearer; then go on
 * from there. Blocks fetched on the way down are kept for the way up.
 */
export function* skip(
  trusted: LightBlock,
  target: LightBlock,
  options: LightClientOptions,
  verify: Verify,
): LightWalk<TrustPath | SkippingRefusal> {
  const path = [trusted];
  const waiting = [target]; // each nearer than the one before
  let verified = trusted;
  let depth = 0;
  for (;;) {
    const next = waiting[depth]!;
    const refusal = verifyStep(
      verified.signedHeader,
      verified.validatorSet,
      next.signedHeader,
      next.validatorSet,
      options,
      verify,
    );
    if (refusal === null) {
      path.push(next);
      if (depth === 0) return { path };
      verified = next;
      waiting.length = depth;
      depth = 0;
      continue;
    }
    if (refusal.refused !== 'cannot-be-trusted') return refusal;
    if (depth === waiting.length - 1) {
      const from = verified.signedHeader.header.height;
      const gap = next.signedHeader.header.height - from;
      const between = yield* fetchBlock(from + (gap * PIVOT_SIXTEENTHS) / 16n, options.chainId);
      // Nobody has the pivot: then we stay where we are, without trust.
      if (isRefusal(between)) return between.refused === 'no-block' ? refusal : between;
      waiting.push(between);
    }
    depth += 1;
  }
}

/**
 * `backwards`: each header's `last_block_id` is the hash of the one before. `target` is checked against the
 * chain of hashes.
 */
function* walkBack(
  trusted: LightBlock,
  target: LightBlock,
  chainId: string,
): LightWalk<TrustPath | SkippingRefusal> {
  const path = [trusted];
  let verified = trusted;
  const heightTarget = target.signedHeader.header.height;
  while (verified.signedHeader.header.height > heightTarget) {
    const before = yield* fetchBlock(verified.signedHeader.header.height - 1n, chainId);
    if (isRefusal(before)) return before;
    const refusal = verifyBackwards(before.signedHeader.header, verified.signedHeader.header);
    if (refusal !== null) return refusal;
    path.push(before);
    verified = before;
  }
  // Fetched twice, first as the target: a provider must not have told us two stories.
  if (equalBytes(headerHash(verified.signedHeader.header), headerHash(target.signedHeader.header)))
    return { path };
  return refuse('invalid', 'the target is not the block that the chain of hashes leads to');
}

/** Runs a walk on blocks that are at hand. */
export function walkNow<Result>(
  walk: LightWalk<Result>,
  fetch: (height: bigint) => LightBlock | null,
): Result {
  let turn = walk.next();
  while (!turn.done) turn = walk.next(fetch(turn.value));
  return turn.value;
}

/**
 * A provider's answer is looked at before it is used: another height than asked for, or a malformed block, is
 * invalid.
 */
function* fetchBlock(height: bigint, chainId: string): LightWalk<LightBlock | SkippingRefusal> {
  const block = yield height;
  if (block === null) return { refused: 'no-block', because: `no light block at height ${height}`, height };
  const form = validateLightBlock(block, chainId);
  if (form !== null) return refuse('invalid', `light block of height ${height}: ${form.because}`);
  if (block.signedHeader.header.height === height) return block;
  return refuse('invalid', `asked for the light block of height ${height}, got another`);
}
