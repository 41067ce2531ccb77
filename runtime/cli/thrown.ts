// Whose code threw an error that nobody expected: ours, or what a play brings of its own.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cliFolder } from './usage.ts';

/** Where a bug is planted, copies of our build live in folders of this name. */
export const PATCHED_FOLDER = 'rehearsal-build-';

/** What to tell after the message: the place in the user's file, as far as the stack knows one. */
export function whereThrown(error: unknown): string {
  const frames = framesOf(error);
  const own = frames.findIndex((frame) => !isOurs(frame));
  if (own === 0) return `(thrown at ${frames[0]})`;
  if (own > 0) return `(asked for at ${frames[own]})`;
  return '(a bug of ours: --trace-errors, or NODECLI_DEBUG=1, shows where)';
}

/** Of a module that could not be loaded: what does not parse has no frames, and begins with its place. */
export function whereLoaded(error: unknown): string {
  const [, place] = /^(file:\/\/.*:[0-9]+)$/m.exec((error as Error | undefined)?.stack ?? '') ?? [];
  if (place !== undefined) return ` (at ${place.replace(/^file:\/\/[^:]*/, (url) => fileURLToPath(url))})`;
  return whereOwn(error);
}

/** As `whereThrown`, behind a message; nothing where the stack knows no place but ours. */
export const whereOwn = (error: unknown): string =>
  framesOf(error).some((frame) => !isOurs(frame)) ? ` ${whereThrown(error)}` : '';

/** A slip in a file of JavaScript, which Node tells on paper only: what it is, and its line. Null: it parses, or the slip is elsewhere. */
export function slipIn(path: string): { readonly what: string; readonly place: string } | null {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  const [place] = /^\S.*:[0-9]+$/m.exec(stderr) ?? [];
  const [, what = 'it does not parse'] = /^SyntaxError: (.*)$/m.exec(stderr) ?? [];
  return place?.includes(path) ? { what, place: place.replace(/^file:\/\//, '') } : null;
}

/** `file:line:column`, the innermost first, without those of Node itself. */
function framesOf(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const places = [...stack.matchAll(/^ +at (?:.*?\(|async )?((?:file:\/\/)?\/[^()]*?:[0-9]+:[0-9]+)\)?$/gm)];
  return places.map(([, place = '']) => place.replace(/^file:\/\/[^:]*/, (url) => fileURLToPath(url)));
}

const build = join(cliFolder, '../..');
const isOurs = (frame: string): boolean =>
  frame.startsWith(build) || frame.includes(PATCHED_FOLDER) || frame.includes('/node_modules/');
