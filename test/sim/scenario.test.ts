// The scenario language: what it says to JSON and back, how a play fails, and that a run is what its seed makes it.

import { describe, expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { plays } from '../../scenarios/index.ts';
import { Choices } from '../../sim/choices.ts';
import type { OracleMaker } from '../../sim/oracle.ts';
import { runScenario } from '../../sim/run.ts';
import { fromJson, toJson } from '../../sim/scenario/json.ts';
import type { Scenario } from '../../sim/scenario/play.ts';
import { scenarioOf, scenarioUnder } from '../../sim/scenario/under.ts';
import {
  after,
  anyone,
  at,
  block,
  calm,
  clock,
  clog,
  core,
  crash,
  cut,
  disk,
  drop,
  empower,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  liar,
  links,
  msOf,
  never,
  nobody,
  partition,
  pause,
  powers,
  putBack,
  removeLog,
  reset,
  restart,
  scenario,
  signer,
  sometime,
  submit,
  these,
  txs,
  unpause,
  v0,
  v1,
  v3,
  validators,
  when,
  whenever,
} from '../../sim/scenario/words.ts';
import { QUICK } from '../../sim/swarm/index.ts';
import type { StoryLine } from '../../sim/verdict.ts';
import type { World } from '../../sim/world.ts';

const small = scenario('three heights, undisturbed', {
  cast: validators(4),
  ends: everyone.decides(height(3), { within: '60s' }),
});

/** The play of the style guide, as it stands there. */
const lockHolds = scenario('a locked validator does not prevote another block', {
  cast: validators(4),
  act: [
    at('0s', isolate('v3')),
    when(v0.locks(block(1)), partition(['v0'], ['v1', 'v2'])),
    after('10s', heal()),
  ],
  holds: [never(v0.prevotes(block(2)), { while: v0.lockedOn(block(1)) })],
  ends: everyone.decides(height(1), { within: '60s' }),
});

describe('durations', () => {
  it.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['1.5s', 1_500],
    ['2m', 120_000],
  ] as const)('%s is %i ms', (text, ms) => {
    expect(msOf(text)).toBe(ms);
  });
});

