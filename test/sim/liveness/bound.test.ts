// The analytic bound in rows: what each kind of trouble adds to it.

import { expect, it } from 'vitest';
import { DEFAULT_NODE, type NodeConfig } from '../../../actors/node.ts';
import { boundNs, joiningNs, reconnectNs, type Standing, spreadNs } from '../../../sim/liveness/bound.ts';

const S = 1_000_000_000;
const config = { ...DEFAULT_NODE } as unknown as NodeConfig;
const names = ['a', 'b', 'c', 'd'];
const inTurn = (round: number): string => names[round % names.length] as string;
const calm: Standing = {
  config,
  slowest: 1,
  fastest: 1,
  roundMin: 0,
  roundMax: 0,
  hopNs: 5_000_000,
  diameter: 1,
  isLossy: false,
  settleNs: 0,
  lag: 0,
  isFresh: true,
  hasLiars: false,
  proposers: new Set(names),
  core: new Map(names.map((name) => [name, 10n])),
  powerTotal: 40n,
  proposerAt: inTurn,
};
const spread = 0.005 + 3 * 0.1 * 1.25;
/** Seconds, to a nanosecond. */
const bound = (change: Partial<Standing>): number => (boundNs({ ...calm, ...change }) ?? 0) / S;
/** Proposal, prevotes, precommits, the next height. */
const phases = 4 * spread;
const failing = (round: number): number => 5 + 1.5 * round + phases;

it('messages go by gossip at the worst: three ticks for one hop; over more, a fruitless ask for each', () => {
  expect(spreadNs(calm) / S).toBeCloseTo(spread, 9);
  expect(spreadNs({ ...calm, diameter: 3 }) / S).toBeCloseTo(3 * (spread + 1.25 - 0.375), 9);
  expect(spreadNs({ ...calm, isLossy: true }) / S).toBeCloseTo(spread + 8 * 1.25, 9);
});

it.each([
  ['a fresh height waits for timeout_commit, and decides in round 0', {}, 1 + phases],
  [
    'whoever proposes in round 0 is down: its timeouts pass',
    { proposers: new Set(['b', 'c', 'd']) },
    1 + phases + failing(0),
  ],
  [
    'one that knows of a lock must propose',
    { proposers: new Set(['d']) },
    1 + phases + failing(0) + failing(1) + failing(2),
  ],
  ['after trouble the round under way does not count', { isFresh: false }, 1 + phases + failing(0)],
  [
    'rounds of those behind pass as well',
    { isFresh: false, roundMax: 2 },
    1 + phases + failing(0) + failing(1) + failing(2),
  ],
  ['who is two heights behind is handed both', { lag: 2 }, 1 + phases + 2 * (1.25 + phases)],
  [
    'while liars may make locks two thirds must have proposed',
    { hasLiars: true },
    1 + phases + failing(0) + failing(1),
  ],
  [
    'until all is settled rounds may fail, as fast as they can: 1.5 s, 2 s, 2.5 s',
    { isFresh: false, settleNs: 6 * S },
    6 + 1 + phases + [0, 1, 2, 3].reduce((sum, round) => sum + failing(round), 0),
  ],
] as const)('%s', (_, change, expected) => {
  expect(bound(change)).toBeCloseTo(expected, 9);
});

it('what nodes time themselves takes twice as long by a clock of half the speed; a message does not', () => {
  const slow = { slowest: 0.5, isFresh: false, lag: 1 };
  const hops = 4 * 0.005 * 3;
  expect(bound(slow)).toBeCloseTo(2 * (bound({ ...slow, slowest: 1 }) - hops) + hops, 9);
});

it('no bound is given for a proposer whose turn does not come', () => {
  expect(boundNs({ ...calm, proposers: new Set(['nobody']) })).toBeNull();
});

it('who was torn off dials again within the last doubling; who joins asks twice, or waits for what liars claim', () => {
  expect(reconnectNs(0) / S).toBeCloseTo(9.5, 9);
  expect(reconnectNs(10 * S) / S).toBeCloseTo(8 + 31.5, 9);
  expect(reconnectNs(1_000 * S) / S).toBeCloseTo(53, 9);
  expect(joiningNs(config, false) / S).toBeCloseTo(3 + 1 + 10 + 1, 9);
  expect(joiningNs(config, true) / S).toBeCloseTo(15 + 60 + 15, 9);
});
