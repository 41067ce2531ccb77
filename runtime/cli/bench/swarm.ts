// How much time of a chain a second of rehearsal is worth: heights that swarm runs commit, a second each, per
// second on the wall, over all cores. Only of runs with much trouble, and they are chosen by that alone.

import { SWARM_FAULTS } from '../../../sim/swarm/coverage.ts';
import type { RunSummary } from '../explore/job.ts';
import { counted, grouped } from '../telling.ts';
import { CliError, EXIT } from '../usage.ts';
import { type Worker, type WorkerOptions, withWorkers } from '../workers/workers.ts';

export interface VirtualToWall {
  readonly virtualToWall: number;
  readonly perCore: number;
  readonly cores: number;
  /** Of so many seeds, beginning with 1 ... */
  readonly seeds: number;
  /** ... these were chosen and measured. */
  readonly runs: number;
  readonly heights: number;
  /** Of these heights, decided after round 0. */
  readonly laterRoundShare: number;
  /** The same over all seeds. */
  readonly laterRoundShareOfAll: number;
  /** All cores busy with them. */
  readonly seconds: number;
  /** Faults of the swarm that happened in none of the runs. */
  readonly faultsMissing: readonly string[];
}

export interface SwarmBench {
  readonly seeds: number;
  /** Runs of each process before the clock starts, for the compiler; of seeds that are not measured. */
  readonly warmUp: number;
  readonly cores: number;
  readonly memo: boolean;
}

/** So many of the heights that are measured needed a later round. */
const LATER_SHARE = 0.3;
const PLAY = 'swarm';

/** A run, and how long somebody waited for it. */
interface Timed extends RunSummary {
  readonly ms: number;
}

/** All on the clock, each core busy with one after the other, in processes that have never seen what they measure; then some are chosen. */
export async function measureSwarm(bench: SwarmBench, options: WorkerOptions = {}): Promise<VirtualToWall> {
  const { seeds, warmUp, cores, memo } = bench;
  const all = Array.from({ length: seeds }, (_, i) => String(i + 1));
  const found = await withWorkers(cores, options, async (workers) => {
    const others = Array.from({ length: warmUp }, (_, i) => String(seeds + 1 + i));
    await Promise.all(workers.map((worker) => worker.explore({ explore: PLAY, seeds: others, memo })));
    return runEach(workers, all, memo);
  });
  for (const { seed, broken } of found) {
    if (broken === null) continue;
    const what = `${broken.oracle}: ${broken.what} (npx nodecli sim run ${PLAY} --seed ${seed})`;
    throw new CliError(`the bench broke a promise: ${what}`, EXIT.violated);
  }
  return figureOf(bench, found, mostTroubled(found));
}

/** One seed at a time, to whoever is free; answers in the order of the seeds. */
async function runEach(
  workers: readonly Worker[],
  seeds: readonly string[],
  memo: boolean,
): Promise<Timed[]> {
  const found: Timed[] = [];
  let next = 0;
  const work = async (worker: Worker): Promise<void> => {
    while (next < seeds.length) {
      const at = next++;
      const startedMs = performance.now();
      const { runs } = await worker.explore({ explore: PLAY, seeds: [seeds[at] as string], memo });
      found[at] = { ...(runs[0] as RunSummary), ms: performance.now() - startedMs };
    }
  };
  await Promise.all(workers.map(work));
  return found;
}

type Heights = Pick<RunSummary, 'heights' | 'laterThanFirst'>;
const heightsOf = (runs: readonly Heights[]): number => runs.reduce((sum, { heights }) => sum + heights, 0);
const shareOf = (runs: readonly Heights[]): number =>
  runs.reduce((sum, { laterThanFirst }) => sum + laterThanFirst, 0) / Math.max(1, heightsOf(runs));

/**
 * As many runs as there are while so many of their heights, taken together, needed a later round: those in
 * which the most heights did come first. How long a run takes has no say. One run at least.
 */
export function mostTroubled<Run extends Heights>(runs: readonly Run[]): Run[] {
  const order = [...runs].sort((a, b) => shareOf([b]) - shareOf([a]));
  const chosen = order.slice(0, 1);
  for (const run of order.slice(1)) {
    if (shareOf([...chosen, run]) < LATER_SHARE) break;
    chosen.push(run);
  }
  return chosen;
}

function figureOf(
  { seeds, cores }: SwarmBench,
  all: readonly RunSummary[],
  chosen: readonly Timed[],
): VirtualToWall {
  const seconds = chosen.reduce((sum, { ms }) => sum + ms, 0) / 1000 / cores;
  const happened = new Set(chosen.flatMap(({ faults }) => faults));
  const heights = heightsOf(chosen);
  const tenths = (value: number): number => Math.round(value * 10) / 10;
  // Cut off, not rounded: 0.2999 is not 0.3.
  const thousandths = (value: number): number => Math.floor(value * 1000) / 1000;
  return {
    virtualToWall: tenths(heights / seconds),
    perCore: tenths(heights / seconds / cores),
    cores,
    seeds,
    runs: chosen.length,
    heights,
    laterRoundShare: thousandths(shareOf(chosen)),
    laterRoundShareOfAll: thousandths(shareOf(all)),
    seconds: tenths(seconds),
    faultsMissing: SWARM_FAULTS.filter((name) => !happened.has(name)),
  };
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

export function swarmLines(figure: VirtualToWall): string[] {
  const { virtualToWall, perCore, cores, seeds, runs, heights, seconds, faultsMissing } = figure;
  const { laterRoundShare, laterRoundShareOfAll } = figure;
  const lines = [
    `virtual to wall: ${virtualToWall} (${perCore} a core, ${counted(cores, 'core')}): ${grouped(heights)} heights of ` +
      `${grouped(runs)} swarm runs in ${seconds} s`,
    `  chosen from ${grouped(seeds)} seeds for their rounds: ${percent(laterRoundShare)} of these heights needed a ` +
      `later round (of all: ${percent(laterRoundShareOfAll)})`,
  ];
  if (laterRoundShare < LATER_SHARE)
    lines.push(`  SHORT OF ${percent(LATER_SHARE)}: the figure says little about later rounds`);
  if (faultsMissing.length > 0)
    lines.push(`  SHORT OF FAULTS: these did not happen in the runs: ${faultsMissing.join('; ')}`);
  return lines;
}
