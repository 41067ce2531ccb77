// A copy of the build with one thing changed in it: how leaks and bugs are planted without an `if` in the
// product.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { basename, isAbsolute, join, normalize, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder, unmade } from '../temporary-folder.ts';
import { PATCHED_FOLDER, slipIn, whereLoaded } from '../thrown.ts';
import { CliError, EXIT, needsBuild, packageFolder, whyNot } from '../usage.ts';
import type { Edit } from './edit.ts';
import { editsOfDiff } from './unified-diff.ts';

export interface Patch {
  /** Of the file that the patch was read from. */
  readonly id: string;
  readonly name: string;
  /** In this order. Several where a promise is kept twice, and a bug must break both. */
  readonly edits: readonly Edit[];
  /** What is wrong with it, or what it breaks. */
  readonly why: string;
  /** Oracles that are expected to find it (mutants). */
  readonly oracles: readonly string[];
  /** It changes nothing that anybody was promised: no oracle may find it (mutants). */
  readonly isHarmless: boolean;
  /** It fails in every run: whoever does not see that in the first one watches nothing (mutants). */
  readonly isCanary: boolean;
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

/** Our JSON, or a unified diff (`.diff`, `.patch`) of the build or of the sources. */
export function patchOf(path: string): Patch {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const isOfRepository = /^(\.\/)?scenarios\//.test(path) && !existsSync(join(packageFolder, 'scenarios'));
    const hint = isOfRepository ? '; scenarios/ is in the repository, not in the package' : '';
    throw new CliError(`the patch ${path} cannot be read: ${whyNot(error)}${hint}`);
  }
  return path.endsWith('.json') ? patchOfJson(path, content) : patchOfDiff(path, content);
}

function patchOfDiff(path: string, text: string): Patch {
  const edits = editsOfDiff(text);
  if ('because' in edits) throw new CliError(`the patch ${path} is no unified diff: ${edits.because}`);
  for (const { file } of edits) mustStayInside(path, file);
  const id = basename(path).replace(/\.[^.]+$/, '');
  return { id, name: id, edits, why: '', oracles: [], isHarmless: false, isCanary: false, engines: [] };
}

/** What is beside the copy is the real thing: a bug that is planted there stays planted. */
function mustStayInside(path: string, file: string): void {
  const [first] = normalize(file).split(sep);
  if (isAbsolute(file) || first === '..' || first === 'node_modules')
    throw new CliError(
      `the patch ${path}: file must be below dist, or a source of this repository, not ${file}`,
    );
}

function patchOfJson(path: string, json: string): Patch {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(json) as Record<string, unknown>;
  } catch (error) {
    throw new CliError(`the patch ${path} cannot be read: ${whyNot(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CliError(`the patch ${path} must be an object with name, file, find, replace and why`);
  const textIn = (holder: Record<string, unknown>, field: string, place = ''): string => {
    const found = holder[field];
    if (typeof found !== 'string') throw new CliError(`the patch ${path}: ${place}${field} must be text`);
    return found;
  };
  const text = (field: string): string => textIn(value, field);
  const list = <T>(field: string): readonly T[] => {
    const found = value[field] ?? [];
    if (!Array.isArray(found)) throw new CliError(`the patch ${path}: ${field} must be a list`);
    return found as T[];
  };
  const editOf = (holder: unknown, place: string): Edit => {
    if (typeof holder !== 'object' || holder === null)
      throw new CliError(`the patch ${path}: ${place} must be an object with file, find and replace`);
    const field = (name: string): string =>
      textIn(holder as Record<string, unknown>, name, place && `${place}.`);
    const file = field('file');
    mustStayInside(path, file);
    return { file, find: field('find'), replace: field('replace') };
  };
  if (value['edits'] !== undefined && value['file'] !== undefined)
    throw new CliError(`the patch ${path}: it has edits, so its file, find and replace go in there`);
  const edits =
    value['edits'] === undefined
      ? [editOf(value, '')]
      : list<unknown>('edits').map((each, i) => editOf(each, `edits[${i}]`));
  if (edits.length === 0) throw new CliError(`the patch ${path}: edits must not be empty`);
  return {
    id: basename(path, '.json'),
    name: text('name'),
    edits,
    why: text('why'),
    oracles: list<string>('oracles'),
    isHarmless: value['isHarmless'] === true,
    isCanary: value['isCanary'] === true,
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
  throw new CliError(`with the patch ${id} the sources do not build: ${why}`, EXIT.violated);
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
function changedBy({ id, edits }: Patch, folder: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const path = join(folder, file);
    if (!existsSync(path))
      throw new CliError(`the patch ${id} no longer applies: there is no ${file}`, EXIT.violated);
    const parts = (texts.get(path) ?? readFileSync(path, 'utf8')).split(find);
    if (parts.length !== 2) {
      const times = parts.length === 1 ? 'does not stand there' : `stands there ${parts.length - 1} times`;
      throw new CliError(`the patch ${id} no longer applies to ${file}: its text ${times}`, EXIT.violated);
    }
    texts.set(path, parts.join(replace));
  }
  return texts;
}
