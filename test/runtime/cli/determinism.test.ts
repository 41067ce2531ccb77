// A run that no worker survives is named.

import { expect, test } from 'vitest';
import { performed } from '../../../runtime/cli/determinism/same-twice.ts';
import { Interrupted } from '../../../runtime/cli/interrupt.ts';
import { CliError, EXIT } from '../../../runtime/cli/usage.ts';

const job = { play: 'lock-holds', seed: '7' };

test('a worker that dies leaves the play and the seed that it was at', async () => {
  const died = new CliError('a worker failed: it ended with SIGSEGV', EXIT.violated);
  await expect(performed(job, Promise.reject(died))).rejects.toMatchObject({
    message: 'lock-holds, seed 7: a worker failed: it ended with SIGSEGV',
    exit: EXIT.violated,
  });
});

test('an interruption is nobody’s fault', async () => {
  const asked = new Interrupted();
  await expect(performed(job, Promise.reject(asked))).rejects.toBe(asked);
});
