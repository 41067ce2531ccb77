// From what a person typed to a play: one of ours by name, or a file that holds one as JSON or exports one.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { isRefusal } from '../../../protocol/refusal.ts';
import { plays } from '../../../scenarios/index.ts';
import { scenarioRefusal } from '../../../sim/scenario/form.ts';
import { fromJson } from '../../../sim/scenario/json.ts';
import { isDrawn, type Play, type Scenario, ScenarioError } from '../../../sim/scenario/play.ts';
import { completed } from '../../../sim/scenario/usual.ts';
import { slipIn, whereLoaded } from '../thrown.ts';
import { CliError, EXIT, nearest, packageFolder, quoted, whyNot } from '../usage.ts';

const EXTENSIONS = ['.json', '.js', '.mjs', '.ts', '.mts'];

export function playNamed(name: string): Play {
  const found = plays.find((play) => play.name === name);
  if (found) return found;
  const near = nearest(
    name,
    plays.map((play) => play.name),
  );
  const hint = near ? `did you mean ${near}?` : 'nodecli sim list shows them all';
  throw new CliError(`there is no scenario "${name}": ${hint}`);
}

/** A name that `--play` takes: that of a play that a seed writes. */
export function drawnPlay(name: string): string {
  const drawn = plays.filter(isDrawn).map((each) => each.name);
  if (drawn.includes(name)) return name;
  throw new CliError(`--play: ${name} is no play that a seed writes; there are ${drawn.join(', ')}`);
}

/** What was typed, where it is a file and no name. */
export const fileOfPlay = (nameOrFile: string): string | undefined =>
  EXTENSIONS.includes(extname(nameOrFile)) ? nameOrFile : undefined;

/** What this process has loaded: the play, or what is wrong with it. */
const opened = new Map<string, () => Play>();

/** So that `playAtOnce` has it from now on: a module cannot be loaded at once. What is wrong with it is said there. */
export async function openPlay(nameOrFile: string): Promise<void> {
  if (opened.has(nameOrFile)) return;
  const open = await loadPlay(nameOrFile).then(
    (play) => () => play,
    (error: unknown) => () => {
      throw error;
    },
  );
  opened.set(nameOrFile, open);
}

/** A play by name, of a JSON file, or of whatever file was opened. */
export function playAtOnce(nameOrFile: string): Play {
  const open = opened.get(nameOrFile);
  if (open) return open();
  return extname(nameOrFile) === '.json'
    ? playOfJson(nameOrFile, resolve(nameOrFile))
    : playNamed(nameOrFile);
}

/**
 * As `loadPlay`, of what can be performed; `playAtOnce` has it from now on.
 * @throws ScenarioError where it cannot.
 */
export async function playToPerform(nameOrFile: string): Promise<Play> {
  await openPlay(nameOrFile);
  const play = playAtOnce(nameOrFile);
  const refusal = isDrawn(play) ? null : scenarioRefusal(play);
  if (refusal) throw new ScenarioError(refusal.because);
  return play;
}

export async function loadPlay(nameOrFile: string): Promise<Play> {
  const extension = extname(nameOrFile);
  if (!EXTENSIONS.includes(extension)) {
    const isOurs = plays.some(({ name }) => name === nameOrFile); // whatever lies here under that name
    if (!isOurs && existsSync(nameOrFile))
      throw new CliError(`${nameOrFile} is no scenario file: one ends in ${EXTENSIONS.join(', ')}`);
    return playNamed(nameOrFile);
  }
  const path = resolve(nameOrFile);
  if (!existsSync(path))
    throw new CliError(`the scenario file ${nameOrFile} cannot be read: there is no such file`);
  return extension === '.json' ? playOfJson(nameOrFile, path) : playOfModule(nameOrFile, path);
}

function playOfJson(name: string, path: string): Play {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`the scenario file ${name} cannot be read: ${whyNot(error)}`);
  }
  return playFromJson(name, text);
}

/** Some editors begin a file with it. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** `name`: what to call it when it is none. */
export function playFromJson(name: string, text: string): Play {
  const play = fromJson(text.replace(BYTE_ORDER_MARK, ''));
  if (isRefusal(play)) throw new CliError(`${name} is not a scenario: ${play.because}`);
  return play as Play;
}

export function isSavedPlay(path: string): boolean {
  try {
    playOfJson(path, path);
    return true;
  } catch {
    return false;
  }
}

/** A saved scenario knows under which seed it breaks; others begin with 1. */
export const usualSeedOf = (play: Play): string => (isDrawn(play) ? undefined : play.origin?.seed) ?? '1';