describe('a scenario as JSON', () => {
  /** Functions have no JSON. */
  const all = plays
    .filter((play) => {
      const { app, liars, oracles } = scenarioUnder(play, 0);
      const hasNamed = typeof app === 'string' && liars.every(({ liar }) => typeof liar === 'string');
      return hasNamed && oracles === undefined;
    })
    .map((play) => [play.name, play] as const);

  it.each(all)('%s comes back as it was', (_, play) => {
    for (let seed = 0; seed < 10; seed++) {
      const scenario = scenarioUnder(play, seed);
      const back = fromJson(toJson(scenario) as string);
      expect(isRefusal(back) && back.because).toBe(false);
      expect(back).toEqual(scenario);
    }
  });

  it('keeps bigints of settings', () => {
    const consensus = { timeoutProposeNs: 5n } as unknown as NonNullable<Scenario['settings']>['consensus'];
    const play = { ...small, settings: { consensus } } as Scenario;
    expect(fromJson(toJson(play) as string)).toEqual(play);
  });

  it('an application of one’s own has none', () => {
    expect(toJson({ ...small, app: () => null as never })).toMatchObject({ refused: 'not-json' });
  });

  const broken: readonly (readonly [string, (value: Record<string, never>) => unknown, string])[] = [
    ['not JSON', () => undefined, 'the file is not JSON'],
    ['a list', () => [], 'the scenario: expected an object, not []'],
    ['no ending', (value) => ({ ...value, ends: undefined }), 'ends: expected an object, not nothing'],
    ['a misspelt field', (value) => ({ ...value, hold: [] }), 'hold: no such field; there are name, title'],
    [
      'a misspelt deed',
      (value) => ({ ...value, act: [when({ who: 'v0', does: 'lock' as never })] }),
      'act[0].when.does',
    ],
    [
      'an unknown action',
      (value) => ({ ...value, act: [at('1s', { do: 'explode' } as never)] }),
      'act[0].actions[0].do',
    ],
    [
      'a crash with a point, as builders write it',
      (value) => ({
        ...value,
        act: [at('1s', { do: 'crash', node: 'v1', how: 'lose', point: { op: 'sync' } } as never)],
      }),
      'act[0].actions[0].point: expected {"do":"crash-at"} with node, how, when, op, on, nth, not {"op":"sync"}',
    ],
    [
      'a field that a crash has not',
      (value) => ({ ...value, act: [at('1s', { do: 'crash', node: 'v1', how: 'lose', nth: 2 } as never)] }),
      'act[0].actions[0].nth: no such field; there are do, node, how, restartMs',
    ],
    [
      'a signer that signs nothing',
      (value) => ({ ...value, act: [at('1s', signer('f0', '1s'))] }),
      'a node with a key',
    ],
    [
      'nobody of that name',
      (value) => ({ ...value, act: [at('1s', isolate('v9'))] }),
      'v9 is not in the cast',
    ],
    [
      'a strange name',
      (value) => ({ ...value, act: [at('1s', isolate('x1' as 'v1'))] }),
      'act[0].actions[0].node',
    ],
    ['no such application', (value) => ({ ...value, app: 'chess' }), 'app: '],
    [
      'no such liar',
      (value) => ({ ...value, liars: [{ node: 'v0', liar: 'poet', to: ['v1'] }] }),
      'no liar poet',
    ],
    [
      'a liar about blocks that is to lie about some votes',
      (value) => ({
        ...value,
        liars: [{ node: 'v0', liar: 'invalid-proposer', to: ['v1'], votes: 'prevotes' }],
      }),
      'liars[0].votes: invalid-proposer is narrowed by fromHeight, toHeight, fromRound, toRound, ppm, times alone',
    ],
    [
      'greetings of a height',
      (value) => ({
        ...value,
        liars: [{ node: 'v0', liar: 'false-greeter', to: ['v1'], fromHeight: 3 }],
      }),
      'liars[0].fromHeight: false-greeter is narrowed by ppm, times alone',
    ],
    [
      'a punishment of who has no key',
      (value) => ({
        ...value,
        cast: { powers: [1, 1], fullNodes: 1 },
        holds: [{ never: { who: 'v0', does: 'punishes', against: 'f0' } }],
      }),
      'f0 signs nothing to be punished for',
    ],
    [
      'a trigger of no kind',
      (value) => ({ ...value, act: [{ actions: [] }] }),
      'act[0]: expected a directive with',
    ],
  ];
  it.each(broken)('%s is refused, and the field named', (_, change, because) => {
    const text = JSON.stringify(change(JSON.parse(toJson(small) as string)));
    const refused = fromJson(text ?? '{');
    expect(isRefusal(refused) ? refused.because : 'not refused').toContain(because);
  });
});

describe('a run', () => {
  it('of the play in the style guide holds', () => {
    for (let seed = 0; seed < 5; seed++) {
      const verdict = runScenario(lockHolds, { seed });
      expect(verdict.violations).toEqual([]);
      expect(verdict.holds).toBe(true);
    }
  });

  it('is the same under the same seed, and another under another', () => {
    const once = runScenario(small, { seed: 1 });
    expect(runScenario(small, { seed: 1 })).toEqual(once);
    expect(runScenario(small, { seed: 1, memo: false }).digest).toBe(once.digest);
    expect(runScenario(small, { seed: 2 }).digest).not.toBe(once.digest);
  });

  it('has the same digest whether or not it is watched', () => {
    let lines = 0;
    let bytes = 0;
    const watch = { line: () => lines++, trace: (chunk: Uint8Array) => (bytes += chunk.length) };
    expect(runScenario(small, { seed: 4, watch }).digest).toBe(runScenario(small, { seed: 4 }).digest);
    expect(lines).toBeGreaterThan(20);
    expect(bytes).toBeGreaterThan(10_000);
  });

  it('goes on for as many heights as are asked for', () => {
    expect(runScenario(small, { seed: 1, heights: 8 }).heights).toBeGreaterThanOrEqual(8n);
    const late = { ...small, cast: validators(1, { initialHeight: 1000 }) };
    expect(
      scenarioUnder({ ...late, ends: everyone.decides(height(1002), { within: '60s' }) }, 1, 8).ends,
    ).toMatchObject({
      decides: 1007,
    });
    expect(() => scenarioUnder(small, 1, '8' as never)).toThrow(
      'heights: expected a whole number from 1, not 8',
    );
  });

  it('gives the same scenario for the same seed of a drawn play', () => {
    const drawn = plays.find(({ name }) => name === 'swarm');
    if (!drawn) throw new Error('the swarm is a play');
    expect(scenarioUnder(drawn, 7)).toEqual(scenarioUnder(drawn, 7));
    expect(scenarioUnder(drawn, 7)).not.toEqual(scenarioUnder(drawn, 8));
    expect(scenarioOf(drawn, new Choices({ seed: 7 }))).toEqual(scenarioUnder(drawn, 7));
  });
});

