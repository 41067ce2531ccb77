// A file that takes its name when it is whole: until then what is written lies beside it, and an older one of that name stays.

import { closeSync, mkdirSync, openSync, realpathSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Where a file lies as long as it is not whole. */
export const partialOf = (path: string): string => `${path}.partial`;

export class PartialFile {
  /** Where it is written: what is no plain file, as a pipe or /dev/null, itself. */
  readonly at: string;
  private readonly path: string;

  /**
   * Makes the folders to it. An older file of that name keeps what it holds.
   * @throws what the file system says, where such a file cannot be written.
   */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    const there = statSync(path, { throwIfNoEntry: false });
    const isPlain = !there || there.isFile();
    if (there?.isFile() || there?.isDirectory()) closeSync(openSync(path, 'a'));
    this.path = there?.isFile() ? realpathSync(path) : path; // a link stays one
    this.at = isPlain ? partialOf(this.path) : path;
  }

  get isBeside(): boolean {
    return this.at !== this.path;
  }

  /** It is whole: from now on it is the file of that name. */
  finish(): void {
    if (this.isBeside) renameSync(this.at, this.path);
  }
}
