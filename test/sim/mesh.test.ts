// A mesh, where most validators hear of each other through others: what gossip costs there, counted by messages, and that losses do not stop it.

import { expect, it } from 'vitest';
import type { Payload } from '../../actors/turn.ts';
import { byteKey } from '../../protocol/bytes.ts';
import { CHANNEL_VOTE } from '../../protocol/messages.ts';
import { makeCast, randomMesh } from '../../sim/cast.ts';
import { Choices } from '../../sim/choices.ts';
import { CALM_LINK } from '../../sim/links.ts';
import { allOracles } from '../../sim/oracles/index.ts';
import { World } from '../../sim/world.ts';

const SIZE = 30;
const DEGREE = 10;

/** The world, and what its envelopes brought: votes that arrived, and how many of them were news to their node. */
function mesh(seed: string, lossPpm: number) {
  const cast = makeCast({ powers: Array.from({ length: SIZE }, () => 10n) });
  const choices = new Choices({ seed }, 'forget');
  const edges = randomMesh(SIZE, DEGREE, choices.stream('mesh'));
  const { makers } = allOracles(cast.genesis);
  const world = new World({
    cast,
    choices,
    crypto: 'sim',
    oracles: makers,
    edges,
    links: { ...CALM_LINK, lossPpm },
  });
  const count = { arrivals: 0, news: new Set<string>() };
  world.network.carrier.rule = (_from, to, payloads) => {
    count.arrivals += votesOf(payloads).length;
    for (const { bytes } of votesOf(payloads)) count.news.add(`${to} ${byteKey(bytes)}`);
    return 'pass';
  };
  world.startAll();
  const runTo = (height: bigint): boolean =>
    world.run(() => world.machines.every((machine) => machine.height >= height), 600e9);
  return { world, count, runTo };
}

const votesOf = (payloads: readonly Payload[]): readonly Payload[] =>
  payloads.filter(({ channel }) => channel === CHANNEL_VOTE);

it('a vote reaches a node little more than once, and a height takes few deliveries', () => {
  const { world, count, runTo } = mesh('calm', 0);
  expect(runTo(2n)).toBe(true);
  count.arrivals = 0;
  count.news.clear();
  const before = world.deliveries;
  expect(runTo(6n)).toBe(true);
  expect(world.violations).toEqual([]);
  // Two votes of each of the others; some come too late to be passed on.
  expect(count.news.size).toBeGreaterThan(4 * SIZE * 2 * (SIZE - 1) * 0.8);
  expect(count.arrivals / count.news.size).toBeLessThan(1.3);
  expect((world.deliveries - before) / 4).toBeLessThan(3_000);
});

it.each([1, 2, 3])('a tenth of all envelopes lost stops nobody, seed %i', (seed) => {
  const { world, count, runTo } = mesh(`lossy ${seed}`, 100_000);
  expect(runTo(4n)).toBe(true);
  expect(world.violations).toEqual([]);
  expect(world.network.counters.dropped).toBeGreaterThan(100);
  expect(count.arrivals / count.news.size).toBeLessThan(2);
});
