// Workers: processes that perform jobs, of this build or of a patched copy, on this Node or on another.

import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { MemoryJob, MemoryResult } from '../bench/memory-job.ts';
import type { CrashesJob, CrashesResult } from '../crashes/job.ts';
import type { ExploreJob, ExploreResult } from '../explore/job.ts';
import { Interrupted, interruptible, interruption } from '../interrupt.ts';
import type { ShrinkJob, ShrinkResult, ShrinkSoFar } from '../shrink/job.ts';
import { CliError, cliFolder, EXIT, whyNot } from '../usage.ts';
import { ANSWERS } from './answers.ts';
import type { Job, JobResult } from './job.ts';

export interface WorkerOptions {
  /** The Node that runs it; default: this one. */
  readonly node?: string;
  /** The folder `dist` of the build that it runs; default: ours. */
  readonly dist?: string;
  /** For Node itself, before the program. */
  readonly flags?: readonly string[];
}

/** Whatever ends this process ends them: one that a planted bug keeps busy for ever does not hear that its input ended. */
const living = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Reasons that V8 gives before it ends a process. */
const FATAL = /FATAL ERROR: (.+)/;

function wholeOf(line: string): { readonly soFar?: unknown } | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Jobs are answered in the order given. */
class Process {
  private readonly child: ChildProcess;
  private readonly waiting: {
    readonly resolve: (result: unknown) => void;
    readonly reject: (error: Error) => void;
    readonly heard: Heard;
  }[] = [];
  private complaints = '';
  private fatal: string | null = null;
  /** It died, was killed, or never began. */
  hasEnded = false;
  /** Nobody wants it any more. */
  private isOver = false;

  constructor({ node = process.execPath, dist, flags = [] }: WorkerOptions) {
    const entry =
      dist === undefined
        ? join(cliFolder, 'workers/job-process.js')
        : join(dist, 'runtime/cli/workers/job-process.js');
    // Detached: Ctrl-C in a terminal goes to a whole process group, and whether a worker ends is ours to say.
    // If this process dies, the worker's input ends, and where there are parents to lose it sees that by itself.
    // It answers on a line of its own: what a planted bug prints is no answer.
    this.child = spawn(node, [...flags, entry, String(process.pid)], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    living.add(this.child);
    this.child.on('error', (error) => this.fail(`it cannot be started: ${whyNot(error)}`));
    // Where no descriptor is left there are no pipes either, and the error comes later.
    const answers = this.child.stdio?.[ANSWERS] as NodeJS.ReadableStream | undefined;
    if (!answers) return;
    createInterface({ input: answers }).on('line', (line) => {
      const said = wholeOf(line);
      if (said === null) return; // it died in the middle of it, and its end says so
      if ('soFar' in said) this.waiting[0]?.heard(said.soFar as ShrinkSoFar);
      else this.waiting.shift()?.resolve(said);
    });
    const complains = (bytes: Uint8Array): void => {
      this.complaints = `${this.complaints}${String(bytes)}`.slice(-2000);
      this.fatal ??= FATAL.exec(this.complaints)?.[1] ?? null;
    };
    this.child.stdout?.on('data', complains);
    this.child.stderr?.on('data', complains);
    this.child.stdin?.on('error', () => {}); // it is gone: its end says so
    this.child.on('close', () => living.delete(this.child));
    this.child.on('close', (code, signal) =>
      this.fail(`it ended with ${signal ?? `code ${code}`}. ${this.fatal ?? this.complaints}`),
    );
  }

  ask(job: AnyJob, heard: Heard): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject, heard });
      this.child.stdin?.write(`${JSON.stringify(job)}\n`);
    });
  }

  /** Now, whatever it is at. */
  kill(because: string): void {
    this.fail(because);
    this.child.kill('SIGKILL');
  }

  end(): void {
    this.isOver = true;
    this.child.stdin?.end();
    this.child.kill();
  }

  private fail(because: string): void {
    this.hasEnded = true;
    for (const { reject } of this.waiting.splice(0))
      reject(this.isOver ? new Interrupted() : errorOf(because));
  }
}

