// `sim shrink`, as a person uses it: a planted bug becomes a short scenario that runs again, and a test that fails.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { playFromJson } from '../../../runtime/cli/run/play-file.ts';
import { performShrink, type ShrinkSoFar } from '../../../runtime/cli/shrink/job.ts';
import { testOf } from '../../../runtime/cli/shrink/test-file.ts';
import type { Scenario } from '../../../sim/scenario/play.ts';
import { everyone, height, scenario, validators } from '../../../sim/scenario/words.ts';
import { directivesIn } from '../../../sim/shrink/parts.ts';
import { hasStack, isBuilt, nodecli, root, workFolder } from './nodecli.ts';

const folder = workFolder();
afterAll(folder.remove);
mkdirSync(folder.at('.'), { recursive: true });

/** M06 forgets its lock: it shows when a round decides nothing, and another block comes. */
const FAILING = {
  name: 'forgotten-lock',
  title: 'noise around a round in which only v0 sees a polka',
  cast: { powers: [10, 10, 10, 10] },
  act: [
    {
      atMs: 0,
      actions: [
        { do: 'rule', what: 'proposals', effect: 'drop', height: 2, round: 0, to: ['v2'] },
        { do: 'rule', what: 'parts', effect: 'drop', height: 2, to: ['v2'] },
        { do: 'rule', what: 'prevotes', effect: 'drop', height: 2, round: 0, by: ['v3'] },
        { do: 'rule', what: 'transactions', effect: { delayMs: 50 } },
        { do: 'clock', node: 'v1', stepMs: 20 },
      ],
    },
    { when: { who: 'v0', does: 'decides', height: 1 }, actions: [{ do: 'pause', node: 'v1', forMs: 20 }] },
  ],
  load: { perSecond: 1, size: 40 },
  ends: { who: 'everyone', decides: 4, withinMs: 60_000 },
};

/** Nothing is wrong with the code: half of the power lies, and the chain forks. */
const FORKED = {
  ...FAILING,
  act: [
    {
      atMs: 0,
      actions: [
        { do: 'rule', what: 'precommits', effect: 'drop', by: ['v1'], height: 1, round: 0 },
        { do: 'rule', what: 'parts', effect: 'drop', height: 3 },
      ],
    },
    { atMs: 5_000, actions: [{ do: 'pause', node: 'v1', forMs: 1_000 }] },
  ],
  liars: [
    { node: 'v2', liar: 'vote-equivocator', to: ['v0'] },
    { node: 'v3', liar: 'vote-equivocator', to: ['v0'] },
    { node: 'v2', liar: 'proposal-equivocator', to: ['v0'] },
  ],
};

test('who waits hears how far it is, and what is left so far', () => {
  const heard: ShrinkSoFar[] = [];
  const result = performShrink({ shrink: { json: JSON.stringify(FORKED) }, seed: '3' }, (soFar) =>
    heard.push(soFar),
  );
  if ('not' in result) throw new Error(result.not);
  const left = heard.flatMap(({ least }) => (least ? [least] : []));
  const many = left.map(({ directives }) => directives);
  expect(many.length).toBeGreaterThan(1);
  expect(many).toEqual([...new Set(many)].sort((a, b) => b - a));
  expect(directivesIn(playFromJson('it', left.at(-1)?.scenario ?? '') as Scenario)).toBe(many.at(-1));
  const parts = heard.map(({ part }) => part);
  expect(parts).toEqual([...parts].sort((a, b) => a - b));
  expect(parts.at(-1)).toBeLessThanOrEqual(1);
});

test('a comment that is cut says so, and not in the middle of a word', () => {
  const origin = { oracle: 'lock', what: 'what was promised '.repeat(9), seed: '1', commit: '' };
  const play = playFromJson('it', JSON.stringify({ ...FAILING, origin }));
  const [, comment] = testOf(play as Scenario).split('\n');
  expect(comment).toMatch(/^\/\/ (what was promised )+what was …$/);
});

