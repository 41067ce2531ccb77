// Where no temporary folder can be made, whoever typed the command is told what to do.

import { cpSync, mkdtempSync, rmdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { firstEventBetween } from '../../../runtime/cli/determinism/same-twice.ts';
import { withPatchedBuild } from '../../../runtime/cli/patch/patched-build.ts';
import { CliError } from '../../../runtime/cli/usage.ts';
import { isBuilt, nodecli } from './nodecli.ts';

vi.mock(import('node:fs'), async (original) => {
  const real = await original();
  return { ...real, cpSync: vi.fn(real.cpSync) };
});

beforeEach(() => void vi.stubEnv('TMPDIR', '/nowhere'));
afterEach(() => void vi.unstubAllEnvs());

const REFUSAL =
  'no temporary folder can be made in /nowhere: there is no such folder; set TMPDIR to a folder that can be written';

test.skipIf(!isBuilt).each([['cluster'], ['chaos']])('%s', (command) => {
  const { code, err } = nodecli(command);
  expect(err).toBe(`nodecli: ${REFUSAL}, or name a folder with --home\n`);
  expect(code).toBe(2);
});

test.skipIf(!isBuilt)('sim run --mutant', () => {
  const { code, err } = nodecli('sim', 'run', 'calm', '--mutant', 'scenarios/zoo/M06.json');
  expect(err).toBe(`nodecli: ${REFUSAL}\n`);
  expect(code).toBe(2);
});

test.skipIf(!isBuilt).each([
  ['--crypto', 'rsa', '--crypto takes sim or ed25519, not "rsa"'],
  ['--heights', '0', '--heights takes a whole number from 1 on, not "0"'],
])('sim run --mutant, and %s %s is refused before a copy is made', (flag, value, says) => {
  const { code, err } = nodecli('sim', 'run', 'calm', '--mutant', 'scenarios/zoo/M06.json', flag, value);
  expect([code, err]).toEqual([2, `nodecli: ${says}\n`]);
});

test('what compares two runs, what patches a build', async () => {
  const job = { play: 'calm', seed: '1' };
  const error = new CliError(REFUSAL);
  await expect(firstEventBetween(job, {}, {})).rejects.toThrow(error);
  await expect(withPatchedBuild(null, async () => {})).rejects.toThrow(error);
});

test('a disk that fills as the build is copied', async () => {
  const folder = mkdtempSync('/tmp/rehearsal-full-');
  vi.stubEnv('TMPDIR', folder);
  const full = Object.assign(new Error('ENOSPC: no space left on device, cp'), {
    code: 'ENOSPC',
    syscall: 'cp',
  });
  vi.mocked(cpSync).mockImplementationOnce(() => {
    throw full;
  });
  const remedy = 'set TMPDIR to a folder that can be written';
  await expect(withPatchedBuild(null, async () => {})).rejects.toThrow(
    new CliError(`no copy of the build can be made in ${folder}: its disk is full; ${remedy}`),
  );
  rmdirSync(folder); // nothing is left in it
});
