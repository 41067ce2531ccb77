// Workers: processes that perform jobs, of this build or of a patched copy, on this Node or on another.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { CrashesJob, CrashesResult } from './crashes-job.ts';
import type { ExploreJob, ExploreResult } from './explore-job.ts';
import type { Job, JobResult } from './job.ts';
import type { ShrinkJob, ShrinkResult } from './shrink-job.ts';
import { cliFolder } from './usage.ts';

export interface WorkerOptions {
  /** The Node that runs it; default: this one. */
  readonly node?: string;
  /** The folder `dist` of the build that it runs; default: ours. */
  readonly dist?: string;
}

/** One process. Jobs are answered in the order given. */
export class Worker {
  private readonly child: ChildProcess;
  private readonly waiting: { resolve: (result: unknown) => void; reject: (error: Error) => void }[] = [];
  private complaints = '';

  constructor({ node = process.execPath, dist }: WorkerOptions = {}) {
    const entry =
      dist === undefined ? join(cliFolder, 'job-process.js') : join(dist, 'runtime/cli/job-process.js');
    this.child = spawn(node, [entry], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.waiting.shift()?.resolve(JSON.parse(line));
    });
    this.child.stderr?.on('data', (bytes: Uint8Array) => {
      this.complaints = `${this.complaints}${String(bytes)}`.slice(-2000);
    });
    this.child.on('error', (error) => this.fail(error.message));
    this.child.on('exit', (code) => this.fail(`it ended with code ${code}. ${this.complaints}`));
  }

  private fail(because: string): void {
    for (const { reject } of this.waiting.splice(0)) reject(new Error(`a worker failed: ${because}`));
  }

  run(job: Job): Promise<JobResult> {
    return this.ask(job) as Promise<JobResult>;
  }

  crashes(job: CrashesJob): Promise<CrashesResult> {
    return this.ask(job) as Promise<CrashesResult>;
  }

  explore(job: ExploreJob): Promise<ExploreResult> {
    return this.ask(job) as Promise<ExploreResult>;
  }

  shrink(job: ShrinkJob): Promise<ShrinkResult> {
    return this.ask(job) as Promise<ShrinkResult>;
  }

  private ask(job: Job | CrashesJob | ExploreJob | ShrinkJob): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.child.exitCode !== null) {
        reject(new Error(`a worker failed: it ended before. ${this.complaints}`));
        return;
      }
      this.waiting.push({ resolve, reject });
      this.child.stdin?.write(`${JSON.stringify(job)}\n`);
    });
  }

  end(): void {
    this.child.stdin?.end();
    this.child.kill();
  }
}

/** Runs `use` with so many workers, and ends them whatever happens. */
export async function withWorkers<T>(
  count: number,
  options: WorkerOptions,
  use: (workers: readonly Worker[]) => Promise<T>,
): Promise<T> {
  const workers = Array.from({ length: count }, () => new Worker(options));
  try {
    return await use(workers);
  } finally {
    for (const worker of workers) worker.end();
  }
}

/** One job in a process of its own. */
export const runAlone = (job: Job, options: WorkerOptions = {}): Promise<JobResult> =>
  withWorkers(1, options, ([worker]) => (worker as Worker).run(job));
