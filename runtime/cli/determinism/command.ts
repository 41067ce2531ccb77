// `nodecli sim determinism`: the same seed gives the same digest, in another process, another order, alone,
// on another engine; and the same shape with other signatures.

import { SAME_FOR_THE_SAME } from '../../../sim/same-again.ts';
import { interruptible } from '../interrupt.ts';
import { fileOfPlay, playToPerform } from '../run/play-file.ts';
import { ProgressBar } from '../screen.ts';
import { counted } from '../telling.ts';
import { differenceLines } from '../traces/diverge.ts';
import {
  CliError,
  countOf,
  EXIT,
  type Exit,
  mustBeSeeds,
  needsBuild,
  quoted,
  SEEDS_MAX,
  seedOf,
} from '../usage.ts';
import { fingerprint, type Job, type JobResult } from '../workers/job.ts';
import { type Worker, type WorkerOptions, withWorkers } from '../workers/workers.ts';
import { type Engine, engineOf } from './engines.ts';
import {
  firstEvent,
  firstEventBetween,
  jobsFor,
  jobsOfPlay,
  type Mismatch,
  performed,
  sameTwice,
} from './same-twice.ts';

export interface DeterminismFlags {
  readonly seeds: string;
  readonly from: string;
  readonly play?: string;
  readonly engines?: string;
  readonly cryptoPairs: string;
}

/** Seeds that are compared between engines. */
const SEEDS_PER_ENGINE = 100;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function determinismCommand(flags: DeterminismFlags): Promise<Exit> {
  needsBuild('sim determinism');
  const seeds = countOf(flags.seeds, '--seeds', 0, SEEDS_MAX);
  const pairs = countOf(flags.cryptoPairs, '--crypto-pairs', 0, SEEDS_MAX);
  const from = BigInt(seedOf(flags.from, '--from'));
  const engines = flags.engines === undefined ? [] : enginesOf(flags.engines);
  const { play } = flags;
  if (play !== undefined) await playToPerform(play);
  const runs: Runs = {
    play,
    jobs: (count) => (play === undefined ? jobsFor(count, from) : jobsOfPlay(play, count, from)),
  };
  mustBeSeeds(from, Math.max(seeds, pairs, engines.length > 0 ? SEEDS_PER_ENGINE : 0), '--from');
  if (seeds === 0 && pairs === 0 && engines.length === 0)
    throw new CliError('nothing to compare: give --seeds, --engines or --crypto-pairs');
  return interruptible(async () => {
    let holds = true;
    if (seeds > 0) holds = (await twice(seeds, runs)) && holds;
    if (engines.length > 0) holds = (await onEngines(engines, runs)) && holds;
    if (pairs > 0) holds = (await cryptoPairs(pairs, runs)) && holds;
    return holds ? EXIT.holds : EXIT.violated;
  });
}

interface Runs {
  /** The only play, by its name or file. */
  readonly play: string | undefined;
  readonly jobs: (count: number) => Job[];
}

async function twice(seeds: number, runs: Runs): Promise<boolean> {
  const bar = new ProgressBar();
  const done = await sameTwice(runs.jobs(seeds), {}, (part, what) => bar.update(part, what)).finally(() =>
    bar.clear(),
  );
  if (done.mismatch) {
    tellMismatch(done.mismatch);
    const found = await firstEvent(done.mismatch.job, {});
    if (found) for (const line of differenceLines(found)) print(line);
    else print('traced again, the two runs are the same: what leaks comes from the runs before');
    tellOwn(runs);
    return false;
  }
  const alone = Math.ceil(seeds / 50);
  print(
    `${counted(done.compared, 'seed')}, each twice: equal digests (${done.runs} runs, and ${alone} alone in a fresh process)`,
  );
  for (const { job, result } of done.broken.slice(0, 10)) tellBroken(job, result);
  if (done.broken.length > 0) print(`${done.broken.length} of them did not hold, twice in the same way`);
  return done.broken.length === 0;
}

/** What comes of nothing is the same everywhere: the first run that could not be performed is told. */
function haveThrown(jobs: readonly Job[], results: readonly JobResult[]): boolean {
  const at = results.findIndex(({ threw }) => threw !== null);
  if (at >= 0) tellBroken(jobs[at] as Job, results[at] as JobResult);
  return at >= 0;
}

/** A play in a file may have functions of its own. */
function tellOwn({ play }: Runs): void {
  if (play !== undefined && fileOfPlay(play) !== undefined) print(SAME_FOR_THE_SAME);
}

