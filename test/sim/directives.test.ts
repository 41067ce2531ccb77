// Directives of one moment, chains that wait, claims about what was so as something happened, and rules that meet.

import { describe, expect, it } from 'vitest';
import { runScenario } from '../../sim/run.ts';
import type { Claim, Directive, Scenario } from '../../sim/scenario/play.ts';
import {
  after,
  at,
  block,
  clog,
  core,
  crash,
  delay,
  disk,
  drop,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  links,
  never,
  nobody,
  partition,
  pause,
  restart,
  scenario,
  sometime,
  submit,
  unpause,
  v0,
  v1,
  v3,
  validators,
  when,
  whenever,
  whenOrAt,
} from '../../sim/scenario/words.ts';

const four = (act: readonly Directive[], holds: readonly Claim[] = [], last = 10): Scenario =>
  scenario('four validators', {
    cast: validators(4),
    act,
    holds,
    ends: everyone.decides(height(last), { within: '200s', afterwards: 1 }),
  });

const whatBreaks = (play: Scenario, seed = 1): string[] =>
  runScenario(play, { seed }).violations.map(({ oracle, what }) => `${oracle}: ${what}`);

describe('directives of one moment', () => {
  it('are all seen by the watch over liveness: where two are cut off nothing is promised', () => {
    const play = four([at('2s', isolate('v0')), at('2s', isolate('v1')), at('60s', heal())]);
    for (let seed = 1; seed <= 4; seed++) expect(whatBreaks(play, seed)).toEqual([]);
  });

  it('happen in the order of the play, under every seed', () => {
    for (let seed = 1; seed <= 8; seed++) {
      const { nodes, holds } = runScenario(four([at('2s', crash('v1')), at('2s', restart('v1'))]), { seed });
      expect({ seed, holds, lives: nodes[1]?.lives }).toEqual({ seed, holds: true, lives: 2 });
    }
  });
});

it('a block has its number for who is dozens of heights behind', () => {
  const act = [when(v3.decides(height(2)), isolate('v3')), when(v0.decides(height(14)), heal())];
  const { violations } = runScenario(four(act, [never({ ...v3.decides(height(3)), block: 1 })], 15), {
    seed: 1,
  });
  expect(violations).toMatchObject([{ oracle: 'play', node: 'v3' }]);
  expect(Number(violations[0]?.height)).toBeLessThanOrEqual(4);
});

it('a play that nobody is to end waits for a directive of its own, however late', () => {
  const late = [at('40m', crash('v0')), after('20m', restart('v0')), after('20m', crash('v0'))];
  const act = [at('0s', partition(['v0', 'v1'], ['v2', 'v3'])), ...late];
  const ends = nobody.decidesBeyond(height(1), { for: '5s' });
  const play = scenario('late', { cast: validators(4), liveness: 'waived', act, ends });
  const { violations, virtualNs } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(virtualNs).toBeGreaterThanOrEqual(4_805e9);
});

it('a chain that waits goes on waiting when another begins to', () => {
  const first = [at('1s', pause('v3')), whenOrAt(v0.decides(height(40)), '12s', unpause('v3'))];
  const second = [at('2s', disk('v1', 'slow')), when(v1.decides(height(3)), disk('v1', 'good'))];
  expect(whatBreaks(four([...first, ...second]))).toEqual([]);
});

it('what waits for its latest moment when the core heals is not brought by the clock any more', () => {
  const names = ['v0', 'v1', 'v2', 'v3'] as const;
  const late = [at('500ms', disk('v2', 'slow')), whenOrAt(v0.decides(height(90)), '12s', crash('v0'))];
  const healed = [at('1s', pause('v3', '2s')), when(v1.decides(height(3)), core(...names))];
  const { violations, nodes } = runScenario(four([...late, ...healed], [], 15), { seed: 1 });
  expect(violations).toEqual([]);
  expect(nodes.map(({ crashes }) => crashes)).toEqual([0, 0, 0, 0]);
});

it('what the clock was to bring in another chain does not come after core, and nothing that waits for it', () => {
  const names = ['v0', 'v1', 'v2', 'v3'] as const;
  const late = [
    at('500ms', disk('v2', 'slow')),
    after('12s', crash('v0')),
    when(v0.crashes(), crash('v1')),
    at('13s', crash('v2')),
    after('1s', crash('v3')),
  ];
  const healed = [at('1s', pause('v3', '2s')), when(v1.decides(height(3)), core(...names))];
  const afterwards = whenOrAt(v0.decides(height(90)), '14s', submit('v0', 'a=1'));
  const play = four([...late, ...healed, afterwards], [], 18);
  const { violations, nodes, transactions } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(nodes.map(({ crashes }) => crashes)).toEqual([0, 0, 0, 0]);
  expect(transactions.submitted).toBe(1); // behind core the clock goes on
});

