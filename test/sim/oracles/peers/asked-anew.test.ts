// What a peer owed when it went is asked of others in the same moment, where one of them is known to have it, and room for it.

import { expect, it } from 'vitest';
import type { Machine } from '../../../../sim/machine.ts';
import { AskedAnew } from '../../../../sim/oracles/peers/asked-anew.ts';

const MS = 1_000_000;
const WAIT_NS = 1_000 * MS;

/** v1 owes blocks 3 to 6, v2 has given the second; a moment ago v1 was connected. */
function owing() {
  const node = new AskedAnew();
  const clock = { nowNs: 0 };
  const sync = { waitNs: BigInt(WAIT_NS), requestsPerPeerMax: 10, bufferBytesMax: 100_000 };
  const at = {
    height: 2n,
    heldUntilNs: 0,
    config: { sync },
    clock: { count: () => clock.nowNs },
    node: { isPaused: false },
  };
  const hears = (peer: string, message: object, bytes = 100): void =>
    node.hears(peer, message as never, bytes, clock.nowNs);
  const claims = (peer: string, height: bigint): void =>
    hears(peer, { type: 'status-response', base: 1n, height });
  const asks = (peer: string, ...heights: readonly bigint[]) =>
    heights.map((height) => node.asks(peer, height, clock.nowNs, at.heldUntilNs)?.peer ?? null);
  node.begins(0, 0);
  for (const peer of ['v1', 'v2']) node.comes(peer, 0);
  clock.nowNs = 10 * MS;
  for (const peer of ['v1', 'v2']) claims(peer, 50n);
  clock.nowNs = 20 * MS;
  asks('v1', 3n, 4n, 5n, 6n);
  asks('v2', 2n, 7n);
  hears('v2', { type: 'block-response', block: { header: { height: 2n } } });
  clock.nowNs = 2_000 * MS;
  const goes = (peer: string): void => node.goes(peer, at as unknown as Machine, clock.nowNs);
  return { node, at, clock, hears, claims, asks, goes };
}

type Owing = ReturnType<typeof owing>;

it('what is asked again in that moment is asked in time', () => {
  const { asks, goes } = owing();
  goes('v1');
  expect(asks('v2', 3n, 4n, 5n, 6n)).toEqual([null, null, null, null]);
});

it('what is asked again later is asked too late', () => {
  const { clock, asks, goes } = owing();
  goes('v1');
  clock.nowNs += 500 * MS;
  expect(asks('v2', 3n, 4n, 5n, 6n)).toEqual(['v1', 'v1', 'v1', 'v1']);
});

it.each<[string, (world: Owing) => void]>([
  ['the other one claims less', ({ claims }) => claims('v2', 40n)],
  ['the other one has not the block', ({ hears }) => hears('v2', { type: 'no-block-response', height: 9n })],
  [
    'the other one owes as much as it may',
    ({ asks }) => void asks('v2', 8n, 9n, 10n, 11n, 12n, 13n, 14n, 15n),
  ],
  ['the other one broke a rule', ({ node, clock }) => node.distrusts('v2', clock.nowNs)],
  [
    'it may hold no more',
    ({ hears }) => hears('v2', { type: 'block-response', block: { header: { height: 7n } } }, 20_000),
  ],
  ['it has just begun', ({ clock }) => void Object.assign(clock, { nowNs: WAIT_NS })],
  ['it is paused', ({ at }) => void Object.assign(at.node, { isPaused: true })],
  ['it was asked of two', ({ asks }) => void asks('v2', 3n, 4n, 5n, 6n)],
])('nobody knows that it could have been asked where %s', (_, happens) => {
  const world = owing();
  happens(world);
  world.clock.nowNs += 1;
  world.goes('v1');
  world.clock.nowNs += 500 * MS;
  expect(world.asks('v2', 3n, 4n, 5n, 6n)).toEqual([null, null, null, null]);
});

it('what others owe before it may be asked for a second time in that moment, and take the room', () => {
  const { node, clock, asks, goes } = owing();
  node.comes('v3', clock.nowNs);
  asks('v3', 8n, 9n);
  asks('v1', 10n);
  goes('v1');
  clock.nowNs += 500 * MS;
  expect(asks('v2', 3n, 10n)).toEqual(['v1', null]);
});

it('who is held back later asks later', () => {
  const { at, clock, asks, goes } = owing();
  goes('v1');
  clock.nowNs += 500 * MS;
  at.heldUntilNs = clock.nowNs;
  expect(asks('v2', 3n, 4n)).toEqual([null, null]);
});

it('who loses the other one, too, in the same moment has nobody to ask', () => {
  const { clock, asks, goes } = owing();
  goes('v1');
  goes('v2');
  clock.nowNs += 500 * MS;
  expect(asks('v3', 3n, 4n)).toEqual([null, null]);
});
