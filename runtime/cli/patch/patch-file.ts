// Reads a patch from its file: our JSON, field by field, or a unified diff. What is wrong with one is said by its file and field.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, isAbsolute, join, normalize, sep } from 'node:path';
import { whyNotJson } from '../../../protocol/json/index.ts';
import { PROMISES } from '../../../sim/oracles/promises.ts';
import { CliError, nearest, packageFolder, whyNot } from '../usage.ts';
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
    const ofZoo = join('scenarios', 'zoo', `${path}.json`);
    const hint = isOfRepository
      ? '; scenarios/ is in the repository, not in the package'
      : existsSync(join(packageFolder, ofZoo))
        ? `; did you mean ${ofZoo}?`
        : '';
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

const EDIT_FIELDS = ['file', 'find', 'replace'];
const FIELDS = ['name', ...EDIT_FIELDS, 'edits', 'why', 'oracles', 'isHarmless', 'isCanary', 'engines'];

/** The fields of an object in a patch. A misspelt one is not one that is left out. */
class Fields {
  private readonly of: string;
  private readonly place: string;
  private readonly values: Readonly<Record<string, unknown>>;

  constructor(path: string, value: unknown, known: readonly string[], place = '') {
    this.of = `the patch ${path}`;
    this.place = place === '' ? '' : `${place}.`;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const what = place === '' ? 'name, file, find, replace and why' : 'file, find and replace';
      throw new CliError(`${this.of}${place && `: ${place}`} must be an object with ${what}`);
    }
    this.values = value as Record<string, unknown>;
    const odd = Object.keys(value).find((field) => !known.includes(field));
    if (odd !== undefined) this.fail(odd, `: no such field; there are ${known.join(', ')}`);
  }

  fail(field: string, what: string): never {
    throw new CliError(`${this.of}: ${this.place}${field}${what}`);
  }

  has(field: string): boolean {
    return this.values[field] !== undefined;
  }

  text(field: string): string {
    const found = this.values[field];
    return typeof found === 'string' ? found : this.fail(field, ' must be text');
  }

  list<T>(field: string): readonly T[] {
    const found = this.values[field] ?? [];
    return Array.isArray(found) ? (found as T[]) : this.fail(field, ' must be a list');
  }

  isSo(field: string): boolean {
    const found = this.values[field] ?? false;
    return typeof found === 'boolean' ? found : this.fail(field, ' must be true or false');
  }
}

/** Who may speak: oracles, each with or without its promise, and one that a play brings (`usual-settings`). */
const ORACLES = [
  ...new Set(Object.keys(PROMISES).flatMap((promise) => [promise.replace(/\/.*/, ''), promise])),
  'usual settings',
];

function mustSpeak(fields: Fields, name: unknown, i: number): string {
  if (typeof name === 'string' && ORACLES.includes(name)) return name;
  const near = typeof name === 'string' ? nearest(name, ORACLES) : undefined;
  const hint = near === undefined ? `there are ${ORACLES.join(', ')}` : `did you mean ${near}?`;
  return fields.fail(`oracles[${i}]`, `: no oracle ${JSON.stringify(name)}: ${hint}`);
}

function editOf(path: string, fields: Fields): Edit {
  const file = fields.text('file');
  mustStayInside(path, file);
  return { file, find: fields.text('find'), replace: fields.text('replace') };
}

function patchOfJson(path: string, json: string): Patch {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new CliError(`the patch ${path} is not JSON: ${whyNotJson(json)}`);
  }
  const fields = new Fields(path, value, FIELDS);
  const hasEdits = fields.has('edits');
  if (hasEdits && EDIT_FIELDS.some((field) => fields.has(field)))
    throw new CliError(`the patch ${path}: it has edits, so its file, find and replace go in there`);
  const several = fields.list<unknown>('edits');
  const edits = hasEdits
    ? several.map((each, i) => editOf(path, new Fields(path, each, EDIT_FIELDS, `edits[${i}]`)))
    : [editOf(path, fields)];
  if (edits.length === 0) throw new CliError(`the patch ${path}: edits must not be empty`);
  return {
    id: basename(path, '.json'),
    name: fields.text('name'),
    edits,
    why: fields.text('why'),
    oracles: fields.list<unknown>('oracles').map((name, i) => mustSpeak(fields, name, i)),
    isHarmless: fields.isSo('isHarmless'),
    isCanary: fields.isSo('isCanary'),
    engines: fields.list<number>('engines'),
  };
}
