// What a node asks for in block sync is counted by peer: by the one that is there, not by the one that was before.

import { expect, it } from 'vitest';
import { CHANNEL_BLOCKSYNC } from '../../../../protocol/messages.ts';
import { encodeBlocksyncMessage } from '../../../../protocol/wire/index.ts';
import type { Machine } from '../../../../sim/machine.ts';
import type { WorldAbout } from '../../../../sim/oracle.ts';
import { fetchingOracle } from '../../../../sim/oracles/peers/fetching.ts';

const MS = 1_000_000;

function watched() {
  const sync = {
    requestsPerPeerMax: 20,
    bufferBytesMax: 1_000_000,
    retryNs: BigInt(5_000 * MS),
    secondSourceAfterNs: BigInt(1_000 * MS),
  };
  const clock = { nowNs: 0 };
  const at = {
    index: 0,
    name: 'v0',
    height: 0n,
    heldUntilNs: 0,
    member: { id: 'v0' },
    config: { sync },
    clock: { count: () => clock.nowNs },
  };
  const others = ['v1', 'v2', 'v3'].map((name, i) => ({ index: i + 1, name, member: { id: name } }));
  const machines = [at, ...others] as unknown as Machine[];
  const found: string[] = [];
  const oracle = fetchingOracle((what) => found.push(what), {
    machines,
    now: () => clock.nowNs,
    isHonest: () => true,
  } as unknown as WorldAbout);
  const asks = (first: number, count: number, whom = 'v1'): void => {
    for (let height = first; height < first + count; height++) {
      const bytes = encodeBlocksyncMessage({ type: 'block-request', height: BigInt(height) });
      const payloads = [{ channel: CHANNEL_BLOCKSYNC, bytes }];
      oracle.leaving?.(machines[0] as Machine, 'blocksync', { type: 'send', to: [whom], payloads });
    }
  };
  /** It has no such block: an answer, too. */
  const answers = (height: number): void => says({ type: 'no-block-response', height: BigInt(height) });
  const claims = (height: number): void =>
    says({ type: 'status-response', base: 1n, height: BigInt(height) });
  const says = (message: Parameters<typeof encodeBlocksyncMessage>[0]): void => {
    const bytes = encodeBlocksyncMessage(message);
    oracle.heard?.(machines[0] as Machine, 'v1', [{ channel: CHANNEL_BLOCKSYNC, bytes }]);
  };
  const greets = (): void =>
    oracle.published?.(machines[0] as Machine, 'peer:v1', { type: 'peer', peer: 'v1', up: true });
  return { at, found, clock, asks, answers, claims, greets };
}

type Watched = ReturnType<typeof watched>;

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

it('a second peer is asked for what the first does not give, and not before', () => {
  const { found, clock, asks } = watched();
  asks(5, 2);
  clock.nowNs += 1_000 * MS;
  asks(5, 1, 'v2');
  expect(found).toEqual([]);
  asks(7, 1);
  clock.nowNs += 10 * MS;
  asks(7, 1, 'v2');
  expect(found).toEqual(['v0 asks v2 for block 7 10000000 ns after v1, and is to wait 1000000000']);
});

it.each([
  [5_000, []],
  [
    1_000,
    ['v0 asks v3 for block 7 when two were asked, 1000000000 ns after the last, and is to wait 5000000000'],
  ],
])('a third peer is asked when it is time to ask again: after %d ms', (ms, told) => {
  const { found, clock, asks } = watched();
  asks(7, 1);
  clock.nowNs += 1_000 * MS;
  asks(7, 1, 'v2');
  clock.nowNs += ms * MS;
  asks(7, 1, 'v3');
  expect(found).toEqual(told);
});

it('a third peer is asked at once when one of the two says what it has, and may have been one too many', () => {
  const { found, clock, asks, claims } = watched();
  asks(7, 1);
  clock.nowNs += 1_000 * MS;
  asks(7, 1, 'v2');
  claims(9);
  clock.nowNs += 10 * MS;
  asks(7, 1, 'v3');
  expect(found).toEqual([]);
});

it.each([
  ['it has not the block', ({ answers }: Watched) => answers(7)],
  ['it claims another height, perhaps one too few', ({ claims }: Watched) => claims(9)],
  ['it comes anew', ({ greets }: Watched) => greets()],
])('a second peer is asked at once when %s', (_, happens) => {
  const world = watched();
  world.asks(7, 1);
  happens(world);
  world.clock.nowNs += 10 * MS;
  world.asks(7, 1, 'v2');
  expect(world.found).toEqual([]);
});

it('of the next two blocks both are asked again for a dispute', () => {
  const { found, asks } = watched();
  asks(1, 2);
  asks(1, 2, 'v2');
  expect(found).toEqual([]);
});