describe('a play fails', () => {
  const failing = (more: Partial<Scenario>): string => {
    const verdict = runScenario({ ...small, ...more }, { seed: 1 });
    expect(verdict.holds).toBe(false);
    return verdict.violations.map(({ oracle, what }) => `${oracle}: ${what}`).join('; ');
  };

  it('when a trigger never fires', () => {
    expect(failing({ act: [when(v0.decides(height(99)), heal())] })).toContain(
      'directive 1 never fired: when v0 decides height 99',
    );
  });

  it('when something happens that never should', () => {
    expect(failing({ holds: [never(anyone.prevotes(block(1), { height: 2 }))] })).toContain(
      'never: anyone prevotes block 1 height 2',
    );
  });

  it('when nobody is dropped who should be, nor for that reason', () => {
    const told = { liars: [liar('v3', 'vote-forger', ['v0', 'v1', 'v2'])] };
    const kept = [sometime(v0.drops('v3')), sometime(v0.drops('v3', 'wrong signature'))];
    expect(runScenario({ ...small, ...told, holds: kept }, { seed: 1 }).violations).toEqual([]);
    expect(failing({ ...told, holds: [sometime(v0.drops('v1'))] })).toContain('never happened: v0 drops v1');
    expect(failing({ ...told, holds: [sometime(v0.drops('v3', 'v9'))] })).toContain('v0 drops v3 (v9)');
    expect(failing({ ...told, holds: [sometime(v0.drops('v3', 'its manners'))] })).toContain(
      'never happened: v0 drops v3 (its manners)',
    );
  });

  it('when something that should happen does not', () => {
    expect(failing({ holds: [sometime(v1.enters('propose', { round: 7 }))] })).toContain(
      'never happened: v1 enters in round 7 propose',
    );
  });

  it('when things do not stand as promised at the end', () => {
    expect(failing({ holds: [finally_(v3.hasPower(3))] })).toContain('not so at the end: v3 has power 3');
  });

  it('when the heights are not reached in time', () => {
    expect(failing({ ends: everyone.decides(height(30), { within: '5s' }) })).toContain(
      'the play promises 30',
    );
  });

  it('when somebody gets further than nobody should', () => {
    expect(failing({ ends: nobody.decidesBeyond(height(2), { for: '20s' }) })).toContain(
      'nobody was to get beyond 2',
    );
  });

  it('when an oracle speaks, whatever the play promises', () => {
    const planted: OracleMaker = (report) => ({
      name: 'planted',
      published: (machine, _, event) => {
        if (event.type === 'committed' && event.height === 2n) report('a planted violation', machine, 2n);
      },
    });
    const verdict = runScenario(small, { seed: 1, oracles: [planted] });
    expect(verdict.holds).toBe(false);
    expect(verdict.violations[0]).toMatchObject({ oracle: 'planted', height: 2n });
    expect(verdict.again).toBe("runScenario(play, { seed: '1', oracles })");
  });

  it('when nothing moves though nothing is broken any more', () => {
    // Proposals are lost in a way that the checker does not know of: a rule behind its back.
    const verdict = runScenario(
      { ...small, ends: everyone.decides(height(99), { within: '2000s' }) },
      {
        seed: 1,
        onWorld: (world) => {
          world.network.rule = (_, __, payloads) =>
            payloads.some(({ channel }) => channel === 0x22) ? 'drop' : 'pass';
        },
      },
    );
    expect(verdict.violations[0]).toMatchObject({ oracle: 'liveness' });
    expect(verdict.violations[0]?.what).toContain('though all trouble is over; the bound was');
  });
});

