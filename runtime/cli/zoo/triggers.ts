// The proof that a mutant is real: its smallest trigger is a play that holds on the healthy build and fails on the mutant, under the same seeds.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Interrupted } from '../interrupt.ts';
import type { Patch } from '../patch/patch-file.ts';
import { withPatchedBuild } from '../patch/patched-build.ts';
import { CliError, EXIT, type Exit, packageFolder } from '../usage.ts';
import type { Job, JobResult } from '../workers/job.ts';
import { type Worker, withWorkers } from '../workers/workers.ts';
import { RUN_MS_MAX } from './hunt.ts';

export const TRIGGERS = 'scenarios/zoo/triggers';
/** A trigger fails under every one of these: it is a play, not a lucky seed. */
const SEEDS = ['1', '2', '3'];

interface Proof {
  readonly mutant: string;
  /** What the mutant breaks, by oracle (or `play`: a promise of the play), once each. */
  readonly brokenBy: readonly string[];
  readonly holdsOnHealthy: boolean;
  readonly failsOnMutant: boolean;
  readonly what: string;
}

const triggerOf = ({ id }: Patch): string => join(packageFolder, TRIGGERS, `${id}.json`);
const hasTrigger = (patch: Patch | null): boolean => patch !== null && existsSync(triggerOf(patch));

/** @param isNamed each of them: then each has one. */
export async function proveTriggers(
  chosen: readonly (Patch | null)[],
  isJson: boolean,
  isNamed: boolean,
): Promise<Exit> {
  const bare = chosen.find((patch) => patch && !hasTrigger(patch));
  if (isNamed && bare) throw new CliError(`there is no trigger of ${bare.id} in ${TRIGGERS}`);
  const shown = chosen.filter((patch): patch is Patch => patch !== null && hasTrigger(patch));
  if (shown.length === 0) throw new CliError(`there is no trigger of these in ${TRIGGERS}`);
  const proofs: Proof[] = [];
  try {
    for (const patch of shown) {
      const proof = await proved(patch);
      proofs.push(proof);
      if (!isJson) process.stdout.write(textOf(proof));
    }
  } finally {
    // Whatever goes wrong, what was seen is told.
    if (isJson) process.stdout.write(`${JSON.stringify({ proofs }, null, 2)}\n`);
  }
  return proofs.every(isGood) ? EXIT.holds : EXIT.violated;
}

/** @param runMsMax what has not ended after so long on the mutant does not end. */
export async function proved(patch: Patch, runMsMax = RUN_MS_MAX): Promise<Proof> {
  const jobs = SEEDS.map((seed): Job => ({ play: triggerOf(patch), seed }));
  const healthy = await runAll(jobs, join(packageFolder, 'dist'), RUN_MS_MAX);
  return proofOf(patch, healthy, await withPatchedBuild(patch, (dist) => runAll(jobs, dist, runMsMax)));
}

interface Runs {
  readonly results: readonly JobResult[];
  /** Why there are no more: one took its process with it, or did not end. That is no finding of ours. */
  readonly lost: string | null;
}

const runAll = (jobs: readonly Job[], dist: string, runMsMax: number): Promise<Runs> =>
  withWorkers(1, { dist }, async ([worker]) => {
    const results: JobResult[] = [];
    try {
      for (const job of jobs) results.push(await (worker as Worker).run(job, runMsMax));
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      return { results, lost: error instanceof Error ? error.message : String(error) };
    }
    return { results, lost: null };
  });

function proofOf(patch: Patch, healthy: Runs, mutant: Runs): Proof {
  const words = ({ violation, threw }: JobResult): string =>
    violation ? violation.promise : threw === null ? '' : 'threw';
  const failed = mutant.results.filter(({ holds }) => !holds);
  const first = healthy.results.find(({ holds }) => !holds) ?? failed[0];
  return {
    mutant: patch.id,
    brokenBy: [...new Set(failed.map(words))],
    holdsOnHealthy: healthy.lost === null && healthy.results.every(({ holds }) => holds),
    failsOnMutant: mutant.lost === null && failed.length === mutant.results.length,
    what: healthy.lost ?? mutant.lost ?? first?.violation?.what ?? first?.threw ?? '',
  };
}

const isGood = ({ holdsOnHealthy, failsOnMutant }: Proof): boolean => holdsOnHealthy && failsOnMutant;

function textOf(proof: Proof): string {
  const { mutant, brokenBy, holdsOnHealthy, failsOnMutant, what } = proof;
  const healthy = holdsOnHealthy ? '' : ', but the healthy build breaks it too';
  const verdict = failsOnMutant ? `breaks ${brokenBy.join(', ')}` : 'is not seen under every seed';
  return `${isGood(proof) ? 'ok ' : 'BAD'} ${mutant.padEnd(5)} ${verdict}${healthy}\n          ${what}\n`;
}
