// What becomes of the runs that a planted bug broke: each is made small, and told how small.

import { isRefusal } from '../../../protocol/refusal.ts';
import { runScenario } from '../../../sim/run.ts';
import { toJson } from '../../../sim/scenario/json.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import { Interrupted } from '../interrupt.ts';
import { playFromJson, playNamed } from '../run/play-file.ts';
import { ProgressBar } from '../screen.ts';
import type { ShrinkResult } from '../shrink/job.ts';
import { counted, medianOf } from '../telling.ts';
import type { Job } from '../workers/job.ts';
import { type Worker, withWorkers } from '../workers/workers.ts';

/** Its budget is for about half a minute; a bug may loop for ever in what is tried. */
const SHRINK_MS_MAX = 300_000;
const SOON_MS = 30_000;

/** One failing run, and what was left of it. */
export interface Small {
  readonly mutant: string;
  readonly play: string;
  readonly seed: string;
  readonly promise: string;
  readonly directives: number;
  readonly height: number;
  /** Without any one of its parts this promise does not break. */
  readonly isMinimal: boolean;
  /** Without any one of its parts the run holds. */
  readonly holdsWithoutAny: boolean;
  /** Of so many other seeds, under how many it breaks the same promise. */
  readonly survives: { readonly seeds: number; readonly fails: number };
  /** The healthy build holds in it: what is left shows this bug and no other. */
  readonly holdsWithout: boolean;
  readonly ms: number;
}

/** A run that could not be made small, and why. */
export interface NotSmall {
  readonly mutant: string;
  readonly play: string;
  readonly seed: string;
  readonly not: string;
}

/** Whether it can be made small: what is left of a run is a file, and functions of a play's own stand in none. */
export const canBeWritten = ({ play, seed, heights }: Job): boolean =>
  !isRefusal(toJson(scenarioUnder(playNamed(play), seed, heights)));

export async function shrinkKills(
  mutant: string,
  dist: string,
  kills: readonly Job[],
  workers: number,
  isJson: boolean,
): Promise<readonly (Small | NotSmall)[]> {
  const bar = new ProgressBar(isJson);
  const results: (Small | NotSmall)[] = [];
  let next = 0;
  let done = 0;
  const work = async (worker: Worker): Promise<void> => {
    while (next < kills.length) {
      const at = next++;
      results[at] = await shrinkOne(mutant, kills[at] as Job, worker);
      bar.update(++done / kills.length, `${mutant}: ${done} of ${kills.length} made small`);
    }
  };
  await withWorkers(Math.min(workers, kills.length), { dist }, (all) => Promise.all(all.map(work))).finally(
    () => bar.clear(),
  );
  return results;
}

async function shrinkOne(mutant: string, kill: Job, worker: Worker): Promise<Small | NotSmall> {
  const { play, seed, heights } = kill;
  const job = { shrink: { name: play }, seed, ...(heights !== undefined && { heights }) };
  const result = await worker.shrink(job, SHRINK_MS_MAX).catch((error: unknown): ShrinkResult => {
    if (error instanceof Interrupted) throw error;
    return { not: error instanceof Error ? error.message : String(error) };
  });
  if ('not' in result) return { mutant, play, seed, not: result.not };
  const { shrunk, ms } = result;
  const { promise, height, isMinimal, holdsWithoutAny, survives, directives } = shrunk;
  const scenario = playFromJson('the shrunk scenario', shrunk.scenario);
  const holdsWithout = runScenario(scenario, { seed: shrunk.seed }).holds;
  return {
    mutant,
    play,
    seed,
    promise,
    directives: directives.after,
    height,
    isMinimal,
    holdsWithoutAny,
    survives,
    holdsWithout,
    ms,
  };
}

// --- told --------------------------------------------------------------------------------------------------

const isSmall = (each: Small | NotSmall): each is Small => 'directives' in each;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const slowestOf = (small: readonly Small[]): number => small.reduce((max, { ms }) => Math.max(max, ms), 0);

