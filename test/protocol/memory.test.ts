// What is shared or remembered must neither change under others nor keep what is gone.

import { expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import { hexOf, roomFor, settled } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { EMPTY_BYTES, type Header, NIL_BLOCK_ID, ZERO_TIME_NS } from '../../protocol/types.ts';
import { Agenda } from '../../sim/agenda.ts';
import { Choices } from '../../sim/choices.ts';
import { Disk } from '../../sim/disk.ts';

/** Two made one after the other share their slab, or the test would show nothing. */
function inOneSlab(size: number): Uint8Array {
  for (;;) {
    const [a, b] = [roomFor(size), roomFor(size)];
    if (a.buffer === b.buffer) return a.fill(7);
  }
}

it('what stays long does not keep the slab that it was cut from', () => {
  for (const size of [40, 200, 1000]) {
    const cut = inOneSlab(size);
    const kept = settled(cut);
    expect(kept).toEqual(cut);
    expect(kept.buffer).not.toBe(cut.buffer);
  }
  const own = new Uint8Array(5000);
  expect(settled(own)).toBe(own); // a buffer of its own is shared as it is
  for (const size of [200, 5_000, 30_000]) {
    const view = new Uint8Array(1_000_000).fill(7).subarray(500, 500 + size); // of a block
    const kept = settled(view);
    expect(kept).toEqual(view);
    expect(kept.buffer.byteLength).toBeLessThan(70_000);
    expect(settled(kept)).toBe(kept); // an application and its store share one
  }
});

it('neither does a value of a simulated store, nor a pair of kvstore', () => {
  const agenda = new Agenda();
  const disk = new Disk(agenda, new Choices({ seed: '1' }), 'v0');
  const store = disk.open(agenda.beginLife(), () => undefined).store('chain');
  const value = inOneSlab(300);
  store.write([{ key: Uint8Array.of(1), value, remove: false }]);
  expect(store.get(Uint8Array.of(1))).toEqual(value);
  expect(store.get(Uint8Array.of(1))?.buffer).not.toBe(value.buffer);

  const tx = inOneSlab(300).fill(97);
  tx[1] = 61; // a=aaa...
  const app = new KvStore();
  const about = { misbehavior: [], hash: EMPTY_BYTES, height: 1n, timeNs: ZERO_TIME_NS };
  const rest = { nextValidatorsHash: EMPTY_BYTES, proposerAddress: EMPTY_BYTES };
  const decidedLastCommit = { round: 0, votes: [] };
  app.answer({ type: 'finalize-block', value: { txs: [tx], decidedLastCommit, ...about, ...rest } });
  app.answer({ type: 'commit', value: {} });
  const written = app.drainWrites().find((write) => write.value.length === 298);
  expect(written?.value.buffer).not.toBe(tx.buffer);
});

it('a header hashes by what its fields hold, though somebody changes an array that was hashed before', () => {
  const hashOf = (appHash: Uint8Array): string => {
    const some = new Uint8Array(32).fill(1);
    const header: Header = {
      version: { block: 11n, app: 0n },
      chainId: 'c',
      height: 1n,
      timeNs: 5n,
      lastBlockId: NIL_BLOCK_ID,
      lastCommitHash: some,
      dataHash: some,
      validatorsHash: some,
      nextValidatorsHash: some,
      consensusHash: some,
      appHash,
      lastResultsHash: some,
      evidenceHash: some,
      proposerAddress: new Uint8Array(20),
    };
    return hexOf(headerHash(header));
  };
  const mine = new Uint8Array(32).fill(5);
  const before = hashOf(mine);
  mine.fill(6);
  const changed = hashOf(mine);
  expect(changed).not.toBe(before);
  expect(hashOf(new Uint8Array(32).fill(6))).toBe(changed);
  expect(hashOf(new Uint8Array(32).fill(5))).toBe(before);
});
