// What a node asks for in block sync is counted by peer: by the one that is there, not by the one that was before.

import { expect, it } from 'vitest';
import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import type { Machine } from '../../sim/machine.ts';
import type { WorldAbout } from '../../sim/oracle.ts';
import { fetchingOracle } from '../../sim/oracles/fetching.ts';

const MS = 1_000_000;

function watched() {
  const sync = { requestsPerPeerMax: 20, bufferBytesMax: 1_000_000 };
  const at = { index: 0, name: 'v0', height: 0n, heldUntilNs: 0, member: { id: 'v0' }, config: { sync } };
  const machines = [at, { index: 1, name: 'v1', member: { id: 'v1' } }] as unknown as Machine[];
  const found: string[] = [];
  const clock = { nowNs: 0 };
  const oracle = fetchingOracle((what) => found.push(what), {
    machines,
    now: () => clock.nowNs,
    isHonest: () => true,
  } as unknown as WorldAbout);
  const asks = (first: number, count: number): void => {
    for (let height = first; height < first + count; height++) {
      const bytes = encodeBlocksyncMessage({ type: 'block-request', height: BigInt(height) });
      const payloads = [{ channel: CHANNEL_BLOCKSYNC, bytes }];
      oracle.leaving?.(machines[0] as Machine, 'blocksync', { type: 'send', to: ['v1'], payloads });
    }
  };
  /** It has no such block: an answer, too. */
  const answers = (height: number): void => {
    const bytes = encodeBlocksyncMessage({ type: 'no-block-response', height: BigInt(height) });
    oracle.heard?.(machines[0] as Machine, 'v1', [{ channel: CHANNEL_BLOCKSYNC, bytes }]);
  };
  const greets = (): void =>
    oracle.published?.(machines[0] as Machine, 'peer:v1', { type: 'peer', peer: 'v1', up: true });
  return { at, found, clock, asks, answers, greets };
}

it('one peer is asked for so many blocks at once, and no more', () => {
  const { found, asks } = watched();
  asks(3, 20);
  expect(found).toEqual([]);
  asks(23, 1);
  expect(found).toEqual(['v0 asks v1 for 21 blocks at once, and may for 20']);
});

it('what was asked as a peer came back may have been asked of the one that was there before', () => {
  const { found, clock, asks, greets } = watched();
  asks(3, 10);
  greets();
  asks(13, 1);
  clock.nowNs += 2 * MS;
  asks(3, 20);
  expect(found).toEqual([]);
  asks(23, 1);
  expect(found).toEqual(['v0 asks v1 for 21 blocks at once, and may for 20']);
});

it('who asks again as it wakes up has not read the answers of its pause', () => {
  const { at, found, clock, asks, answers } = watched();
  asks(3, 1);
  clock.nowNs += 500 * MS;
  answers(3);
  clock.nowNs += 500 * MS;
  at.heldUntilNs = clock.nowNs;
  asks(3, 21);
  expect(found).toEqual([]);
  clock.nowNs += 2 * MS;
  asks(3, 1);
  expect(found).toEqual(['v0 asks v1 for 21 blocks at once, and may for 20']);
});
