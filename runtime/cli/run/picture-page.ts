// Writes a picture as one HTML page that needs nothing else: template, style, scripts and data in one file.

import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Picture } from '../../../sim/picture/picture.ts';
import { CliError, cliFolder, fileOf, whyNot } from '../usage.ts';
import { isMarked, mustBeFree } from './outputs.ts';
import { PartialFile } from './partial-file.ts';

/** The modules of runtime/cli/page, each after those that it needs. */
export const SCRIPTS = [
  'model',
  'words',
  'look',
  'dom',
  'view',
  'paint-lanes',
  'paint-arrows',
  'overview',
  'legend',
  'panel',
  'header',
  'listen',
  'main',
] as const;

const page = (name: string): string => readFileSync(join(cliFolder, 'page', name), 'utf8');

/**
 * The modules as one: they name what they import and export by one name each, so that imports can go, and
 * `export` before a word.
 */
function linked(): string {
  return SCRIPTS.map((name) =>
    page(`${name}.js`)
      .replace(/^import [^;]*;\n/gm, '')
      .replace(/^export /gm, ''),
  ).join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);

/** JSON inside a script element: no `<` may stand there, or a text could end the element. */
const json = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

export function pageOf(picture: Picture): string {
  const { scenario, seed, holds } = picture.about;
  const parts: Readonly<Record<string, string>> = {
    '(title)': escaped(`${scenario}, seed ${seed}: ${holds ? 'holds' : 'violated'}`),
    '/* (style) */': page('page.css'),
    '// (script)': linked(),
    '"(picture)"': json(picture),
  };
  return page('page.html').replace(PLACES, (place) => parts[place] ?? place);
}

/** What stands in the template for what is put in, in a form that its own place takes. */
const PLACES = /\(title\)|\/\* \(style\) \*\/|\/\/ \(script\)|"\(picture\)"/g;

/** In the template, and so in every page. */
const PAGE_MARK = '<meta name="generator" content="rehearsal">';

/** @throws CliError when it would be written over something else. */
export const mustBePage = (path: string): void =>
  mustBeFree('--html', path, 'picture of a run', (there) => isMarked(there, PAGE_MARK));

/** Tried before the run, so that a path that cannot be written is told at once; an older page stays until there is a new one. */
export class PageFile {
  readonly path: string;
  private readonly partial: PartialFile;

  constructor(path: string) {
    this.path = fileOf(path, '--html');
    try {
      this.partial = new PartialFile(path);
      closeSync(openSync(this.partial.at, 'w'));
      if (this.partial.isBeside) rmSync(this.partial.at);
    } catch (error) {
      throw this.unwritten(error);
    }
  }

  private unwritten(error: unknown): CliError {
    return new CliError(`--html: the page cannot be written to ${this.path}: ${whyNot(error)}`);
  }

  /** How many bytes it is. */
  write(picture: Picture): number {
    const text = pageOf(picture);
    try {
      writeFileSync(this.partial.at, text);
      this.partial.finish();
    } catch (error) {
      throw this.unwritten(error);
    }
    return Buffer.byteLength(text);
  }
}
