// What people type, and what their files do, that cannot work: it is said before anything runs, by the name of the option.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { endsAll } from '../../../runtime/cli/usage.ts';
import { makeHomes } from '../../../runtime/host/home/home.ts';
import { temporaryFolder } from '../host/folders.ts';
import { cli, hasStack, isBuilt, nodecli, root } from './nodecli.ts';

const index = join(root, 'dist/sim/index.js');

/** A module with this before a play of three calm heights, and more in it. */
function moduleOf(before: string, more = ''): string {
  const path = join(temporaryFolder(), 'play.mjs');
  writeFileSync(
    path,
    `import { everyone, height, scenario, validators } from ${JSON.stringify(index)};
${before}
export default scenario('three heights', { ${more}cast: validators(4), ends: everyone.decides(height(3), { within: '60s' }) });
`,
  );
  return path;
}

describe.skipIf(!isBuilt)('a play that is a module', () => {
  test('and leaves a timer behind holds up nothing', () => {
    const { code, out } = nodecli('sim', 'run', moduleOf('setInterval(() => {}, 1000);'), '--quiet');
    expect(code).toBe(0);
    expect(out).toMatch(/^HOLDS {2}three-heights/m);
  });

  test('and lies outside of a project that has this package', () => {
    const path = join(temporaryFolder(), 'outside.mjs');
    writeFileSync(path, "export { calm as default } from 'rehearsal/sim';\n");
    const { code, err } = nodecli('sim', 'run', path);
    expect(err).toMatch(/^nodecli: .*outside\.mjs cannot be loaded: Cannot find package 'rehearsal'.*\n$/);
    const folder = root.replace(/\/$/, '');
    expect(err).toContain(`; a play lives in a project that has this package: npm install ${folder} there (`);
    expect(code).toBe(2);
  });

  test('and looks for another package is not told of this one', () => {
    const path = join(temporaryFolder(), 'other.mjs');
    writeFileSync(path, "import 'rehearsed';\n");
    expect(nodecli('sim', 'run', path).err).not.toContain('npm install');
  });

  test('and ends the process has not held', () => {
    const { code, out, err } = nodecli('sim', 'run', moduleOf('process.exit(0);'), '--quiet');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('play.mjs ends the process (process.exit) as it is loaded');
  });

  test('and ends the process as it runs has no verdict, and has not held', () => {
    const ends = "oracles: [() => ({ name: 'mine', ended: () => process.exit(0) })], ";
    const { code, out, err } = nodecli('sim', 'run', moduleOf('', ends), '--quiet');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/play\.mjs ends the process \(process\.exit\) as it runs\n$/);
  });
});

test.skipIf(!isBuilt).each([
  ['', [], false],
  ['0', [], false],
  ['1', [], true],
  ['0', ['--trace-errors'], true],
])('NODECLI_DEBUG=%s with %j', (debug, flags, isShown) => {
  const throws = "oracles: [() => ({ name: 'mine', ended: () => { throw new Error('odd'); } })], ";
  const args = [cli, 'sim', 'run', moduleOf('', throws), '--quiet', ...flags];
  const env = { ...process.env, NODECLI_DEBUG: debug };
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  expect(stderr).toContain('mine: ended() threw: odd');
  expect([status, hasStack(stderr)]).toEqual([2, isShown]);
});

test('a folder that another one took ends a command as one that is taken does: exit 2', () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  endsAll(new Error('it is not ours any more'));
  expect(write).toHaveBeenCalledWith('nodecli: it is not ours any more\n');
  expect(exit).toHaveBeenCalledWith(2);
  vi.restoreAllMocks();
});

describe.skipIf(!isBuilt)('a scenario is kept', () => {
  test('under a name that is read back', () => {
    const { code, err } = nodecli('sim', 'shrink', 'calm', '--out', 'small');
    expect([code, err]).toEqual([2, 'nodecli: --out takes a name that ends in .json, not "small"\n']);
    expect(nodecli('sim', 'crashes', '--heights', '1', '--only', 'v0/sign', '--save', 'x.txt').code).toBe(2);
  });

  test('with the seed under which its crash comes', () => {
    const path = join(temporaryFolder(), 'new', 'crash.json');
    const words = ['--heights', '1', '--workers', '1', '--seed', '7', '--save', path];
    const first = 'v0/sign/1/after/now';
    expect(nodecli('sim', 'crashes', ...words, '--only', first)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(path, 'utf8')).origin).toMatchObject({
      seed: '7',
      what: `the crash ${first}`,
    });
    expect(nodecli('sim', 'run', path, '--quiet').out).toContain(', seed 7,');
  });
});

