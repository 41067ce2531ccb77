// A campaign counts, tells failures apart by what they say, and judges what it has seen.

import { describe, expect, it } from 'vitest';
import { add, addLost, checksOf, newCampaign, signatureOf } from '../../../runtime/cli/explore/campaign.ts';
import type { RunSummary } from '../../../runtime/cli/explore/job.ts';
import { plays } from '../../../scenarios/index.ts';
import { SET_CHANGES } from '../../../sim/oracles/chain/chain.ts';
import { runScenario } from '../../../sim/run.ts';
import { PAPER_RULES, RARE_RULES, SWARM_FAULTS } from '../../../sim/swarm/coverage.ts';

const run = (change: Partial<RunSummary> = {}): RunSummary => ({
  seed: '1',
  digest: 'd',
  broken: null,
  heights: 8,
  laterThanFirst: 2,
  roundMax: 2,
  deliveries: 1000,
  virtualMs: 9000,
  ratio: 0.6,
  faults: SWARM_FAULTS,
  labels: [...PAPER_RULES, SET_CHANGES],
  ...change,
});
const held = (campaign: ReturnType<typeof newCampaign>): (boolean | null)[] =>
  checksOf(campaign).map((check) => check.held);
const campaignOf = (count: number, change: Partial<RunSummary> = {}) => {
  const campaign = newCampaign('swarm', 'c', '1');
  for (let i = 0; i < count; i++) add(campaign, run(change), 'd');
  return campaign;
};

it('names of nodes, numbers and hashes are no part of a failure', () => {
  const one = { oracle: 'lock', what: 'v1 precommitted 1f2e3d4c5b6a at 3/0 and prevotes aa00bb11cc22' };
  const other = { oracle: 'lock', what: 'v3 precommitted 00aa11bb22cc at 14/2 and prevotes deadbeef0011' };
  expect(signatureOf(one)).toBe(signatureOf(other));
  expect(signatureOf({ ...one, oracle: 'chain' })).not.toBe(signatureOf(one));
});

it('a hash that has no letter is one all the same', () => {
  const of = (hash: string): string => signatureOf({ oracle: 'lock', what: `v1 prevotes ${hash} at 3` });
  expect(of('51208391')).toBe(of('5120839a'));
  expect(of('512083917734')).toBe(of('e12083917734'));
});

it('a number of many digits is no hash', () => {
  const ahead = (ns: number): string => signatureOf({ oracle: 'chain', what: `time: ${ns} ns ahead` });
  expect(ahead(9_489_006_088)).toBe(ahead(42));
});

it('a run whose second time was lost is counted once, with what it found, and is no mismatch', () => {
  const campaign = newCampaign('swarm', 'c', '1');
  add(campaign, run({ seed: '7', broken: { oracle: 'lock', what: 'v1 broke it' } }), null);
  addLost(campaign, '7', 'it ended with SIGKILL', false);
  addLost(campaign, '8', 'no answer within 120 s');
  add(campaign, run({ seed: '9' }), 'd');
  expect(campaign).toMatchObject({ runs: 3, mismatches: [] });
  expect(campaign.failures.map(({ oracle, seed }) => `${oracle} ${seed}`)).toEqual([
    'lock 7',
    'process 7',
    'process 8',
  ]);
  expect(checksOf(campaign)[1]?.found).toBe('1 equal');
});

it('of runs that fail alike the shortest is kept', () => {
  const campaign = newCampaign('swarm', 'c', '1');
  const broken = (n: number) => ({ oracle: 'lock', what: `v${n} broke it` });
  add(campaign, run({ seed: '7', broken: broken(1), deliveries: 500 }), 'd');
  add(campaign, run({ seed: '8', broken: broken(2), deliveries: 300 }), 'd');
  add(campaign, run({ seed: '9', broken: broken(3), deliveries: 400 }), 'd');
  expect(campaign.failures).toMatchObject([{ times: 3, seed: '8', what: 'v2 broke it', deliveries: 300 }]);
});

describe('what a campaign must show', () => {
  it('holds when all was seen, often enough', () => {
    expect(held(campaignOf(600))).toEqual(Array(9).fill(true));
  });

  it('is known of the swarm: another play may show less', () => {
    const other = newCampaign('tour', 'c', '1');
    for (let i = 0; i < 2_000; i++) add(other, run({ faults: [], labels: [], ratio: 0.1 }), 'd');
    expect(held(other)).toEqual([true, true]);
  });

  it.each([
    ['a broken promise', { broken: { oracle: 'lock', what: 'x' } }, 0],
    ['a bound that was passed', { ratio: 1.01 }, 2],
    ['a bound that nothing came near', { ratio: 0.4 }, 2],
    ['too few late rounds', { roundMax: 1 }, 3],
    ['no restarts', { faults: SWARM_FAULTS.filter((name) => name !== 'restarts') }, 4],
    ['no change of the set', { labels: PAPER_RULES }, 5],
    ['no lies', { faults: SWARM_FAULTS.filter((name) => !name.startsWith('lie: ')) }, 6],
  ] as const)('not with %s', (_, change, check) => {
    expect(held(campaignOf(600, change as Partial<RunSummary>))[check]).toBe(false);
  });

  it('not when two runs of a seed differ', () => {
    const campaign = campaignOf(600);
    add(campaign, run({ seed: '5' }), 'another');
    expect(held(campaign)[1]).toBe(false);
  });

  it('rare things are judged when there were enough runs', () => {
    const faults = SWARM_FAULTS.slice(1);
    expect(held(campaignOf(600, { faults }))[7]).toBeNull();
    expect(held(campaignOf(2_000, { faults }))[7]).toBe(false);
    expect(held(campaignOf(600, { labels: [SET_CHANGES] }))[8]).toBeNull();
    expect(held(campaignOf(2_000, { labels: [SET_CHANGES] }))[8]).toBe(false);
    const usual = PAPER_RULES.filter((rule) => !RARE_RULES.includes(rule));
    expect(held(campaignOf(2_000, { labels: usual }))[8]).toBeNull();
    expect(held(campaignOf(10_000, { labels: usual }))[8]).toBe(false);
    expect(held(campaignOf(10))[3]).toBeNull();
  });
});

it('what runs raise as rules at work is what a campaign holds, each under one name', () => {
  const known = new Set([...PAPER_RULES, SET_CHANGES]);
  expect(known.size).toBe(PAPER_RULES.length + 1);
  const seen = new Set<string>();
  for (const play of plays.filter(({ name }) =>
    ['tour', 'lock-splits', 'older-polka-refused'].includes(name),
  ))
    for (const label of Object.keys(runScenario(play, { seed: 1 }).labels)) seen.add(label);
  expect([...seen].filter((label) => !known.has(label))).toEqual([]);
  expect(seen).toContain('L32 refuses an older polka than its lock');
  expect(seen.size).toBeGreaterThan(25);
});
