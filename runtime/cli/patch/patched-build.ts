// A copy of the build with one thing changed in it: how leaks and bugs are planted without an `if` in the
// product.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder, unmade } from '../temporary-folder.ts';
import { PATCHED_FOLDER, slipIn, whereLoaded } from '../thrown.ts';
import { CliError, needsBuild, packageFolder } from '../usage.ts';
import { type Patch, patchOf } from './patch-file.ts';

/**
 * Makes the copy, gives `use` its `dist`, and takes it away afterwards. `patch` null: a copy without a
 * change.
 */
export async function withPatchedBuild<T>(
  patch: Patch | null,
  use: (dist: string) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder(PATCHED_FOLDER);
  const release = removeWithUs(folder);
  try {
    copy(patch, folder);
    if (patch && isOfSources(patch)) build(folder, patch.id);
    else if (patch) mustParse(patch, join(folder, 'dist'));
    return await use(join(folder, 'dist'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    release();
  }
}

/** Patches of a campaign are looked at before it begins: one that no longer applies would end it after hours. */
export function mustApply(patch: Patch): void {
  changedBy(patch, isOfSources(patch) ? packageFolder : join(packageFolder, 'dist'));
}

const isOfSources = ({ edits }: Patch): boolean => edits.some(({ file }) => file.endsWith('.ts'));

function copy(patch: Patch | null, folder: string): void {
  try {
    const ofSources = patch !== null && isOfSources(patch);
    if (ofSources) copySources(folder);
    else copyBuild(folder);
    const modules = [join(packageFolder, 'node_modules'), join(packageFolder, '..')].find((path) =>
      existsSync(join(path, 'xstate')),
    );
    if (modules) symlinkSync(modules, join(folder, 'node_modules'), 'dir');
    const changed = patch && changedBy(patch, ofSources ? folder : join(folder, 'dist'));
    for (const [path, text] of changed ?? []) writeFileSync(path, text);
  } catch (error) {
    throw isOfDisk(error) ? unmade('copy of the build', error) : error;
  }
}

/** What a disk says, and no bug of ours; a file that is not there may be one of the build. */
function isOfDisk(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^E[A-Z0-9]+$/.test(code) && code !== 'ENOENT';
}

/**
 * Whatever ends this process, its copy goes: Ctrl-C in the middle of a run leaves nobody here to do it. Without a shell it stays, where the system
 * keeps what is temporary. The answer lets the helper go.
 */
function removeWithUs(folder: string): () => void {
  const helper = spawn('sh', ['-c', 'cat > /dev/null; rm -rf -- "$0"', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  helper.on('error', () => {});
  helper.stdin?.on('error', () => {});
  helper.unref();
  (helper.stdin as Socket | undefined)?.unref();
  return () => void helper.stdin?.end();
}

/**
 * Gives `use` a module of the build with this bug planted, loaded into this process: a debugger sees it. `module`
 * is a path below `dist`.
 */
export async function withMutant<M, T>(
  mutant: string,
  command: string,
  module: string,
  use: (patched: M) => Promise<T> | T,
): Promise<T> {
  const patch = patchOf(mutant);
  needsBuild(`${command} --mutant`);
  return withPatchedBuild(patch, async (dist) => use(await loaded<M>(join(dist, module), patch.id)));
}

async function loaded<M>(path: string, id: string): Promise<M> {
  try {
    return (await import(pathToFileURL(path).href)) as M;
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new CliError(doesNotLoad(id, what, whereLoaded(error)));
  }
}

function copyBuild(folder: string): void {
  const isCode = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('.d.ts');
  cpSync(join(packageFolder, 'dist'), join(folder, 'dist'), { recursive: true, filter: isCode });
  cpSync(join(packageFolder, 'package.json'), join(folder, 'package.json'));
}

/** All that a build is made of. */
function copySources(folder: string): void {
  if (!existsSync(join(packageFolder, 'tsconfig.build.json')))
    throw new CliError('a patch of sources needs the repository: the package holds the build alone');
  const left = new Set(['node_modules', 'dist', 'dist.new', '.git', 'test']);
  for (const name of readdirSync(packageFolder)) {
    if (!left.has(name)) cpSync(join(packageFolder, name), join(folder, name), { recursive: true });
  }
}

function build(folder: string, id: string): void {
  const made = spawnSync(process.execPath, [join(folder, 'tools', 'build.mjs')], { encoding: 'utf8' });
  if (made.status === 0) return;
  const why = `${made.stdout}${made.stderr}`.trim().split('\n')[0];
  throw new CliError(`with the patch ${id} the sources do not build: ${why}`);
}

function mustParse({ id, edits }: Patch, dist: string): void {
  for (const file of new Set(edits.map((edit) => edit.file))) {
    const slip = slipIn(join(dist, file));
    if (slip) throw new CliError(doesNotLoad(id, slip.what, ` (at ${slip.place})`));
  }
}

const doesNotLoad = (id: string, what: string, where: string): string =>
  `the patch ${id} leaves a build that does not load: ${what}${where}`;

/** The files that it changes, each with what stands there then. */
function changedBy(patch: Patch, folder: string): Map<string, string> {
  const { id, edits } = patch;
  const inBuild = (file: string): string => (isOfSources(patch) ? file : join('dist', file));
  const texts = new Map<string, string>();
  for (const [i, { file, find, replace }] of edits.entries()) {
    const no = (field: string, what: string): never => {
      const place = edits.length > 1 ? `edits[${i}].${field}` : field;
      throw new CliError(`the patch ${id} does not apply: ${place}: ${what}`);
    };
    const path = join(folder, file);
    if (!existsSync(path))
      no(
        'file',
        `there is no ${inBuild(file)}; write a path below dist, as sim/run.js, or a source, as sim/run.ts`,
      );
    const parts = (texts.get(path) ?? readFileSync(path, 'utf8')).split(find);
    const times = parts.length - 1;
    if (times === 0) no('find', `this text does not stand in ${inBuild(file)}; it must be as it is there`);
    if (times > 1)
      no(
        'find',
        `this text stands ${times} times in ${inBuild(file)}; take more of it, which stands there once`,
      );
    texts.set(path, parts.join(replace));
  }
  return texts;
}
