// `nodecli sim leaks`: plants leaks of determinism in copies of the build, and tells how each was caught.

import { interruptible } from '../interrupt.ts';
import { type Patch, patchesOf } from '../patch/patch-file.ts';
import { withPatchedBuild } from '../patch/patched-build.ts';
import { ProgressBar } from '../screen.ts';
import { differenceLines, type FirstDifference } from '../traces/diverge.ts';
import { CliError, countOf, EXIT, type Exit, needsBuild, SEEDS_MAX } from '../usage.ts';
import { fingerprint, type Job, type JobResult } from '../workers/job.ts';
import { runAlone } from '../workers/workers.ts';
import { engineOf } from './engines.ts';
import { firstEvent, firstEventBetween, jobsFor, sameTwice } from './same-twice.ts';

type Caught =
  | { readonly outcome: 'caught'; readonly job: Job; readonly event: FirstDifference | null }
  | { readonly outcome: 'missed' }
  | { readonly outcome: 'skipped'; readonly because: string };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function leaksCommand(flags: { readonly seeds: string; readonly only?: string }): Promise<Exit> {
  needsBuild('sim leaks');
  const seeds = countOf(flags.seeds, '--seeds', 1, SEEDS_MAX);
  const all = patchesOf('scenarios/leaks');
  const leaks = all.filter(({ id }) => flags.only === undefined || id === flags.only);
  if (flags.only === '') throw new CliError('--only: give an id');
  if (leaks.length === 0)
    throw new CliError(`--only: there is no leak "${flags.only}": ${all.map(({ id }) => id).join(', ')}`);
  let missed = 0;
  let skipped = 0;
  await interruptible(async () => {
    for (const leak of leaks) {
      const caught = await withPatchedBuild(leak, (dist) => hunt(leak, dist, seeds));
      if (caught.outcome === 'missed') missed++;
      if (caught.outcome === 'skipped') skipped++;
      tell(leak, caught);
    }
  });
  if (skipped === leaks.length) {
    print('no leak could be tried');
    return EXIT.violated;
  }
  const rest = skipped === 0 ? '' : `; ${skipped} skipped`;
  print(
    (missed === 0 ? 'every leak was caught' : `${missed} of ${leaks.length} leaks were NOT caught`) + rest,
  );
  return missed === 0 ? EXIT.holds : EXIT.violated;
}

async function hunt(leak: Patch, dist: string, seeds: number): Promise<Caught> {
  if (leak.engines.length > 0) return huntBetween(leak, dist, seeds);
  const bar = new ProgressBar();
  const { mismatch } = await sameTwice(jobsFor(seeds, 1n), { dist }, (done, what) =>
    bar.update(done, `${leak.id}: ${what}`),
  ).finally(() => bar.clear());
  if (!mismatch) return { outcome: 'missed' };
  return { outcome: 'caught', job: mismatch.job, event: await firstEvent(mismatch.job, { dist }) };
}

/** A leak that every engine repeats faithfully, and that two engines do not share. */
async function huntBetween(leak: Patch, dist: string, seeds: number): Promise<Caught> {
  const engines = leak.engines.map(engineOf);
  for (const engine of engines)
    if ('because' in engine) return { outcome: 'skipped', because: engine.because };
  const [one, other] = engines.map((engine) => ({ node: 'path' in engine ? engine.path : '', dist }));
  if (!one || !other) throw new CliError(`the leak ${leak.id} names fewer than two engines`);
  for (const job of jobsFor(seeds, 1n)) {
    const results: JobResult[] = [await runAlone(job, one), await runAlone(job, other)];
    if (fingerprint(results[0] as JobResult) === fingerprint(results[1] as JobResult)) continue;
    return { outcome: 'caught', job, event: await firstEventBetween(job, one, other) };
  }
  return { outcome: 'missed' };
}

function tell({ id, name, why }: Patch, caught: Caught): void {
  print(`${id}: ${name}`);
  if (caught.outcome === 'skipped') return print(`  SKIPPED: ${caught.because}`);
  if (caught.outcome === 'missed') return print(`  NOT CAUGHT. ${why}`);
  print(`  caught by ${caught.job.play}, seed ${caught.job.seed}`);
  if (caught.event) for (const line of differenceLines(caught.event)) print(`  ${line}`);
  else print('  (traced again, the runs were the same: it shows only after other runs)');
}
