// Explanations: what a person reads after a violated run names the promise, the faults, and the votes that are missing.

import { describe, expect, test } from 'vitest';
import { makeCast } from '../../sim/cast.ts';
import { chronicled } from '../../sim/chronicle.ts';
import { type Explanation, explainRun } from '../../sim/explain/explain.ts';
import { PROMISES } from '../../sim/oracles/promises.ts';
import type { Recording } from '../../sim/recording.ts';
import { runScenario } from '../../sim/run.ts';
import type { Directive, Scenario } from '../../sim/scenario/play.ts';
import {
  at,
  crash,
  drawn,
  drop,
  everyone,
  height,
  isolate,
  liar,
  never,
  nobody,
  scenario,
  v0,
  validators,
  when,
} from '../../sim/scenario/words.ts';

const play = (...act: Directive[]): Scenario =>
  scenario('x', { cast: validators(4), act, ends: everyone.decides(height(5), { within: '25s' }) });

function explained(scenario: Scenario, seed = 1): Explanation {
  const explanation = explainRun(scenario, { seed });
  if (!explanation) throw new Error('it holds');
  return explanation;
}

const told = ({ story }: Explanation): string[] => story.map(({ node, what }) => `${node} ${what}`.trim());

test('a run that holds needs no explanation', () => {
  expect(
    explainRun(scenario('x', { cast: validators(4), ends: everyone.decides(height(1), { within: '25s' }) }), {
      seed: 1,
    }),
  ).toBeNull();
});

test('what nobody was to do is told with the height at which somebody did it', () => {
  const words = { cast: validators(4), ends: everyone.decides(height(5), { within: '25s' }) };
  const never3 = explained(scenario('x', { ...words, holds: [never(v0.decides(height(3)))] }));
  expect(never3.sentence).toContain('never: v0 decides height 3');
  expect(told(never3).at(-1)).toMatch(/\bv0 decides? [0-9a-f]+ at 3\b/);
  expect(told(never3).some((line) => line.includes(' proposes '))).toBe(true);
  expect(never3.stalls).toEqual([]);
  const beyond = scenario('x', {
    ...words,
    act: [at('9s', isolate('v3'))],
    ends: nobody.decidesBeyond(height(4), { for: '9s' }),
  });
  expect(told(explained(beyond)).some((line) => /decides? [0-9a-f]+ at 5\b/.test(line))).toBe(true);
});

test('a vote in the name of another is not that one’s word', () => {
  const play = scenario('x', {
    cast: validators(4),
    liars: [liar('v3', 'vote-forger', ['v0'])],
    ends: everyone.decides(height(5), { within: '60s' }),
  });
  const { verdict, chronicle } = chronicled(play, { seed: 1 });
  expect(verdict.faults['lie: votes of others']).toBeGreaterThan(0);
  const said = new Set(
    chronicle.deeds.map(({ node, does, height, round, about }) => [node, does, height, round, about].join()),
  );
  const votes = chronicle.heard.filter(({ kind, by }) => kind.startsWith('pre') && by !== '');
  expect(votes.length).toBeGreaterThan(50);
  for (const { by, kind, height, round, about } of votes)
    expect(said).toContain([by, kind, height, round, about].join());
});

