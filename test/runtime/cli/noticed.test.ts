// Plays show what they are for: with the check left out that they are about, an oracle speaks (that they hold with it: test/scenarios).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOTICED } from '../../scenarios/noticed.ts';
import { type Ended, isBuilt, root, startNodecli } from './nodecli.ts';

/** Each is a process of its own: as many at once as there are cores. */
const ended = (...args: readonly string[]): Promise<Ended> => startNodecli(...args).ended;

describe.skipIf(!isBuilt).concurrent('a check that is left out', () => {
  it.each(NOTICED)('%s, seed %s, with %s', async (play, seed, mutant, says) => {
    const patch = join(root, 'scenarios/zoo', `${mutant}.json`);
    const { code, out } = await ended('sim', 'run', play, '--seed', seed, '--mutant', patch, '--quiet');
    expect(code).toBe(1);
    expect(out.split('\n').find((line) => line.includes('violated '))).toContain(says);
  });
});

it.skipIf(!isBuilt)('the failing run that README and docs/debugging.md make smaller is one', async () => {
  const examples = ['README.md', 'docs/debugging.md'].map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return /sim shrink (\S+) --seed (\S+) --mutant (\S+)/.exec(text)?.slice(1) ?? [];
  });
  expect(examples[0]).toEqual(examples[1]);
  const [play = '', seed = '', mutant = ''] = examples[0] ?? [];
  const { code } = await ended('sim', 'run', play, '--seed', seed, '--mutant', join(root, mutant));
  expect(code).toBe(1);
});
