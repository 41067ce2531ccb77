// Patches on a copy of the build: each still applies, one that does not is named, and what they plant is
// found.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isRefusal } from '../../../protocol/refusal.ts';
import { type Patch, patchesOf, patchOf } from '../../../runtime/cli/patch/patch-file.ts';
import { mustApply } from '../../../runtime/cli/patch/patched-build.ts';
import { differenceLines } from '../../../runtime/cli/traces/diverge.ts';
import { TRIGGERS } from '../../../runtime/cli/zoo/triggers.ts';
import { PROMISES } from '../../../sim/oracles/promises.ts';
import { fromJson } from '../../../sim/scenario/json.ts';
import { isBuilt, nodecli, root, workFolder } from './nodecli.ts';

describe('patches', () => {
  const folder = workFolder();
  afterAll(folder.remove);

  const all: Patch[] = [...patchesOf('scenarios/leaks'), ...patchesOf('scenarios/zoo')];
  test.skipIf(!isBuilt).each(all.map((patch) => [patch.id, patch] as const))('%s applies', (_, { edits }) => {
    const texts = new Map<string, string>();
    for (const { file, find, replace } of edits) {
      const text = texts.get(file) ?? readFileSync(join(root, 'dist', file), 'utf8');
      expect(text.split(find).length - 1).toBe(1);
      expect(replace).not.toBe(find);
      texts.set(file, text.split(find).join(replace));
    }
  });

  test.skipIf(!isBuilt)('a package without them says where they are', () => {
    mkdirSync(folder.at('package'), { recursive: true });
    for (const name of ['dist', 'package.json'])
      cpSync(join(root, name), folder.at(`package/${name}`), { recursive: true });
    symlinkSync(join(root, 'node_modules'), folder.at('package/node_modules'));
    const cli = folder.at('package/dist/runtime/cli/nodecli.js');
    const args = [cli, 'sim', 'run', 'calm', '--mutant', 'scenarios/zoo/M06.json'];
    const { stderr, status } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      cwd: folder.at('package'),
    });
    expect(stderr).toMatch(
      /M06\.json cannot be read: .*; scenarios\/ is in the repository, not in the package$/m,
    );
    expect(status).toBe(2);
  });

  test('the leaks and mutants that the bars name are there', () => {
    const ids = all.map(({ id }) => id);
    const named = [
      'math-random',
      'date-now',
      'module-counter',
      'wrong-memo',
      'power',
      'M01',
      'M06',
      'M14',
      'M20',
      'M28',
      'C3',
    ];
    for (const id of named) expect(ids).toContain(id);
  });

  test('each trigger is a play, and of a mutant that there is', () => {
    const ids = new Set(all.map(({ id }) => id));
    const files = readdirSync(join(root, TRIGGERS));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      expect(ids).toContain(basename(name, '.json'));
      expect(isRefusal(fromJson(readFileSync(join(root, TRIGGERS, name), 'utf8')))).toBe(false);
    }
  });

  test('each is expected by oracles that there are', () => {
    const known = ['chain', 'usual settings', ...Object.keys(PROMISES)]; // the second is a play's own
    for (const { oracles } of all) expect(known).toEqual(expect.arrayContaining([...oracles]));
  });

  test('a patch without a field is refused by that name', () => {
    mkdirSync(folder.at('.'), { recursive: true });
    writeFileSync(folder.at('half.json'), JSON.stringify({ name: 'half', file: 'x.js', find: 'a' }));
    expect(() => patchOf(folder.at('half.json'))).toThrow(/half\.json: replace must be text/);
  });

  test('a field or an oracle that there is not is refused by its name', () => {
    mkdirSync(folder.at('.'), { recursive: true });
    const edit = { file: 'x.js', find: 'a', replace: 'b' };
    const refused = (fields: object): (() => Patch) => {
      writeFileSync(folder.at('slip.json'), JSON.stringify({ name: 'slip', why: 'a test', ...fields }));
      return () => patchOf(folder.at('slip.json'));
    };
    expect(refused({ ...edit, oracle: ['lock'] })).toThrow(
      /slip\.json: oracle: no such field; there are name, file, find, replace, edits, why, oracles, /,
    );
    expect(refused({ edits: [edit, { ...edit, replaced: 'c' }] })).toThrow(
      /slip\.json: edits\[1\]\.replaced: no such field; there are file, find, replace$/,
    );
    expect(refused({ edits: [edit], find: 'a' })).toThrow(/it has edits/);
    expect(refused({ ...edit, isHarmless: 'yes' })).toThrow(/slip\.json: isHarmless must be true or false/);
    expect(refused({ ...edit, oracles: ['lock', 'lokc'] })).toThrow(
      /slip\.json: oracles\[1\]: no oracle "lokc": did you mean lock\?$/,
    );
    expect(refused({ ...edit, oracles: [7] })).toThrow(
      /oracles\[0\]: no oracle 7: there are chain, .*, play/,
    );
    expect(refused({ ...edit, oracles: ['chain', 'chain/app hash'] })().oracles).toHaveLength(2);
  });

  test.skipIf(!isBuilt)('a patch that does not apply names the field, and from where a file is named', () => {
    mkdirSync(folder.at('.'), { recursive: true });
    const applied = (...edits: object[]): (() => void) => {
      writeFileSync(folder.at('stale.json'), JSON.stringify({ name: 'stale', why: 'a test', edits }));
      return () => mustApply(patchOf(folder.at('stale.json')));
    };
    const edit = { file: 'sim/run.js', find: '// Performs a play', replace: '' };
    expect(applied(edit)).not.toThrow();
    expect(applied({ ...edit, file: 'dist/sim/run.js' })).toThrow(
      /^the patch stale does not apply: file: there is no dist\/dist\/sim\/run\.js; write a path below dist, as sim\/run\.js/,
    );
    expect(applied(edit, { ...edit, find: 'readonly options: RunOptions' })).toThrow(
      /^the patch stale does not apply: edits\[1\]\.find: this text does not stand in dist\/sim\/run\.js;/,
    );
    expect(applied({ ...edit, find: 'const' })).toThrow(
      /find: this text stands \d+ times in dist\/sim\/run\.js; take more/,
    );
  });

  test('a patch with several edits names the one that is wrong, and is not of both forms', () => {
    mkdirSync(folder.at('.'), { recursive: true });
    const patch = (fields: object): string => {
      writeFileSync(folder.at('many.json'), JSON.stringify({ name: 'many', why: 'a test', ...fields }));
      return folder.at('many.json');
    };
    const edit = { file: 'x.js', find: 'a', replace: 'b' };
    expect(patchOf(patch({ edits: [edit, edit] })).edits).toEqual([edit, edit]);
    expect(patchOf(patch(edit)).edits).toEqual([edit]);
    expect(() => patchOf(patch({ edits: [edit, { ...edit, find: 1 }] }))).toThrow(
      /edits\[1\]\.find must be text/,
    );
    expect(() => patchOf(patch({ edits: [edit, 'x'] }))).toThrow(/edits\[1\] must be an object/);
    expect(() => patchOf(patch({ edits: [] }))).toThrow(/edits must not be empty/);
    expect(() => patchOf(patch({ edits: [edit], file: 'x.js' }))).toThrow(/it has edits/);
  });

  test('a patch that is no object, or of what is beside the build, is refused', () => {
    mkdirSync(folder.at('.'), { recursive: true });
    const patch = (value: unknown): string => {
      writeFileSync(folder.at('odd.json'), JSON.stringify(value));
      return folder.at('odd.json');
    };
    for (const value of [null, [], 5])
      expect(() => patchOf(patch(value))).toThrow(/odd\.json must be an object with name, file/);
    const of = (file: string): object => ({ name: 'odd', file, find: 'a', replace: 'b', why: 'a test' });
    for (const file of ['../x.js', 'sim/../../x.js', '/tmp/x.js', 'node_modules/xstate/x.js'])
      expect(() => patchOf(patch(of(file)))).toThrow(
        /file must be below dist, or a source of this repository/,
      );
    expect(patchOf(patch(of('sim/../actors/app.js'))).edits[0]?.file).toBe('sim/../actors/app.js');
    writeFileSync(folder.at('odd.diff'), '--- a/x.js\n+++ b/../../x.js\n@@ -1 +1 @@\n-a\n+b\n');
    expect(() => patchOf(folder.at('odd.diff'))).toThrow(/file must be below dist/);
  });

  test('a difference reads as where, who and what', () => {
    const place = { record: 7, node: 'v1', actor: 'mempool', message: 'submit', seconds: '1.5' };
    const lines = differenceLines({
      ...place,
      differs: 'effects',
      what: 'the same input, and other effects',
    });
    expect(lines[0]).toBe('first difference: record 7, 1.5 s: v1 / mempool / submit');
  });
});

