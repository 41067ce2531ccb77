// A picture tells every envelope, every commit and every lock of its run, in order, and the run does not
// know of it.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plays } from '../../scenarios/index.ts';
import type { NetCounters } from '../../sim/links.ts';
import { pictureOf } from '../../sim/picture/index.ts';
import type { EndName, MarkName, Picture } from '../../sim/picture/picture.ts';
import { runScenario } from '../../sim/run.ts';
import type { RunOptions } from '../../sim/run-options.ts';
import type { Play } from '../../sim/scenario/play.ts';
import {
  at,
  clock,
  clog,
  core,
  crash,
  cut,
  disk,
  drop,
  everyone,
  heal,
  height,
  isolate,
  liar,
  links,
  partition,
  pause,
  scenario,
  these,
  validators,
} from '../../sim/scenario/words.ts';
import type { Verdict } from '../../sim/verdict.ts';

interface Drawn {
  readonly verdict: Verdict;
  readonly picture: Picture;
  readonly counters: NetCounters;
}

function draw(play: Play, seed: number, most?: number): Drawn {
  let counters: NetCounters | undefined;
  const onWorld: RunOptions['onWorld'] = ({ network }) => {
    counters = network.counters;
  };
  const drawn = pictureOf(play, { seed, crypto: 'sim', onWorld }, most === undefined ? {} : { most });
  return { ...drawn, counters: counters as NetCounters };
}

const playNamed = (name: string): Play => plays.find((each) => each.name === name) as Play;

const times = (steps: readonly number[]): number[] => {
  let sum = 0;
  return steps.map((step) => {
    sum += step;
    return sum;
  });
};

const ended = ({ arrows, names }: Picture, ...ends: EndName[]): number =>
  arrows.end.filter((end) => ends.includes(names.ends[end] as EndName)).length;

const marked = ({ marks, names, nodes }: Picture, what: MarkName, node: string) =>
  marks.what.flatMap((each, i) =>
    names.marks[each] === what && nodes[marks.node[i] as number]?.name === node ? [i] : [],
  );

test('a picture of a liar says who ends its connection to it, and why', () => {
  const { picture } = draw(playNamed('extended-votes'), 1);
  const [mark] = marked(picture, 'drops', 'v0');
  expect(picture.texts[picture.marks.more[mark as number] as number]).toBe(
    'v3: vote carries an extension, and extensions are not enabled',
  );
});

test('a lie is no work of a message rule, however much it looks like the truth', () => {
  const drawn = (more: object): Picture => {
    const ends = everyone.decides(height(3), { within: '60s' });
    return draw(scenario('x', { cast: validators(4), ends, ...more }), 1).picture;
  };
  const count = ({ arrows, names }: Picture, bit: 'lied' | 'trimmed'): number =>
    arrows.done.filter((done) => done & names.done[bit]).length;
  const lied = drawn({ liars: [liar('v3', 'time-liar', ['v0'])] });
  expect([count(lied, 'lied') > 0, count(lied, 'trimmed')]).toEqual([true, 0]);
  const ruled = drawn({ act: [at('0s', drop('prevotes', { by: ['v3'], to: ['v0'] }))] });
  expect([count(ruled, 'lied'), count(ruled, 'trimmed') > 0]).toEqual([0, true]);
});

describe('what a clog held that was healed', () => {
  test('arrives when it did', () => {
    const act = [at('1s', clog(['v1'], ['v0'], '60s')), at('5s', heal())];
    const play = scenario('x', {
      cast: validators(2),
      act,
      ends: everyone.decides(height(6), { within: '30s' }),
    });
    const { verdict, picture } = draw(play, 1);
    expect(verdict.violations).toEqual([]);
    const { arrows, names } = picture;
    const sent = times(arrows.afterNs);
    const held = arrows.done.flatMap((done, i) => (done & names.done.clogged ? [i] : []));
    expect(held.length).toBeGreaterThan(3);
    for (const i of held) {
      expect(names.ends[arrows.end[i] as number]).toBe('heard');
      expect(Math.floor(((sent[i] as number) + (arrows.tookNs[i] as number)) / 1e6)).toBe(5_000);
    }
  });
});

