// `nodecli sim shrink`: makes a failing run small, and saves it as a scenario that fails by itself.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRefusal } from '../../protocol/refusal.ts';
import { runScenario } from '../../sim/run.ts';
import { scenarioRefusal } from '../../sim/scenario/form.ts';
import { toJson } from '../../sim/scenario/json.ts';
import type { Scenario } from '../../sim/scenario/play.ts';
import { scenarioUnder } from '../../sim/scenario/under.ts';
import { type Patch, patchOf, withPatchedBuild } from './patched-build.ts';
import { loadPlay, playFromJson, usualSeedOf } from './play-file.ts';
import { explanationLines, toJson as reportJson, row } from './screen.ts';
import { performShrink, type ShrinkJob, type ShrinkResult, type ShrunkText } from './shrink-job.ts';
import { testOf } from './shrink-test-file.ts';
import { grouped } from './telling.ts';
import { buildCommit, CliError, countOf, EXIT, type Exit, needsBuild, seedOf, whyNot } from './usage.ts';
import { type Worker, withWorkers } from './workers.ts';

export interface ShrinkFlags {
  readonly seed?: string;
  readonly heights?: string;
  readonly mutant?: string;
  readonly out?: string;
  readonly test?: string;
  readonly json?: boolean;
}

const SHRUNK = '-shrunk';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function shrinkCommand(nameOrFile: string, flags: ShrinkFlags): Promise<Exit> {
  const play = await loadPlay(nameOrFile);
  const seed = seedOf(flags.seed ?? usualSeedOf(play));
  const patch = flags.mutant === undefined ? null : patchOf(flags.mutant);
  const heights = flags.heights === undefined ? undefined : countOf(flags.heights, '--heights');
  const whole = scenarioUnder(play, seed, heights);
  const refusal = scenarioRefusal(whole);
  if (refusal) throw new CliError(`${nameOrFile} is not a scenario: ${refusal.because}`);
  const json = toJson(whole);
  if (isRefusal(json)) throw new CliError(`${nameOrFile} cannot be shrunk: ${json.because}`);
  for (const path of [flags.out, flags.test]) if (path !== undefined) makeFolderOf(path);
  const job: ShrinkJob = { shrink: { json }, seed };
  const result = patch ? await shrinkInPatched(patch, job) : performShrink(job);
  if ('not' in result)
    throw new CliError(`there is nothing to shrink in ${nameOrFile}, seed ${seed}: ${result.not}`);
  const { shrunk, explanation } = result;
  const saved = savedOf(shrunk, patch);
  const path = flags.out ?? `${saved.name}.json`;
  save(path, `${String(toJson(saved))}\n`);
  if (flags.test !== undefined) save(flags.test, testOf(saved));
  // With a bug planted, what this build says of it shows whether it finds just that bug.
  const healthy = patch ? runScenario(saved, { seed: shrunk.seed }).holds : undefined;
  if (flags.json) {
    const report = { ...shrunk, scenario: saved, file: path, holdsWithoutMutant: healthy, explanation };
    print(reportJson(report));
    return EXIT.holds;
  }
  tell(shrunk);
  if (healthy !== undefined) print(row('without it', healthy ? 'the healthy build holds' : 'VIOLATED, too'));
  print(row('saved', path));
  if (flags.test !== undefined) print(row('test', flags.test));
  print(row('again', `npx nodecli sim run ${path}${patch ? ` --mutant ${flags.mutant}` : ''}`));
  if (explanation) for (const line of explanationLines(explanation)) print(line);
  return EXIT.holds;
}

async function shrinkInPatched(patch: Patch, job: ShrinkJob): Promise<ShrinkResult> {
  needsBuild('sim shrink --mutant');
  return withPatchedBuild(patch, (dist) =>
    withWorkers(1, { dist }, ([worker]) => (worker as Worker).shrink(job)),
  );
}

/** The scenario, and where it comes from. */
function savedOf({ scenario, seed, promise, what }: ShrunkText, patch: Patch | null): Scenario {
  const play = playFromJson('the shrunk scenario', scenario) as Scenario;
  const origin = { oracle: promise, what, seed, commit: buildCommit(), ...(patch && { mutant: patch.id }) };
  const name = play.name.endsWith(SHRUNK) ? play.name : `${play.name}${SHRUNK}`;
  return { ...play, name, title: `what broke ${promise}, made small`, origin };
}

/** Before the work: what cannot be written is said at once. */
function makeFolderOf(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${whyNot(error)}`);
  }
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${whyNot(error)}`);
  }
}

function tell({ promise, what, height, directives, isMinimal, survives, runs, spent }: ShrunkText): void {
  print(`${promise}: ${what}`);
  print(row('directives', `${directives.before} before, ${directives.after} now`));
  print(row('height', String(height)));
  print(row('1-minimal', isMinimal ? 'yes: without any one part the promise holds' : 'NO'));
  print(row('other seeds', `fails in ${survives.fails} of ${survives.seeds}`));
  print(row('runs', `${runs}, of ${grouped(spent)} deliveries`));
}