describe.skipIf(!isBuilt)('what is planted is found', () => {
  test('a leak is caught, and its first event named', () => {
    const { code, out } = nodecli('sim', 'leaks', '--seeds', '2', '--only', 'math-random');
    expect(out).toMatch(/caught by \S+, seed \d+/);
    expect(out).toMatch(/first difference: record \d+, [\d.]+ s: v\d \/ dialer \/ /);
    expect(code).toBe(0);
  });

  test('the canary dies at the first seed', () => {
    const { code, out } = nodecli('sim', 'mutants', '--seeds', '4', '--only', 'C3', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ outcomes: [{ mutant: 'C3', oracle: 'hygiene', seeds: 1 }] });
  });

  /** A liar who is found out sooner, a check that comes first: a mutant may lose what showed it, and nobody would miss it. */
  const triggers = readdirSync(join(root, TRIGGERS)).map((file) => basename(file, '.json'));
  test.each(triggers)('the trigger of %s holds on the healthy build and fails on the mutant', (mutant) => {
    const { code, out } = nodecli('sim', 'mutants', '--triggers', '--only', mutant, '--json');
    const { proofs } = JSON.parse(out) as { proofs: { brokenBy: string[] }[] };
    const [seen] = proofs;
    expect(seen).toMatchObject({ mutant, holdsOnHealthy: true });
    expect(seen?.brokenBy).not.toEqual([]);
    expect(code).toBe(0);
  });

  test('a mutant without a trigger is told', () => {
    const { code, err } = nodecli('sim', 'mutants', '--triggers', '--only', 'C2');
    expect(err).toContain('there is no trigger');
    expect(code).toBe(2);
  });

  test("one's own mutant and some of ours are not hunted at once", () => {
    const mutant = join(root, 'scenarios/zoo/M06.json');
    const { code, err } = nodecli('sim', 'zoo', '--only', 'M01', '--mutant', mutant);
    expect(err).toBe(
      'nodecli: --only picks mutants of scenarios/zoo, --mutant brings another: give one of them\n',
    );
    expect(code).toBe(2);
  });

  test('the rules are deleted alone', () => {
    for (const other of [['--mutant', join(root, 'scenarios/zoo/M06.json')], ['--triggers']]) {
      const { code, err } = nodecli('sim', 'zoo', '--rules', ...other);
      expect(err).toBe(
        'nodecli: --rules deletes the rules of the chart: it goes with neither --mutant nor --triggers\n',
      );
      expect(code).toBe(2);
    }
  });

  test('what a mutant breaks is made small, as often as one asks', () => {
    const { code, out } = nodecli('sim', 'zoo', '--only', 'X15,C3', '--shrink', '2', '--seeds', '9');
    expect(out).toMatch(/X15 .* killed by chain\/integrity after 1 seeds/);
    expect(out).toMatch(
      /made small: directives \d \d, heights \d \d, other seeds that fail \d+ of 40, seconds \d+ \d+/,
    );
    expect(out).toContain('2 of 2 failing runs made small'); // the canary is no mutant
    expect(out).toContain('2 of them 1-minimal');
    expect(out).toContain('the healthy build holds in 2');
    expect(code).toBe(0);
  });

  test('triggers are small already', () => {
    const { code, err } = nodecli('sim', 'zoo', '--triggers', '--shrink', '1');
    expect(err).toContain('triggers are small already');
    expect(code).toBe(2);
  });

  test('a healthy build is the same twice', () => {
    const { code, out } = nodecli('sim', 'determinism', '--seeds', '3', '--crypto-pairs', '2');
    expect(out).toMatch(/3 seeds, each twice: equal digests/);
    expect(out).toMatch(/2 seeds in sim-crypto and in ed25519: equal shapes and verdicts/);
    expect(code).toBe(0);
  });
});
