// How commands end: exit codes, errors that are one clear line, and the checks of options that many commands
// take.

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSeed, SEED_MAX } from '../../sim/choices.ts';

/**
 * 0: what was promised holds. 1: it was violated, or what was read is broken. 2: the command was not understood, or cannot be done: a port or a
 * folder is taken, what it says or keeps cannot be written.
 */
export const EXIT = { holds: 0, violated: 1, usage: 2 } as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** An error that a person can act on: printed as one line, never with a stack. */
export class CliError extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = EXIT.usage) {
    super(message);
    this.exit = exit;
  }
}

/** Also one of a build with a bug planted (`--mutant`): its class is that build's own. */
export const isCliError = (error: unknown): error is CliError =>
  error instanceof CliError || (error instanceof Error && 'exit' in error);

/** What makes going on wrong, as a folder that another one took, and comes when nobody waits for an answer: one line, and the end. */
export function endsAll(error: Error): void {
  process.stderr.write(`nodecli: ${error.message}\n`);
  process.exit(EXIT.usage);
}

/** A seed is a whole number of 64 bits, in decimal; `flag` brings it. */
export function seedOf(text: string, flag = '--seed'): string {
  if (!isSeed(text)) {
    throw new CliError(`${flag}: "${text}" is not a seed: give a whole number from 0 to ${SEED_MAX}`);
  }
  return String(BigInt(text));
}

/** So many seeds from this one on, which `flag` names, must all be seeds. */
export function mustBeSeeds(first: string | bigint, count: number, flag: string): void {
  if (BigInt(first) + BigInt(count) - 1n > SEED_MAX)
    throw new CliError(`${flag}: ${count} seeds from ${first} on go beyond the last, ${SEED_MAX}`);
}

/** More than anybody has time for. */
const COUNT_MAX = 1_000_000_000;
/** Seeds are listed before the first runs. */
export const SEEDS_MAX = 1_000_000;

/** A whole number from `least` to `most`, for the option that `what` names. */
export function countOf(text: string, what: string, least = 1, most = COUNT_MAX): number {
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least) {
    throw new CliError(`${what} takes a whole number from ${least} on, not "${text}"`);
  }
  if (value > most) throw new CliError(`${what} takes ${most} at most, not ${text}`);
  return value;
}

/** Where to write what the option `flag` asks for. */
export function fileOf(path: string, flag: string): string {
  if (path === '') throw new CliError(`${flag}: give a file name`);
  return path;
}

/** Where a scenario is kept: what is read back is known by its name. */
export function scenarioFileOf(path: string, flag: string): string {
  if (fileOf(path, flag).endsWith('.json')) return path;
  throw new CliError(`${flag} takes a name that ends in .json, not "${path}"`);
}

/** Each is a process of some hundred megabytes: more than the largest machines have cores for is a slip. */
const WORKERS_MAX = 256;

/** What `--workers` says: processes; not said: one per core. */
export function workersOf(text: string | undefined): number {
  return text === undefined ? availableParallelism() : countOf(text, '--workers', 1, WORKERS_MAX);
}

/** Two letters that changed places are two changes: in a longer word that is still near. */
const SHORT = 4;

/** The name that a mistyped one was most likely meant to be; undefined when none is near. */
export function nearest(wrong: string, names: readonly string[]): string | undefined {
  const scored = names.map((name) => ({ name, far: name.includes(wrong) ? 1 : distance(wrong, name) }));
  scored.sort((a, b) => a.far - b.far);
  const best = scored[0];
  const most = Math.max(wrong.length < SHORT ? 1 : 2, wrong.length / 3);
  return best && wrong !== '' && best.far <= most ? best.name : undefined;
}

/** Levenshtein: letters to change, add or leave out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** Where this module runs: compiled (`dist/runtime/cli`), or from source through a loader. */
export const isCompiled = import.meta.url.endsWith('.js');
export const cliFolder = dirname(fileURLToPath(import.meta.url));
/** The folder that package.json stands in. */
export const packageFolder = join(cliFolder, isCompiled ? '../../..' : '../..');

/** Commands with workers need files that plain Node can load. */
export function needsBuild(command: string): void {
  if (isCompiled) return;
  throw new CliError(`${command} starts workers from the build: npm run build, then npx nodecli ${command}`);
}

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }).version;

/** The commit that the build was made of, or `unknown`. */
export function buildCommit(): string {
  try {
    const info = JSON.parse(readFileSync(join(cliFolder, '../../build-info.json'), 'utf8')) as {
      commit?: unknown;
    };
    return typeof info.commit === 'string' ? info.commit : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** As a shell takes it. */
export const quoted = (text: string): string =>
  /^[\w./@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Why a file could not be read or written, in words. */
export function whyNot(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'it is a file, or below one';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  if (code === 'EROFS') return 'the disk is mounted read-only';
  return message ?? String(error);
}
