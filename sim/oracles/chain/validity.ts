// What a block must say: of itself, of the block before it, of what the application answered, and of the time.

import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import type { Block, Commit } from '../../../protocol/types.ts';
import type { WorldAbout } from '../../oracle.ts';
import { blockBytes, evidenceListBytes } from '../canonical/block.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import {
  commitHash,
  dataHash,
  evidenceHash,
  paramsHash,
  partsHash,
  resultsHash,
} from '../canonical/bytes.ts';
import { BLOCK_PROTOCOL, FLAG_ABSENT, ZERO_TIME_NS } from '../canonical/numbers.ts';
import type { GhostChain, GhostSet } from '../ghost/ghost.ts';
import type { KnownHeight } from '../ghost/heights.ts';

/** What is wrong with a block, each as the end of a sentence that begins with it. */
export function* wrongWith(
  block: Block,
  bytes: Uint8Array,
  before: KnownHeight | undefined,
  ghost: GhostChain,
): Generator<string> {
  const { header, lastCommit } = block;
  if (header.chainId !== ghost.chainId) yield `is of chain ${header.chainId}`;
  if (!equalBytes(bytes, blockBytes(block))) yield 'has other bytes than CometBFT makes of it';
  yield* wrongSizes(block, bytes, ghost);
  if (before && !equalBytes(header.lastBlockId.hash, before.hash))
    yield 'does not follow the block before it';
  if (lastCommit && lastCommit.height > 0n && !equalBlockId(header.lastBlockId, lastCommit.blockId))
    yield 'names another block before it than its last commit is for';
  const isFirst = header.height === ghost.genesis.initialHeight;
  if (isFirst && ((lastCommit?.signatures.length ?? 0) > 0 || header.lastBlockId.hash.length > 0))
    yield 'follows another block, and is the first';
  if (isFirst && lastCommit && (lastCommit.height !== 0n || lastCommit.round < 0))
    yield `is the first, and carries a commit of ${lastCommit.height}/${lastCommit.round}`;
  if (isFirst && header.version.block !== BLOCK_PROTOCOL)
    yield `is the first, and of block protocol ${header.version.block}, not ${BLOCK_PROTOCOL}`;
  if (isFirst && !equalBytes(header.lastResultsHash, resultsHash([])))
    yield 'is the first, and speaks of results';
  if (!isFirst && lastCommit?.height !== header.height - 1n) yield 'carries no commit of the block before it';
  if (before) yield* wrongAfter(block, before, ghost);
  if (!equalBytes(header.dataHash, dataHash(block.txs))) yield 'has another data hash than its transactions';
  if (lastCommit && !equalBytes(header.lastCommitHash, commitHash(lastCommit)))
    yield 'has a wrong last commit hash';
  for (const { flag, validatorAddress, timeNs, signature } of lastCommit?.signatures ?? [])
    if (
      flag === FLAG_ABSENT &&
      (validatorAddress.length > 0 || signature.length > 0 || timeNs !== ZERO_TIME_NS)
    )
      yield 'has words of somebody in its last commit who is absent there';
  if (!equalBytes(header.evidenceHash, evidenceHash(block.evidence))) yield 'has a wrong evidence hash';
  const proposer = hexOf(header.proposerAddress);
  if (ghost.set(header.height)?.powerOf(proposer) === 0n) yield `was proposed by ${proposer}, no validator`;
}

/** The parameters in force name their hash and the bytes that there may be. */
function* wrongSizes({ header, evidence }: Block, bytes: Uint8Array, ghost: GhostChain): Generator<string> {
  const params = ghost.params(header.height);
  if (!params) return;
  if (!equalBytes(header.consensusHash, paramsHash(params)))
    yield 'has another consensus hash than the parameters in force';
  const { maxBytes } = params.block;
  if (maxBytes >= 0n && BigInt(bytes.length) > maxBytes)
    yield `has ${bytes.length} bytes; block.max_bytes is ${maxBytes}`;
  const evidenceBytes = evidence.length > 0 ? evidenceListBytes(evidence).length : 0;
  if (BigInt(evidenceBytes) > params.evidence.maxBytes)
    yield `has ${evidenceBytes} bytes of evidence; evidence.max_bytes is ${params.evidence.maxBytes}`;
}

/** It carries on the version, or has that of the parameters which the block before it changed, and the application's answers to that block. */
function* wrongAfter(
  { header: { version, appHash, lastResultsHash, height, lastBlockId } }: Block,
  before: KnownHeight,
  ghost: GhostChain,
): Generator<string> {
  if (before.bytes && !equalBytes(lastBlockId.parts.hash, partsHash(before.bytes)))
    yield 'names other parts of the block before it than its bytes have';
  const known = before.block?.header.version;
  const app = before.changedVersion ? ghost.params(height)?.version.app : known?.app;
  const isRight = version.block === known?.block && (app === undefined || version.app === app);
  if (known && !isRight)
    yield `is of version ${version.block}/${version.app}, and should be of ${known.block}/${app}`;
  const answered = before.answeredAppHash ?? before.appHash;
  if (answered && !equalBytes(appHash, answered)) yield 'carries another app hash than the application gave';
  const results = before.answeredResultsHash;
  if (results && !equalBytes(lastResultsHash, results))
    yield 'carries another hash of results than those that the application gave';
}

// --- time ------------------------------------------------------------------------------------------------------------

/** Each block is later than the one before by this much at least (spec 5.4). */
export const BLOCK_STEP_NS = 1_000_000n;

/** The time is what the last commit says; strictly increasing; never ahead of every honest clock, but for what each block must add. */
export function* wrongTime(
  { header: { height, timeNs }, lastCommit }: Block,
  before: KnownHeight | undefined,
  ghost: GhostChain,
  about: WorldAbout,
): Generator<string> {
  if (height === ghost.genesis.initialHeight && timeNs !== ghost.genesisTimeNs)
    yield 'is the first, and not of the time of the genesis';
  const median = medianOf(lastCommit, ghost.set(height - 1n));
  if (median !== null && timeNs !== median) yield 'is not of the median time of its last commit';
  const earlier = before?.block?.header.timeNs;
  if (earlier !== undefined && timeNs <= earlier) yield 'is not later than the block before it';
  const latest = latestClock(ghost, about);
  if (timeNs > latest && (earlier === undefined || timeNs > earlier + BLOCK_STEP_NS))
    yield `is ${timeNs - latest} ns ahead of every honest clock`;
}

/** A clock may have been set back meanwhile: votes that it dated count as they are. */
export function latestClock({ genesisTimeNs }: GhostChain, { machines, isHonest }: WorldAbout): bigint {
  let latest = genesisTimeNs;
  for (const machine of machines) {
    const wall = machine.clock.wallLatestNs();
    if (wall > latest && isHonest(machine)) latest = wall;
  }
  return latest;
}

/** The earliest time that half of the power which voted is not later than; null: nobody voted. */
function medianOf(commit: Commit | null, set: GhostSet | undefined): bigint | null {
  const times: { readonly timeNs: bigint; readonly power: bigint }[] = [];
  let left = 0n;
  for (const [index, { flag, timeNs }] of (commit?.signatures ?? []).entries()) {
    const power = set?.members[index]?.power;
    if (flag === FLAG_ABSENT || power === undefined) continue;
    times.push({ timeNs, power });
    left += power;
  }
  left /= 2n;
  times.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
  for (const { timeNs, power } of times) {
    if (left <= power) return timeNs;
    left -= power;
  }
  return null;
}
