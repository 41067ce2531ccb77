// Files that a command writes are none of those that it reads, and each is another.

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CliError } from '../usage.ts';

/** By option, or what stands for it; undefined: not given. */
type Files = Readonly<Record<string, string | undefined>>;

/** A folder is read as a whole. */
export function mustBeApart(written: Files, read: Files): void {
  const taken = new Map<string, string>();
  for (const [what, path] of Object.entries(read)) if (path !== undefined) taken.set(placeOf(path), what);
  for (const [what, path] of Object.entries(written)) {
    if (path === undefined || isNoFile(path)) continue;
    const place = placeOf(path);
    for (const [other, whose] of taken)
      if (place === other || place.startsWith(other + sep))
        throw new CliError(
          `${what}: ${path} is ${place === other ? '' : 'in '}${whose}, too; name another file`,
        );
    taken.set(place, what);
  }
}

/** What takes all and keeps nothing, as /dev/null. */
function isNoFile(path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && !there.isFile() && !there.isDirectory();
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
