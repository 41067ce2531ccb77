// Files of a node's home: written whole or not at all, read with errors that name the path and what to do.

import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { getSystemErrorName } from 'node:util';

/**
 * Bad input from outside (a file, a port, a right): the message names it and says what to do. Not a bug of
 * ours.
 */
export class SetupError extends Error {
  override name = 'SetupError';
}

/** A port, a folder or a file is not to be had, most often because another process or node has it. */
export class TakenError extends SetupError {}

const REMEDIES: Record<string, string> = {
  ENOENT:
    'there is no such file; check the path (`nodecli cluster --home FOLDER` makes those of a new network)',
  EACCES: 'permission denied; give this user the right to read and write it',
  EPERM: 'not permitted; give this user the right to read and write it',
  EISDIR: 'it is a folder; name a file',
  ENOTDIR: 'a part of the path is a file, not a folder',
  ENOSPC: 'the disk is full; free some space and start again',
  EDQUOT: 'the disk quota is used up; free some space and start again',
  EFBIG: 'no file may grow so large here; raise the limit (ulimit -f)',
  EROFS: 'the disk is mounted read-only',
  EIO: 'the disk failed; check it before starting again',
  EMFILE: 'too many open files; raise the limit (ulimit -n)',
  EADDRINUSE: 'the port is in use; stop the other program or listen on another port',
  EADDRNOTAVAIL: 'this machine has no such address; listen on 127.0.0.1',
};

/** The name of a system call's error; lmdb gives its number. Empty: it is none of these. */
export function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'number' && code > 0) return getSystemErrorName(-code) ?? '';
  return typeof code === 'string' ? code : '';
}

/** The error of a system call as a SetupError: `what` says what was tried, with the path or address. */
export function setupError(what: string, error: unknown): SetupError {
  const code = codeOf(error);
  const why = REMEDIES[code] ?? (error instanceof Error ? error.message : String(error));
  return new SetupError(`${what}: ${why}${code && REMEDIES[code] ? ` (${code})` : ''}`, { cause: error });
}

/** Outside any turn, where nobody takes it for a bug of an actor: the process ends. */
export function throwLater(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

/** `what` begins the error: what was tried, with the path. */
export function trying<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw error instanceof SetupError ? error : setupError(what, error);
  }
}

/** @param mode what it has from now on, whatever the umask is; without one, a new folder has what that leaves */
export const makeFolder = (path: string, mode?: number): void =>
  trying(`cannot make the folder ${path}`, () => {
    mkdirSync(path, { recursive: true });
    if (mode !== undefined) chmodSync(path, mode);
  });

/** Makes the entries of a folder (new and renamed files) durable. */
export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * After a crash the file has its old content or the new one, never a mixture; on return the new one is
 * durable.
 */
export function writeFileAtomic(path: string, content: Uint8Array | string, mode = 0o644): void {
  trying(`cannot write ${path}`, () => {
    // A link stays one, and what it points to is written: others may read that.
    const target = existsSync(path) ? realpathSync(path) : path;
    const temporary = `${target}.${process.pid}.tmp`;
    try {
      const file = openSync(temporary, 'w', mode);
      try {
        const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    syncFolder(dirname(target));
  });
}

/** `what` names the file in an error: `the genesis file`. */
export const readText = (what: string, path: string): string =>
  trying(`cannot read ${what} ${path}`, () => readFileSync(path, 'utf8'));