it('who holds a third joins at once, though there is nobody to sync from', () => {
  const play = scenario('the small one never comes', {
    cast: { powers: [4, 1] },
    act: [at('2s', crash('v1')), at('2s', crash('v0', { restart: '1s' }))],
    ends: these('v0').decides(height(6), { within: '20s' }),
  });
  const { violations, heights } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(heights).toBeGreaterThanOrEqual(6n);
});

it('while clocks are more than 30 s apart, nobody promises a bound', () => {
  const play = scenario('a clock stands still for two minutes', {
    cast: { powers: [5, 3] },
    act: [
      at('0s', clock('v1', { frozen: true })),
      at('1308ms', partition(['v0'])),
      at('116162ms', heal()),
      at('180s', clock('v1', { frozen: false, step: '180s' })),
    ],
    ends: everyone.decides(height(2), { within: '300s', afterwards: 3 }),
  });
  const { violations, rounds, liveness } = runScenario(play, { seed: 66 });
  expect(violations).toEqual([]);
  expect(rounds.max).toBeGreaterThan(0); // v1 took blocks for ones of the future
  expect(liveness).not.toBeNull(); // before and after, a bound was promised and kept
});

it('what narrow lines hold when they heal has to pass first', () => {
  const play = scenario('five hundred bytes a second, for a minute', {
    cast: validators(4),
    act: [at('1s', links({ bytesPerSecond: 500 })), at('60s', calm())],
    ends: everyone.decides(height(4), { within: '1000s', afterwards: 3 }),
  });
  const { violations, faults, liveness } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(faults['envelopes throttled']).toBeGreaterThan(0);
  expect(liveness).not.toBeNull();
});

describe('a chain whose time liars hold back', () => {
  // One of the three that decide says that it is an hour ago, and the fourth was not there.
  const play = scenario('a quarter lies about the time', {
    cast: powers(1, 1, 1, 1),
    liars: [liar('v3', 'time-liar', ['v0', 'v1', 'v2'])],
    act: [
      when(v0.decides(height(2)), isolate('v2'), drop('parts', { height: 3, round: 0 })),
      when(v0.decides(height(3)), crash('v3'), heal()),
    ],
    ends: these('v0', 'v1', 'v2').decides(height(6), { within: '400s' }),
  });

  it('stands still for good, and no honest node is to blame', () => {
    const { violations, heights, faults, unmet } = runScenario(play, { seed: 2 });
    expect(heights).toBe(3n);
    expect(violations).toEqual([]);
    expect(faults['lie: block time held back']).toBe(1);
    expect(unmet).toEqual([
      'no end of the play: liars hold back the time of the chain at height 3, for longer than anybody waits',
    ]);
  });

  it('stands still for who could decide alone, too: a proposer judges its own block', () => {
    const tyrant = at('1500ms', empower('v0', 100, 'v1')); // decided at height 2, in force at 4
    const { violations, heights, faults } = runScenario({ ...play, act: [tyrant, ...play.act] }, { seed: 2 });
    expect(faults['validator changes asked for']).toBe(1);
    expect(heights).toBe(3n);
    expect(violations).toEqual([]);
    expect(faults['lie: block time held back']).toBe(1);
  });

  it('is no excuse for those who could go on', () => {
    // Of power 10 each, the liar is a third of what decides: the median is an honest word.
    const { violations, heights, faults } = runScenario(
      { ...play, cast: powers(10, 10, 10, 10) },
      { seed: 2 },
    );
    expect(heights).toBe(6n);
    expect(violations).toEqual([]);
    expect(faults['lie: block time held back']).toBeUndefined();
  });
});

