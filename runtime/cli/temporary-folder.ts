// Folders that a command makes for itself, where the system says that such belong.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from './usage.ts';

/** @param other what else a person can do when there can be none: `or name a folder with --home` */
export function temporaryFolder(prefix: string, other = ''): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    throw unmade('temporary folder', error, other);
  }
}

/** Why there is no such thing where the system keeps what is temporary, and what to do. */
export function unmade(what: string, error: unknown, other = ''): CliError {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = WHY[code ?? ''] ?? message;
  const remedy = `set TMPDIR to a folder that can be written${other && `, ${other}`}`;
  return new CliError(`no ${what} can be made in ${tmpdir()}: ${why}; ${remedy}`);
}

const WHY: Record<string, string> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is a file, or below one',
  EACCES: 'permission denied',
  EROFS: 'its disk is mounted read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
};
