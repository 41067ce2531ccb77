// The generated code that is committed is what the generator makes of the .proto files.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('protocol/gen is up to date', () => {
  const tool = fileURLToPath(new URL('../../tools/gen.mjs', import.meta.url));
  const run = spawnSync(process.execPath, [tool, '--check'], { encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(run.status).toBe(0);
});