it('a block that breaks the rules does not date the votes against it', () => {
  // v3 is shown a block a second ahead, and its vote for nil is the median of a commit with another clock that is ahead, the liar's.
  const lost = (height: number, round: number) => drop('parts', { to: ['v0', 'v2', 'v3'], height, round });
  const play = scenario('a liar shows one node a block of the future', {
    cast: {
      ...powers(421, 1000, 1000, 1000),
      clocks: {
        v1: { skewMs: 8939, driftPpm: 414 },
        v2: { skewMs: 47, driftPpm: -13 },
        v3: { skewMs: -9969, driftPpm: 172 },
      },
    },
    liars: [liar('v1', 'invalid-proposer', ['v3'], { ppm: 1_000_000 })],
    act: [
      at('1445ms', partition(['v0'])),
      at('4422ms', heal()),
      at('5725ms', clog(['v3'], ['v2'], '900ms')),
      at('0s', lost(2, 0), lost(2, 1), lost(1, 0), lost(1, 1)),
    ],
    settings: { consensus: QUICK },
    ends: these('v0', 'v2', 'v3').decides(height(9), { within: '60s' }),
  });
  const { violations, faults } = runScenario(play, { seed: 20065633 });
  expect(violations).toEqual([]);
  expect(faults['lie: an invalid block']).toBeGreaterThan(0);
});

it('a round that one began before the others were there is not the one that must decide', () => {
  const play = scenario('two of four stay, and one of them lags', {
    cast: { powers: [14, 5, 24, 13] },
    act: [
      at('0s', disk('v2', 'slow')),
      at('6210ms', disk('v0', 'full')),
      when(anyone.decides(height(6)), crash('v1'), crash('v3'), core('v0', 'v2')),
    ],
    ends: these('v0', 'v2').decides(height(8), { within: '60s' }),
  });
  const { violations, rounds } = runScenario(play, { seed: 77491362863655n });
  expect(violations).toEqual([]);
  expect(rounds.max).toBeGreaterThan(0);
});

it('a block that came too early for a slow clock is prevoted once its polka stands', () => {
  // v1 alone sees the polka, v3 dies, and v0, which refused the block for its time, must take it: its clock is right again.
  const play = scenario('a block that was early once', {
    cast: validators(4, { clocks: { v0: { skewMs: -100_000 } } }),
    act: [
      at(
        '0s',
        drop('prevotes', { height: 5, round: 0, by: ['v3'], to: ['v0', 'v2'] }),
        drop('prevotes', { height: 5, round: 0, by: ['v2'], to: ['v3'] }),
      ),
      when(
        v1.locks({}, { height: 5, round: 0 }),
        crash('v3', { how: 'clean' }),
        clock('v0', { step: '100s' }),
      ),
      after('5s', heal()),
    ],
    liveness: 'waived',
    ends: these('v0', 'v1', 'v2').decides(height(8), { within: '600s' }),
  });
  for (const seed of [1, 2, 3]) expect(runScenario(play, { seed }).violations).toEqual([]);
});

it('while a line is clogged, the bound waits for its end', () => {
  const play = scenario('a long clog', {
    cast: validators(2), // nobody relays
    act: [at('5s', clog(['v1'], ['v0'], '20s'))],
    settings: { consensus: QUICK },
    ends: everyone.decides(height(30), { within: '200s' }),
  });
  const { violations, faults } = runScenario(play, { seed: 1 });
  expect(faults['envelopes clogged']).toBeGreaterThan(0);
  expect(violations).toEqual([]);
});

