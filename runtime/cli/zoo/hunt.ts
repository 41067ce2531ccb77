// Hunts one planted bug: runs of a patched build until an oracle speaks, and what came of it.

import { PLAY } from '../../../sim/oracle.ts';
import { Interrupted } from '../interrupt.ts';
import type { Patch } from '../patch/patch-file.ts';
import { ProgressBar } from '../screen.ts';
import { type Job, type JobResult, lost } from '../workers/job.ts';
import { type Worker, withWorkers } from '../workers/workers.ts';

export interface Outcome {
  readonly mutant: string;
  readonly name: string;
  /** The oracle that found it, or null. */
  readonly oracle: string | null;
  readonly expected: readonly string[];
  /** The first seed of the hunt. */
  readonly from: string;
  /** How many seeds it took; when nothing was found all of them, or those until too many runs did not end. */
  readonly seeds: number;
  /** What these runs took, one after the other on one core. */
  readonly seconds: number;
  readonly play: string;
  readonly seed: string;
  readonly heights?: number;
  readonly what: string;
  /**
   * Runs before that in which a node or the run itself threw: a bug that stops the program is no finding of
   * ours.
   */
  readonly crashes: number;
  /**
   * Runs before that in which only a promise of the play broke: no oracle, so it stands in a column of its own.
   */
  readonly playsBroken: number;
  /** The first of those; null: none. */
  readonly broken: { readonly play: string; readonly seed: string; readonly what: string } | null;
  /** The first runs in which an oracle spoke, of those that count: as many as were wanted, if there are so many. */
  readonly kills: readonly Job[];
  /**
   * As it should be: killed by an oracle, or by a promise of a play where the patch names no other; silent for the healthy build and for a
   * harmless change.
   */
  readonly isGood: boolean;
}

/** Whoever is found within so many runs is found soon. */
export const SOON = 500;
/** A bug may also loop for ever or take all memory. A run takes a second or two; nobody waits for many of the others. */
export const RUN_MS_MAX = 120_000;
const LOST_MAX = 4;

export interface HuntOptions {
  readonly workers: number;
  /** Runs in which an oracle must speak; default: one. */
  readonly wanted?: number;
  /** Which of them count as wanted; default: all. */
  readonly counts?: (job: Job) => boolean;
  /** What has not ended after so long is given up. */
  readonly runMsMax?: number;
  readonly isJson?: boolean;
}

/** The build without a patch, as the first of the controls. */
export const HEALTHY = 'C1';

/**
 * Runs until oracles spoke in so many runs. The result does not depend on which worker is faster: the smallest
 * seeds count.
 */
export async function hunt(
  patch: Patch | null,
  dist: string,
  jobs: readonly Job[],
  { workers, wanted = 1, counts = () => true, runMsMax = RUN_MS_MAX, isJson = false }: HuntOptions,
): Promise<Outcome> {
  const bar = new ProgressBar(isJson);
  const results: JobResult[] = [];
  let wantedAt: number[] = [];
  let next = 0;
  let done = 0;
  let lostRuns = 0;
  const orLost = (error: unknown): JobResult => {
    if (error instanceof Interrupted) throw error;
    lostRuns++;
    return lost(error, runMsMax);
  };
  const work = async (worker: Worker): Promise<void> => {
    while (next < (wantedAt[wanted - 1] ?? jobs.length) && lostRuns < LOST_MAX) {
      const at = next++;
      const job = jobs[at] as Job;
      const result = await worker.run(job, runMsMax).catch(orLost);
      results[at] = result;
      if (isKill(result) && counts(job)) wantedAt = [...wantedAt, at].sort((a, b) => a - b).slice(0, wanted);
      bar.update(++done / jobs.length, `${patch?.id ?? HEALTHY}: ${done} seeds`);
    }
  };
  await withWorkers(workers, { dist }, (all) => Promise.all(all.map(work))).finally(() => bar.clear());
  const kills = wantedAt.map((at) => jobs[at] as Job);
  return outcomeOf(patch, jobs, results, kills);
}

const isCrash = ({ violation, threw }: JobResult): boolean => threw !== null || violation?.isThrown === true;

const isKill = (result: JobResult): boolean =>
  result.violation !== null && result.violation.oracle !== PLAY && !isCrash(result);

const brokenBy = ({ play, seed }: Job, { violation }: JobResult): Outcome['broken'] => ({
  play,
  seed,
  what: violation?.what ?? '',
});

function outcomeOf(
  patch: Patch | null,
  jobs: readonly Job[],
  results: readonly JobResult[],
  kills: readonly Job[],
): Outcome {
  const firstAt = results.findIndex(isKill);
  const isKilled = firstAt >= 0;
  const job = isKilled ? jobs[firstAt] : undefined;
  const violation = isKilled ? (results[firstAt]?.violation ?? null) : null;
  const before = isKilled ? results.slice(0, firstAt) : results;
  const failed = before.filter(({ holds }) => !holds);
  const first = failed[0];
  const brokenAt = before.findIndex((result) => !result.holds && !isCrash(result));
  const heights = (job ?? jobs[brokenAt])?.heights;
  const byPlayAlone = patch?.oracles.length === 1 && patch.oracles[0] === PLAY;
  return {
    mutant: patch?.id ?? HEALTHY,
    name: patch?.name ?? 'the healthy build',
    oracle: violation?.promise ?? null,
    expected: patch?.oracles ?? [],
    from: jobs[0]?.seed ?? '',
    seeds: isKilled ? firstAt + 1 : results.length,
    seconds:
      results.slice(0, isKilled ? firstAt + 1 : results.length).reduce((sum, { ms }) => sum + ms, 0) / 1000,
    play: job?.play ?? '',
    seed: job?.seed ?? '',
    ...(heights !== undefined && { heights }),
    what: violation?.what ?? first?.violation?.what ?? first?.threw ?? '',
    crashes: failed.filter(isCrash).length,
    playsBroken: failed.filter((result) => !isCrash(result)).length,
    broken: brokenAt < 0 ? null : brokenBy(jobs[brokenAt] as Job, results[brokenAt] as JobResult),
    kills,
    isGood:
      patch === null || patch.isHarmless
        ? !isKilled && failed.length === 0
        : patch.isCanary
          ? firstAt === 0
          : isKilled || (byPlayAlone && brokenAt >= 0),
  };
}