describe('whose run it was', () => {
  const drawnLiar = drawn('drawn', 'a liar that the seed picks', (stream) =>
    scenario('x', {
      cast: validators(4),
      liars: [liar(stream.draw(2) === 0 ? 'v0' : 'v1', 'withholder', ['v2', 'v3'])],
      act: [at('0s', drop('precommits'))],
      ends: everyone.decides(height(5), { within: '25s' }),
    }),
  );
  const liarsOf = (explanation: Explanation | null): string[] =>
    told(explanation as Explanation).filter((line) => line.includes(' is a withholder '));

  test('its choices say who lied, whatever the seed beside them', () => {
    const seeds = Array.from({ length: 8 }, (_, seed) => seed);
    const own = seeds.map((seed) => liarsOf(explainRun(drawnLiar, { seed })));
    const other = seeds.find((seed) => own[seed]?.[0] !== own[0]?.[0]) as number;
    const kept: Recording[] = [];
    runScenario(drawnLiar, { seed: 0, watch: { choices: (choices) => kept.push(choices) } });
    const [recorded] = kept as [Recording];
    expect(liarsOf(explainRun(drawnLiar, { seed: other, recorded }))).toEqual(own[0]);
  });

  test('the powers are those of the people who were on stage', () => {
    const cast = makeCast({ powers: [1n, 2n, 3n, 4n] });
    const explanation = explainRun(play(at('0s', drop('precommits'))), { seed: 1, cast });
    expect(told(explanation as Explanation)[0]).toBe('4 validators, powers 1, 2, 3, 4');
  });
});

describe('who stands still', () => {
  test('one of four is down, the word of another is lost: the others lack one vote', () => {
    const silent = [drop('precommits', { by: ['v1'] }), crash('v3', { how: 'clean' })];
    const explanation = explained(play(when(v0.decides(height(2)), ...silent)));
    // v1 has its own word, and goes on.
    const [mine, other, last] = explanation.stalls;
    expect(mine).toMatch(
      /^v0 h3 r0 precommit: 1 more precommit for [0-9a-f]{4} of round 0 from v1 or v3 would decide \(has v0, v2; 27 of 40 needed\)/,
    );
    expect(mine).toMatch(/v1 said [0-9a-f]{4}, and it did not arrive; v3 is down$/);
    expect(other).toMatch(/^v2 h3 .* from v1 or v3 /);
    expect(last).toMatch(/^v3 is down since height [12]$/);
  });

  test('three of four are silent: two more must speak', () => {
    const silent = drop('prevotes', { by: ['v1', 'v2', 'v3'], height: 3 });
    const { stalls } = explained(play(at('0s', silent)));
    expect(stalls[0]).toMatch(
      /^v0 h3 r0 prevote: 2 more prevotes of round 0 from among v1, v2, v3 would move it on/,
    );
    expect(stalls[0]).toMatch(/\(has v0; 27 of 40 needed\)/);
  });

  test('who said nil said nil: that did arrive, and is no precommit that would help', () => {
    const at3 = { height: 3 } as const;
    const lost = [
      drop('proposals', { to: ['v3'], round: 0, ...at3 }),
      drop('parts', { to: ['v3'], round: 0, ...at3 }),
      drop('prevotes', { by: ['v1'], to: ['v2'], round: 0, ...at3 }),
      drop('precommits', { by: ['v1', 'v3'], ...at3 }),
      drop('prevotes', { round: 1, ...at3 }),
      drop('block-sync'),
    ];
    const { stalls } = explained(play(when(v0.decides(height(1)), ...lost)));
    expect(stalls[0]).toMatch(
      /^v0 h3 r0 precommit: 2 more precommits for [0-9a-f]{4} of round 0 from among v1, v3 /,
    );
    expect(stalls.join('\n')).not.toContain('v2 said nil, and');
    expect(stalls.join('\n')).toMatch(
      /^v3 .* v1 said [0-9a-f]{4}, and it did not arrive; v2 said nil; v3 said nil$/m,
    );
  });

  test('who decided a moment ago, and is down, stands still', () => {
    const alone = scenario('x', {
      cast: validators(1),
      act: [when(v0.decides(height(3)), crash('v0', { how: 'clean' }))],
      ends: everyone.decides(height(5), { within: '5s' }),
    });
    const { stalls, story } = explained(alone);
    expect(stalls).toEqual([expect.stringMatching(/^v0 is down since height [34]$/)]);
    expect(story[0]?.what).toBe('1 validator, power 10 each');
  });

  test('who waits for a transaction waits for no proposal', () => {
    const { stalls } = explained(
      scenario('x', {
        cast: validators(4),
        settings: { consensus: { createEmptyBlocks: false } },
        ends: everyone.decides(height(5), { within: '25s' }),
      }),
    );
    expect(stalls).toEqual(
      ['v0', 'v1', 'v2', 'v3'].map((name) => `${name} h2 r0 new round: it waits for a transaction`),
    );
  });

  test('a block that lacks one precommit is near a decision', () => {
    const silent = [drop('precommits', { by: ['v2', 'v3'], to: ['v0'], height: 3 }), drop('block-sync')];
    const { stalls } = explained(play(when(v0.decides(height(1)), ...silent)));
    expect(stalls.join('\n')).toMatch(
      /v0 h3 r\d+ [a-z ]+: 1 more precommit for [0-9a-f]{4} of round 0 from v2 or v3 would decide \(has v0, v1; 27 of 40 needed\)/,
    );
    expect(stalls.every((line) => line.startsWith('v0 '))).toBe(true);
  });
});