function tellBroken({ play, seed, heights }: Job, { violation, threw }: JobResult): void {
  const why = violation ? `${violation.oracle}: ${violation.what}` : (threw ?? 'a promise of the play');
  print(`  did not hold: npx nodecli sim run ${quoted(play)} --seed ${seed} --heights ${heights}  (${why})`);
}

function tellMismatch({ job, one, other, how }: Mismatch): void {
  print(`NOT THE SAME: ${job.play}, seed ${job.seed}, ${how}`);
  print(`  one    ${fingerprint(one)}`);
  print(`  other  ${fingerprint(other)}`);
}

// --- engines -----------------------------------------------------------------------------------------------

function enginesOf(list: string): number[] {
  const majors = list.split(',').map((text) => {
    const major = Number(text.trim());
    if (Number.isInteger(major) && major >= 20 && major < 100) return major;
    throw new CliError(`--engines takes versions of Node from 20 on, as 20,22,24, not "${text}"`);
  });
  const twice = majors.find((major, i) => majors.indexOf(major) < i);
  if (twice !== undefined) throw new CliError(`--engines names ${twice} twice, and compares others`);
  if (majors.length < 2) throw new CliError(`--engines compares two at least, as 20,22,24, not "${list}"`);
  return majors;
}

async function onEngines(majors: readonly number[], runs: Runs): Promise<boolean> {
  const found: Engine[] = [];
  for (const major of majors) {
    const engine = engineOf(major);
    if ('because' in engine) print(`Node ${major} cannot be had, so it is NOT compared: ${engine.because}`);
    else found.push(engine);
  }
  const [first, ...others] = found;
  if (!first || others.length === 0) {
    print('engines: there are not two to compare, so nothing is shown');
    return false;
  }
  const jobs = runs.jobs(SEEDS_PER_ENGINE);
  const expected = await performAll(jobs, { node: first.path }, first.version);
  if (haveThrown(jobs, expected)) return false;
  for (const engine of others) {
    const results = await performAll(jobs, { node: engine.path }, engine.version);
    if (haveThrown(jobs, results)) return false;
    const at = jobs.findIndex(
      (_, i) => fingerprint(results[i] as JobResult) !== fingerprint(expected[i] as JobResult),
    );
    if (at < 0) continue;
    const job = jobs[at] as Job;
    const how = `on Node ${first.version} and on ${engine.version}`;
    tellMismatch({ job, one: expected[at] as JobResult, other: results[at] as JobResult, how });
    const event = await firstEventBetween(job, { node: first.path }, { node: engine.path });
    if (event) for (const line of differenceLines(event)) print(line);
    tellOwn(runs);
    return false;
  }
  print(`${jobs.length} seeds on Node ${found.map(({ version }) => version).join(', ')}: equal digests`);
  return true;
}

/** All jobs, in two workers; results in their order. */
export async function performAll(
  jobs: readonly Job[],
  options: WorkerOptions,
  label: string,
): Promise<JobResult[]> {
  const bar = new ProgressBar();
  const results: JobResult[] = [];
  let next = 0;
  let done = 0;
  await withWorkers(2, options, (workers) =>
    Promise.all(
      workers.map(async (worker: Worker) => {
        while (next < jobs.length) {
          const at = next++;
          const job = jobs[at] as Job;
          results[at] = await performed(job, worker.run(job));
          bar.update(++done / jobs.length, label);
        }
      }),
    ),
  ).finally(() => bar.clear());
  return results;
}

// --- signatures --------------------------------------------------------------------------------------------

/** The same sequence of (time, actor, message type, height, round) and the same verdict, whoever signs. */
async function cryptoPairs(count: number, runs: Runs): Promise<boolean> {
  const jobs = runs.jobs(count);
  const both = jobs.flatMap((job): Job[] => [
    { ...job, crypto: 'sim' },
    { ...job, crypto: 'ed25519' },
  ]);
  const results = await performAll(both, {}, 'sim-crypto and ed25519');
  if (haveThrown(both, results)) return false;
  for (const [i, job] of jobs.entries()) {
    const sim = results[2 * i] as JobResult;
    const real = results[2 * i + 1] as JobResult;
    if (sim.shape === real.shape && sim.holds === real.holds && sim.threw === real.threw) continue;
    print(`NOT THE SAME: ${job.play}, seed ${job.seed}, in sim-crypto and in ed25519`);
    print(`  sim      ${sim.shape} holds ${sim.holds} ${sim.threw ?? ''}`);
    print(`  ed25519  ${real.shape} holds ${real.holds} ${real.threw ?? ''}`);
    return false;
  }
  print(`${counted(count, 'seed')} in sim-crypto and in ed25519: equal shapes and verdicts`);
  return true;
}