/** Of all seeds, under how many they fail. */
const survivalOf = (small: readonly Small[]): Small['survives'] => ({
  seeds: small.reduce((sum, { survives }) => sum + survives.seeds, 0),
  fails: small.reduce((sum, { survives }) => sum + survives.fails, 0),
});

const failsOf = (small: readonly Small[]): string => {
  const { seeds, fails } = survivalOf(small);
  return `${fails} of ${seeds}`;
};

/** The runs of one mutant, in two lines at most. */
export function linesOfSmall(results: readonly (Small | NotSmall)[]): string[] {
  const small = results.filter(isSmall);
  const lines = results.flatMap((each) =>
    isSmall(each) ? [] : [`not made small: ${each.play}, seed ${each.seed}: ${each.not}`],
  );
  if (small.length === 0) return lines;
  const listed = (values: readonly (number | string)[]): string => values.join(' ');
  lines.push(
    `made small: directives ${listed(small.map(({ directives }) => directives))}, ` +
      `heights ${listed(small.map(({ height }) => height))}, ` +
      `other seeds that fail ${failsOf(small)}, seconds ${listed(small.map(({ ms }) => Math.ceil(ms / 1000)))}`,
  );
  const idle = small.filter(({ isMinimal }) => !isMinimal).map(({ seed }) => seed);
  if (idle.length > 0) lines.push(`not 1-minimal: seeds ${listed(idle)}`);
  const broken = small.filter(({ holdsWithout }) => !holdsWithout).map(({ seed }) => seed);
  if (broken.length > 0)
    lines.push(`the healthy build does not hold in what is left: seeds ${listed(broken)}`);
  return lines;
}

/** Nothing is idle in what is left of it, and it shows this bug and no other. */
export const isGoodSmall = (each: Small | NotSmall): boolean =>
  isSmall(each) && each.isMinimal && each.holdsWithout;

/** What is asked of all together; of fewer bugs one that shows rarely would have too much to say. */
const MUTANTS_TO_JUDGE = 10;
const DIRECTIVES_MOST = 6;
const HEIGHTS_MOST = 2;
const FAIL_PERCENT = 80;

/** Where they fall short of it, in words. */
export function shortfallsOf(results: readonly (Small | NotSmall)[]): string[] {
  const small = results.filter(isSmall);
  if (new Set(small.map(({ mutant }) => mutant)).size < MUTANTS_TO_JUDGE) return [];
  const { seeds, fails } = survivalOf(small);
  const isOften = fails * 100 >= seeds * FAIL_PERCENT;
  return [
    ...(medianOf(small.map(({ directives }) => directives)) > DIRECTIVES_MOST
      ? [`half of them have more than ${DIRECTIVES_MOST} directives`]
      : []),
    ...(medianOf(small.map(({ height }) => height)) > HEIGHTS_MOST
      ? [`half of them break after height ${HEIGHTS_MOST}`]
      : []),
    ...(isOften ? [] : [`fewer than ${FAIL_PERCENT} % of the runs under other seeds fail`]),
  ];
}

/** All of them. */
export function summaryOfSmall(results: readonly (Small | NotSmall)[]): string {
  const small = results.filter(isSmall);
  const count = (test: (each: Small) => boolean): number => small.filter(test).length;
  return (
    `${small.length} of ${results.length} failing runs made small: ` +
    `half of them to ${counted(medianOf(small.map(({ directives }) => directives)), 'directive')} ` +
    `and ${counted(medianOf(small.map(({ height }) => height)), 'height')} at most, ` +
    `${count(({ isMinimal }) => isMinimal)} of them 1-minimal, ` +
    `${count((each) => each.holdsWithoutAny)} hold without any one part; ` +
    `${failsOf(small)} runs under other seeds fail; ` +
    `half of them took ${seconds(medianOf(small.map(({ ms }) => ms)))} s at most, ` +
    `${count(({ ms }) => ms <= SOON_MS)} half a minute, the slowest ${seconds(slowestOf(small))} s; ` +
    `the healthy build holds in ${count(({ holdsWithout }) => holdsWithout)}`
  );
}
