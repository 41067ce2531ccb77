// Runs the built command line as a person would, and gives what it said and how it ended.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const cli = join(root, 'dist/runtime/cli/nodecli.js');

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

export interface Started {
  /** Of the process, and of the process group that it leads. */
  readonly pid: number;
  /** Resolves when it has said this, on either stream. */
  said(text: string): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** Starts it as a terminal does: in a process group of its own, to which Ctrl-C would go. */
export function startNodecli(...args: readonly string[]): Started {
  const child = spawn(process.execPath, [cli, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
    env: { ...process.env, NODECLI_DEBUG: '' },
  });
  const text = { out: '', err: '' };
  const look = new Set<() => void>();
  const hear = (stream: 'out' | 'err') => (bytes: Uint8Array) => {
    text[stream] += String(bytes);
    for (const each of look) each();
  };
  child.stdout.on('data', hear('out'));
  child.stderr.on('data', hear('err'));
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...text })));
  const said = (what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (text.out.includes(what) || text.err.includes(what)) resolve();
      };
      look.add(check);
      check();
      void ended.then(({ out, err }) =>
        reject(new Error(`it ended without saying "${what}":\n${out}${err}`)),
      );
    });
  return { pid: child.pid as number, said, ended };
}

/** Of a process, those that it has now. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);

/** A folder for one test file, and how to take it away. */
export function workFolder(): { readonly at: (name: string) => string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-cli-'));
  return { at: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** An error of a command is one line, or that and a hint; a stack would show where in our files. */
export const hasStack = (text: string): boolean => /\n\s+at .*:\d+:\d+/.test(text);
