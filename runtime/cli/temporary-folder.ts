// Folders that a command makes for itself, where the system says that such belong.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from './usage.ts';

/** @param other what else a person can do when there can be none: `or name a folder with --home` */
export function temporaryFolder(prefix: string, other = ''): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, prefix));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = WHY[code ?? ''] ?? message;
    const remedy = `set TMPDIR to a folder that can be written${other && `, ${other}`}`;
    throw new CliError(`no temporary folder can be made in ${parent}: ${why}; ${remedy}`);
  }
}

const WHY: Record<string, string> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is a file, or below one',
  EACCES: 'permission denied',
  EROFS: 'its disk is mounted read-only',
  ENOSPC: 'its disk is full',
};