describe.each([
  ['tour', 1],
  ['swarm', 3],
  ['swarm', 4],
  ['lock-holds', 1],
  ['equivocating-proposer', 2],
  ['lagging-node-catches-up', 1],
] as const)('a picture of %s, seed %i', (name, seed) => {
  const play = playNamed(name);
  const drawn = draw(play, seed);
  const { verdict, picture, counters } = drawn;
  const { arrows, names } = picture;
  const withBit = (bit: number): number => arrows.done.filter((done) => done & bit).length;

  test('the run is the same without it', () => {
    const alone = runScenario(play, { seed, crypto: 'sim' });
    expect(verdict.digest).toBe(alone.digest);
    expect(verdict.shape).toBe(alone.shape);
    expect(picture.about.digest).toBe(alone.digest);
  });

  test('an arrow for every envelope that was sent, with what became of it', () => {
    const { done } = names;
    expect(arrows.from.length - withBit(done.copied)).toBe(counters.sent);
    expect(withBit(done.copied)).toBe(counters.duplicated);
    expect(ended(picture, 'heard')).toBe(counters.delivered);
    expect(ended(picture, 'lost')).toBe(counters.dropped);
    expect(ended(picture, 'cut at once', 'cut on the way')).toBe(counters.cut);
    expect(ended(picture, 'nobody there')).toBe(counters.stray);
    expect(ended(picture, 'ruled out')).toBe(counters.ruledDropped);
    expect(arrows.done.filter((bits) => bits & done.reordered && !(bits & done.copied)).length).toBe(
      counters.reordered,
    );
    const corrupted = arrows.done.filter((bits) => bits & done.corrupted && !(bits & done.copied)).length;
    expect(corrupted).toBe(counters.corrupted + counters.truncated);
  });

  test('arrivals come after sendings, in the time of the run', () => {
    const sent = times(arrows.afterNs);
    expect(arrows.afterNs.every((step) => step >= 0)).toBe(true);
    for (const [i, took] of arrows.tookNs.entries()) {
      const end = names.ends[arrows.end[i] as number];
      const isGone = end === 'lost' || end === 'cut at once' || end === 'ruled out' || end === 'kept back';
      if (isGone) expect(took).toBe(0);
      else expect(took).toBeGreaterThan(0);
      if (end === 'heard') expect((sent[i] as number) + took).toBeLessThanOrEqual(verdict.virtualNs);
      expect(arrows.from[i]).not.toBe(arrows.to[i]);
    }
  });

  test('a commit of every height on every lane, each lock of a block, each vote that was sent', () => {
    for (const node of verdict.nodes) {
      const heights = marked(picture, 'decides', node.name).map((i) => picture.marks.height[i]);
      // Who died before it knew of its commit, commits again.
      expect([...new Set(heights)]).toEqual(Array.from({ length: Number(node.height) }, (_, i) => i + 1));
      for (const i of marked(picture, 'locks', node.name)) {
        const block = picture.blocks[picture.marks.block[i] as number];
        expect(block?.hash).toMatch(/^[0-9a-f]{64}$/);
        expect(block?.height).toBe(picture.marks.height[i]);
      }
    }
    const locks = picture.marks.what.filter((what) => names.marks[what] === 'locks').length;
    expect(locks).toBeGreaterThan(verdict.nodes.length);
    const signers = new Set(
      picture.messages.kind.flatMap((kind, i) =>
        names.kinds[kind] === 'precommit' ? [picture.messages.signer[i] as number] : [],
      ),
    );
    for (const [i, { role }] of picture.nodes.entries())
      if (role === 'validator') expect(signers).toContain(i);
  });

  test('it is plain: JSON gives it back', () => {
    expect(JSON.parse(JSON.stringify(picture))).toEqual(picture);
  });
});

describe('what the play did', () => {
  const play = scenario('one of each', {
    name: 'one-of-each',
    cast: validators(4),
    act: [
      at('1s', isolate('v3')),
      at('2s', heal()),
      at('3s', cut(['v0'], ['v1'])),
      at('4s', pause('v2', '2s')),
      at('5s', heal()),
      at('7s', crash('v1', { restart: '1s' })),
    ],
    ends: everyone.decides(height(12), { within: '90s' }),
  });
  const { picture } = draw(play, 1);
  const spans = picture.troubles.map(({ does, fromNs, toNs, nodes }) => [
    does,
    fromNs / 1e9,
    toNs / 1e9,
    nodes.map((node) => picture.nodes[node]?.name).join(' '),
  ]);

  test('stands as spans of time, each to what ended it', () => {
    expect(spans).toEqual([
      ['isolate', 1, 2, 'v3'],
      ['heal', 2, 2, ''],
      ['cut', 3, 5, 'v0 v1'],
      ['pause', 4, 6, 'v2'],
      ['heal', 5, 5, ''],
      ['crash', 7, 7, 'v1'],
    ]);
    expect(picture.troubles[0]?.text).toBe('v3 is cut off from all others');
  });

  test('with the lines that it cut, one way or both', () => {
    const cuts = picture.cuts.map(({ atNs, lines }) => [atNs / 1e9, lines.map((line) => line.join()).sort()]);
    expect(cuts).toEqual([
      [1, ['0,3', '1,3', '2,3', '3,0', '3,1', '3,2']],
      [2, []],
      [3, ['0,1']],
      [5, []],
    ]);
  });

  test('and each death and start on its lane', () => {
    const deaths = marked(picture, 'crashes', 'v1').map((i) => times(picture.marks.afterNs)[i]);
    expect(deaths).toEqual([7e9]);
    expect(marked(picture, 'starts', 'v1').map((i) => picture.marks.more[i])).toEqual([1, 2]);
    expect(marked(picture, 'starts', 'v0').length).toBe(1);
  });
});

