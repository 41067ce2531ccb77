// The guards of the floors can fail: each planted line is refused on the floor that must not have it, and a clean one passes.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What biome says of texts that stand at these paths, in a folder with our configuration. */
function lint(files: readonly { readonly path: string; readonly text: string }[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'guards-'));
  cpSync(join(root, 'biome.json'), join(folder, 'biome.json'));
  cpSync(join(root, 'tools', 'lint'), join(folder, 'tools', 'lint'), { recursive: true });
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const args = [biome, 'lint', '--max-diagnostics=none', '--colors=off', '.'];
  const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return run.stdout + run.stderr;
}

const rows: { readonly path: string; readonly text: string; readonly says: RegExp }[] = [
  {
    path: 'protocol/x.ts',
    text: `import { y } from '../machines/y.ts';\ny();\n`,
    says: /noRestrictedImports/,
  },
  { path: 'machines/x.ts', text: `import { y } from '../actors/y.ts';\ny();\n`, says: /noRestrictedImports/ },
  {
    path: 'actors/x.ts',
    text: `import { y } from '../runtime/kernel/y.ts';\ny();\n`,
    says: /noRestrictedImports/,
  },
  {
    path: 'runtime/kernel/x.ts',
    text: `import { y } from '../../sim/y.ts';\ny();\n`,
    says: /noRestrictedImports/,
  },
  {
    path: 'sim/x.ts',
    text: `import { y } from '../runtime/host/y.ts';\ny();\n`,
    says: /noRestrictedImports/,
  },
  {
    path: 'runtime/host/x.ts',
    text: `import { y } from '../../sim/y.ts';\ny();\n`,
    says: /noRestrictedImports/,
  },
  {
    path: 'sim/oracles/x.ts',
    text: `import { powerNeeded } from '../../protocol/rules/quorum.ts';\npowerNeeded(1n);\n`,
    says: /share no predicate/,
  },
  {
    path: 'sim/oracles/x.ts',
    text: `import { equalBlockId } from '../../protocol/block-id.ts';\nequalBlockId(a, b);\n`,
    says: /share no predicate/,
  },
  {
    path: 'sim/oracles/x.ts',
    text: `import { CHANNEL_VOTE } from '../../protocol/messages.ts';\nexport const y = CHANNEL_VOTE;\n`,
    says: /numbers of their own/,
  },
  { path: 'actors/x.ts', text: `import { y } from 'node:fs';\ny();\n`, says: /noRestrictedImports/ },
  { path: 'machines/x.ts', text: 'export const now = Date.now();\n', says: /noRestrictedGlobals/ },
  {
    path: 'machines/x.ts',
    text: 'export const later = setTimeout(() => 0, 1);\n',
    says: /noRestrictedGlobals/,
  },
  { path: 'sim/x.ts', text: 'export const dice = Math.random();\n', says: /Math.random is not recorded/ },
  { path: 'sim/x.ts', text: 'export const p = (x: number): number => 2 ** x;\n', says: /last bits/ },
  { path: 'sim/x.ts', text: 'export const p = async (x: unknown) => await x;\n', says: /nothing is awaited/ },
  ...['light/skipping.ts', 'validate.ts', 'rules/quorum.ts'].map((file) => ({
    path: 'sim/liveness/x.ts',
    text: `import { y } from '../../protocol/${file}';\ny();\n`,
    says: /share no predicate/,
  })),
  {
    path: 'protocol/x.ts',
    text: 'export const p = (x: number): number => Math.pow(2, x);\n',
    says: /last bits/,
  },
  {
    path: 'actors/x.ts',
    text: 'export const order = (a: string, b: string): number => a.localeCompare(b);\n',
    says: /locale/,
  },
];

/** What no pure floor may name: each stands in a line of its own on a floor of its own. */
const GLOBALS = [
  'Date',
  'Promise',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'process',
  'Buffer',
  'console',
  'performance',
  'crypto',
  'Intl',
  'globalThis',
  'WeakRef',
  'FinalizationRegistry',
];
const FLOORS = ['protocol', 'machines', 'actors', 'runtime/kernel', 'sim', 'sim/oracles'];
rows.push(
  ...GLOBALS.flatMap((name) =>
    FLOORS.map((floor) => ({
      path: `${floor}/x.ts`,
      text: `export const found: unknown = ${name};\n`,
      says: /noRestrictedGlobals/,
    })),
  ),
  ...FLOORS.map((floor) => ({
    path: `${floor}/x.ts`,
    text: 'export async function later() {\n  return 1;\n}\n',
    says: /useAwait/,
  })),
);

const planted = rows.map(({ path, text }, i) => ({ path: path.replace('x.ts', `x${i}.ts`), text }));
const clean = { path: 'actors/clean.ts', text: `import { y } from '../machines/y.ts';\n\ny(2 * 3);\n` };

describe('the guards of the floors', () => {
  const said = lint([...planted, clean]);

  rows.forEach(({ path, text, says }, i) => {
    it(`${path} refuses: ${text.trim().split('\n')[0]}`, () => {
      const file = planted[i]?.path ?? '';
      const findings = said.split(/\n(?=\S+:\d+:\d+ )/).filter((finding) => finding.startsWith(`${file}:`));
      expect(findings.join('\n')).toMatch(says);
    });
  });

  it('a downward import and plain arithmetic pass', () => {
    expect(said).not.toContain('clean.ts');
  });
});