describe.skipIf(!isBuilt)('a planted bug', () => {
  const input = folder.at('input.json');
  const saved = folder.at('saved.json');
  const testFile = folder.at('saved.test.ts');

  test('says before the work what cannot be written', () => {
    const bug = ['--mutant', 'scenarios/zoo/M06.json', '--seed', '38'];
    mkdirSync(folder.at('folder.json'));
    const into = nodecli('sim', 'shrink', 'swarm', ...bug, '--out', folder.at('folder.json'));
    expect(into.err).toMatch(/cannot be written: it is a folder$/m);
    const both = nodecli('sim', 'shrink', 'swarm', ...bug, '--out', saved, '--test', saved);
    expect(both.err).toMatch(/^nodecli: --test: .* is --out, too; name another file$/m);
    expect([into.code, both.code, into.out, both.out]).toEqual([2, 2, '', '']);
    const bugFile = folder.at('bug.json');
    const text = readFileSync('scenarios/zoo/M06.json', 'utf8');
    writeFileSync(bugFile, text);
    const over = nodecli('sim', 'shrink', 'swarm', '--seed', '38', '--mutant', bugFile, '--out', bugFile);
    expect(over.err).toMatch(/^nodecli: --out: .*bug\.json is --mutant, too; name another file$/m);
    writeFileSync(input, JSON.stringify(FAILING));
    const test = nodecli('sim', 'shrink', input, '--test', input);
    expect(test.err).toMatch(/^nodecli: --test: .*input\.json is the scenario, too; name another file$/m);
    expect([over.code, test.code, readFileSync(bugFile, 'utf8')]).toEqual([2, 2, text]);
    // What is there is of another kind, and stays.
    const config = folder.at('vitest.config.ts');
    writeFileSync(config, '// of somebody');
    const other = nodecli('sim', 'shrink', input, '--out', bugFile);
    expect(other.err).toMatch(
      /^nodecli: --out: .*bug\.json is there, and is no scenario; name another file$/m,
    );
    const own = nodecli('sim', 'shrink', input, '--out', saved, '--test', config);
    expect(own.err).toMatch(
      /^nodecli: --test: .* is there, and is no test that shrink wrote; name another file$/m,
    );
    expect([other.code, own.code, readFileSync(config, 'utf8')]).toEqual([2, 2, '// of somebody']);
    expect(readFileSync(bugFile, 'utf8')).toBe(text);
    expect(existsSync(saved)).toBe(false);
  });

  test('becomes a scenario of which no part can go', () => {
    writeFileSync(input, JSON.stringify(FAILING));
    const bug = ['--mutant', 'scenarios/zoo/M06.json', '--seed', '5'];
    const { code, out, err } = nodecli(
      'sim',
      'shrink',
      input,
      ...bug,
      '--out',
      saved,
      '--test',
      testFile,
      '--json',
    );
    expect(err).toBe('');
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report).toMatchObject({
      promise: 'lock',
      isMinimal: true,
      holdsWithoutAny: true,
      file: saved,
      holdsWithoutMutant: true,
    });
    expect(report.explanation.sentence).toMatch(
      /^It was promised that who precommitted a block prevotes another only/,
    );
    expect(report.directives.before).toBe(6);
    expect(report.directives.after).toBeLessThanOrEqual(3);
    expect(report.height).toBeLessThanOrEqual(2);
    expect(report.survives.fails).toBeGreaterThanOrEqual(16);
    const scenario = JSON.parse(readFileSync(saved, 'utf8'));
    expect(directivesIn({ holds: [], liars: [], ...scenario })).toBe(report.directives.after);
    expect(scenario.origin).toMatchObject({ oracle: 'lock', seed: report.seed, mutant: 'M06' });
  });

  test('is saved with its seed, runs again, and holds without the bug', () => {
    const { code, out } = nodecli('sim', 'run', saved, '--json');
    expect(JSON.parse(out)).toMatchObject({
      holds: true,
      seed: JSON.parse(readFileSync(saved, 'utf8')).origin.seed,
    });
    expect(code).toBe(0);
  });

  test('runs and replays where the bug is planted; without it the replay names the guilty turn', () => {
    const planted = ['--mutant', 'scenarios/zoo/M06.json'];
    const trace = folder.at('saved.trace');
    const page = folder.at('saved.html');
    const run = nodecli('sim', 'run', saved, ...planted, '--trace', trace, '--html', page);
    expect(run.err).toBe('');
    expect(run.code).toBe(1);
    expect(run.out).toContain(
      `again         npx nodecli sim run ${saved} --seed 5 --mutant scenarios/zoo/M06.json`,
    );
    expect(readFileSync(page, 'utf8')).toContain('<!doctype html>');
    // Who broke it need not be whose record is the last: its vote waited for the disk.
    const [, guilty, last] = /records; the last of (v\d) is (\d+)$/m.exec(run.out) ?? [];
    expect(run.out).toContain(`lock: ${guilty} precommitted`);
    const there = nodecli('sim', 'replay', trace, ...planted, '--at', String(last));
    expect(there.out).toContain(`${guilty} after record ${last}`);
    const replay = nodecli('sim', 'replay', trace, ...planted);
    expect(replay.out).toContain('same effects, same state digests');
    expect(replay.code).toBe(0);
    const healthy = nodecli('sim', 'replay', trace);
    expect(healthy.code).toBe(1);
    const [, turn] = /diverges at record (\d+): v\d \/ validator/.exec(healthy.err) ?? [];
    const state = nodecli('sim', 'replay', trace, ...planted, '--at', String(turn));
    expect(state.out).toContain(`asked for in record ${turn}`);
  });

  test.each([
    ['no such bug', ['M99.json'], /^nodecli: the patch M99\.json cannot be read: there is no such file$/],
    [
      'its name',
      ['M06'],
      /^nodecli: the patch M06 cannot be read: .*; did you mean scenarios\/zoo\/M06\.json\?$/,
    ],
    [
      'an error of the patched build',
      ['scenarios/zoo/M06.json', '--heights', '0'],
      /^nodecli: --heights takes a whole number from 1 on, not "0"$/,
    ],
  ])('is refused in one line: %s', (_, args, says) => {
    const { code, err } = nodecli('sim', 'run', 'calm', '--mutant', ...args);
    expect(err.trim()).toMatch(says);
    expect(code).toBe(2);
  });

  test('is written as a test', () => {
    const text = readFileSync(testFile, 'utf8');
    expect(text).toContain("import { runScenario, type Scenario } from 'rehearsal/sim';");
    expect(text).toContain('expect(violations).toEqual([]);');
  });
});

