// Draws a run as lanes, one per node: heights and rounds over time, deaths, pauses, what was cut. `node tools/picture.mjs PLAY SEED OUT.svg`.
import { writeFileSync } from 'node:fs';

process.env.NODE_ENV ??= 'production';
const { runScenario } = await import('../dist/sim/run.js');
const { plays } = await import('../dist/scenarios/index.js');

const [name = 'tour', seed = '1', out = 'docs/tour.svg'] = process.argv.slice(2);
const play = plays.find((each) => each.name === name);
if (!play) throw new Error(`no play ${name}`);

const commits = [];
const rounds = [];
const faults = [];
const lives = new Map();
let world;
const verdict = runScenario(play, {
  seed,
  onWorld: (made) => {
    world = made;
  },
  watch: {
    line: ({ atNs, node, what }) => {
      if (node === '') faults.push({ atNs, what });
      if (/dies at /.test(what)) lives.set(node, [...(lives.get(node) ?? []), { from: atNs, to: null }]);
      if (/starts again /.test(what)) {
        const down = lives.get(node)?.at(-1);
        if (down) down.to = atNs;
      }
    },
    event: (machine, event) => {
      const atNs = world.agenda.now;
      if (event.type === 'committed')
        commits.push({ atNs, node: machine.name, height: event.height, hash: event.hash });
      if (event.type === 'step' && event.step === 2)
        rounds.push({ atNs, node: machine.name, round: event.round });
    },
  },
});

const names = verdict.nodes.map((node) => node.name);
const WIDTH = 980;
const LEFT = 40;
const LANE = 46;
const TOP = 34;
const bottom = TOP + names.length * LANE;
const end = verdict.virtualNs;
const x = (ns) => LEFT + (ns / end) * (WIDTH - LEFT - 12);
const y = (node) => TOP + names.indexOf(node) * LANE + LANE / 2;
const colour = (hash) => `hsl(${(hash[0] * 256 + hash[1]) % 360} 55% 52%)`;
const parts = [];
const text = (at, line, words, size = 11, fill = '#444', anchor = 'start') =>
  parts.push(
    `<text x="${at.toFixed(1)}" y="${line.toFixed(1)}" font-size="${size}" fill="${fill}" text-anchor="${anchor}">${words}</text>`,
  );

let split = null;
for (const { atNs, what } of faults) {
  if (/splits|does not reach/.test(what) && split === null) split = atNs;
  if (/heals/.test(what) && split !== null) {
    parts.push(
      `<rect x="${x(split).toFixed(1)}" y="${TOP - 6}" width="${(x(atNs) - x(split)).toFixed(1)}" height="${bottom - TOP + 6}" fill="#f5d90a" opacity="0.18"/>`,
    );
    text(x(split) + 3, TOP - 10, 'wires cut', 10, '#8a7400');
    split = null;
  }
}
for (const node of names) {
  text(8, y(node) + 4, node, 13, '#111');
  parts.push(`<line x1="${LEFT}" y1="${y(node)}" x2="${WIDTH - 12}" y2="${y(node)}" stroke="#bbb"/>`);
  for (const { from, to } of lives.get(node) ?? []) {
    parts.push(
      `<rect x="${x(from).toFixed(1)}" y="${y(node) - 13}" width="${(x(to ?? end) - x(from)).toFixed(1)}" height="26" rx="3" fill="#d33" opacity="0.25"/>`,
    );
    text(x(from) + 3, y(node) - 15, 'down', 10, '#a11');
  }
}
for (const { atNs, node, round } of rounds) {
  if (round > 0) text(x(atNs), y(node) + 20, `r${round}`, 9, '#a60', 'middle');
}
for (const { atNs, node, height, hash } of commits) {
  parts.push(`<circle cx="${x(atNs).toFixed(1)}" cy="${y(node)}" r="5.5" fill="${colour(hash)}"/>`);
  if (node === names[0]) text(x(atNs), y(node) - 12, String(height), 9, '#444', 'middle');
}
const seconds = end / 1e9;
const step = seconds > 200 ? 60 : seconds > 60 ? 20 : 5;
for (let s = 0; s <= seconds; s += step) text(x(s * 1e9), bottom + 14, `${s} s`, 10, '#666', 'middle');
text(
  LEFT,
  bottom + 34,
  `${verdict.holds ? 'HOLDS' : 'VIOLATED'}: ${name}, seed ${seed}. A dot is a committed block, one colour per block; the number is its height.`,
  12,
  '#222',
);

writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 46}" font-family="ui-sans-serif, sans-serif">\n<desc>digest ${verdict.digest}</desc>\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>\n`,
);
console.log(`${out}: ${commits.length} commits, ${verdict.digest}`);