it('what was to come again and again, and never came, leaves nothing waiting behind it when the core heals', () => {
  const names = ['v0', 'v1', 'v2', 'v3'] as const;
  const awaited = [
    at('500ms', disk('v2', 'slow')),
    whenever(v0.crashes(), crash('v1')),
    after('1s', crash('v2')),
  ];
  const healed = [at('1s', pause('v3', '2s')), when(v1.decides(height(3)), core(...names))];
  expect(whatBreaks(four([...awaited, ...healed]))).toEqual([]);
});

describe('never while', () => {
  const restarted = [at('5s', crash('v0', { restart: '1s' }))];

  it.each<[string, Claim]>([
    ['consensus', never(v0.crashes(), { while: v0.isInConsensus })],
    ['a life', never(v0.crashes(), { while: v0.isUp })],
    ['between lives', never(v0.starts(), { while: v0.isDown })],
    ['a lock', never(v0.decides(), { while: v0.lockedOn(block(1)) })],
  ])('is asked of what was so as it happened, which ended with it: %s', (_, claim) => {
    expect(whatBreaks(four(restarted, [claim]))[0]).toMatch(/^play: never: v0/);
  });

  it.each<[string, Claim]>([
    ['consensus', never(v0.joins(), { while: v0.isInConsensus })],
    ['a life', never(v0.starts(), { while: v0.isUp })],
    ['a lock', never(v0.locks(block(1)), { while: v0.lockedOn(block(1)) })],
  ])('is not asked of what began with it: %s', (_, claim) => {
    expect(whatBreaks(four(restarted, [claim]))).toEqual([]);
  });
});

describe('rules', () => {
  it('that delay do not hide those that drop', () => {
    const lost = drop('prevotes', { height: 3, round: 0, to: ['v3'] });
    const play = four([at('0s', delay('everything', '10ms', { to: ['v3'] }), lost)]);
    const verdict = runScenario(play, { seed: 1 });
    expect(verdict.faults['messages dropped by rule']).toBeGreaterThan(0);
    expect(verdict.unmet).toEqual([]);
  });

  it('that drop come before those that delay, in whatever order they stand', () => {
    const rules = [delay('proposals', '1s'), drop('proposals', { height: 3, round: 0 })];
    const digests = [rules, rules.toReversed()].map(
      (order) => runScenario(four([at('0s', ...order)], [], 5), { seed: 1 }).digest,
    );
    expect(digests[0]).toBe(digests[1]);
  });

  it('that delay wait for the end of a clog, and of two the longer one counts', () => {
    const early = (act: Directive[]): Scenario =>
      four(act, [sometime(v3.precommits(block(1), { height: 3 })), finally_(v3.isInConsensus)]);
    const clogged = [at('0s', clog(['v0', 'v1', 'v2'], ['v3'], '20s'))];
    const late = [at('0s', delay('everything', '30ms', { to: ['v3'] }))];
    expect(whatBreaks(early(late))).toEqual([]);
    // Nothing of height 3 is there before the others have decided it.
    expect(whatBreaks(early([...clogged, ...late]))[0]).toContain('never happened: v3 precommits');
    const longer = [
      at('0s', delay('everything', '30ms', { to: ['v3'] }), delay('everything', '20s', { to: ['v3'] })),
    ];
    expect(whatBreaks(early([...longer, at('30s', heal())]))[0]).toContain('never happened: v3 precommits');
  });
});

it('oscillators that run fast make timeouts short, and the bound on liveness knows', () => {
  const fast = { driftPpm: 9_000_000 };
  const slowLines = links({ latency: { kind: 'uniform', minNs: 450_000_000, maxNs: 500_000_000 } });
  const play = scenario('ten times as fast', {
    cast: validators(4, { clocks: { v0: fast, v1: fast, v2: fast, v3: fast } }),
    act: [at('0s', slowLines)],
    ends: everyone.decides(height(5), { within: '200s' }),
  });
  expect(whatBreaks(play)).toEqual([]);
});