test.skipIf(!isBuilt)('a worker that is killed leaves the smallest so far', () => {
  const [input, bug, saved] = [folder.at('forked.json'), folder.at('dies.json'), folder.at('least.json')];
  writeFileSync(input, JSON.stringify({ ...FORKED, name: 'forked' }));
  const find = 'tell({ runs, part, least: smaller || null });';
  const replace = `${find} if (smaller) process.kill(process.pid, 'SIGKILL');`;
  const file = 'runtime/cli/shrink/job.js';
  writeFileSync(bug, JSON.stringify({ name: 'dies', file, find, replace, why: 'a test' }));
  const { code, out, err } = nodecli('sim', 'shrink', input, '--seed', '3', '--mutant', bug, '--out', saved);
  expect(err).toMatch(
    /^nodecli: a worker failed: it ended with SIGKILL\.\n\d+ runs? made; (\d+) directives? left/,
  );
  expect(err).toContain(` left so far, saved in ${saved}\n`);
  expect([code, out]).toEqual([1, '']);
  const [, left] = /(\d+) directives? left/.exec(err) ?? [];
  const least = playFromJson('it', readFileSync(saved, 'utf8')) as Scenario;
  expect(directivesIn(least)).toBe(Number(left));
  expect(least.origin).toMatchObject({ mutant: 'dies' });
});