describe('the story', () => {
  const tenHeights = everyone.decides(height(10), { within: '200s', afterwards: 3 });

  it('takes what is told again to who lagged behind for no new deed', () => {
    const said: string[] = [];
    const play = scenario('a straggler', {
      cast: powers(1, 30, 1, 1),
      act: [
        at(
          '0s',
          drop('prevotes', { height: 2, to: ['v0', 'v2', 'v3'] }),
          drop('parts', { height: 2, to: ['v0'] }),
        ),
        when(v1.decides(height(6)), heal()),
      ],
      ends: tenHeights,
    });
    const line = ({ node, what }: StoryLine): number => said.push(`${node} ${what}`);
    expect(runScenario(play, { seed: 1, watch: { line } }).holds).toBe(true);
    const votes = said.filter((each) => / (prevotes|precommits|proposes) /.test(each));
    expect(votes.length).toBeGreaterThan(40);
    expect(votes.filter((each, i) => votes.indexOf(each) !== i)).toEqual([]);
  });

  it('tells a block’s evidence against one in one line, with how many pieces it is', () => {
    const said: string[] = [];
    const line = ({ atNs, node, what }: StoryLine): number => said.push(`${atNs} ${node} ${what}`);
    for (const play of plays.filter(({ name }) => name === 'equivocator-punished'))
      expect(runScenario(play, { seed: 1, watch: { line } }).holds).toBe(true);
    const evidence = said.filter((each) => each.includes('evidence against v3'));
    expect(evidence.filter((each, i) => evidence.indexOf(each) !== i)).toEqual([]);
    expect(evidence.join('\n')).toMatch(/ v0 stores block [0-9]+ with evidence against v3/);
    expect(evidence.join('\n')).toMatch(/ v0 stores block [0-9]+ with 2 pieces of evidence against v3/);
  });
});

