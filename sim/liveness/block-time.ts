// Whether liars hold the time of the chain back. A block's time is the median of the precommits for the block before it, and must be
// after that block's: liars whose votes for it say an earlier time, and are half of what decides or more, leave nothing valid to propose
// (CometBFT's too; docs/decisions/0010).

import { blockKey, seenCommitKey } from '../../machines/chain/keys.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlock, decodeCommit } from '../../protocol/wire/index.ts';
import type { Machine } from '../machine.ts';
import { FLAG_COMMIT } from '../oracles/canonical/numbers.ts';
import type { GhostSet } from '../oracles/ghost/ghost.ts';

/** After this height, by what those of the core have stored of it; `set` decided it. Of honest votes none counts: theirs are later. */
export function isTimeHeldBack(
  core: readonly Machine[],
  height: bigint,
  set: GhostSet,
  isHonest: (address: string) => boolean,
): boolean {
  const early = new Set<string>();
  for (const { disk } of core) {
    const block = decoded(disk.read('chain', blockKey(height)), decodeBlock);
    const commit = decoded(disk.read('chain', seenCommitKey(height)), decodeCommit);
    if (!block || !commit) continue;
    for (const { flag, timeNs, validatorAddress } of commit.signatures) {
      const address = hexOf(validatorAddress);
      if (flag === FLAG_COMMIT && timeNs <= block.header.timeNs && !isHonest(address)) early.add(address);
    }
  }
  let sum = 0n;
  for (const address of early) sum += set.powerOf(address);
  const quorum = (set.total * 2n) / 3n + 1n;
  return sum > 0n && sum >= quorum / 2n; // the lower median of the smallest commit
}

function decoded<T extends object>(
  bytes: Uint8Array | undefined,
  decode: (bytes: Uint8Array) => T,
): Exclude<T, { readonly refused: string }> | null {
  if (bytes === undefined) return null;
  const value = decode(bytes);
  return isRefusal(value) ? null : (value as Exclude<T, { readonly refused: string }>);
}