describe.skipIf(!isBuilt)('what cannot be shrunk is said in one line', () => {
  test.each([
    [
      'a run that holds',
      ['calm'],
      /there is nothing to shrink in calm, seed 1: it holds \(with sim-crypto\)/,
    ],
    [
      'no such bug',
      ['calm', '--mutant', 'M99.json'],
      /the patch M99\.json cannot be read: there is no such file/,
    ],
    ['no such play', ['calmm'], /there is no scenario "calmm": did you mean calm\?/],
  ])('%s', (_, args, says) => {
    const { code, err } = nodecli('sim', 'shrink', ...args);
    expect(code).toBe(2);
    expect(err).toMatch(says);
    expect(hasStack(err)).toBe(false);
  });

  test.each([
    [
      'breaks',
      'report("there it is", at, 3n)',
      /into a file \(oracles.*: a program does it, with shrink\(play, \{ seed: '1' \}\)/,
    ],
    ['holds', '0', /there is nothing to shrink in .*: it holds/],
  ])('a play with functions of its own that %s', (name, does, says) => {
    const path = folder.at(`${name}.mjs`);
    const oracle = `(report) => ({ name: 'mine', published: (at, _, { height }) => { if (height === 3n) ${does}; } })`;
    writeFileSync(
      path,
      `import { everyone, height, scenario, validators } from '${join(root, 'dist/sim/index.js')}';
      export default scenario('mine', { cast: validators(4), oracles: [${oracle}],
        ends: everyone.decides(height(4), { within: '60s' }) });`,
    );
    const { code, err } = nodecli('sim', 'shrink', path);
    expect(code).toBe(2);
    expect(err).toMatch(says);
  });

  test.each([
    ['M06', 'scenarios/zoo/M06.json'],
    ['mine', 'FILE'],
  ])('a scenario that was saved with a bug planted, without it: %s', (mutant, file) => {
    const path = folder.at('planted.json');
    const origin = { oracle: 'lock', what: '', seed: '1', commit: '', mutant };
    const play = scenario('it holds', {
      cast: validators(4),
      ends: everyone.decides(height(2), { within: '60s' }),
    });
    writeFileSync(path, JSON.stringify({ ...play, origin }));
    const { code, err } = nodecli('sim', 'shrink', path);
    expect(err).toMatch(
      /^nodecli: there is nothing to shrink in .*planted\.json, seed 1: it holds \(with sim-crypto\); /,
    );
    expect(err).toContain(`; it broke with ${mutant} planted: add --mutant ${file}\n`);
    expect(code).toBe(2);
  });

  test('a saved scenario whose seed is none', () => {
    const path = folder.at('bad.json');
    const origin = { oracle: 'lock', what: '', seed: 5, commit: '' };
    writeFileSync(path, JSON.stringify({ ...FAILING, origin }));
    const { code, err } = nodecli('sim', 'run', path);
    expect(code).toBe(2);
    expect(err).toMatch(
      /origin\.seed: expected a whole number from 0 to 18446744073709551615, as text, not 5/,
    );
  });
});

describe.skipIf(!isBuilt)('a violated run', () => {
  test('explains itself, in words and as JSON', () => {
    const path = folder.at('silent.json');
    const act = [
      { atMs: 0, actions: [{ do: 'rule', what: 'precommits', effect: 'drop', by: ['v1', 'v2', 'v3'] }] },
    ];
    const ends = { who: 'everyone', decides: 2, withinMs: 9_000 };
    writeFileSync(path, JSON.stringify({ name: 'silent', title: 'silence', cast: FAILING.cast, act, ends }));
    const words = nodecli('sim', 'run', path);
    expect(words.code).toBe(1);
    expect(words.out).toMatch(/It was promised that the play comes true; but v0 stands at height 0/);
    expect(words.out).toMatch(/ {2}v0 h1 r0 precommit: 2 more precommits .* from among v1, v2, v3 would /);
    const { explanation } = JSON.parse(nodecli('sim', 'run', path, '--json').out);
    expect(explanation.stalls).toHaveLength(4);
    expect(nodecli('sim', 'run', path, '--quiet').out).not.toMatch(/It was promised/);
  });
});
