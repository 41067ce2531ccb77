// Where the golden cases are: GOLDEN_DIR, else the vectors beside the repository, else the selection
// committed here. Tests skip, and say so, without them.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';

const { GOLDEN_DIR } = process.env;
if (GOLDEN_DIR !== undefined && !existsSync(GOLDEN_DIR))
  throw new Error(`GOLDEN_DIR: there is no folder ${GOLDEN_DIR}`);
const ROOTS = [
  GOLDEN_DIR ?? fileURLToPath(new URL('../../../shared/vectors', import.meta.url)),
  fileURLToPath(new URL('./data', import.meta.url)),
];

/** Of a folder or file of cases; undefined: it is nowhere. */
export const findGolden = (path: string): string | undefined =>
  ROOTS.map((root) => join(root, path)).find((full) => existsSync(full));

/** A line of its own, as what is skipped is easily taken for passed. */
export function skipped(title: string, path: string): void {
  console.log(`skipped: ${title}: ${path} is not here`);
  it.skip(`${title} (${path} is not here)`);
}

/** A test on the parsed content of one file. */
export type GoldenTest = <Case>(file: string, title: string, run: (content: Case) => void) => void;
/** A test on all .json files directly in a folder, by name. */
export type GoldenFiles = (
  folder: string,
  title: string,
  run: (contents: readonly (readonly [name: string, content: unknown])[]) => void,
) => void;

/** The folder's files, each looked for in all places: a file that is nowhere skips its tests. */
export function goldenFolder(name: string): {
  file: GoldenTest;
  files: GoldenFiles;
  read: (file: string) => unknown;
} {
  const find = (path: string): string | undefined => findGolden(join(name, path));
  const read = (full: string): unknown => JSON.parse(readFileSync(full, 'utf8'));
  return {
    read: (file) => read(find(file) ?? unreachable(`${name}/${file} is not here`)),
    file: (file, title, run) => {
      const full = find(file);
      if (full) it(title, () => run(read(full) as Parameters<typeof run>[0]));
      else skipped(title, `${name}/${file}`);
    },
    files: (folder, title, run) => {
      const full = find(folder);
      if (!full) return skipped(title, `${name}/${folder}`);
      const names = readdirSync(full).filter((name) => name.endsWith('.json'));
      it(title, () => run(names.map((name) => [name, read(join(full, name))] as const)));
    },
  };
}

/** What a refusal becomes in a test: a failure that says why. */
export const okay = <Value>(value: Value): Exclude<Value, { readonly refused: string }> =>
  isRefusal(value) ? unreachable(value.because) : (value as Exclude<Value, { readonly refused: string }>);

/** 64-bit numbers stand in cases as numbers or as strings. */
export const big = (value: number | string | undefined): bigint => BigInt(value ?? 0);
