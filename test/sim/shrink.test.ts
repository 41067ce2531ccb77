// Shrinking: each step by properties, over the scenarios that the swarm draws; the whole on a play in which more than a
// third lie, which may fork any chain.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applicationAhead } from '../../scenarios/recovery.ts';
import { swarm } from '../../scenarios/swarm.ts';
import { chronicled } from '../../sim/chronicle.ts';
import type { OracleMaker } from '../../sim/oracle.ts';
import { runScenario } from '../../sim/run.ts';
import { scenarioRefusal } from '../../sim/scenario/form.ts';
import { fromJson, toJson } from '../../sim/scenario/json.ts';
import type { NodeName, Scenario } from '../../sim/scenario/play.ts';
import { scenarioUnder } from '../../sim/scenario/under.ts';
import {
  at,
  crash,
  drop,
  everyone,
  height,
  liar,
  pause,
  scenario,
  sometime,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../../sim/scenario/words.ts';
import { ddmin } from '../../sim/shrink/ddmin.ts';
import { missedAt, rulesOf } from '../../sim/shrink/materialise.ts';
import { directivesIn, keeping, partsOf, without } from '../../sim/shrink/parts.ts';
import { earlier, nodesOf, proposersOf, swapped, withoutNode } from '../../sim/shrink/recast.ts';
import { rewritten } from '../../sim/shrink/rewrite.ts';
import { shrink } from '../../sim/shrink/shrink.ts';
import { FAMILIES } from '../../sim/shrink/simpler.ts';
import { symbolic } from '../../sim/shrink/symbolise.ts';

const numbers = fc.uniqueArray(fc.nat(40), { maxLength: 14 });
const drawn = fc.nat(1_000_000).map((seed) => scenarioUnder(swarm, seed));
const few = { numRuns: 30 };

describe('ddmin', () => {
  test('finds just what is needed, when more never helps', () => {
    const wholeAndNeeded = numbers.chain((all) => fc.tuple(fc.constant(all), fc.subarray(all)));
    fc.assert(
      fc.property(wholeAndNeeded, ([all, needed]) => {
        const kept = ddmin(all, (some) => needed.every((each) => some.includes(each)));
        expect(kept).toEqual(needed);
      }),
    );
  });

  test('leaves nothing out that still fails, and nothing in that could go, whatever fails', () => {
    const wholeAndReasons = numbers.chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.array(fc.subarray(all, { minLength: Math.min(2, all.length) }), { maxLength: 4 }),
      ),
    );
    fc.assert(
      fc.property(wholeAndReasons, ([all, reasons]) => {
        const fails = (some: readonly number[]): boolean =>
          some.length === all.length || reasons.some((why) => why.every((each) => some.includes(each)));
        const kept = ddmin(all, fails);
        expect(fails(kept)).toBe(true);
        for (const gone of kept) expect(fails(kept.filter((each) => each !== gone))).toBe(false);
      }),
    );
  });
});

describe('parts', () => {
  test('all of them are the whole, and each can be left out', () => {
    fc.assert(
      fc.property(drawn, (play) => {
        const parts = partsOf(play);
        expect(directivesIn(keeping(play, parts))).toBe(directivesIn(play));
        expect(partsOf(keeping(play, []))).toEqual([]);
        for (const part of parts) {
          const less = without(play, part);
          expect(scenarioRefusal(less)).toBeNull();
          expect(partsOf(less)).toHaveLength(parts.length - 1);
        }
      }),
      few,
    );
  });
});