test('what a core leaves as it was goes on, and what was in its way ends', () => {
  const play = scenario('then a core', {
    name: 'then-a-core',
    cast: validators(4),
    act: [
      at(
        '1s',
        partition(['v0', 'v1', 'v2']),
        links({ lossPpm: 10_000 }),
        clock('v0', { driftPpm: 100 }),
        cut(['v0'], ['v1']),
        disk('v1', 'slow'),
        disk('v3', 'slow'),
      ),
      at('3s', core('v0', 'v1', 'v2')),
    ],
    ends: everyone.decides(height(3), { within: '90s' }),
  });
  const { picture, verdict } = draw(
    { ...play, ends: these('v0', 'v1', 'v2').decides(height(5), { within: '90s' }) },
    1,
  );
  expect(verdict.holds).toBe(true);
  const ends = picture.troubles.map(({ does, text, toNs }) => [
    does,
    text,
    toNs === 3e9 ? 'at the core' : 'later',
  ]);
  expect(ends.map(([does, , when]) => `${does} ${when}`)).toEqual([
    'partition later',
    'links later',
    'clock later',
    'cut at the core',
    'disk at the core',
    'disk later',
    'core at the core',
  ]);
});

test('a clock that is set goes on being fast, and one that is made to stand still, too', () => {
  const play = scenario('clocks', {
    name: 'clocks',
    cast: validators(4),
    act: [
      at('1s', clock('v0', { driftPpm: 200 })),
      at('2s', clock('v0', { step: '200ms' })),
      at('3s', clock('v1', { step: '10ms', frozen: true, driftPpm: -300 })),
      at('4s', clock('v1', { frozen: false })),
      at('5s', clock('v0', { driftPpm: 0 })),
    ],
    ends: everyone.decides(height(6), { within: '90s' }),
  });
  const { picture } = draw(play, 1);
  const spans = picture.troubles.map(({ text, fromNs, toNs }) => {
    const end = toNs > 5e9 ? 'the end' : `${toNs / 1e9}`;
    return `${text}, ${fromNs / 1e9} to ${end}`;
  });
  expect(spans).toEqual([
    'the clock of v0 goes 200 ppm too fast, 1 to 5',
    'the clock of v0 jumps by 200 ms, 2 to 2',
    'the clock of v1 jumps by 10 ms, 3 to 3',
    'the clock of v1 goes 300 ppm too slow, 3 to the end',
    'the clock of v1 stands still, 3 to 4',
    'the clock of v1 goes again, 4 to 4',
    'the clock of v0 goes at its own pace again, 5 to 5',
  ]);
});

test('what a liar keeps to itself is no rule of the play', () => {
  const { verdict, picture, counters } = draw(
    scenario('silence', {
      name: 'silence',
      cast: validators(4),
      liars: [liar('v3', 'withholder', ['v0'])],
      ends: everyone.decides(height(3), { within: '90s' }),
    }),
    1,
  );
  expect(counters.keptBack).toBeGreaterThan(0);
  expect(ended(picture, 'kept back')).toBe(counters.keptBack);
  expect(ended(picture, 'ruled out')).toBe(0);
  expect(verdict.faults['envelopes kept back by liars']).toBe(counters.keptBack);
  expect(verdict.faults['envelopes dropped by rule']).toBeUndefined();
});

describe('a run that is longer than its picture', () => {
  const whole = draw(playNamed('tour'), 1).picture;
  const { picture } = draw(playNamed('tour'), 1, 200);

  test('keeps the newest, and says how many are gone', () => {
    const gone = new Map(picture.omitted.map(({ what, count }) => [what, count]));
    expect(picture.marks.what.length).toBe(200);
    expect(gone.get('events')).toBe(whole.marks.what.length - 200);
    expect(picture.arrows.from.length).toBe(400);
    expect((gone.get('messages') ?? 0) + (gone.get('chatter') ?? 0)).toBe(whole.arrows.from.length - 400);
    expect(times(picture.marks.afterNs).at(-1)).toBe(times(whole.marks.afterNs).at(-1));
    expect(times(picture.arrows.afterNs).at(-1)).toBe(times(whole.arrows.afterNs).at(-1));
    expect(whole.omitted).toEqual([]);
  });

  test('and knows where every node stood before', async () => {
    const model = join(import.meta.dirname, '../../runtime/cli/page/model.js');
    const { modelOf, stateAt } = await import(model);
    const gone = picture.omitted.find(({ what }) => what === 'events')?.count ?? 0;
    const first = (column: readonly number[]): number[] => column.slice(0, gone);
    const { node, afterNs, what, height, round, block, more } = whole.marks;
    const columns = { node, afterNs, what, height, round, block, more };
    const marks = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, first(column)]));
    const full = modelOf({ ...whole, marks });
    for (const index of picture.nodes.keys()) {
      const { lock, value, ...before } = picture.before[index] as Picture['before'][number];
      const then = stateAt(full, index, whole.about.endNs);
      expect({ ...before, lock: picture.blocks[lock], value: picture.blocks[value] }).toEqual({
        ...then,
        lock: whole.blocks[then.lock],
        value: whole.blocks[then.value],
      });
    }
  });
});
