import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as protocol from '../protocol/index.ts';
import { playNamed } from '../runtime/cli/run/play-file.ts';
import { Story, verdictLines } from '../runtime/cli/screen.ts';
import { calm } from '../scenarios/calm.ts';
import { plays } from '../scenarios/index.ts';
import * as sim from '../sim/index.ts';
import { LIAR_NAMES } from '../sim/liars/index.ts';
import { PROMISES } from '../sim/oracles/promises.ts';
import { runScenario } from '../sim/run.ts';
import type { World } from '../sim/world.ts';

const root = join(import.meta.dirname, '..');
/** How long it took here is nobody's promise. */
const plain = (line: string): string => line.trim().replace(/seconds in [0-9.]+ s/, 'seconds');
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

it('README and its picture show the run that this version makes (npm run docs)', () => {
  const lines: string[] = [];
  const story = new Story((line) => lines.push(line), false);
  let world: World | undefined;
  const verdict = runScenario(playNamed('tour'), {
    seed: '1',
    onWorld: (made) => {
      world = made;
    },
    watch: {
      line: (line) => story.line(line),
      event: (at, event) => story.event(at, event, world?.agenda.now ?? 0),
    },
  });
  const again = 'npx nodecli sim run tour --seed 1';
  const said = [...lines, ...verdictLines({ ...verdict, again }, 0, '')].map(plain);
  const readme = text('README.md');
  const from = readme.indexOf(`    $ ${again}\n`);
  const shown = readme.slice(from, readme.indexOf('\n\n', from)).split('\n').slice(1);
  expect(shown.length).toBeGreaterThan(10);
  for (const line of shown.map(plain)) {
    if (line !== '...') expect(said.filter((each) => each === line)).toEqual([line]);
  }
  expect(text('docs/tour.svg')).toContain(`<desc>digest ${verdict.digest}</desc>`);
});

it('docs/scenarios.md has every liar in its table', () => {
  const [, table] = /\| Liar \|[^\n]*\n([\s\S]*?)\n\n/.exec(text('docs/scenarios.md')) ?? [];
  const names = [...(table ?? '').matchAll(/`([a-z-]+)`(?=[^|]*\|[^|]*\|$)/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual([...LIAR_NAMES].sort());
});

it('docs/scenarios.md says of each oracle once what it watches, by the name that a verdict and a patch have', () => {
  const [, table] =
    /## What always watches[\s\S]*?\n\|[- |]+\|\n([\s\S]*?)\n\n/.exec(text('docs/scenarios.md')) ?? [];
  const names = [...(table ?? '').matchAll(/^\| ([a-z ,/-]+) \|/gm)].flatMap(([, names]) =>
    (names ?? '').split(', '),
  );
  expect(names.sort()).toEqual(Object.keys(PROMISES).sort());
});

it('docs/scenarios.md has every option of a run, what may be watched, and every field of a verdict', () => {
  const rows = [...text('docs/scenarios.md').matchAll(/^\| (`[^|]*)\|([^|]*)\|$/gm)].map((row) =>
    row.slice(1),
  );
  const firsts = rows.flatMap(([names]) => [...(names ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const optionsOf = (options: object): string[] => {
    try {
      runScenario(calm, { seed: 1, ...options });
    } catch (error) {
      return (/there are (.*)$/.exec((error as Error).message)?.[1] ?? '').split(', ');
    }
    return [];
  };
  const options = optionsOf({ nonsense: 1 }).filter((name) => name !== 'seed');
  expect(options.length).toBeGreaterThan(10);
  expect(firsts).toEqual(expect.arrayContaining(options));
  expect(firsts).toEqual(expect.arrayContaining(Object.keys(runScenario(calm, { seed: 1 }))));
  const watched = rows.find(([names]) => names?.trim() === '`watch`')?.[1] ?? '';
  for (const name of optionsOf({ watch: { nonsense: 1 } })) expect(watched).toContain(`\`${name}\``);
});

it('docs/scenarios.md has every play of `sim list` in its table, once', () => {
  const [, table] = /\| Play \|[^\n]*\n([\s\S]*?)\n\n/.exec(text('docs/scenarios.md')) ?? [];
  const firsts = (table ?? '').split('\n').map((row) => row.split('|')[1] ?? '');
  const names = firsts.flatMap((first) => [...first.matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name));
  expect(names.sort()).toEqual(plays.map(({ name }) => name).sort());
});

it('docs/library.md shows the examples as they stand, and they are short enough to read', () => {
  const shown = [...text('docs/library.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
  const files = ['counter.ts', 'workload.ts', 'liar.ts', 'oracle.ts', 'counter.test.ts', 'shrink.test.ts'];
  for (const code of shown) expect(code?.split('\n').length).toBeLessThanOrEqual(40);
  expect(shown).toEqual(files.map((file) => text(`examples/${file}`)));
});

it('docs/library.md names what rehearsal/protocol has', () => {
  const [, table] =
    /## The words of the chain[\s\S]*?\n\|[- |]+\|\n([\s\S]*?)\n\n/.exec(text('docs/library.md')) ?? [];
  const names = [...(table ?? '').matchAll(/`(\w+)(?:\(\w+\))?`/g)].map(([, name]) => name as string);
  const isType = (name: string): boolean => /^[A-Z][a-z]/.test(name);
  expect(names.length).toBeGreaterThan(20);
  expect(Object.keys(protocol)).toEqual(expect.arrayContaining(names.filter((name) => !isType(name))));
  const types = text('protocol/types.ts');
  for (const name of names.filter(isType))
    expect(types).toMatch(new RegExp(`^export (interface|type) ${name}\\b`, 'm'));
});

/** The code between import and default export, with the words of `rehearsal/sim` at hand. */
function playOf(code: string): sim.Play {
  const [, words = ''] = /^import \{([^}]*)\} from 'rehearsal\/sim';$/m.exec(code) ?? [];
  const names = words.split(',').map((each) => each.trim());
  const exported: Record<string, unknown> = { ...sim };
  const body = code.slice(code.indexOf('export default ')).replace('export default', 'return');
  return new Function(...names, body)(...names.map((name) => exported[name]));
}

it.each(['README.md', 'docs/scenarios.md'])('the play in %s holds', (file) => {
  const plays = [...text(file).matchAll(/```[jt]s\n([\s\S]*?)```/g)]
    .map(([, code]) => code as string)
    .filter((code) => code.includes('export default scenario('));
  expect(plays.length).toBe(1);
  for (const seed of [1, 2, 3])
    expect(runScenario(playOf(plays[0] as string), { seed }).violations).toEqual([]);
});
