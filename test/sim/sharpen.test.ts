// What failed by luck is made to happen at every height: which guesses are made, and which of them are taken.

import { describe, expect, it } from 'vitest';
import type { Action, Scenario } from '../../sim/scenario/play.ts';
import {
  at,
  crash,
  drop,
  everyone,
  heal,
  height,
  liar,
  scenario,
  v0,
  v2,
  validators,
  when,
  whenever,
} from '../../sim/scenario/words.ts';
import { Lab, SCORE } from '../../sim/shrink/lab.ts';
import { sharpened, singleTrouble } from '../../sim/shrink/sharpen.ts';
import { FAMILIES } from '../../sim/shrink/simpler.ts';

/** A laboratory in which a scenario fails under so many seeds of ten. */
const labOf = (fails: (scenario: Scenario) => number): Lab =>
  ({
    isSpent: false,
    stillFails: (each: Scenario) => fails(each) > 0,
    score: (each: Scenario, { seeds } = SCORE) => Math.floor((fails(each) * seeds) / 10),
    scores: (each: Scenario, least: number, { seeds } = SCORE) =>
      Math.floor((fails(each) * seeds) / 10) >= least,
  }) as unknown as Lab;

const ends = everyone.decides(height(3), { within: '20s' });
const actionsOf = ({ act }: Scenario): readonly Action[] => act.flatMap(({ actions }) => actions);

describe('a crash', () => {
  const play = scenario('much happens, and two die', {
    cast: validators(4),
    act: [
      at('1s', drop('prevotes', { round: 0 })),
      when(v2.decides(height(2)), crash('v2')),
      at('3s', crash('v1', { restart: '5s' }), heal()),
    ],
    ends,
  });

  it('at every height, and nothing else, if that fails under most seeds', () => {
    const lab = labOf(({ act }) =>
      act.length === 1 &&
      actionsOf({ ...play, act }).some((action) => action.do === 'crash' && action.node === 'v1')
        ? 8
        : 1,
    );
    const only = singleTrouble(play, lab);
    expect(only?.act).toEqual([
      {
        whenever: { who: 'v1', does: 'decides' },
        actions: [{ do: 'crash', node: 'v1', how: 'drawn', restartMs: 5_000 }],
      },
    ]);
    expect(only?.ends.decides).toBeGreaterThan(play.ends.decides);
  });

  it('by itself is not it where it fails under few', () => {
    expect(
      singleTrouble(
        play,
        labOf(() => 3),
      ),
    ).toBeNull();
  });

  it('at every height, with all else as it was', () => {
    const isAgain = ({ act }: Scenario): boolean =>
      act.length === 3 && act.some((each) => 'whenever' in each);
    const sharp = sharpened(
      play,
      labOf((each) => (isAgain(each) ? 9 : 2)),
    );
    expect(isAgain(sharp)).toBe(true);
    expect(sharp.act[0]).toEqual(play.act[0]);
  });

  it('that comes again and again leaves a second to live', () => {
    const again = { ...play, act: [whenever(v0.decides(), crash('v0', { restart: '3s' }))] };
    const restarts = FAMILIES.flatMap((family) => [...family(again)]).flatMap((simpler) =>
      simpler.act.some((each) => 'whenever' in each)
        ? actionsOf(simpler).flatMap((action) => (action.do === 'crash' ? [action.restartMs] : []))
        : [],
    );
    expect(restarts).toContain(1_000);
    expect(restarts).not.toContain(0);
  });
});

describe('message rules', () => {
  const play = scenario('one height is disturbed', {
    cast: validators(4),
    act: [at('0s', drop('parts', { height: 3, round: 0 }), drop('prevotes', { height: 3, round: 1 }))],
    ends,
  });
  const heights = (each: Scenario): (number | undefined)[] =>
    actionsOf(each).map((action) => (action.do === 'rule' ? action.height : undefined));

  it('hold at every height, where that fails under more seeds', () => {
    const sharp = sharpened(
      play,
      labOf((each) =>
        actionsOf(each).length === 2 && heights(each).every((one) => one === undefined) ? 9 : 4,
      ),
    );
    expect(heights(sharp)).toEqual([undefined, undefined]);
    expect(sharp.ends.decides).toBeGreaterThan(play.ends.decides);
  });

  it('or one of them does', () => {
    const sharp = sharpened(
      play,
      labOf((each) => (heights(each)[1] === undefined && heights(each)[0] === 3 ? 9 : 4)),
    );
    expect(heights(sharp)).toEqual([3, undefined]);
  });

  it('stay where they are, where nothing is better', () => {
    expect(
      sharpened(
        play,
        labOf(() => 4),
      ),
    ).toBe(play);
    expect(
      sharpened(
        play,
        labOf((each) => (each === play ? 9 : 10)),
      ),
    ).toBe(play); // good enough
  });
});

describe('one more rule', () => {
  const act = [when(v2.decides(height(2)), crash('v2'))];
  const play = scenario('one dies', { cast: validators(4), act, ends });
  const late = { do: 'rule', what: 'everything', effect: { delayMs: 1_000 }, to: ['v0'] };

  it('at every height is trouble enough, where most seeds fail of it', () => {
    const lab = labOf((each) => (actionsOf(each).some((action) => action.do === 'rule') ? 8 : 1));
    expect(singleTrouble(play, lab)?.act).toEqual([{ atMs: 0, actions: [late] }]);
  });

  it('is none that spares the own seed: nothing could be left out of it', () => {
    const lab = labOf(() => 10);
    expect(singleTrouble(play, { ...lab, stillFails: () => false } as unknown as Lab)).toBeNull();
  });

  it('comes to what happens, or takes its place', () => {
    const isBeside = (each: Scenario): boolean => each.act.length === 2;
    const beside = sharpened(
      play,
      labOf((each) => (isBeside(each) ? 9 : 2)),
    );
    expect(beside.act).toEqual([...act, { atMs: 0, actions: [late] }]);
    const isInstead = (each: Scenario): boolean => actionsOf(each).every((action) => action.do === 'rule');
    const instead = sharpened(
      play,
      labOf((each) => (isInstead(each) ? 9 : 2)),
    );
    expect(instead.act).toEqual([{ atMs: 0, actions: [late] }]);
  });

  it('is not turned against who lies', () => {
    const lying = { ...play, liars: [liar('v0', 'nil-voter', ['v1'])] };
    const only = singleTrouble(
      lying,
      labOf(() => 8),
    );
    expect(only && actionsOf(only)).toEqual([{ ...late, to: ['v1'] }]);
  });
});

describe('a run that never ends', () => {
  it('is given up, and leaves its budget to the others', () => {
    const cast = validators(4);
    const short = scenario('two heights', { cast, ends: everyone.decides(height(2), { within: '20s' }) });
    const long = scenario('many heights', {
      cast,
      ends: everyone.decides(height(5_000), { within: '20000s' }),
    });
    const lab = new Lab('no promise', '1', 220_000);
    lab.outcome(short);
    const before = lab.spent;
    expect(lab.outcome(long)).toMatchObject({ promise: null });
    expect(lab.spent - before).toBeGreaterThan(20_000);
    expect(lab.spent - before).toBeLessThan(30_000);
  });
});
