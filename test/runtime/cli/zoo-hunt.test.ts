import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { jobsFor } from '../../../runtime/cli/determinism/same-twice.ts';
import { patchOf } from '../../../runtime/cli/patch/patch-file.ts';
import { withPatchedBuild } from '../../../runtime/cli/patch/patched-build.ts';
import { hunt } from '../../../runtime/cli/zoo/hunt.ts';
import { proved } from '../../../runtime/cli/zoo/triggers.ts';
import { childrenOf, cli, isBuilt, root } from './nodecli.ts';

const folder = mkdtempSync(join(tmpdir(), 'rehearsal-hunt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Instead of performing a run. */
const planted = (what: string) => {
  const file = join(folder, 'own.json');
  const patch = {
    file: 'runtime/cli/workers/job.js',
    find: 'const startedMs = performance.now();',
    replace: what,
  };
  writeFileSync(file, JSON.stringify({ name: 'own', ...patch, why: 'a test', oracles: [] }));
  return patchOf(file);
};

/** Each run answers, in place of what it did, that an oracle spoke. */
const SPEAKS =
  "const startedMs = performance.now(); if (job.seed > '4') return { holds: false, violation: { oracle: 'lock', promise: 'lock', what: job.seed, isThrown: false }, threw: null };";

describe.skipIf(!isBuilt)('a hunt for several runs', () => {
  it('names the first in which an oracle spoke, and goes on until enough of those that count are there', async () => {
    const patch = planted(SPEAKS);
    const jobs = jobsFor(9, 1n);
    const options = { workers: 2, wanted: 2, counts: ({ seed }: { seed: string }) => Number(seed) % 2 === 0 };
    const outcome = await withPatchedBuild(patch, (dist) => hunt(patch, dist, jobs, options));
    expect(outcome).toMatchObject({
      oracle: 'lock',
      seeds: 5,
      seed: '5',
      what: '5',
      heights: 10,
      isGood: true,
    });
    expect(outcome.kills.map(({ seed }) => seed)).toEqual(['6', '8']);
  });
});

describe.skipIf(!isBuilt)('how far a hunt is', () => {
  it.each([
    ['is a line now and then', false, / % {2}own: \d seeds\n/],
    ['is not told beside JSON', true, /^$/],
  ])('%s', async (_, isJson, says) => {
    const patch = planted(SPEAKS);
    let [nowMs, told] = [0, ''];
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 20_000));
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      told += text;
      return true;
    });
    await withPatchedBuild(patch, (dist) => hunt(patch, dist, jobsFor(6, 1n), { workers: 1, isJson }));
    vi.restoreAllMocks();
    expect(told).toMatch(says);
  });
});

describe.skipIf(!isBuilt)('a canary', () => {
  it.each([
    ['that sings late is none', '1', false],
    ['sings in the first run', '5', true],
  ])('%s', async (_, from, isGood) => {
    const patch = { ...planted(SPEAKS), isCanary: true };
    const jobs = jobsFor(6, BigInt(from));
    const outcome = await withPatchedBuild(patch, (dist) => hunt(patch, dist, jobs, { workers: 2 }));
    expect(outcome).toMatchObject({ oracle: 'lock', seed: '5', isGood });
  });
});

describe.skipIf(!isBuilt)('what a planted bug prints', () => {
  it('is no answer of its worker', async () => {
    const prints = "console.log('debug'); console.log('5'); console.log('{\"holds\":true}');";
    const patch = planted(`${prints} ${SPEAKS}`);
    const outcome = await withPatchedBuild(patch, (dist) =>
      hunt(patch, dist, jobsFor(6, 1n), { workers: 2 }),
    );
    expect(outcome).toMatchObject({ oracle: 'lock', seed: '5' });
  });
});

describe.skipIf(!isBuilt)('a bug that breaks a promise of a play alone', () => {
  it.each([
    ['is none of an oracle', [], false],
    ['is found where its patch names no oracle', ['play'], true],
  ])('%s', async (_, oracles, isGood) => {
    const patch = { ...planted(SPEAKS.replace("'lock'", "'play'")), oracles };
    const outcome = await withPatchedBuild(patch, (dist) =>
      hunt(patch, dist, jobsFor(6, 1n), { workers: 2 }),
    );
    const broken = { play: 'usual-settings', seed: '5', what: '5' };
    expect(outcome).toMatchObject({ oracle: null, playsBroken: 2, broken, heights: 10, kills: [], isGood });
  });
});

