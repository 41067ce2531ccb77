// Temporary folders and child processes for the tests of the host.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Gone when the test is over. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), 'rehearsal-host-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** The first line that begins so, now or later. */
  line(start: string): Promise<string>;
  /** Ends when the process has. */
  readonly ended: Promise<void>;
}

interface ChildOptions {
  /** A program, with its arguments, that runs it. */
  readonly under: readonly string[];
}

/**
 * As on a full disk: no file may grow beyond so many blocks of 512 bytes, or of 1024, as the shell likes. What tsx keeps
 * for the next process would be cut as well.
 */
export const filesUpTo = (blocks: number): ChildOptions => ({
  under: ['sh', '-c', `ulimit -f ${blocks} && exec env TSX_DISABLE_CACHE=1 "$@"`, 'sh'],
});

/** Else tests of a full disk are skipped: they need sh with `ulimit -f`. */
export const hasFileLimits = ((): boolean => {
  const [program, ...words] = filesUpTo(400).under;
  return spawnSync(program as string, [...words, 'true']).status === 0;
})();

/** Runs a TypeScript file of this folder in a process of its own, killed when the test is over. */
export function child(script: string, ...rest: [ChildOptions, ...string[]] | string[]): Child {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const [first, ...others] = rest;
  const [under, args] = typeof first === 'object' ? [first.under, others] : [[], rest];
  const [program, ...words] = [...under, process.execPath, '--conditions=source', '--import', 'tsx', path];
  const started = spawn(program as string, [...words, ...(args as string[])], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  const lines: string[] = [];
  const waiting: { start: string; found: (line: string) => void }[] = [];
  createInterface({ input: started.stdout }).on('line', (line) => {
    lines.push(line);
    for (const one of waiting) if (line.startsWith(one.start)) one.found(line);
  });
  return {
    process: started,
    lines,
    line: (start) =>
      new Promise((found, failed) => {
        const known = lines.find((line) => line.startsWith(start));
        if (known !== undefined) found(known);
        else waiting.push({ start, found });
        started.once('close', () => failed(new Error(`${script} ended without saying "${start}"`)));
      }),
    ended: new Promise((done) => started.once('close', () => done())),
  };
}