describe('other people, other heights', () => {
  test('a node that is left out is spoken of nowhere, and the play is still one', () => {
    fc.assert(
      fc.property(drawn, fc.nat(9), (play, pick) => {
        const nodes = nodesOf(play);
        fc.pre(play.cast.powers.length > 1);
        const gone = nodes[pick % nodes.length] as NodeName;
        const less = withoutNode(play, gone);
        expect(nodesOf(less)).toHaveLength(nodes.length - 1);
        expect(scenarioRefusal(less)).toBeNull();
      }),
      few,
    );
  });

  test('the reason of a halt is text, also where it looks like a name', () => {
    const halting = scenario('x', {
      cast: validators(5),
      act: [at('1s', crash('v4'))],
      holds: [sometime(v0.halts('v1'))],
      ends: everyone.decides(height(3), { within: '25s' }),
    });
    expect(withoutNode(halting, 'v1').holds).toEqual(halting.holds);
  });

  test('swapped back and forth, everybody is who they were', () => {
    fc.assert(
      fc.property(drawn, fc.nat(9), (play, turn) => {
        const order = play.cast.powers.map((_, i): NodeName => `v${i}`);
        const instead = order.map((_, i) => order[(i + turn) % order.length] as NodeName);
        const there = swapped(play, order, instead);
        expect(swapped(there, instead, order)).toEqual(play);
      }),
      few,
    );
  });

  test('with equal powers everybody proposes once', () => {
    const play = scenario('x', { cast: validators(5), ends: everyone.decides(height(1), { within: '9s' }) });
    expect([...proposersOf(play)].sort()).toEqual(['v0', 'v1', 'v2', 'v3', 'v4']);
  });

  test('heights move with rules and conditions; what would be before the first is refused', () => {
    const play = scenario('x', {
      cast: validators(4),
      act: [at('9s', drop('prevotes', { height: 5, round: 1 })), when(v1.decides(height(6)), pause('v2'))],
      ends: everyone.decides(height(8), { within: '90s' }),
    });
    expect(earlier(play, 4, 8_000)).toMatchObject({
      act: [{ atMs: 1_000, actions: [{ height: 1, round: 1 }] }, { when: { height: 2 } }],
      ends: { decides: 4 },
    });
    expect(earlier(play, 5, 8_000)).toBeNull();
    const later = { ...play, cast: validators(4, { initialHeight: 3 }) };
    expect(earlier(later, 2, 0)).toMatchObject({
      act: [{ actions: [{ height: 3 }] }, {}],
      ends: { decides: 6 },
    });
    expect(earlier(later, 3, 0)).toBeNull();
  });
});

test('a failure is looked for at no height before the first of its chain', () => {
  const play = scenario('begins late', {
    cast: validators(4, { initialHeight: 1000 }),
    act: [at('3s', pause('v1', '1s'))],
    ends: everyone.decides(height(1005), { within: '60s' }),
  });
  const tried: number[] = [];
  const stillFails = ({ ends }: Scenario): boolean => {
    tried.push(ends.decides);
    return false;
  };
  const outcome = () => ({ height: 1004 });
  rewritten(play, { seed: '1', outcome, stillFails, fails: () => false, isSpent: false } as never);
  expect(new Set(tried)).toEqual(new Set([1001, 1002, 1003, 1004, 1005]));
});

describe('simpler scenarios', () => {
  test('whatever is tried is a scenario', () => {
    fc.assert(
      fc.property(drawn, (play) => {
        for (const family of FAMILIES) {
          let tried = 0;
          for (const simpler of family(play)) {
            expect(scenarioRefusal(simpler)).toBeNull();
            expect(simpler).not.toEqual(play);
            if (++tried === 40) break;
          }
        }
      }),
      few,
    );
  });
});

describe('what a run did, in words', () => {
  const ends = everyone.decides(height(3), { within: '60s' });

  test('messages that did not come are rules', () => {
    const silent = drop('prevotes', { by: ['v3'], to: ['v0', 'v1'], height: 2, round: 0 });
    const play = scenario('x', { cast: validators(4), act: [at('0s', silent)], ends });
    const { verdict, chronicle } = chronicled(play, { seed: 1 });
    expect(verdict.holds).toBe(true);
    // Others may miss it too: who has decided is told nothing more.
    const its = missedAt(chronicle, 2).filter(
      ({ by, what, to }) => by === 'v3' && what === 'prevotes' && to < 'v2',
    );
    expect(its.every(({ until }) => until === null)).toBe(true);
    expect(rulesOf(chronicle, its)).toEqual([silent]);
  });

  test('nobody misses what was not hindered', () => {
    const play = scenario('x', { cast: validators(4), ends });
    const { chronicle } = chronicled(play, { seed: 1 });
    // At the first height not all are connected.
    expect(missedAt(chronicle, 2).filter(({ what }) => what === 'proposals' || what === 'parts')).toEqual([]);
  });

  test('what liars say of rounds that nobody comes to is no round', () => {
    const spammer = liar('v1', 'future-spammer', ['v0', 'v2', 'v3'], { ppm: 1_000_000 });
    const play = scenario('x', { cast: validators(4), liars: [spammer], ends });
    const { chronicle } = chronicled(play, { seed: 1 });
    expect(Math.max(...chronicle.deeds.map(({ round }) => round))).toBeGreaterThan(2 ** 31 - 100);
    expect(missedAt(chronicle, 2).filter(({ round }) => round > 1)).toEqual([]);
  });

  test('a time is what a node had just done', () => {
    const act = [when(v2.prevotes({}, { height: 2, round: 0 }), crash('v2', { restart: '1s' }))];
    const { chronicle } = chronicled(scenario('x', { cast: validators(4), act, ends }), { seed: 1 });
    const [done] = chronicle.performed;
    const [first] = done ? symbolic(chronicle, done) : [];
    expect(first).toEqual(act[0]);
  });
});

