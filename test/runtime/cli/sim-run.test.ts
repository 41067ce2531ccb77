// `nodecli sim run` and `list`: verdicts, exit codes, and what is said about a wrong command line.

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formatPrivValidatorKey } from '../../../protocol/json/index.ts';
import { keyPairOfSeed } from '../../../protocol/keys.ts';
import { makeCast } from '../../../sim/cast.ts';
import { cli, hasStack, isBuilt, nodecli, root, workFolder } from './nodecli.ts';

describe.skipIf(!isBuilt)('sim run', () => {
  const folder = workFolder();
  afterAll(folder.remove);

  test('the list has a line for every scenario, kebab-case', () => {
    const { code, out } = nodecli('sim', 'list');
    expect(code).toBe(0);
    const names = out
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0] ?? '');
    expect(names).toContain('calm');
    expect(names).toContain('tour');
    for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  test.skipIf(!existsSync('/dev/full'))(
    'an output that cannot be written is no broken promise: exit 2',
    () => {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = spawnSync(process.execPath, [cli, 'sim', 'list'], {
        encoding: 'utf8',
        stdio: ['ignore', full, 'pipe'],
      });
      closeSync(full);
      expect(stderr).toMatch(/^nodecli: cannot write the output: ENOSPC/);
      expect(status).toBe(2);
    },
  );

  test('who closes our output early takes no broken promise away', async () => {
    const run = (...args: string[]): Promise<number | null> =>
      new Promise((done) => {
        const child = spawn(process.execPath, [cli, 'sim', 'run', ...args], {
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        child.stdout.destroy();
        child.on('close', done);
      });
    expect(await run('tour', '--log')).toBe(0);
    expect(await run('tour', '--mutant', join(root, 'scenarios/zoo/X170.json'))).toBe(1);
  });

  test('what is no play is none with a bug planted, either', () => {
    const text = 'export default { name: "mine", act: [], cast: { powers: ["x"] } };';
    writeFileSync(folder.at('none.mjs'), text);
    const planted = ['--mutant', join(root, 'scenarios/zoo/M06.json')];
    for (const more of [[], planted]) {
      const { code, err } = nodecli('sim', 'run', folder.at('none.mjs'), ...more);
      expect(err).toMatch(/^nodecli: this is not a scenario: /);
      expect(code).toBe(2);
    }
  });

  test('what it writes is none of what it reads, and each another', () => {
    const play = folder.at('own.json');
    const text = readFileSync(join(root, 'scenarios/zoo/triggers/M06.json'), 'utf8');
    writeFileSync(play, text);
    for (const [args, line] of [
      [[play, '--html', play], /--html: .*own\.json is the scenario, too; name another file/],
      [[play, '--trace', `${folder.at('.')}/./own.json`], /--trace: .*own\.json is the scenario, too/],
      [['calm', '--trace', folder.at('x'), '--html', folder.at('x')], /--html: .*x is --trace, too/],
      [['calm', '--trace', play], /--trace: .*own\.json is there, and is no trace; name another file/],
      [
        ['calm', '--html', play],
        /--html: .*own\.json is there, and is no picture of a run; name another file/,
      ],
    ] as const) {
      const { code, err } = nodecli('sim', 'run', ...args);
      expect(err).toMatch(line);
      expect(code).toBe(2);
    }
    expect(readFileSync(play, 'utf8')).toBe(text);
    const key = nodecli('sim', 'run', 'calm', '--html', folder.at('priv_validator_key.json'));
    expect(key.err).toMatch(/--html: .* is the name of a key file, too; name another file/);
    const below = nodecli('sim', 'run', 'calm', '--trace', join(play, 'x'));
    expect(below.err).toMatch(/^nodecli: --trace: .* cannot be written: it is a file, or below one$/m);
    const nothing = nodecli('sim', 'run', 'calm', '--quiet', '--trace', '/dev/null', '--html', '/dev/null');
    expect(nothing.code).toBe(0);
  });

  test('a play of ours is meant, whatever lies here under its name', () => {
    mkdirSync(folder.at('calm'));
    const { status, stdout } = spawnSync(process.execPath, [cli, 'sim', 'run', 'calm', '--quiet'], {
      encoding: 'utf8',
      cwd: folder.at('.'),
    });
    expect(stdout).toContain('HOLDS  calm');
    expect(status).toBe(0);
  });

  test.each([
    [['sim', 'determinism', '--seeds', '999999999999'], '--seeds takes 1000000 at most'],
    [['sim', 'zoo', '--seeds', '999999999999', '--only', 'C1'], '--seeds takes 1000000 at most'],
    [['sim', 'crashes', '--validators', '999999999999'], '--validators takes 256 at most'],
    [['sim', 'explore', '--runs', '1000000000001'], '--runs takes 1000000000 at most'],
    [['chaos', '--validators', '65'], '--validators takes 64 at most'],
    [['chaos', '--kills', '10001'], '--kills takes 10000 at most'],
    [['sim', 'determinism', '--engines', '20,20'], '--engines names 20 twice'],
    [['sim', 'determinism', '--engines', '20'], '--engines compares two at least'],
    [['sim', 'determinism', '--from', 'x'], '--from: "x" is not a seed'],
  ])('what nobody has time for is refused by its option: %j', (args, line) => {
    const { code, err } = nodecli(...args);
    expect(err).toContain(line);
    expect(hasStack(err)).toBe(false);
    expect(code).toBe(2);
  });

  test('a verdict as JSON, the same for the same seed', () => {
    const first = nodecli('sim', 'run', 'calm', '--seed', '7', '--json');
    expect(first.err).toBe('');
    expect(first.code).toBe(0);
    const verdict = JSON.parse(first.out);
    expect(verdict).toMatchObject({ scenario: 'calm', seed: '7', holds: true, violations: [] });
    expect(verdict.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(typeof verdict.heights).toBe('string');
    expect(verdict.again).toBe('npx nodecli sim run calm --seed 7');
    expect(nodecli('sim', 'run', 'calm', '--seed', '7', '--json').out).toBe(first.out);
    expect(JSON.parse(nodecli('sim', 'run', 'calm', '--seed', '8', '--json').out).digest).not.toBe(
      verdict.digest,
    );
  });

  test('real signatures: the same shape', () => {
    const shape = (crypto: string): string =>
      JSON.parse(nodecli('sim', 'run', 'calm', '--crypto', crypto, '--json').out).shape;
    expect(shape('ed25519')).toBe(shape('sim'));
  });

  test('a story ends with the verdict, the digest and the line that reproduces it', () => {
    const { code, out } = nodecli('sim', 'run', 'proposer-down', '--seed', '3');
    expect(code).toBe(0);
    expect(out).toContain('height 1: block ');
    expect(out).toMatch(/HOLDS {2}proposer-down, seed 3/);
    expect(out).toContain('npx nodecli sim run proposer-down --seed 3');
  });

  test('--log prints a column per node', () => {
    const { out } = nodecli('sim', 'run', 'calm', '--log');
    expect(out).toMatch(/seconds +v0 +v1 +v2 +v3/);
    expect(out).toMatch(/1\/0 propose/);
  });

  /** That of `calm` is written at the end of the run, that of `tour` in the middle of it, too. */
  test.skipIf(!existsSync('/dev/full')).each(['calm', 'tour'])(
    'a trace of %s that finds no room is told with its flag, after the verdict',
    (play) => {
      const { code, out, err } = nodecli('sim', 'run', play, '--trace', '/dev/full', '--quiet');
      expect(out).toContain(`HOLDS  ${play}`);
      expect(out).not.toContain('/dev/full, ');
      expect(err).toMatch(/^nodecli: --trace: \/dev\/full cannot be written: the disk is full\n$/);
      expect(code).toBe(2);
    },
  );

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    [
      'an unknown scenario, and the nearest',
      ['sim', 'run', 'lok-holds'],
      /no scenario "lok-holds".*lock-holds/,
    ],
    ['two letters that changed places', ['sim', 'run', 'tuor'], /no scenario "tuor": did you mean tour\?/],
    ['a seed that is no number', ['sim', 'run', 'calm', '--seed', '0x1f'], /"0x1f" is not a seed/],
    ['a seed that is too great', ['sim', 'run', 'calm', '--seed', '18446744073709551616'], /is not a seed/],
    [
      'a file that is not there',
      ['sim', 'run', 'nowhere.json'],
      /nowhere\.json cannot be read: there is no such file/,
    ],
    ['an unknown option', ['sim', 'run', 'calm', '--sed', '1'], /unknown option '--sed'/],
    ['an unknown command', ['sim', 'walk'], /unknown command 'walk'/],
    ['no command', ['sim'], /Usage: nodecli sim/],
    ['a genesis without keys', ['sim', 'run', 'calm', '--genesis', 'x'], /give both --genesis and --keys/],
    [
      'a trace without a name',
      ['sim', 'run', 'calm', '--trace', ''],
      /^nodecli: --trace: give a file name\n$/,
    ],
    [
      'a picture without a name',
      ['sim', 'run', 'calm', '--html', ''],
      /^nodecli: --html: give a file name\n$/,
    ],
    ['no small play', ['sim', 'shrink', 'calm', '--out', ''], /^nodecli: --out: give a file name\n$/],
    [
      'a trace that is a folder',
      ['sim', 'run', 'calm', '--trace', '/'],
      /--trace: \/ cannot be written: it is a folder/,
    ],
    [
      'a rule that is a mutant',
      ['sim', 'zoo', '--rules', '--only', 'M06'],
      /--only: there is no rule "M06": L/,
    ],
    [
      'a mutant that is none',
      ['sim', 'zoo', '--only', 'M6'],
      /--only: there is no mutant "M6": they lie between C1 and C3, M01 and M34, W01 and W02, X01 and X\d+ \(/,
    ],
    [
      'a mutant between others that is none',
      ['sim', 'zoo', '--only', 'M03'],
      /--only: there is no mutant "M03": that number is not taken, next to it are M02 and M04; they lie between C1 and C3, /,
    ],
    [
      'no rule',
      ['sim', 'zoo', '--rules', '--only', ''],
      /^nodecli: --only: give an id, as L36, or several with commas\n$/,
    ],
    [
      'no mutant',
      ['sim', 'zoo', '--only', ''],
      /^nodecli: --only: give an id, as M06, or several with commas\n$/,
    ],
    ['no leak', ['sim', 'leaks', '--only', ''], /^nodecli: --only: give an id\n$/],
    ['unknown crypto', ['sim', 'run', 'calm', '--crypto', 'rsa'], /--crypto takes sim or ed25519/],
  ];
  test.each(wrong)('exit 2: %s', (_, args, says) => {
    const { code, err, out } = nodecli(...args);
    expect(code).toBe(2);
    expect(err + out).toMatch(says);
    expect(hasStack(err)).toBe(false);
  });

  test('a scenario from a JSON file, and what is wrong with one', () => {
    writeFileSync(folder.at('broken.json'), '{"name": 7}');
    const broken = nodecli('sim', 'run', folder.at('broken.json'));
    expect(broken.code).toBe(2);
    expect(broken.err).toMatch(/is not a scenario: /);
    expect(hasStack(broken.err)).toBe(false);
  });

  test('a scenario from a module, JavaScript and TypeScript', () => {
    const body = [
      "import { everyone, height, scenario, validators } from '" +
        join(root, 'dist/sim/scenario/words.js') +
        "';",
      "export default scenario('three heights of mine', {",
      "  cast: validators(4), ends: everyone.decides(height(3), { within: '60s' }) });",
    ].join('\n');
    const files = { 'mine.mjs': body, 'mine.ts': body, 'its.mjs': "export { default } from './mine.ts';" };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(folder.at(name), text);
      const { code, out, err } = nodecli('sim', 'run', folder.at(name), '--json');
      expect(err).toBe('');
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ scenario: 'three-heights-of-mine', holds: true });
    }
  });

  test('a play whose promise breaks: exit 1, and what broke', () => {
    const body = [
      "import { everyone, height, scenario, validators, isolate, at } from '" +
        join(root, 'dist/sim/scenario/words.js') +
        "';",
      "export default scenario('cut in pieces', { cast: validators(4), liveness: 'waived',",
      "  act: [at('0s', isolate('v0', 'for-ever'), isolate('v1', 'for-ever'))],",
      "  ends: everyone.decides(height(3), { within: '20s' }) });",
    ].join('\n');
    writeFileSync(folder.at('cut.mjs'), body);
    const { code, out } = nodecli('sim', 'run', folder.at('cut.mjs'), '--quiet');
    expect(code).toBe(1);
    expect(out).toMatch(/VIOLATED {2}cut-in-pieces, seed 1/);
    const { commit } = JSON.parse(readFileSync(join(root, 'dist/build-info.json'), 'utf8'));
    expect(out).toMatch(
      new RegExp(`\\n  commit +${commit}\\n  again +npx nodecli sim run .*cut\\.mjs --seed 1`),
    );
    expect(JSON.parse(nodecli('sim', 'run', folder.at('cut.mjs'), '--json').out)).toMatchObject({ commit });
    expect(nodecli('sim', 'run', 'calm', '--quiet').out).not.toContain('commit  ');
  });

  test('who wants the verdict alone does not wait for an explanation, which performs the run again', () => {
    const body = [
      "import { everyone, height, scenario, validators } from '" +
        join(root, 'dist/sim/scenario/words.js') +
        "';",
      'let runs = 0;',
      "const lateness = (report) => ({ name: 'lateness', published: () => report('late', null, 1n),",
      "  ended: () => console.error('run ' + ++runs) });",
      "export default scenario('late', { cast: validators(4), oracles: [lateness], ends: everyone.decides(height(3), { within: '20s' }) });",
    ].join('\n');
    writeFileSync(folder.at('late.mjs'), body);
    const quiet = nodecli('sim', 'run', folder.at('late.mjs'), '--quiet');
    expect(quiet.code).toBe(1);
    expect(quiet.err).toBe('run 1\n');
    expect(nodecli('sim', 'run', folder.at('late.mjs')).err).toBe('run 1\nrun 2\n');
  });

  test('a JSON file may begin with a byte order mark', () => {
    const text = readFileSync(join(root, 'scenarios/zoo/triggers/M06.json'), 'utf8');
    writeFileSync(folder.at('marked.json'), `\uFEFF${text}`);
    const { code, err } = nodecli('sim', 'run', folder.at('marked.json'), '--quiet');
    expect(err).toBe('');
    expect(code).toBe(0);
  });

  test.each([
    ['as it is loaded', 'nix();', 2, /cannot be loaded: nix is not defined \(thrown at .*slip\.mjs:1:1\)/],
    [
      'as it is played',
      'play.oracles = [() => ({ name: "x", started: () => nix() })];',
      2,
      /: oracles\[0\]: x: started\(\) threw: nix is not defined \(thrown at .*slip\.mjs:3:[0-9]+\)\n$/,
    ],
    [
      'with a dice that has no sides',
      'play.load = { size: 9, perBlock: 1, make: (dice) => dice.draw(0) };',
      2,
      /: load\.make: it threw at transaction 0: a draw needs an integer bound in 1\.\.2\^31, not 0 \(asked for at .*slip\.mjs:3:[0-9]+\)\n$/,
    ],
    [
      'as it asks for words',
      'w.validators(0);',
      2,
      /validators: expected a whole number from 1 to 10000, not 0 \(asked for at .*slip\.mjs:3:3\)/,
    ],
  ])('what a play itself throws %s has a place in its file', (_, slip, exit, said) => {
    const [early, late] = slip === 'nix();' ? [slip, ''] : ['', slip];
    const body = [
      `${early} import * as w from '${join(root, 'dist/sim/scenario/words.js')}';`,
      "const play = w.scenario('slip', { cast: w.validators(4), ends: w.everyone.decides(w.height(2), { within: '9s' }) });",
      late,
      'export default play;',
    ].join('\n');
    writeFileSync(folder.at('slip.mjs'), body);
    const { code, err } = nodecli('sim', 'run', folder.at('slip.mjs'), '--quiet');
    expect(err).toMatch(said);
    expect(code).toBe(exit);
  });

  test.each([
    ['await new Promise(() => {});', 'it waits (await) for what never comes'],
    ['throw null;', 'it throws null'],
    ["throw 'boom';", "it throws 'boom'"],
  ])('a file that is no play and no error: %s', (body, says) => {
    for (const name of ['odd.mjs', 'odd.mts']) {
      writeFileSync(folder.at(name), body);
      const { code, err } = nodecli('sim', 'run', folder.at(name));
      expect(err).toBe(`nodecli: ${folder.at(name)} cannot be loaded: ${says}\n`);
      expect(code).toBe(2);
    }
  });

  test('a play that does not parse is named with its line', () => {
    writeFileSync(folder.at('unread.mjs'), 'const a = 1;\nexport default scenario(a b);\n');
    const { code, err } = nodecli('sim', 'run', folder.at('unread.mjs'));
    expect(err).toMatch(
      /unread\.mjs cannot be loaded: missing \) after argument list \(at .*unread\.mjs:2\)/,
    );
    expect(code).toBe(2);
  });

  test('a cast from a genesis and key files; a validator without its key is named', () => {
    const powers = [10n, 20n, 30n, 9_007_199_254_740_993n]; // the last is no number of JavaScript
    const cast = makeCast({ powers, chainId: 'from-files' });
    writeFileSync(folder.at('genesis.json'), cast.genesis);
    for (const { name, seed } of cast.members) {
      if (name === 'v3' || !seed) continue;
      mkdirSync(folder.at(`keys/${name}/config`), { recursive: true });
      writeFileSync(
        folder.at(`keys/${name}/config/priv_validator_key.json`),
        formatPrivValidatorKey(keyPairOfSeed(seed)),
      );
    }
    const args = [
      'sim',
      'run',
      'calm',
      '--genesis',
      folder.at('genesis.json'),
      '--keys',
      folder.at('keys'),
      '--json',
    ];
    const without = nodecli(...args);
    expect(without.code).toBe(2);
    expect(without.err).toMatch(/there is no key for validator [0-9A-F]{40}/);
    mkdirSync(folder.at('keys/v3'), { recursive: true });
    const last = cast.members[3]?.seed as Uint8Array;
    writeFileSync(folder.at('keys/v3/priv_validator_key.json'), formatPrivValidatorKey(keyPairOfSeed(last)));
    const { code, out, err } = nodecli(...args, '--crypto', 'ed25519');
    expect(err).toMatch(
      /^nodecli: warning: .*genesis\.json has powers 10, 20, 30, 9007199254740993; calm is written for 10, 10, 10, 10\n$/,
    );
    expect(code).toBe(0);
    expect(JSON.parse(out).holds).toBe(true);
  });

  test('a genesis whose first height is another one is refused: the play would speak of heights that do not come', () => {
    const cast = makeCast({ powers: [10n, 10n, 10n, 10n], initialHeight: 1_000n });
    writeFileSync(folder.at('later.json'), cast.genesis);
    for (const { name, seed } of cast.members) {
      mkdirSync(folder.at(`later/${name}`), { recursive: true });
      const key = formatPrivValidatorKey(keyPairOfSeed(seed as Uint8Array));
      writeFileSync(folder.at(`later/${name}/priv_validator_key.json`), key);
    }
    const files = ['--genesis', folder.at('later.json'), '--keys', folder.at('later')];
    const { code, err } = nodecli('sim', 'run', 'calm', ...files);
    expect(err).toMatch(/calm speaks of heights from 1 on, and .*later\.json has initial_height 1000/);
    expect(code).toBe(2);
    expect(nodecli('sim', 'run', 'later-beginning', ...files, '--quiet').code).toBe(0);
  });

  test.each([
    ['--crypto', 'rsa'],
    ['--heights', '0'],
  ])('a run that does not begin leaves the files of an earlier one as they are: %s %s', (...flag) => {
    for (const kind of ['--html', '--trace']) {
      writeFileSync(folder.at('earlier'), 'of an earlier run');
      expect(nodecli('sim', 'run', 'calm', kind, folder.at('earlier'), ...flag).code).toBe(2);
      expect(readFileSync(folder.at('earlier'), 'utf8')).toBe('of an earlier run');
    }
  });

  test('a bug with which the build does not load is said to be that of the patch', () => {
    const [file, find] = ['machines/evidence/pool.js', 'export function blocksNeeded'];
    const bug = { name: 'a slip', file, find, replace: 'export function = blocksNeeded', why: '' };
    writeFileSync(folder.at('slip.json'), JSON.stringify(bug));
    for (const command of [['run', 'calm'], ['zoo']]) {
      const { code, err } = nodecli('sim', ...command, '--mutant', folder.at('slip.json'));
      expect(err).toMatch(/the patch slip leaves a build that does not load: Unexpected token '='/);
      expect(err).toMatch(/machines\/evidence\/pool\.js:[0-9]+\)\n$/);
      expect(code).toBe(2);
    }
  });

  test('the version is that of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(nodecli('--version').out.trim()).toBe(version);
  });
});
