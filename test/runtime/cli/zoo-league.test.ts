import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../runtime/cli/zoo/hunt.ts';
import { placeOf, rowOf, summaryOf } from '../../../runtime/cli/zoo/league.ts';
import { isBuilt, nodecli } from './nodecli.ts';

const outcome = (
  mutant: string,
  oracle: string | null,
  seeds: number,
  more: Partial<Outcome> = {},
): Outcome => ({
  mutant,
  name: `the bug ${mutant}`,
  oracle,
  expected: [],
  from: '1',
  seeds,
  seconds: seeds / 10,
  play: 'swarm',
  seed: '1',
  what: '',
  crashes: 0,
  playsBroken: 0,
  broken: null,
  kills: [],
  isGood: oracle !== null,
  ...more,
});

const FOUND = placeOf([outcome('M90', 'lock', 40), outcome('M90', 'chain', 7), outcome('M90', 'lock', 600)]);
const ONCE = placeOf([outcome('M91', null, 50), outcome('M91', 'chain', 9), outcome('M91', null, 50)]);
const CONTROL = placeOf([1, 2, 3].map(() => outcome('C1', null, 50, { isGood: true })));

describe('a place in the league', () => {
  it('is the middle of what the base seeds took, and who spoke most often', () => {
    expect(FOUND).toMatchObject({
      bases: 3,
      killed: 3,
      runs: { least: 7, median: 40, most: 600 },
      seconds: 4,
      runsMade: 647,
      isGood: true,
    });
    expect(FOUND.oracles).toEqual([
      { oracle: 'lock', times: 2 },
      { oracle: 'chain', times: 1 },
    ]);
    expect(rowOf(FOUND)).toBe(
      'ok  M90   3/3    40 (7 - 600)                4.0  lock 2, chain 1: the bug M90',
    );
  });

  it('counts silence as longer than all that was tried', () => {
    expect(ONCE).toMatchObject({ killed: 1, runs: { least: 9, median: null, most: null }, isGood: false });
    expect(rowOf(ONCE)).toBe('BAD M91   1/3    more (9 - more)             5.0  chain: the bug M91');
  });

  it('tells of a control how many runs it has stood', () => {
    expect(rowOf(CONTROL)).toBe('ok  C1    0/3    none in 150                 5.0  nobody: the bug C1');
  });
});

describe('the line below the league', () => {
  it('leaves controls out, and names who was not found from every base seed', () => {
    expect(summaryOf([CONTROL, FOUND, ONCE])).toEqual([
      '1 of 2 mutants killed by an oracle from each of 3 base seeds, 1 of them within 500 runs; half of them within 40, 4.0 s of a core',
      'not killed from every base seed: M91',
    ]);
    expect(summaryOf([CONTROL, FOUND])).toEqual([]);
  });
});

describe.skipIf(!isBuilt)('sim zoo --bases', () => {
  it('hunts from seeds far apart', () => {
    const args = ['--only', 'X15,C3', '--seeds', '3', '--bases', '2', '--play', 'swarm'];
    const { code, out } = nodecli('sim', 'zoo', ...args, '--json');
    const { league, outcomes } = JSON.parse(out) as { league: unknown; outcomes: Outcome[] };
    expect(league).toMatchObject([
      { mutant: 'C3', bases: 2, killed: 2, runs: { least: 1, median: 1, most: 1 } },
      { mutant: 'X15', bases: 2, killed: 2 },
    ]);
    expect(outcomes.slice(0, 2)).toMatchObject([
      { play: 'swarm', seed: '1', from: '1' },
      { play: 'swarm', seed: '1000001', from: '1000001' },
    ]);
    expect(code).toBe(0);
  });

  it.each([
    [['--bases', '0'], '--bases takes a whole number from 1 on, not "0"'],
    [['--bases', '2', '--shrink', '1'], '--bases makes a league table of the hunt'],
    [
      ['--bases', '2', '--triggers'],
      '--triggers performs plays under seeds of their own: it does not go with --bases',
    ],
    [
      ['--seeds', '9', '--triggers'],
      '--triggers performs plays under seeds of their own: it does not go with --seeds',
    ],
    [['--workers', '2', '--triggers'], '--triggers performs three runs of each, one after the other'],
    [['--workers', '0'], '--workers takes'],
    [['--play', 'swarm', '--rules'], '--play says what hunts for the mutants'],
    [['--play', 'calm'], '--play: calm is no play that a seed writes; there are swarm, tour, '],
    [['--bases', '2', '--from', '18446744073708551616'], '--from: 500 seeds from 18446744073709551616 on go'],
  ])('%j is refused by name', (flags, says) => {
    const { code, err } = nodecli('sim', 'zoo', ...flags);
    expect(err).toContain(`nodecli: ${says}`);
    expect(code).toBe(2);
  });
});