describe('the whole', () => {
  // Half of the power lies: v0 hears another block and other votes than v1.
  const forked = scenario('half of them lie', {
    cast: validators(4),
    act: [
      at('0s', drop('precommits', { by: ['v1'], height: 1, round: 0 }), drop('parts', { height: 3 })),
      at('5s', pause('v1', '1s')),
      when(v3.decides(height(2)), crash('v2')),
    ],
    liars: [
      liar('v2', 'vote-equivocator', ['v0']),
      liar('v3', 'vote-equivocator', ['v0']),
      liar('v2', 'proposal-equivocator', ['v0']),
    ],
    ends: everyone.decides(height(4), { within: '20s' }),
  });
  const breaks = (seed: string): string | null => {
    const [first] = runScenario(forked, { seed }).violations;
    return first?.promise ?? null;
  };
  /** Chance decides who hears which lie in time: the first seeds under which the chain forks. */
  const seeds = Array.from({ length: 30 }, (_, i) => String(i + 1))
    .filter((each) => breaks(each) === 'chain/agreement')
    .slice(0, 3);
  const [seed = ''] = seeds;
  /** Enough for two of its seven parts; the command spends seven times as much, and finds three. */
  const BUDGET = 30_000;
  const shrunk = (play: Scenario, under = seed) =>
    shrink(play, { seed: under, promise: 'chain/agreement', budget: BUDGET });

  test('is smaller, still breaks the same promise, and is the same twice', () => {
    expect(seeds).toHaveLength(3);
    const all = seeds.map((each) => shrunk(forked, each));
    expect(all.map((each) => each?.isMinimal)).toEqual([true, true, true]);
    const sizes = all.map((each) => each?.directives.after ?? 99).sort((a, b) => a - b);
    expect(sizes[1]).toBeLessThanOrEqual(5);
    const [once] = all;
    expect(once).toEqual(shrunk(forked));
    const saved = fromJson(String(toJson(once?.scenario ?? forked))) as Scenario;
    const again = runScenario(saved, { seed: once?.seed ?? '' }).violations[0];
    expect(again?.promise).toBe('chain/agreement');
  });

  test('a run that keeps the promise is not shrunk', () => {
    expect(shrink({ ...forked, liars: [] }, { seed, promise: 'chain/agreement', budget: BUDGET })).toBeNull();
    expect(shrink(forked, { seed, promise: 'lock', budget: BUDGET })).toBeNull();
  });

  test('what nobody promises is a slip', () => {
    const nonsense = () => shrink(forked, { seed, promise: 'nonsense', budget: BUDGET });
    expect(nonsense).toThrow('shrink: nobody promises "nonsense"; say the promise of a violation');
  });
});

test('what allows somebody to stop by itself stays: without it that would be what breaks first', () => {
  const first: OracleMaker = (report) => ({
    name: 'mine',
    events: ['committed'],
    published(at, _actor, event) {
      if (event.type === 'committed' && event.height === 12n) report('somebody is at 12', at, 12n);
    },
  });
  const shrunk = shrink(applicationAhead, { seed: 1, promise: 'mine', budget: 60_000, oracles: [first] });
  expect(shrunk?.what).toBe('somebody is at 12');
  const { violations } = runScenario(shrunk?.scenario as Scenario, { seed: shrunk?.seed as string });
  expect(violations[0]?.oracle).toBe('mine');
});