test('each oracle that always watches says what it promises', () => {
  const names: string[] = [];
  const calm = scenario('x', { cast: validators(1), ends: everyone.decides(height(1), { within: '25s' }) });
  runScenario(calm, {
    seed: 1,
    onWorld: ({ oracles }) => void names.push(...oracles.map(({ name }) => name)),
  });
  const told = new Set(Object.keys(PROMISES).map((promise) => promise.split('/')[0]));
  expect(names.length).toBeGreaterThan(28);
  expect(names.filter((name) => name !== 'witness' && !told.has(name))).toEqual([]);
});

describe('the story', () => {
  test('tells the faults, and what was done at the height concerned, once for all who did it', () => {
    const explanation = explained(play(when(v0.decides(height(2)), isolate('v2'), isolate('v3'))));
    expect(explanation.sentence).toMatch(
      /^It was promised that the play comes true; but v\d stands at height 2/,
    );
    const lines = told(explanation);
    expect(lines[0]).toBe('-- 4 validators, power 10 each'.slice(3));
    expect(lines).toContain('v2 is cut off from all others');
    expect(lines.some((line) => /^v\d v\d.* prevote (nil|[0-9a-f]{8}) at 3\/0$/.test(line))).toBe(true);
    expect(lines.some((line) => line.includes('at 2/0'))).toBe(false);
    const times = explanation.story.map(({ atNs }) => atNs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test('names liars, and says what was promised', () => {
    const forked: Scenario = {
      ...play(at('0s', drop('precommits', { by: ['v1'], height: 1, round: 0 }))),
      liars: [
        liar('v2', 'vote-equivocator', ['v0']),
        liar('v3', 'vote-equivocator', ['v0']),
        liar('v2', 'proposal-equivocator', ['v0']),
      ],
    };
    const forks = (seed: number): boolean =>
      runScenario(forked, { seed }).violations[0]?.what.startsWith('agreement') ?? false;
    const seed = Array.from({ length: 30 }, (_, i) => i + 1).find(forks);
    const explanation = explained(forked, seed);
    expect(explanation.sentence).toMatch(
      /^It was promised that no two honest nodes commit different blocks at a height; but v\d committed /,
    );
    expect(told(explanation)).toContain('v2 is a proposal-equivocator towards v0');
    expect(explanation.stalls).toEqual([]);
  });

  test('calls a lie one, and puts it on no line of the honest', () => {
    const nilVoter = liar('v2', 'nil-voter', ['v1']);
    const lost = drop('precommits', { height: 1, by: ['v0', 'v1', 'v3'] });
    const lines = told(explained({ ...play(at('0s', lost)), liars: [nilVoter] }));
    const votes = lines.filter((line) => / prevotes? .* at 1\/0/.test(line));
    expect(votes).toEqual([
      expect.stringMatching(/^(v\d ){4}prevote [0-9a-f]{8} at 1\/0$/),
      'v2 prevotes nil at 1/0 (a lie)',
    ]);
    const own = told(
      explained({ ...play(at('0s', lost)), liars: [{ ...nilVoter, liar: () => () => null }] }),
    );
    expect(own).toContain('v2 is a liar of its own towards v1');
  });
});
