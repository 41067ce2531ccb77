// What `sim determinism` finds: a run that no worker survives is named, and so is a play of one’s own that is not the same twice.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { performed } from '../../../runtime/cli/determinism/same-twice.ts';
import { Interrupted } from '../../../runtime/cli/interrupt.ts';
import { CliError, EXIT } from '../../../runtime/cli/usage.ts';
import { isBuilt, nodecli, root, workFolder } from './nodecli.ts';

const job = { play: 'lock-holds', seed: '7' };

test('a worker that dies leaves the play and the seed that it was at', async () => {
  const died = new CliError('a worker failed: it ended with SIGSEGV', EXIT.violated);
  await expect(performed(job, Promise.reject(died))).rejects.toMatchObject({
    message: 'lock-holds, seed 7: a worker failed: it ended with SIGSEGV',
    exit: EXIT.violated,
  });
});

test.skipIf(!isBuilt)('functions of one’s own that are not deterministic are found', () => {
  const folder = workFolder();
  const write = (power: string): string => {
    const file = folder.at(`${power.length}.mjs`);
    const sim = JSON.stringify(join(root, 'dist/sim/index.js'));
    writeFileSync(
      file,
      `import { everyone, height, scenario, txs, validators } from ${sim};
const make = (stream, n) => new TextEncoder().encode('t' + n + '=' + ${power});
export default scenario('mine', { cast: validators(4), load: txs({ perBlock: 1, make }), ends: everyone.decides(height(3), { within: '60s' }) });
`,
    );
    return file;
  };
  try {
    const fickle = nodecli('sim', 'determinism', '--seeds', '2', '--play', write('Math.random()'));
    expect(fickle.out).toMatch(/^NOT THE SAME: .*mjs, seed [12], in two workers/);
    expect(fickle.out).toContain('a function of your own must give the same for the same');
    expect(fickle.code).toBe(1);
    const steady = nodecli('sim', 'determinism', '--seeds', '2', '--play', write('stream.draw(9)'));
    expect(steady.out).toContain('2 seeds, each twice: equal digests');
    expect(steady.code).toBe(0);
    const pairs = ['--seeds', '0', '--crypto-pairs', '2', '--play'];
    const threw = nodecli('sim', 'determinism', ...pairs, write('stream.draw(0) '));
    expect(threw.out).toMatch(/^ {2}did not hold: npx nodecli sim run .* --seed 1 .*load\.make: it threw/);
    expect(threw.code).toBe(1);
    const equal = nodecli('sim', 'determinism', ...pairs, 'calm');
    expect(equal.out).toBe('2 seeds in sim-crypto and in ed25519: equal shapes and verdicts\n');
    const none = nodecli('sim', 'determinism', '--seeds', '2', '--play', folder.at('none.mjs'));
    expect(none.err).toMatch(/^nodecli: the scenario file .*none\.mjs cannot be read/);
    expect(none.code).toBe(2);
  } finally {
    folder.remove();
  }
});

test('an interruption is nobody’s fault', async () => {
  const asked = new Interrupted();
  await expect(performed(job, Promise.reject(asked))).rejects.toBe(asked);
});
