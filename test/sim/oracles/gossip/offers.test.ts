// The oracle `offers` waits as long as the node was told to, and asks nothing of it that it may refuse.

import { expect, it } from 'vitest';
import { plays } from '../../../../scenarios/index.ts';
import {
  anyone,
  at,
  clock,
  core,
  cut,
  delay,
  drop,
  heal,
  height,
  liar,
  links,
  type Play,
  partition,
  powers,
  runScenario,
  type Scenario,
  scenario,
  these,
  txs,
  whenOrAt,
} from '../../../../sim/index.ts';
import { QUICK } from '../../../../sim/swarm/index.ts';

const MS = 1_000_000n;

const playNamed = (name: string): Play => plays.find((each) => each.name === name) as Play;

it.each(['lock-renewed', 'restart-with-every-set'])('%s, offered again every six seconds', (name) => {
  const play = playNamed(name) as Scenario;
  const slow = { ...play.settings?.consensus, gossipNs: 3_000n * MS, reofferNs: 6_000n * MS };
  const { violations } = runScenario(
    { ...play, settings: { ...play.settings, consensus: slow } },
    { seed: 1 },
  );
  expect(violations.filter(({ oracle }) => oracle === 'offers')).toEqual([]);
});

it('a proposal of more parts than the largest block has is refused, and owed to nobody', () => {
  const hugeProposal = scenario('a liar promises more parts than there may be', {
    cast: { ...powers(3, 3, 5, 4), clocks: { v0: { skewMs: 8_950, driftPpm: 23 } } },
    act: [at('0s', delay('everything', '1s', { to: ['v1'] })), at('6442ms', clock('v0', { frozen: true }))],
    liars: [liar('v0', 'invalid-proposer', ['v1', 'v2', 'v3'])],
    ends: these('v1', 'v2', 'v3').decides(height(14), { within: '150s' }),
  });
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const { violations, faults } = runScenario(hugeProposal, { seed });
    expect(violations).toEqual([]);
    expect(faults['lie: an invalid block']).toBeGreaterThan(0);
  }
});

it('what was given a beat before a peer says again that it is behind is for that word, too', () => {
  const latency = { kind: 'exponential', minNs: 1e6, meanNs: 4e7 } as const;
  const cutOffWhenServed = scenario('who lags is cut off when it has just been served', {
    cast: powers(7, 1, 5, 2),
    act: [
      whenOrAt(anyone.decides(height(5)), '120s', core('v0', 'v1', 'v2', 'v3')),
      at(
        '0s',
        drop('proposals', { to: ['v2', 'v3', 'v1'], height: 3, round: 0 }),
        drop('parts', { to: ['v3', 'v1', 'v2'], height: 1, round: 0 }),
        drop('parts', { to: ['v3', 'v1', 'v2'], height: 1, round: 1 }),
      ),
      at(
        '1912ms',
        links({ latency, lossPpm: 39_601, duplicatePpm: 24_745, corruptPpm: 1_304, bytesPerSecond: 499_205 }),
      ),
      at('4774ms', cut(['v2'], ['v3'])),
      at('5609ms', partition(['v2', 'v1', 'v3'])),
      at('9838ms', heal()),
    ],
    load: txs({ perSecond: 0.5, count: 21, size: 328 }),
    settings: { consensus: QUICK },
    ends: these('v0', 'v1', 'v2', 'v3').decides(height(4), { within: '30s' }),
  });
  expect(runScenario(cutOffWhenServed, { seed: 4556 }).violations).toEqual([]);
});
