// The proof that a mutant is real: its smallest trigger is a play that holds on the healthy build and fails on the mutant, under the same seeds.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promiseOf } from '../../../sim/shrink/promise.ts';
import { type Patch, withPatchedBuild } from '../patch/patched-build.ts';
import { CliError, EXIT, type Exit, packageFolder } from '../usage.ts';
import type { Job, JobResult } from '../workers/job.ts';
import { withWorkers } from '../workers/workers.ts';

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
  const proofs: Proof[] = [];
  const bare = chosen.find((patch) => patch && !hasTrigger(patch));
  if (isNamed && bare) throw new CliError(`there is no trigger of ${bare.id} in ${TRIGGERS}`);
  for (const patch of chosen) {
    if (!patch || !hasTrigger(patch)) continue;
    const jobs = SEEDS.map((seed): Job => ({ play: triggerOf(patch), seed }));
    const healthy = await runAll(jobs, join(packageFolder, 'dist'));
    const proof = proofOf(patch, healthy, await withPatchedBuild(patch, (dist) => runAll(jobs, dist)));
    proofs.push(proof);
    if (!isJson) process.stdout.write(textOf(proof));
  }
  if (proofs.length === 0) throw new CliError(`there is no trigger of these in ${TRIGGERS}`);
  if (isJson) process.stdout.write(`${JSON.stringify(proofs, null, 2)}\n`);
  return proofs.every(isGood) ? EXIT.holds : EXIT.violated;
}

const runAll = (jobs: readonly Job[], dist: string): Promise<JobResult[]> =>
  withWorkers(1, { dist }, ([worker]) =>
    Promise.all(jobs.map((job) => worker?.run(job) as Promise<JobResult>)),
  );

function proofOf(patch: Patch, healthy: readonly JobResult[], mutant: readonly JobResult[]): Proof {
  const words = ({ violation, threw }: JobResult): string =>
    violation ? promiseOf(violation) : threw === null ? '' : 'threw';
  const failed = mutant.filter(({ holds }) => !holds);
  const first = healthy.find(({ holds }) => !holds) ?? failed[0];
  return {
    mutant: patch.id,
    brokenBy: [...new Set(failed.map(words))],
    holdsOnHealthy: healthy.every(({ holds }) => holds),
    failsOnMutant: failed.length === mutant.length,
    what: first?.violation?.what ?? first?.threw ?? '',
  };
}

const isGood = ({ holdsOnHealthy, failsOnMutant }: Proof): boolean => holdsOnHealthy && failsOnMutant;

function textOf(proof: Proof): string {
  const { mutant, brokenBy, holdsOnHealthy, failsOnMutant, what } = proof;
  const healthy = holdsOnHealthy ? '' : ', but the healthy build breaks it too';
  const verdict = failsOnMutant ? `breaks ${brokenBy.join(', ')}` : 'is not seen under every seed';
  return `${isGood(proof) ? 'ok ' : 'BAD'} ${mutant.padEnd(5)} ${verdict}${healthy}\n          ${what}\n`;
}
