// Whose early votes excuse a chain that stands still: those of liars with half of what decides or more, and nobody else's.

import { describe, expect, it } from 'vitest';
import { blockKey, seenCommitKey } from '../../../machines/chain/keys.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { type Block, FLAG_COMMIT } from '../../../protocol/types.ts';
import { encodeBlock, encodeCommit } from '../../../protocol/wire/index.ts';
import { isTimeHeldBack } from '../../../sim/liveness/block-time.ts';
import type { Machine } from '../../../sim/machine.ts';
import { GhostSet } from '../../../sim/oracles/ghost/ghost.ts';

const none = new Uint8Array();
const noBlock = { hash: none, parts: { total: 0, hash: none } };
const names = [1, 2, 3, 4].map((n) => new Uint8Array(20).fill(n));
const set = new GhostSet(
  names.map((addressBytes) => ({
    address: hexOf(addressBytes),
    addressBytes,
    key: { type: 'ed25519', bytes: new Uint8Array(32) },
    power: 10n,
    priority: 0n,
  })),
  '',
);

/** A node that stored a block of time 1,000 ns, and the precommits of these times for it; null: it has none of that validator. */
function stored(...times: readonly (bigint | null)[]): Machine {
  const block: Block = {
    header: {
      version: { block: 11n, app: 0n },
      chainId: 'c',
      height: 7n,
      timeNs: 1000n,
      lastBlockId: noBlock,
      lastCommitHash: none,
      dataHash: none,
      validatorsHash: none,
      nextValidatorsHash: none,
      consensusHash: none,
      appHash: none,
      lastResultsHash: none,
      evidenceHash: none,
      proposerAddress: none,
    },
    txs: [],
    evidence: [],
    lastCommit: null,
  };
  const signatures = times.map((timeNs, i) =>
    timeNs === null
      ? { flag: 1, validatorAddress: none, timeNs: 0n, signature: none }
      : { flag: FLAG_COMMIT, validatorAddress: names[i] as Uint8Array, timeNs, signature: none },
  );
  const kept = new Map([
    [hexOf(blockKey(7n)), encodeBlock(block)],
    [hexOf(seenCommitKey(7n)), encodeCommit({ height: 7n, round: 0, blockId: noBlock, signatures })],
  ]);
  const disk = { read: (_store: string, key: Uint8Array) => kept.get(hexOf(key)) };
  return { disk } as unknown as Machine;
}

/** The first of the four lie. */
const liars =
  (count: number) =>
  (address: string): boolean =>
    !names.slice(0, count).some((name) => hexOf(name) === address);

describe('the time of a chain is held back', () => {
  it('by liars with half of what decides or more: their early votes are its median', () => {
    expect(isTimeHeldBack([stored(999n, 1000n, 2000n, null)], 7n, set, liars(2))).toBe(true);
    expect(isTimeHeldBack([stored(999n, 1001n, 2000n, null)], 7n, set, liars(2))).toBe(false);
  });

  it('not by honest validators: that their votes are early is a fault of theirs', () => {
    expect(isTimeHeldBack([stored(999n, 1000n, 1000n, 999n)], 7n, set, liars(0))).toBe(false);
    expect(isTimeHeldBack([stored(999n, 1000n, 1000n, 999n)], 7n, set, liars(1))).toBe(false);
  });

  it('by what the nodes of the core know together, each liar counted once', () => {
    const some = [stored(999n, null, 2000n, 2000n), stored(null, 999n, 2000n, 2000n)];
    expect(isTimeHeldBack(some, 7n, set, liars(2))).toBe(true);
    const same = [stored(999n, null, 2000n, 2000n), stored(999n, null, 2000n, 2000n)];
    expect(isTimeHeldBack(same, 7n, set, liars(2))).toBe(false);
    expect(isTimeHeldBack([], 7n, set, liars(2))).toBe(false);
  });
});
