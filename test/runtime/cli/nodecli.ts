// Runs the built command line as a person would, and gives what it said and how it ended.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
const cli = join(root, 'dist/runtime/cli/nodecli.js');

/** False: these tests need `npm run build` first, as `npm test` does it. */
export const isBuilt = existsSync(cli);
if (!isBuilt) console.log('skipped: the command line is not built (npm run build)');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const LIMIT_MS = 90_000;

export function nodecli(...args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NODECLI_DEBUG: '' },
  });
  return { code: status, out: stdout, err: stderr };
}

/** A folder for one test file, and how to take it away. */
export function workFolder(): { readonly at: (name: string) => string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-cli-'));
  return { at: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** An error of a command is one line, or that and a hint; a stack would show where in our files. */
export const hasStack = (text: string): boolean => /\n\s+at .*:\d+:\d+/.test(text);
