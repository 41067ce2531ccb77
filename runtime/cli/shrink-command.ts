// `nodecli sim shrink`: makes a failing run small, and saves it as a scenario that fails by itself.

import { writeFileSync } from 'node:fs';
import { isRefusal } from '../../protocol/refusal.ts';
import { scenarioUnder } from '../../sim/run.ts';
import { toJson } from '../../sim/scenario/json.ts';
import type { Scenario } from '../../sim/scenario/play.ts';
import { type Patch, patchOf, withPatchedBuild } from './patched-build.ts';
import { loadPlay, playFromJson, usualSeedOf } from './play-file.ts';
import { toJson as reportJson } from './screen.ts';
import { performShrink, type ShrinkJob, type ShrinkResult, type ShrunkText } from './shrink-job.ts';
import { testOf } from './shrink-test-file.ts';
import { grouped } from './telling.ts';
import { buildCommit, CliError, EXIT, type Exit, needsBuild, seedOf, whyNot } from './usage.ts';
import { type Worker, withWorkers } from './workers.ts';

export interface ShrinkFlags {
  readonly seed?: string;
  readonly mutant?: string;
  readonly out?: string;
  readonly test?: string;
  readonly json?: boolean;
}

/** About half a minute of one core. */
const BUDGET = 500_000;

const SHRUNK = '-shrunk';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function shrinkCommand(nameOrFile: string, flags: ShrinkFlags): Promise<Exit> {
  const play = await loadPlay(nameOrFile);
  const seed = seedOf(flags.seed ?? usualSeedOf(play));
  const patch = flags.mutant === undefined ? null : patchOf(flags.mutant);
  const json = toJson(scenarioUnder(play, seed));
  if (isRefusal(json)) throw new CliError(`${nameOrFile} cannot be shrunk: ${json.because}`);
  const job: ShrinkJob = { shrink: { json }, seed, budget: BUDGET };
  const result = patch ? await shrinkInPatched(patch, job) : performShrink(job);
  if ('not' in result)
    throw new CliError(`there is nothing to shrink in ${nameOrFile}, seed ${seed}: ${result.not}`);
  const { shrunk } = result;
  const saved = savedOf(shrunk, patch);
  const path = flags.out ?? `${saved.name}.json`;
  save(path, `${String(toJson(saved))}\n`);
  if (flags.test !== undefined) save(flags.test, testOf(saved));
  if (flags.json) print(reportJson({ ...shrunk, scenario: saved, file: path }));
  else tell(shrunk, path, flags.test);
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
  return { ...play, name, origin };
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${whyNot(error)}`);
  }
}

function tell(
  { promise, what, height, directives, isMinimal, survives, runs, spent }: ShrunkText,
  path: string,
  test?: string,
): void {
  print(`${promise}: ${what}`);
  print(`  directives    ${directives.before} before, ${directives.after} now`);
  print(`  height        ${height}`);
  print(`  1-minimal     ${isMinimal ? 'yes: without any one part the promise holds' : 'NO'}`);
  print(`  other seeds   fails in ${survives.fails} of ${survives.seeds}`);
  print(`  runs          ${runs}, of ${grouped(spent)} deliveries`);
  print(`  saved         ${path}`);
  if (test !== undefined) print(`  test          ${test}`);
  print(`  again         npx nodecli sim run ${path}`);
}