describe.skipIf(!isBuilt)('a network that is there', () => {
  function network(validators: number): { readonly folder: string; readonly genesis: string } {
    const folder = join(temporaryFolder(), 'net');
    const [home] = makeHomes(folder, new Array<number>(validators).fill(0));
    return { folder, genesis: join(home ?? '', 'config', 'genesis.json') };
  }

  test('says that it keeps its ports, and records into a folder that has a name', () => {
    const { folder } = network(1);
    const words = ['--home', folder, '--validators', '1', '--base-port', '20000', '--blocks', '1'];
    const ports = nodecli('cluster', ...words);
    expect(ports.code).toBe(0);
    expect(ports.out).toContain('--base-port is for a new network: this one listens from ');
    const record = nodecli('cluster', '--record', '', '--blocks', '1');
    expect([record.code, record.err]).toEqual([2, 'nodecli: --record: give a file name\n']);
    const below = nodecli('cluster', '--record', '/dev/null/x', '--blocks', '1');
    expect([below.code, below.out]).toEqual([2, '']);
    expect(below.err).toMatch(/^nodecli: .*\/dev\/null\/x.*\n$/);
    symlinkSync('nowhere', join(folder, 'nowhere-yet'));
    const nowhere = nodecli('cluster', '--record', join(folder, 'nowhere-yet'), '--blocks', '1');
    expect([nowhere.code, nowhere.out]).toEqual([2, '']);
    expect(nowhere.err).toMatch(/^nodecli: cannot make the folder .*nowhere-yet.*\n$/);
  });

  test.each([
    ['small-blocks', 'blockBytes'],
    ['evidence-too-old', 'evidence'],
  ])('does not play %s, which needs a genesis of its own', (play, field) => {
    const { folder, genesis } = network(4);
    const { code, err } = nodecli('sim', 'run', play, '--genesis', genesis, '--keys', folder);
    expect(code).toBe(2);
    expect(err).toContain(`${play} sets cast.${field}, and ${genesis} has another`);
  });

  test('and whose genesis names a validator twice begins no chain', () => {
    const { folder, genesis } = network(4);
    const whole = JSON.parse(readFileSync(genesis, 'utf8')) as { validators: object[] };
    const [first] = whole.validators;
    writeFileSync(genesis, JSON.stringify({ ...whole, validators: [first, first, first, first] }));
    const { code, out, err } = nodecli('sim', 'run', 'calm', '--genesis', genesis, '--keys', folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^nodecli: .*genesis\.json with the keys below .*: validators: duplicate entry .*\n$/,
    );
  });

  test('does not play what is no play', () => {
    const { folder, genesis } = network(4);
    const path = join(temporaryFolder(), 'odd.mjs');
    writeFileSync(path, "export default { name: 'odd', title: 'odd', cast: null, act: [] };\n");
    const { code, err } = nodecli('sim', 'run', path, '--genesis', genesis, '--keys', folder);
    expect([code, err]).toEqual([2, 'nodecli: this is not a scenario: cast: expected an object, not null\n']);
  });

  test('whose traces another one left is not recorded over them', () => {
    const traces = join(temporaryFolder(), 'traces');
    mkdirSync(traces);
    const [{ folder }, { folder: other }] = [network(1), network(1)];
    const words = ['--validators', '1', '--blocks', '1', '--record', traces, '--quiet'];
    expect(nodecli('cluster', '--home', other, ...words)).toMatchObject({ code: 0 });
    const { code, out, err } = nodecli('cluster', '--home', folder, ...words);
    expect(`${out}${err}`).toContain('is not a trace of this node');
    expect(code).toBe(2);
    expect(out).not.toContain('traces in');
  });
});

test.skipIf(!isBuilt)('a mutant that has no trigger is not proved by those that have', () => {
  const { code, err } = nodecli('sim', 'zoo', '--triggers', '--only', 'M06,X298');
  expect([code, err]).toEqual([2, 'nodecli: there is no trigger of X298 in scenarios/zoo/triggers\n']);
});
