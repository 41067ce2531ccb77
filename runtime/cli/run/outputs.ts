// Files that a command writes are none of those that it reads, and each is another; and what they write over is of the same kind.

import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CliError } from '../usage.ts';
import { KEY_FILE } from './cast-files.ts';

/** By option, or what stands for it; undefined: not given. */
type Files = Readonly<Record<string, string | undefined>>;

/** Nor is a key written over, wherever it lies. */
export function mustBeApart(written: Files, read: Files): void {
  const taken = new Map<string, string>();
  for (const [what, path] of Object.entries(read)) if (path !== undefined) taken.set(placeOf(path), what);
  for (const [what, path] of Object.entries(written)) {
    if (path === undefined || isNoFile(path)) continue;
    const other = basename(path) === KEY_FILE ? 'the name of a key file' : taken.get(placeOf(path));
    if (other !== undefined) throw new CliError(`${what}: ${path} is ${other}, too; name another file`);
    taken.set(placeOf(path), what);
  }
}

/** Nothing is lost where one of the same kind is written over, or an empty file, or what is no file. */
export function mustBeFree(
  option: string,
  path: string,
  kind: string,
  isOfKind: (path: string) => boolean,
): void {
  if (!holdsSomething(path) || isOfKind(path)) return;
  throw new CliError(`${option}: ${path} is there, and is no ${kind}; name another file`);
}

function holdsSomething(path: string): boolean {
  try {
    const there = statSync(path);
    return there.isFile() && there.size > 0;
  } catch {
    return false; // not there, or out of reach: who writes it says so
  }
}

/** By what programs write at the beginning of such a file. */
const MARKED_BYTES = 1024;
export function isMarked(path: string, mark: string): boolean {
  const beginning = Buffer.alloc(MARKED_BYTES);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, beginning);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  return beginning.includes(mark);
}

/** What takes all and keeps nothing, as /dev/null. */
export function isNoFile(path: string): boolean {
  try {
    const there = statSync(path);
    return !there.isFile() && !there.isDirectory();
  } catch {
    return false; // not there, or out of reach: who writes it says so
  }
}

function placeOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path); // not there yet; its folder may be
    const folder = dirname(whole);
    return folder === whole ? whole : join(placeOf(folder), basename(whole));
  }
}