describe('actions', () => {
  it('happen, and are counted', () => {
    const play = scenario('much happens', {
      cast: validators(4),
      load: txs({ perSecond: 5, count: 9 }),
      act: [
        at('2s', drop('prevotes', { round: 0, by: ['v1'], to: ['v2'] }), pause('v0', '2s')),
        at('6s', crash('v3', { how: 'lose', restart: '1s' }), heal()),
        at('8s', crash('v2', { restart: '1s', point: { op: 'send', when: 'after', nth: 2 } })),
        at('20s'),
      ],
      ends: everyone.decides(height(10), { within: '200s' }),
    });
    const verdict = runScenario(play, { seed: 3 });
    expect(verdict.violations).toEqual([]);
    expect(verdict.faults).toMatchObject({ crashes: 2, restarts: 2, pauses: 1, 'crashed after send': 1 });
    expect(verdict.faults['envelopes dropped by rule']).toBeGreaterThan(0);
    expect(verdict.transactions).toEqual({ submitted: 9, committed: 9 });
    expect(verdict.unmet).toEqual([]);
  });

  it('are told of when nothing of them ever happened', () => {
    const play = scenario('a play full of slips', {
      cast: validators(4),
      liars: [
        liar('v3', 'withholder', ['v0'], { fromHeight: 1000 }),
        liar('v3', 'nil-voter', ['v0'], { fromHeight: 2, toHeight: 2 }),
      ],
      act: [
        at('0s', drop('prevotes', { round: 90 }), drop('precommits', { height: 3, by: ['v1'] })),
        at('1s', crash('v2', { restart: '1s', point: { op: 'append', when: 'before', nth: 90_000 } })),
        at('2s', drop('proposals', { height: 4000, from: ['v1'], to: ['v2', 'v3'] })),
      ],
      ends: everyone.decides(height(5), { within: '200s' }),
    });
    const verdict = runScenario(play, { seed: 1 });
    expect(verdict.holds).toBe(true);
    expect(verdict.unmet).toEqual([
      'no message for the rule about prevotes of round 90 from anyone to anyone',
      'no message for the rule about proposals of height 4000 from v1 to v2 v3',
      'no crash of v2 before append number 90000: it did not come to that',
      'no lie of v3 (withholder)',
    ]);
  });

  it('are told of when they did nothing, whenever they were carried out', () => {
    const play = scenario('too much', {
      cast: validators(4),
      act: [
        at('0s', crash('v3', { restart: '5s' })),
        at('1s', crash('v3'), pause('v3'), partition(['v0', 'v1', 'v2', 'v3'])),
        at('2s', restart('v2'), unpause('v2'), removeLog('v2'), putBack('v2', 'app')),
        whenever(anyone.decides(), crash('v3', { restart: '1s' })),
        when(anyone.decides(height(4)), core('v0', 'v1', 'v2', 'v3')),
      ],
      ends: everyone.decides(height(5), { within: '200s' }),
    });
    expect(runScenario(play, { seed: 1 }).unmet).toEqual([
      'no effect of "v3 is killed"',
      'no effect of "v3 is frozen"',
      'no effect of "the network splits: v0 v1 v2 v3"',
      'no effect of "v2 is started"',
      'no effect of "v2 wakes up"',
      'no effect of "the log of consensus of v2 is removed if it is down"',
      'no effect of "app of v2 is as in the copy again, if it is down"',
    ]);
  });

  it('are told of where nodes share no line, or nobody is there to hear', () => {
    const alone = scenario('alone', {
      cast: validators(1),
      act: [
        at('1s', isolate('v0')),
        at('2s', crash('v0')),
        at('3s', submit('v0', 'a=b'), empower('v0', 5)),
        at('4s', restart('v0')),
      ],
      ends: everyone.decides(height(5), { within: '200s' }),
    });
    expect(runScenario(alone, { seed: 1 }).unmet).toEqual([
      'no effect of "v0 is cut off from all others"',
      'no effect of "a client gives v0 the transaction a=b"',
      'no effect of "a client asks v0 to give v0 power 5"',
    ]);
    const far = ([['v0'], ['v3']] as const).map((names) => [...names]) as ['v0'[], 'v3'[]];
    const mesh = scenario('a ring', {
      cast: validators(6, { degree: 2 }),
      act: [
        at('0s', submit('v0', 'a=b')), // it waits for the first to be up
        at('3s', reset('v0', 'v3'), cut(...far), clog(...far, '1s')),
        at('3s', links({ lossPpm: 5 }, { from: far[0], to: far[1] }), partition(['v0'])),
        at('4s', heal()),
      ],
      ends: everyone.decides(height(5), { within: '200s' }),
    });
    const across: string[][] = [];
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      let isNeighbour = false;
      const onWorld = (world: World): void => {
        const [a, b] = [world.machine('v0'), world.machine('v3')];
        isNeighbour = a.config.peers.some(({ peer }) => peer === b.member.id);
      };
      const { unmet } = runScenario(mesh, { seed, onWorld });
      if (isNeighbour) expect(unmet).toEqual([]);
      else across.push([...unmet]);
    }
    expect(across.length).toBeGreaterThan(0);
    for (const unmet of across)
      expect(unmet).toEqual([
        'no effect of "the connection between v0 and v3 is reset"',
        'no effect of "what v0 says does not reach v3 any more"',
        'no effect of "the line from v0 to v3 is clogged for 1 s"',
        expect.stringMatching(/^no effect of "links from v0 to v3 now lose/),
      ]);
  });

  it('are told of when what must never happen had no time to', () => {
    const play = scenario('idle claims', {
      cast: validators(4),
      holds: [
        never(v1.precommits({}, { height: 40 })),
        never(anyone.crashes(), { while: v1.isCutOff }),
        never(v1.prevotes({}, { round: 9 }), { while: v0.isInConsensus }),
      ],
      ends: everyone.decides(height(5), { within: '200s' }),
    });
    expect(runScenario(play, { seed: 1 }).unmet).toEqual([
      'no height 40 for "never: v1 precommits height 40": the furthest is 5',
      'no time at which it was so for "never: anyone crashes while v1 is cut off"',
    ]);
  });

  it('are told of when fewer heights than were asked for came, from the first of the chain on', () => {
    const play = scenario('a bound', {
      cast: validators(4, { initialHeight: 100 }),
      act: [when(everyone.decides(height(103)), isolate('v2'), isolate('v3'))],
      liveness: 'waived',
      ends: nobody.decidesBeyond(height(103), { for: '20s' }),
    });
    const unmetOf = (heights: number) => runScenario(play, { seed: 3, heights }).unmet;
    expect(unmetOf(4)).toEqual([]);
    expect(unmetOf(50)).toEqual(['no 50 heights, which were asked for: the play does not end at a height']);
  });

  it('are told of when the height beyond which nobody gets is out of reach', () => {
    const play = scenario('a bound far away', {
      cast: validators(4),
      act: [when(everyone.decides(height(3)), isolate('v2'), isolate('v3'))],
      liveness: 'waived',
      ends: nobody.decidesBeyond(height(400), { for: '20s' }),
    });
    const verdict = runScenario(play, { seed: 3 });
    expect(verdict.holds).toBe(true);
    expect(verdict.unmet).toEqual([
      'no block of height 400, beyond which nobody was to get: the furthest is 3',
    ]);
  });

  it('are told of when the application or the ending takes no notice', () => {
    const play = scenario('to the deaf', {
      cast: validators(4),
      app: 'counter',
      act: [at('1s', empower('v1', 20)), when(everyone.decides(height(3)), isolate('v2'), isolate('v3'))],
      liveness: 'waived',
      ends: nobody.decidesBeyond(height(3), { for: '20s' }),
    });
    expect(runScenario(play, { seed: 3, heights: 50 }).unmet).toEqual([
      'no effect of "a client asks v0 to give v1 power 20"',
      'no 50 heights, which were asked for: the play does not end at a height',
    ]);
  });

  it('are told of when no transaction of the load is taken, unless pools are to take none', () => {
    const load = txs({ perBlock: 1 }); // pairs, and no numbers
    const words = { cast: validators(4), load, ends: everyone.decides(height(5), { within: '200s' }) };
    const unmetOf = (more: object) =>
      runScenario(scenario('in vain', { ...words, ...more }), { seed: 1 }).unmet;
    expect(unmetOf({ app: 'counter_serial' })).toEqual([
      expect.stringMatching(
        /^no transaction of the load in a block as it was given: 5 were submitted, and the application/,
      ),
    ]);
    expect(unmetOf({ app: 'counter' })).toEqual([]);
    // One that is no part of the load is taken.
    const taken = at('1s', submit('v0', '\0'));
    expect(unmetOf({ app: 'counter_serial', act: [taken] })).toEqual([
      expect.stringMatching(/^no transaction of the load in a block as it was given: 5 were submitted, and/),
    ]);
    class Empty extends KvStore {
      override answer(request: AbciRequest): AbciResponse {
        if (request.type !== 'prepare-proposal') return super.answer(request);
        return { type: 'prepare-proposal', value: { txs: [] } };
      }
    }
    expect(unmetOf({ app: () => new Empty() })).toEqual([
      'no transaction of the load in a block as it was given: 5 were submitted',
    ]);
    expect(unmetOf({ app: 'counter_serial', settings: { mempool: { kind: 'nop' } } })).toEqual([]);
  });

  it('are told of when a heal took them back before they met anything', () => {
    const play = scenario('in vain', {
      cast: validators(4),
      act: [
        at('0s', drop('prevotes', { round: 90 })),
        when(anyone.decides(height(2)), heal()),
        at('1s', crash('v2', { restart: '1s', point: { op: 'append', when: 'before', nth: 90_000 } })),
        when(anyone.decides(height(3)), calm()),
      ],
      ends: everyone.decides(height(5), { within: '200s' }),
    });
    expect(runScenario(play, { seed: 3 }).unmet).toHaveLength(2);
  });

  it('count each message that a rule took, of envelopes that went on without it, too', () => {
    const play = scenario('parts are lost, their proposals are not', {
      cast: validators(4),
      act: [at('0s', drop('parts', { round: 0, height: 2 }))],
      ends: everyone.decides(height(4), { within: '200s' }),
    });
    const { faults } = runScenario(play, { seed: 3 });
    expect(faults['messages dropped by rule']).toBeGreaterThan(faults['envelopes dropped by rule'] ?? 0);
  });
});
