// Files that a command writes are none of those that it reads, and each is another.

import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../usage.ts';

type Files = Readonly<Record<string, string | undefined>>;

/** By option, or what stands for it; undefined: not given. */
export function mustBeApart(written: Files, read: Files): void {
  const taken = new Map<string, string>();
  for (const [what, path] of Object.entries(read)) if (path !== undefined) taken.set(placeOf(path), what);
  for (const [what, path] of Object.entries(written)) {
    if (path === undefined) continue;
    const other = taken.get(placeOf(path));
    if (other !== undefined) throw new CliError(`${what}: ${path} is ${other}, too; name another file`);
    taken.set(placeOf(path), what);
  }
}

function placeOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // not there yet
  }
}
