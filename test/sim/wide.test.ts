// The wide swarm: what it draws makes sense, leaves no liar out, and holds.

import { describe, expect, it } from 'vitest';
import { drawn, type Scenario } from '../../sim/index.ts';
import { LIAR_NAMES } from '../../sim/liars/index.ts';
import { digestAgain, runScenario } from '../../sim/run.ts';
import { scenarioRefusal } from '../../sim/scenario/form.ts';
import { scenarioUnder } from '../../sim/scenario/under.ts';
import { widePlay } from '../../sim/swarm/wide.ts';

const play = drawn('wide-swarm', 'the swarm in other settings', widePlay);
const draws: readonly Scenario[] = Array.from({ length: 1_000 }, (_, seed) => scenarioUnder(play, seed));

describe('what it draws', () => {
  it('is a play', () => {
    for (const [seed, scenario] of draws.entries())
      expect(scenarioRefusal(scenario), `seed ${seed}`).toBeNull();
  });

  it('has every liar, slow keys and applications, unnoticed deaths, and settings of each kind', () => {
    const liars = new Set(draws.flatMap((scenario) => scenario.liars.map(({ liar }) => liar as string)));
    expect([...liars].sort()).toEqual([...LIAR_NAMES].sort());
    const share = (has: (scenario: Scenario) => boolean): number => draws.filter(has).length / draws.length;
    const does =
      (what: string) =>
      ({ act }: Scenario): boolean =>
        act.some(({ actions }) => actions.some((action) => action.do === what));
    expect(share(does('signer'))).toBeGreaterThan(0.1);
    expect(share(does('application'))).toBeGreaterThan(0.1);
    const isUnnoticed = ({ act }: Scenario): boolean =>
      act.some(({ actions }) => actions.some((action) => 'unnoticed' in action && action.unnoticed));
    expect(share(isUnnoticed)).toBeGreaterThan(0.1);
    expect(share(({ cast }) => cast.initialHeight !== undefined)).toBeGreaterThan(0.2);
    expect(share(({ cast }) => cast.blockBytes !== undefined)).toBeGreaterThan(0.2);
    expect(share(({ settings }) => settings?.consensus?.skipTimeoutCommit === true)).toBeGreaterThan(0.1);
    expect(share(({ settings }) => settings?.consensus?.createEmptyBlocks === false)).toBeGreaterThan(0.1);
    expect(share(({ settings }) => settings?.mempool?.txsMax !== undefined)).toBeGreaterThan(0.1);
    expect(share(({ settings }) => settings?.consensus?.gossipNs !== 100_000_000n)).toBeGreaterThan(0.1);
    expect(share(({ settings }) => settings?.mempool?.gossipPeriodNs !== undefined)).toBeGreaterThan(0.1);
    expect(share(({ cast }) => cast.chainId?.length === 50)).toBeGreaterThan(0.05);
    expect(share(({ cast }) => cast.initialHeight === 4_294_967_293)).toBeGreaterThan(0.01);
  });

  it('is about the heights of its chain', () => {
    for (const { act, cast, ends } of draws) {
      const first = cast.initialHeight ?? 1;
      expect(ends.decides).toBeGreaterThanOrEqual(first);
      for (const directive of act)
        for (const action of directive.actions)
          if (action.do === 'rule' && action.height !== undefined)
            expect(action.height).toBeGreaterThanOrEqual(first);
    }
  });
});

it('holds, and twice with one digest', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { violations, digest } = runScenario(play, { seed, shape: false });
    expect(violations, `seed ${seed}`).toEqual([]);
    expect(digestAgain(play, { seed }), `seed ${seed}`).toBe(digest);
  }
});

/** Under the first a height stood still; the others accused who had done nothing wrong. */
it.each([8_980, 5_610, 30_536, 35_397, 37_850, 37_991, 64_219, 69_446, 115_053, 5_000_565, 8_802_334])(
  'holds under seed %d',
  (seed) => {
    expect(runScenario(play, { seed, shape: false }).violations).toEqual([]);
  },
);

it('what a pool was given in a pause takes the room of what comes after it', () => {
  // v0 hears eleven, as many as its pool holds, as it wakes up in the middle of its handshake.
  expect(runScenario(play, { seed: 8948 }).violations).toEqual([]);
});
