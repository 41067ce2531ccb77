// Puts the run that this version makes into README and its picture: what `sim run tour --seed 1` says, in part. `npm run docs`.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const LINE = 'npx nodecli sim run tour --seed 1';
/** Story lines that are shown; where others stand between them, an ellipsis. */
const SHOWN = [
  /links .* change|links .* now /,
  /is killed/,
  /dies at/,
  /starts again/,
  /network/,
  /begins round/,
  /in round/,
];
const STORY_MAX = 12;

const out = execFileSync(
  process.execPath,
  ['dist/runtime/cli/nodecli.js', 'sim', 'run', 'tour', '--seed', '1'],
  { encoding: 'utf8' },
);
const lines = out.trimEnd().split('\n');
const end = lines.findIndex((line) => /^HOLDS|^VIOLATED/.test(line));
const kept = [];
let gap = false;
for (const line of lines.slice(0, end)) {
  if (
    line === '' ||
    !SHOWN.some((each) => each.test(line)) ||
    kept.filter((each) => each !== '...').length >= STORY_MAX
  ) {
    gap = true;
    continue;
  }
  if (gap) kept.push('...');
  gap = false;
  kept.push(line);
}
kept.push('...', ...lines.slice(end));
const readme = readFileSync('README.md', 'utf8');
const from = readme.indexOf(`    $ ${LINE}\n`);
const to = readme.indexOf('\n\n', from);
const block = [`    $ ${LINE}`, ...kept.map((line) => `    ${line}`)].join('\n');
writeFileSync('README.md', readme.slice(0, from) + block + readme.slice(to));
execFileSync(process.execPath, ['tools/picture.mjs', 'tour', '1', 'docs/tour.svg'], { stdio: 'inherit' });