async function playOfModule(name: string, path: string): Promise<Play> {
  const exported = (await importModule(name, path))['default'] as { readonly default?: unknown } | undefined;
  // A file of a package that is not an ES module arrives as CommonJS: its exports are our default.
  const play = (exported?.default ?? exported) as Partial<Play & { act: unknown; draw: unknown }> | undefined;
  if (typeof play !== 'object' || play === null || typeof play.name !== 'string') {
    throw new CliError(`${name} has no default export that is a scenario: export default scenario(...)`);
  }
  if (play.act === undefined && typeof play.draw !== 'function') {
    throw new CliError(`the default export of ${name} is no scenario: it has neither an act nor a draw`);
  }
  return typeof play.draw === 'function' ? (play as Play) : completed(play as Scenario);
}

async function importModule(name: string, path: string): Promise<Record<string, unknown>> {
  const url = pathToFileURL(path).href;
  const allowExit = forbidExit(name, 'as it is loaded');
  try {
    return await settled(
      path.endsWith('ts') && !stripsTypes() ? importTypeScript(url) : importWithTypes(url),
      `${name} cannot be loaded: it waits (await) for what never comes`,
    );
  } catch (error) {
    if (error instanceof CliError) throw error;
    const slip = error instanceof SyntaxError ? slipIn(path) : null;
    const where = whereLoaded(error) || (slip ? ` (at ${slip.place})` : '');
    const why = error instanceof Error ? whyNot(error) : `it throws ${inspect(error)}`;
    const hint = outsideHint(error);
    const told = hint === '' ? why : why.split('\n')[0]; // the rest is who asked for it
    throw new CliError(`${name} cannot be loaded: ${told}${where}${hint}`);
  } finally {
    allowExit();
  }
}

/** Where this package is not found: by the name that package.json has, or what the play meant by it. */
function outsideHint(error: unknown): string {
  const { code, message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  if (!isMissing || !/Cannot find (package|module) 'rehearsal['/]/.test(message)) return '';
  return `; a play lives in a project that has this package: npm install ${quoted(packageFolder)} there (README: In your own project)`;
}

/** Whoever ends the process meanwhile has shown nothing, with whatever code it does so. Gives the way to allow it again. */
function forbidExit(name: string, meanwhile: string): () => void {
  const ends = (): void => {
    process.stderr.write(`nodecli: ${name} ends the process (process.exit) ${meanwhile}\n`);
    process.exitCode = EXIT.usage;
  };
  process.once('exit', ends);
  return () => void process.off('exit', ends);
}

/** What runs parts of this play's own. */
export function withoutExit<T>(name: string, run: () => T): T {
  const allowExit = forbidExit(name, 'as it runs');
  try {
    return run();
  } finally {
    allowExit();
  }
}

/** When nothing more can happen Node ends the process, whoever waits. It says so before that. */
async function settled<T>(work: Promise<T>, otherwise: string): Promise<T> {
  let isOver = (): void => {};
  const over = new Promise<never>((_, reject) => {
    isOver = () => reject(new CliError(otherwise));
  });
  process.once('beforeExit', isOver);
  try {
    return await Promise.race([work, over]);
  } finally {
    process.off('beforeExit', isOver);
  }
}

/** A play in JavaScript may import what is not: that is known when Node meets it. */
async function importWithTypes(url: string): Promise<Record<string, unknown>> {
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    const { code, message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
    if (stripsTypes() || code !== 'ERR_UNKNOWN_FILE_EXTENSION' || !/\.m?ts$/.test(message)) throw error;
    return importTypeScript(url);
  }
}

/** Node 22.18 and later take the types out themselves. */
const stripsTypes = (): boolean => Boolean((process.features as { typescript?: unknown }).typescript);

type TsImport = (specifier: string, parent: string) => Promise<Record<string, unknown>>;

/** With tsx, where it is installed: beside the play, or beside us. */
async function importTypeScript(url: string): Promise<Record<string, unknown>> {
  for (const from of [join(process.cwd(), 'package.json'), join(packageFolder, 'package.json')]) {
    const api = tsxBeside(from);
    if (!api) continue;
    const tsx = (await import(pathToFileURL(api).href)) as { tsImport: TsImport };
    return tsx.tsImport(url, import.meta.url);
  }
  throw new CliError(
    `Node ${process.versions.node} does not run TypeScript by itself: use Node 22.18 or later, or npm install tsx`,
  );
}

/** `require.resolve` would find what is for `require`. */
function tsxBeside(file: string): string | null {
  try {
    const manifest = createRequire(file).resolve('tsx/package.json');
    const api = join(dirname(manifest), 'dist', 'esm', 'api', 'index.mjs');
    return existsSync(api) ? api : null;
  } catch {
    return null;
  }
}
