// One run as a job for another process: which play and seed, and what came of it.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Violation, ViolationWords } from '../../../sim/oracle.ts';
import { runScenario } from '../../../sim/run.ts';
import { playAtOnce } from '../run/play-file.ts';
import { TraceWriter } from '../traces/trace-file.ts';
import { buildCommit } from '../usage.ts';

export interface Job {
  /** Its name, or its file. */
  readonly play: string;
  readonly seed: string;
  readonly crypto?: 'sim' | 'ed25519';
  /** At least so many. */
  readonly heights?: number;
  /** Where to write its trace. */
  readonly trace?: string;
}

/** What of it is told to the other process. */
export interface FirstViolation extends ViolationWords {
  /** An actor or an application threw: a bug that stops the program. */
  readonly isThrown: boolean;
}

export interface JobResult {
  readonly digest: string;
  readonly shape: string;
  readonly holds: boolean;
  readonly heights: number;
  /** The first, when there are any. */
  readonly violation: FirstViolation | null;
  /** The run threw: a bug outside the actors, or a play that cannot be performed. */
  readonly threw: string | null;
  readonly ms: number;
}

export function performJob(job: Job): JobResult {
  const startedMs = performance.now();
  const trace = job.trace === undefined ? null : openTrace(job.trace);
  try {
    const verdict = runScenario(playAtOnce(job.play), {
      seed: job.seed,
      commit: buildCommit(),
      ...(job.crypto && { crypto: job.crypto }),
      ...(job.heights !== undefined && { heights: job.heights }),
      ...(trace && { watch: { trace: (bytes) => trace.write(bytes) } }),
    });
    const first = verdict.violations[0];
    return {
      digest: verdict.digest,
      shape: verdict.shape,
      holds: verdict.holds,
      heights: Number(verdict.heights),
      violation: first ? firstOf(first) : null,
      threw: null,
      ms: performance.now() - startedMs,
    };
  } catch (error) {
    return lost(error, performance.now() - startedMs);
  } finally {
    trace?.close();
  }
}

const firstOf = ({ oracle, promise, what, thrown }: Violation): FirstViolation => ({
  oracle,
  promise,
  what,
  isThrown: thrown !== undefined,
});

/** Nothing came of it. */
export function lost(error: unknown, ms: number): JobResult {
  const threw = error instanceof Error ? error.message : String(error);
  return { digest: '', shape: '', holds: false, heights: 0, violation: null, threw, ms };
}

function openTrace(path: string): TraceWriter {
  mkdirSync(dirname(path), { recursive: true });
  return new TraceWriter(path);
}

/** Two runs are the same when all of this is. */
export const fingerprint = ({ digest, shape, holds, threw }: JobResult): string =>
  `${digest} ${shape} ${holds} ${threw ?? ''}`;
