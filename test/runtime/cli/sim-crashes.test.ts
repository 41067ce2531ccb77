// `sim crashes` as a person meets it: what it counts, what it refuses, and that it finds what is planted.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { patchOf } from '../../../runtime/cli/patch/patch-file.ts';
import { withPatchedBuild } from '../../../runtime/cli/patch/patched-build.ts';
import { isBuilt, nodecli, root, workFolder } from './nodecli.ts';

const SMALL = ['sim', 'crashes', '--heights', '2'] as const;

describe.skipIf(!isBuilt)('sim crashes', () => {
  const folder = workFolder();
  afterAll(folder.remove);

  test('hits all that it counts, and says how many there are of each', () => {
    const { code, out } = nodecli(...SMALL, '--only', 'v0/sign', '--json');
    expect(code).toBe(0);
    const { points, hit, counts, failures, slowestRejoinNs, rejoinBoundNs } = JSON.parse(out);
    expect(failures).toEqual([]);
    expect(hit).toBe(points);
    const sum = counts.flatMap(({ restarts }: { restarts: number[] }) => restarts);
    expect(sum.reduce((a: number, b: number) => a + b, 0)).toBe(points);
    expect(slowestRejoinNs).toBeGreaterThan(0);
    expect(slowestRejoinNs).toBeLessThan(rejoinBoundNs);
  });

  test('a point is a scenario that `sim run` performs', () => {
    const file = folder.at('point.json');
    const { code, out } = nodecli(...SMALL, '--only', 'v0/sync/privval/1/torn/needed', '--save', file);
    expect(out).toMatch(/1 of 1 points hit/);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).act[0].actions[0]).toMatchObject({
      op: 'flush',
      how: 'half',
    });
    expect(nodecli('sim', 'run', file, '--seed', '1', '--json').code).toBe(0);
    const again = nodecli(...SMALL, '--only', 'v0/sync/privval/1/torn/needed', '--save', file);
    expect(again.code).toBe(0);
    writeFileSync(file, '{"name":"a package"}');
    const over = nodecli(...SMALL, '--only', 'v0/sync/privval/1/torn/needed', '--save', file);
    expect(over.err).toMatch(
      /^nodecli: --save: .*point\.json is there, and is no scenario; name another file$/m,
    );
    expect([over.code, readFileSync(file, 'utf8')]).toEqual([2, '{"name":"a package"}']);
  });

  test.each([
    [['--only', 'v0/append/consensus/9999'], /--only: there is no point "v0\/append\/consensus\/9999"/],
    [
      ['--only', 'v0/sign,v0/sing'],
      /--only: there is no point "v0\/sing" in this grid, nor one that begins so/,
    ],
    [['--nodes', 'v4'], /--nodes takes names from v0 to v3, or all, not "v4"/],
    [['--validators', '3'], /--validators takes a whole number from 4 on/],
    [
      ['--save', '/dev/null/point.json', '--only', 'v0/sync/privval/1/torn/needed'],
      /--save: .*\/dev\/null\/point\.json/,
    ],
    [['--save', 'x.txt', '--only', 'v0/sign'], /--save takes a name that ends in \.json, not "x\.txt"/],
    [['--save', 'point.json'], /--save keeps one crash: say which, with --only and its whole id/],
    [
      ['--save', 'point.json', '--only', 'v0/sign/1'],
      /--save keeps one crash, and --only names [0-9]+: give a whole id/,
    ],
  ])('%j is refused in one line', (flags, line) => {
    const { code, err } = nodecli(...SMALL, ...flags);
    expect(err).toMatch(line);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
  });

  test.each([
    ['M15', ['--heights', '2', '--only', 'v0/sync/privval'], 'logbook'],
    ['W01', ['--heights', '4', '--only', 'v0/flush/app/1'], 'hygiene'],
    ['W02', ['--heights', '6', '--only', 'v0/flush/app/5'], 'hygiene'],
  ])('finds %s, and the line that it prints finds it again', async (id, flags, oracle) => {
    const patch = patchOf(join(root, `scenarios/zoo/${id}.json`));
    await withPatchedBuild(patch, async (dist) => {
      const run = (args: readonly string[]) =>
        spawnSync(process.execPath, [join(dist, 'runtime/cli/nodecli.js'), ...args], { encoding: 'utf8' });
      const { status, stdout } = run(['sim', 'crashes', ...flags, '--json']);
      expect(status).toBe(1);
      const { failures } = JSON.parse(stdout);
      expect(failures[0].violation.oracle).toBe(oracle);
      const again = run(failures[0].again.replace('npx nodecli ', '').split(' '));
      expect(again.stdout).toContain(`${oracle}: ${failures[0].violation.what}`);
    });
  });
});