describe.skipIf(!isBuilt)('a bug that ends the program, or never ends', () => {
  it.each([
    ['dies', 'process.abort();', /^a worker failed: it ended with SIGABRT/],
    ['does not end', 'while (true) {}', /^a worker failed: no answer within 2 s$/],
  ])('that %s is no finding, and not waited for', async (_, what, says) => {
    const patch = planted(what);
    const outcome = await withPatchedBuild(patch, (dist) =>
      hunt(patch, dist, jobsFor(50, 1n), { workers: 2, runMsMax: 2_000 }),
    );
    expect(outcome.what).toMatch(says);
    expect(outcome).toMatchObject({ oracle: null, kills: [], isGood: false });
    // Each of two workers may be at one more when enough were lost.
    expect(outcome.crashes).toBeGreaterThanOrEqual(4);
    expect(outcome.crashes).toBeLessThanOrEqual(5);
    expect(outcome.seeds).toBe(outcome.crashes);
  });
});

describe.skipIf(!isBuilt)('a trigger that never ends on its mutant', () => {
  it('does not show it', async () => {
    const patch = { ...planted('while (true) {}'), id: 'M06' };
    expect(await proved(patch, 10_000)).toEqual({
      mutant: 'M06',
      brokenBy: [],
      holdsOnHealthy: true,
      failsOnMutant: false,
      what: 'a worker failed: no answer within 10 s',
    });
  });
});

/** A package of its own, with these bugs in its zoo. */
function zooOf(name: string, patches: Readonly<Record<string, { find: string; replace: string }>>): string {
  const place = join(folder, name);
  mkdirSync(join(place, 'scenarios/zoo'), { recursive: true });
  for (const part of ['dist', 'package.json'])
    cpSync(join(root, part), join(place, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  for (const [id, edit] of Object.entries(patches)) {
    const patch = { name: id, file: 'runtime/cli/workers/job.js', ...edit, why: 'a test', oracles: [] };
    writeFileSync(join(place, 'scenarios/zoo', `${id}.json`), JSON.stringify(patch));
  }
  return join(place, 'dist/runtime/cli/nodecli.js');
}

describe.skipIf(!isBuilt)('a zoo of many', () => {
  const find = 'const startedMs = performance.now();';
  const speaks = { find, replace: SPEAKS };
  const hunted = (zoo: string, ...flags: string[]) =>
    spawnSync(process.execPath, [zoo, 'sim', 'zoo', '--only', 'A1,Z9', '--from', '5', ...flags], {
      encoding: 'utf8',
    });

  it('is not begun where one of its patches does not apply', () => {
    const zoo = zooOf('stale', { A1: speaks, Z9: { find: 'nowhere', replace: '' } });
    const { status, stdout, stderr } = hunted(zoo, '--seeds', '1');
    expect(stderr).toMatch(
      /^nodecli: the patch Z9 does not apply: find: this text does not stand in .*job\.js; .*\n$/,
    );
    expect([status, stdout]).toEqual([2, '']);
  });

  it('tells what was seen before one of them ends it', () => {
    const zoo = zooOf('unloadable', { A1: speaks, Z9: { find, replace: 'const const;' } });
    const { status, stdout, stderr } = hunted(zoo, '--seeds', '1', '--json');
    expect(stderr).toMatch(/^nodecli: the patch Z9 leaves a build that does not load/);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ outcomes: [{ mutant: 'A1', oracle: 'lock', seed: '5' }] });
  });
});

/** Until nobody is there any more. */
async function areGone(isThere: () => boolean): Promise<void> {
  while (isThere()) await sleep(50);
}
/** Dead ones that nobody has asked after are there, too. */
const lives = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** What it makes for a time goes into a folder of its own. */
function startedIn(temporary: string, ...args: string[]): ChildProcess {
  mkdirSync(temporary, { recursive: true });
  const env = { ...process.env, TMPDIR: temporary };
  return spawn(process.execPath, [cli, ...args], { stdio: 'ignore', env });
}

describe.skipIf(!isBuilt)('who is killed leaves nobody and nothing behind', () => {
  it('no worker that a bug keeps busy for ever, and no copy of the build', async () => {
    const marker = join(folder, 'is-busy');
    planted(`process.getBuiltinModule('node:fs').writeFileSync('${marker}', ''); for (;;);`);
    const temporary = join(folder, 'hunt');
    const parent = startedIn(temporary, 'sim', 'zoo', '--mutant', join(folder, 'own.json'), '--seeds', '20');
    const pid = parent.pid as number;
    await areGone(() => !existsSync(marker));
    const children = childrenOf(pid);
    parent.kill('SIGKILL');
    await areGone(() => children.some(lives));
    await areGone(() => readdirSync(temporary).length > 0);
  });

  it('no copy of a build in which a play is performed', async () => {
    const temporary = join(folder, 'run');
    const mutant = join(root, 'scenarios/zoo/C2.json');
    const parent = startedIn(temporary, 'sim', 'run', 'tour', '--heights', '5000', '--mutant', mutant);
    while (readdirSync(temporary).length === 0) await sleep(20);
    await sleep(500);
    parent.kill('SIGINT');
    const [, signal] = await once(parent, 'exit');
    expect(signal).toBe('SIGINT');
    await areGone(() => readdirSync(temporary).length > 0);
  });
});
