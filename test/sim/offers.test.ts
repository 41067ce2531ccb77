// The oracle `offers` waits as long as the node was told to, and asks nothing of it that it may refuse.

import { expect, it } from 'vitest';
import { plays } from '../../scenarios/index.ts';
import { type Play, runScenario, type Scenario } from '../../sim/index.ts';

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
  expect(runScenario(playNamed('swarm'), { seed: '245606080096627' }).violations).toEqual([]);
});
