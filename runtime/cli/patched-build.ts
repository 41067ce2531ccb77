// A copy of the build with one thing changed in it: how leaks and bugs are planted without an `if` in the
// product.

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CliError, EXIT, packageFolder, whyNot } from './usage.ts';

export interface Patch {
  /** Of the file that the patch was read from. */
  readonly id: string;
  readonly name: string;
  /** A file of `dist`. */
  readonly file: string;
  /** Stands exactly once in it. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it, or what it breaks. */
  readonly why: string;
  /** Oracles that are expected to find it (mutants). */
  readonly oracles: readonly string[];
  /** It only shows between engines of these versions (leaks). */
  readonly engines: readonly number[];
}

/** All patches of a folder of the repository, by file name. */
export function patchesOf(folder: string): Patch[] {
  const path = join(packageFolder, folder);
  if (!existsSync(path))
    throw new CliError(`there is no folder ${path}: patches are part of the repository, not of the package`);
  return readdirSync(path)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => patchOf(join(path, file)));
}

export function patchOf(path: string): Patch {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  } catch (error) {
    throw new CliError(`the patch ${path} cannot be read: ${whyNot(error)}`);
  }
  const text = (field: string): string => {
    const found = value[field];
    if (typeof found !== 'string') throw new CliError(`the patch ${path}: ${field} must be text`);
    return found;
  };
  const list = <T>(field: string): readonly T[] => {
    const found = value[field] ?? [];
    if (!Array.isArray(found)) throw new CliError(`the patch ${path}: ${field} must be a list`);
    return found as T[];
  };
  return {
    id: basename(path, '.json'),
    name: text('name'),
    file: text('file'),
    find: text('find'),
    replace: text('replace'),
    why: text('why'),
    oracles: list<string>('oracles'),
    engines: list<number>('engines'),
  };
}

/**
 * Makes the copy, gives `use` its `dist`, and takes it away afterwards. `patch` null: a copy without a
 * change.
 */
export async function withPatchedBuild<T>(
  patch: Patch | null,
  use: (dist: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-build-'));
  try {
    const dist = join(folder, 'dist');
    const isCode = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('.d.ts');
    cpSync(join(packageFolder, 'dist'), dist, { recursive: true, filter: isCode });
    cpSync(join(packageFolder, 'package.json'), join(folder, 'package.json'));
    const modules = [join(packageFolder, 'node_modules'), join(packageFolder, '..')].find((path) =>
      existsSync(join(path, 'xstate')),
    );
    if (modules) symlinkSync(modules, join(folder, 'node_modules'), 'dir');
    if (patch) apply(patch, dist);
    return await use(dist);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function apply({ id, file, find, replace }: Patch, dist: string): void {
  const path = join(dist, file);
  if (!existsSync(path))
    throw new CliError(`the patch ${id} no longer applies: there is no dist/${file}`, EXIT.violated);
  const text = readFileSync(path, 'utf8');
  const parts = text.split(find);
  if (parts.length !== 2) {
    const times = parts.length === 1 ? 'does not stand there' : `stands there ${parts.length - 1} times`;
    throw new CliError(`the patch ${id} no longer applies to dist/${file}: its text ${times}`, EXIT.violated);
  }
  writeFileSync(path, parts.join(replace));
}