/** Told how far a job is, before its answer. */
type Heard = (soFar: ShrinkSoFar) => void;

type AnyJob = Job | CrashesJob | ExploreJob | ShrinkJob | MemoryJob;

/** A process that ends takes the jobs with it that it had; for the next one another begins. */
export class Worker {
  private readonly options: WorkerOptions;
  private process: Process;
  private isOver = false;

  constructor(options: WorkerOptions = {}) {
    this.options = options;
    this.process = new Process(options);
  }

  /** @throws Error when the process ends at it, or has not answered after so many milliseconds. */
  run(job: Job, withinMs?: number): Promise<JobResult> {
    return this.ask(job, withinMs) as Promise<JobResult>;
  }

  crashes(job: CrashesJob): Promise<CrashesResult> {
    return this.ask(job) as Promise<CrashesResult>;
  }

  /** As `run`. */
  explore(job: ExploreJob, withinMs?: number): Promise<ExploreResult> {
    return this.ask(job, withinMs) as Promise<ExploreResult>;
  }

  /** As `run`. */
  shrink(job: ShrinkJob, withinMs?: number, heard?: Heard): Promise<ShrinkResult> {
    return this.ask(job, withinMs, heard) as Promise<ShrinkResult>;
  }

  memory(job: MemoryJob): Promise<MemoryResult> {
    return this.ask(job) as Promise<MemoryResult>;
  }

  private async ask(job: AnyJob, withinMs?: number, heard: Heard = () => {}): Promise<unknown> {
    if (interruption.aborted || this.isOver) throw new Interrupted();
    if (this.process.hasEnded) this.process = new Process(this.options);
    const { process } = this;
    if (withinMs === undefined) return process.ask(job, heard);
    const timer = setTimeout(() => process.kill(`no answer within ${withinMs / 1000} s`), withinMs);
    return process.ask(job, heard).finally(() => clearTimeout(timer));
  }

  end(): void {
    this.isOver = true;
    this.process.end();
  }
}

const errorOf = (because: string): Error =>
  interruption.aborted ? new Interrupted() : new CliError(`a worker failed: ${because}`, EXIT.violated);

/**
 * MiB for each half of the young objects. V8's own 16 hold some thirty heights of four validators: what is kept for sixty is copied twice,
 * into the old space, only to die there. Anybody can give that to a program that runs long.
 */
export const YOUNG_ROOM = '--max-semi-space-size=64';
/** What a worker should find of memory before it takes that much of it. */
const ROOMY_BYTES = 2 ** 30;

/** Where each core has a worker, threads that help one with its collections and compilations take from another: a twentieth, on two cores. */
function flagsOf(count: number, { flags = [] }: WorkerOptions): readonly string[] {
  const room = totalmem() / count < ROOMY_BYTES ? [] : [YOUNG_ROOM];
  const threads = count < availableParallelism() ? [] : ['--single-threaded'];
  return [...room, ...threads, ...flags]; // of two that say the same, the later counts
}

/** Runs `use` with so many workers, and ends them whatever happens. */
export async function withWorkers<T>(
  count: number,
  options: WorkerOptions,
  use: (workers: readonly Worker[]) => Promise<T>,
): Promise<T> {
  const flags = flagsOf(count, options);
  const workers: Worker[] = [];
  const end = (): void => {
    for (const worker of workers) worker.end();
  };
  interruption.addEventListener('abort', end);
  try {
    for (let i = 0; i < count; i++) workers.push(new Worker({ ...options, flags }));
    return await interruptible(() => use(workers));
  } finally {
    interruption.removeEventListener('abort', end);
    end();
  }
}

/** One job in a process of its own. */
export const runAlone = (job: Job, options: WorkerOptions = {}): Promise<JobResult> =>
  withWorkers(1, options, ([worker]) => (worker as Worker).run(job));
