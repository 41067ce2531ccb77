// Runs seeds twice, in two workers and in opposite orders, and finds the first whose runs differ; then the
// first event in which they do.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { plays } from '../../../scenarios/index.ts';
import { Interrupted, isUninterrupted } from '../interrupt.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type FirstDifference, firstDifference } from '../traces/diverge.ts';
import { TraceFile } from '../traces/trace-file.ts';
import { CliError, isCliError } from '../usage.ts';
import { fingerprint, type Job, type JobResult } from '../workers/job.ts';
import { runAlone, type Worker, type WorkerOptions, withWorkers } from '../workers/workers.ts';

const SWARM = 'swarm';
/** Every run goes at least so far. */
const HEIGHTS_MIN = 10;

/** Seeds cycle through the plays; every other run is a swarm of base faults. */
export function jobsFor(count: number, from: bigint): Job[] {
  const written = plays.filter(({ name }) => name !== SWARM);
  const hasSwarm = written.length < plays.length;
  return Array.from({ length: count }, (_, i) => {
    const turn = hasSwarm ? i >> 1 : i;
    const isSwarm = (hasSwarm && i % 2 === 1) || written.length === 0;
    const play = isSwarm ? SWARM : (written[turn % written.length]?.name ?? SWARM);
    return { play, seed: String(from + BigInt(i)), heights: HEIGHTS_MIN };
  });
}

/** The runs of one play, in the same way. */
export const jobsOfPlay = (play: string, count: number, from: bigint): Job[] =>
  Array.from({ length: count }, (_, i) => ({ play, seed: String(from + BigInt(i)), heights: HEIGHTS_MIN }));

export interface Mismatch {
  readonly job: Job;
  readonly one: JobResult;
  readonly other: JobResult;
  /** How the two were run, in words. */
  readonly how: string;
}

export interface SameTwice {
  /** Runs performed. */
  readonly runs: number;
  /** Jobs whose two runs were compared. */
  readonly compared: number;
  readonly mismatch: Mismatch | null;
  /** Runs that were the same twice and did not hold. */
  readonly broken: readonly { readonly job: Job; readonly result: JobResult }[];
}

export type OnProgress = (done: number, what: string) => void;

/** Stops at the first mismatch. */
export async function sameTwice(
  jobs: readonly Job[],
  options: WorkerOptions,
  onProgress: OnProgress,
): Promise<SameTwice> {
  const firsts = new Map<Job, JobResult>();
  const broken: { job: Job; result: JobResult }[] = [];
  let runs = 0;
  let compared = 0;
  let mismatch: Mismatch | null = null;
  const step = (what: string): void => onProgress(++runs / (jobs.length * 2), `${what}, ${runs} runs`);
  const first = async (worker: Worker, list: readonly Job[]): Promise<void> => {
    for (const job of list) {
      const result = await performed(job, worker.run(job));
      firsts.set(job, result);
      if (!result.holds) broken.push({ job, result });
      step(job.play);
    }
  };
  const second = async (worker: Worker, list: readonly Job[]): Promise<void> => {
    for (const job of [...list].reverse()) {
      if (mismatch) return;
      const other = await performed(job, worker.run(job));
      const one = firsts.get(job) as JobResult;
      compared++;
      step(job.play);
      if (fingerprint(one) !== fingerprint(other)) {
        mismatch ??= { job, one, other, how: 'in two workers and in opposite orders' };
      }
    }
  };
  const half = (which: number): Job[] => jobs.filter((_, i) => i % 2 === which);
  const isWhole = await isUninterrupted(() =>
    withWorkers(2, options, async ([a, b]) => {
      await Promise.all([first(a as Worker, half(0)), first(b as Worker, half(1))]);
      await Promise.all([second(b as Worker, half(0)), second(a as Worker, half(1))]);
    }),
  );
  if (!isWhole) throw new Interrupted(`${compared} of ${jobs.length} seeds were compared`);
  if (!mismatch) mismatch = await aloneToo(jobs, firsts, options);
  return { runs, compared, mismatch, broken };
}

/** What ends a worker or holds it up is looked for at the run that it was at. */
export const performed = (job: Job, result: Promise<JobResult>): Promise<JobResult> =>
  result.catch((error) => {
    const isNamed = !isCliError(error) || error instanceof Interrupted;
    throw isNamed ? error : new CliError(`${job.play}, seed ${job.seed}: ${error.message}`, error.exit);
  });

/** Of so many runs one is repeated alone in a fresh process. */
const ALONE_EVERY = 50;

async function aloneToo(
  jobs: readonly Job[],
  firsts: ReadonlyMap<Job, JobResult>,
  options: WorkerOptions,
): Promise<Mismatch | null> {
  for (let i = 0; i < jobs.length; i += ALONE_EVERY) {
    const job = jobs[i] as Job;
    const one = firsts.get(job) as JobResult;
    const other = await performed(job, runAlone(job, options));
    if (fingerprint(one) !== fingerprint(other)) {
      return { job, one, other, how: 'among others, and alone in a fresh process' };
    }
  }
  return null;
}

/**
 * Runs before the second trace, when the first attempt shows no difference: what leaks from them may show
 * now.
 */
const RUNS_BEFORE = 12;

/**
 * The first event in which two runs of a job differ; null when they are the same whenever they are traced.
 */
export async function firstEvent(job: Job, options: WorkerOptions): Promise<FirstDifference | null> {
  return withTraces(async (a, b) => {
    await withWorkers(1, options, async ([worker]) => {
      await worker?.run({ ...job, trace: a });
      await worker?.run({ ...job, trace: b });
    });
    const soon = compareFiles(a, b);
    if (soon) return soon;
    await withWorkers(1, options, async ([worker]) => {
      for (const other of jobsFor(RUNS_BEFORE, BigInt(job.seed) + 1n)) await worker?.run(other);
      await worker?.run({ ...job, trace: b });
    });
    return compareFiles(a, b);
  });
}

/** The first event in which one job differs between two kinds of worker. */
export async function firstEventBetween(
  job: Job,
  one: WorkerOptions,
  other: WorkerOptions,
): Promise<FirstDifference | null> {
  return withTraces(async (a, b) => {
    await runAlone({ ...job, trace: a }, one);
    await runAlone({ ...job, trace: b }, other);
    return compareFiles(a, b);
  });
}

const compareFiles = (a: string, b: string): FirstDifference | null =>
  firstDifference(new TraceFile(a), new TraceFile(b));

async function withTraces<T>(use: (a: string, b: string) => Promise<T>): Promise<T> {
  const folder = temporaryFolder('rehearsal-traces-');
  try {
    return await use(join(folder, 'a.trace'), join(folder, 'b.trace'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
