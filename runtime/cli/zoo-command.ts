// `nodecli sim zoo`: plants the bugs of scenarios/zoo in copies of the build, one at a time, and tells
// which oracle found each.

import { PLAY, promiseOf } from '../../sim/shrink/promise.ts';
import { Interrupted, interruptible, isUninterrupted } from './interrupt.ts';
import type { Job, JobResult } from './job.ts';
import { type Patch, patchesOf, patchOf, withPatchedBuild } from './patched-build.ts';
import { jobsFor } from './same-twice.ts';
import { ProgressBar } from './screen.ts';
import { proveTriggers } from './triggers.ts';
import { CliError, countOf, EXIT, type Exit, needsBuild, seedOf } from './usage.ts';
import { type Worker, withWorkers } from './workers.ts';

export interface ZooFlags {
  readonly seeds: string;
  readonly from: string;
  readonly only?: string;
  /** Anybody's patch instead: our JSON, or a unified diff. */
  readonly mutant?: string;
  readonly triggers?: boolean;
  readonly json?: boolean;
}

interface Outcome {
  readonly mutant: string;
  readonly name: string;
  /** The oracle that found it, or null. */
  readonly oracle: string | null;
  readonly expected: readonly string[];
  /** How many seeds it took; all of them when nothing was found. */
  readonly seeds: number;
  readonly play: string;
  readonly seed: string;
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
  /** As it should be: killed by an oracle, or silent for the healthy build and for a harmless change. */
  readonly isGood: boolean;
}

const HEALTHY = 'C1';
const SOON = 500;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function zooCommand(flags: ZooFlags): Promise<Exit> {
  needsBuild('sim zoo');
  const jobs = jobsFor(countOf(flags.seeds, '--seeds'), BigInt(seedOf(flags.from)));
  const chosen = chosenOf(flags);
  if (flags.triggers) return interruptible(() => proveTriggers(chosen, flags.json === true));
  const outcomes: Outcome[] = [];
  const isWhole = await isUninterrupted(async () => {
    for (const patch of chosen) {
      const outcome = await withPatchedBuild(patch, (dist) => hunt(patch, dist, jobs));
      outcomes.push(outcome);
      if (!flags.json) tell(outcome);
    }
  });
  if (flags.json) print(JSON.stringify(outcomes, null, 2));
  else tellLeague(outcomes);
  if (!isWhole) throw new Interrupted(`${outcomes.length} of ${chosen.length} builds were hunted through`);
  return outcomes.every(({ isGood }) => isGood) ? EXIT.holds : EXIT.violated;
}

function chosenOf({ only, mutant }: ZooFlags): readonly (Patch | null)[] {
  if (mutant !== undefined && only !== undefined)
    throw new CliError('--only picks mutants of scenarios/zoo, --mutant brings another: give one of them');
  if (mutant !== undefined) return [patchOf(mutant)];
  const zoo: (Patch | null)[] = [null, ...patchesOf('scenarios/zoo')];
  if (only === undefined) return zoo;
  const ids = only.split(',');
  const chosen = zoo.filter((patch) => ids.includes(patch?.id ?? HEALTHY));
  const unknown = ids.find((id) => !zoo.some((patch) => (patch?.id ?? HEALTHY) === id));
  if (unknown !== undefined) throw new CliError(`there is no mutant "${unknown}" in scenarios/zoo`);
  return chosen;
}

/**
 * Runs until an oracle speaks. The result does not depend on which worker is faster: the smallest seed
 * counts.
 */
async function hunt(patch: Patch | null, dist: string, jobs: readonly Job[]): Promise<Outcome> {
  const bar = new ProgressBar();
  let killedAt = jobs.length;
  let next = 0;
  let done = 0;
  const results: JobResult[] = [];
  const work = async (worker: Worker): Promise<void> => {
    while (next < Math.min(jobs.length, killedAt)) {
      const at = next++;
      const result = await worker.run(jobs[at] as Job);
      results[at] = result;
      if (isKill(result) && at < killedAt) killedAt = at;
      bar.update(++done / jobs.length, `${patch?.id ?? HEALTHY}: ${done} seeds`);
    }
  };
  await withWorkers(2, { dist }, (workers) => Promise.all(workers.map(work))).finally(() => bar.clear());
  return outcomeOf(patch, jobs, results, killedAt);
}

const isCrash = ({ violation, threw }: JobResult): boolean =>
  threw !== null || (violation?.oracle === 'hygiene' && violation.what.includes(' threw: '));

const isKill = (result: JobResult): boolean =>
  result.violation !== null && result.violation.oracle !== PLAY && !isCrash(result);

function outcomeOf(
  patch: Patch | null,
  jobs: readonly Job[],
  results: readonly JobResult[],
  killedAt: number,
): Outcome {
  const isKilled = killedAt < jobs.length;
  const job = isKilled ? jobs[killedAt] : undefined;
  const violation = isKilled ? (results[killedAt]?.violation ?? null) : null;
  const before = results.slice(0, killedAt);
  const failed = before.filter(({ holds }) => !holds);
  const first = failed[0];
  return {
    mutant: patch?.id ?? HEALTHY,
    name: patch?.name ?? 'the healthy build',
    oracle: violation && promiseOf(violation),
    expected: patch?.oracles ?? [],
    seeds: isKilled ? killedAt + 1 : jobs.length,
    play: job?.play ?? '',
    seed: job?.seed ?? '',
    what: violation?.what ?? first?.violation?.what ?? first?.threw ?? '',
    crashes: failed.filter(isCrash).length,
    playsBroken: failed.filter((result) => !isCrash(result)).length,
    isGood: patch === null || patch.isHarmless ? !isKilled && failed.length === 0 : isKilled,
  };
}

/** How soon, over all that are no controls. */
function tellLeague(outcomes: readonly Outcome[]): void {
  const mutants = outcomes.filter(({ mutant }) => !/^C[0-9]/.test(mutant));
  if (mutants.length < 2) return;
  const killed = mutants.filter(({ oracle }) => oracle !== null);
  const soon = killed.filter(({ seeds }) => seeds <= SOON);
  const order = killed.map(({ seeds }) => seeds).sort((a, b) => a - b);
  print('');
  print(
    `${killed.length} of ${mutants.length} mutants killed by an oracle, ${soon.length} of them within ${SOON} runs; ` +
      `half of them within ${order[order.length >> 1] ?? 0}`,
  );
  const silent = mutants.filter(({ oracle }) => oracle === null).map(({ mutant }) => mutant);
  if (silent.length > 0) print(`not killed: ${silent.join(' ')}`);
}

function tell({
  mutant,
  name,
  oracle,
  seeds,
  play,
  seed,
  what,
  crashes,
  playsBroken,
  isGood,
}: Outcome): void {
  const verdict =
    oracle === null
      ? `silent over ${seeds} seeds`
      : `killed by ${oracle} after ${seeds} seeds (${play}, seed ${seed})`;
  print(`${isGood ? 'ok ' : 'BAD'} ${mutant.padEnd(5)} ${name}: ${verdict}`);
  if (what !== '') print(`          ${what}`);
  if (crashes + playsBroken > 0)
    print(`          before that: ${crashes} crashes, ${playsBroken} broken promises of plays`);
}
