// The page of a picture needs nothing but itself, and no text in it can become markup.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { afterAll, describe, expect, test } from 'vitest';
import { pageOf, SCRIPTS } from '../../../runtime/cli/run/picture-page.ts';
import { pictureOf } from '../../../sim/picture/index.ts';
import { at, everyone, height, scenario, submit, validators } from '../../../sim/scenario/words.ts';
import { hasStack, isBuilt, nodecli, root, workFolder } from './nodecli.ts';

const EVIL = 'name=</script><script>alert(1)</script><!--';
const play = scenario(`a title with ${EVIL} and "quotes" & more`, {
  name: 'evil',
  cast: validators(4),
  act: [at('1s', submit('v0', EVIL))],
  ends: everyone.decides(height(3), { within: '60s' }),
});
const { picture } = pictureOf(play, { seed: 1 });
const page = pageOf(picture);
const inside = (open: string): string => page.split(open)[1]?.split('</script>')[0] ?? '';

describe('the page of a picture', () => {
  test('refers to nothing outside', () => {
    expect(page).not.toMatch(/https?:/i);
    expect(page).not.toMatch(/\b(src|srcset|action|poster)\s*=/i);
    expect(page).not.toMatch(/@import\s+["'u]|url\(/i);
    expect(page.match(/<link[^>]*>/g)).toEqual(['<link rel="icon" href="data:,">']);
    expect(page).not.toMatch(/\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts)\b/);
    expect(page).toContain(`default-src 'none'`);
  });

  test('holds the picture, and what is evil in it stays text', () => {
    expect(picture.texts.some((text) => text.includes(EVIL))).toBe(true);
    expect(page.match(/<\/script/g)?.length).toBe(2);
    expect(page.match(/<script/g)?.length).toBe(2);
    expect(page).not.toContain('<!--');
    const json = inside('<script id="picture" type="application/json">');
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(picture)));
  });

  test('has all modules in one script, that is one', () => {
    const script = inside('<script type="module">');
    expect(script).not.toMatch(/^(import|export) /m);
    expect(() => new Script(script)).not.toThrow();
    const files = readdirSync(join(root, 'runtime/cli/page')).filter((name) => name.endsWith('.js'));
    expect(files.sort()).toEqual(SCRIPTS.map((name) => `${name}.js`).sort());
  });

  test('a module comes after those that it needs, and calls them by their names', () => {
    for (const [i, name] of SCRIPTS.entries()) {
      const text = readFileSync(join(root, 'runtime/cli/page', `${name}.js`), 'utf8');
      const needs = [...text.matchAll(/^import \{([^}]*)\} from '\.\/(.*)\.js';/gm)];
      for (const [, words, needed] of needs) {
        expect(SCRIPTS.slice(0, i), `${name} needs ${needed}`).toContain(needed);
        expect(words).not.toMatch(/ as /);
      }
    }
  });
});

describe.skipIf(!isBuilt)('sim run --html', () => {
  const folder = workFolder();
  afterAll(folder.remove);

  test('writes the page of that run, and says where', () => {
    const path = folder.at('new/calm.html');
    const { code, out } = nodecli('sim', 'run', 'calm', '--quiet', '--html', path);
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n').at(-1)).toMatch(/^ {2}picture +.*calm\.html, [0-9.]+ kB$/);
    const { digest } = JSON.parse(nodecli('sim', 'run', 'calm', '--json').out);
    expect(out).toContain(digest);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(digest);
    expect(text).toContain('npx nodecli sim run calm --seed 1');
  });

  test('of a violated run, too: exit 1, the path last, the violation inside', () => {
    const [path, file] = [folder.at('broken.html'), folder.at('broken.json')];
    const words = {
      name: 'broken',
      title: 'v0 decides nothing, it says',
      cast: { powers: [10, 10, 10, 10] },
    };
    const holds = [{ never: { who: 'v0', does: 'decides', height: 2 } }];
    const ends = { who: 'everyone', decides: 5, withinMs: 60_000 };
    const rest = { act: [], holds, ends, liars: [], app: 'kvstore', liveness: 'checked' };
    writeFileSync(file, JSON.stringify({ ...words, ...rest }));
    const { code, out, err } = nodecli('sim', 'run', file, '--quiet', '--html', path);
    expect(err).toBe('');
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n').at(-1)).toContain(path);
    const json = readFileSync(path, 'utf8').split('application/json">')[1]?.split('</script>')[0] ?? '';
    expect(JSON.parse(json)).toMatchObject({
      about: { holds: false, seed: '1' },
      violations: [{ oracle: 'play', node: 0, height: 2 }],
    });
  });

  test('with --json only the verdict is printed', () => {
    const path = folder.at('json.html');
    const { out } = nodecli('sim', 'run', 'calm', '--json', '--html', path);
    expect(JSON.parse(out)).toMatchObject({ scenario: 'calm', holds: true });
    expect(existsSync(path)).toBe(true);
  });

  test('a path that cannot be written is told before the run', () => {
    const { code, out, err } = nodecli('sim', 'run', 'calm', '--html', folder.at('.'));
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toMatch(/--html: the page cannot be written to .*: it is a folder/);
    expect(hasStack(err)).toBe(false);
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk takes the page, and not the verdict', () => {
    const { code, out, err } = nodecli('sim', 'run', 'calm', '--html', '/dev/full');
    expect(out).toContain('HOLDS  calm');
    expect(err).toMatch(/^nodecli: --html: the page cannot be written to .dev.full/);
    expect(code).toBe(2);
  });
});
