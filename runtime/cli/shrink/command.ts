// `nodecli sim shrink`: makes a failing run small, and saves it as a scenario that fails by itself.

import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isRefusal } from '../../../protocol/refusal.ts';
import { runScenario } from '../../../sim/run.ts';
import { scenarioRefusal } from '../../../sim/scenario/form.ts';
import { toJson } from '../../../sim/scenario/json.ts';
import { isDrawn, type Scenario } from '../../../sim/scenario/play.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import { SetupError, writeFileAtomic } from '../../host/disk/files.ts';
import { Interrupted, interruptible } from '../interrupt.ts';
import { type Patch, patchOf } from '../patch/patch-file.ts';
import { withPatchedBuild } from '../patch/patched-build.ts';
import { isMarked, isNoFile, mustBeApart, mustBeFree } from '../run/outputs.ts';
import { fileOfPlay, isSavedPlay, loadPlay, playFromJson, usualSeedOf } from '../run/play-file.ts';
import { explanationLines, ProgressBar, toJson as reportJson, row } from '../screen.ts';
import { counted, grouped } from '../telling.ts';
import {
  buildCommit,
  CliError,
  countOf,
  EXIT,
  type Exit,
  fileOf,
  isCliError,
  needsBuild,
  packageFolder,
  quoted,
  scenarioFileOf,
  seedOf,
  whyNot,
} from '../usage.ts';
import { type Worker, type WorkerOptions, withWorkers } from '../workers/workers.ts';
import type { ShrinkJob, ShrinkResult, ShrinkSoFar, ShrunkText } from './job.ts';
import { TEST_MARK, testOf } from './test-file.ts';

export interface ShrinkFlags {
  readonly seed?: string;
  readonly heights?: string;
  readonly mutant?: string;
  readonly out?: string;
  readonly test?: string;
  readonly json?: boolean;
}

const SHRUNK = '-shrunk';
/** Of the zoo, or of a file that only who made it knows. */
const fileOfMutant = (id: string): string => {
  const file = `scenarios/zoo/${id}.json`;
  return existsSync(join(packageFolder, file)) ? file : 'FILE';
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function shrinkCommand(nameOrFile: string, flags: ShrinkFlags): Promise<Exit> {
  const wanted = await wantedOf(nameOrFile, flags);
  const { patch, file } = wanted;
  const attempt = new Attempt(flags.json);
  const result = await attempt.of(wanted.job, patch).catch((error: unknown) => {
    throw endedEarly(error, attempt, wanted);
  });
  if ('not' in result) throw new CliError(nothingToShrink(nameOrFile, wanted, result.not, flags));
  const { shrunk, explanation } = result;
  const saved = savedOf(shrunk, patch);
  save(file, `${String(toJson(saved))}\n`);
  if (flags.test !== undefined) save(flags.test, testOf(saved));
  // With a bug planted, what this build says of it shows whether it finds just that bug.
  const healthy = patch ? runScenario(saved, { seed: shrunk.seed }).holds : undefined;
  if (flags.json)
    print(reportJson({ ...shrunk, scenario: saved, file, holdsWithoutMutant: healthy, explanation }));
  else tell(result, healthy, file, flags);
  return EXIT.holds;
}

interface Wanted {
  readonly job: ShrinkJob;
  readonly patch: Patch | null;
  /** The bug with which the scenario was saved, by its id. */
  readonly mutant: string | undefined;
  /** Where what is left is saved. */
  readonly file: string;
}

/** Whatever is to be refused is, before the work. */
async function wantedOf(nameOrFile: string, flags: ShrinkFlags): Promise<Wanted> {
  if (flags.out !== undefined) scenarioFileOf(flags.out, '--out');
  if (flags.test !== undefined) fileOf(flags.test, '--test');
  const play = await loadPlay(nameOrFile);
  const seed = seedOf(flags.seed ?? usualSeedOf(play));
  needsBuild('sim shrink');
  const patch = flags.mutant === undefined ? null : patchOf(flags.mutant);
  const heights = flags.heights === undefined ? undefined : countOf(flags.heights, '--heights');
  if (!isDrawn(play)) mustBeScenario(nameOrFile, play);
  const whole = scenarioUnder(play, seed, heights);
  mustBeScenario(nameOrFile, whole);
  const json = toJson(whole);
  if (isRefusal(json)) throw new CliError(whyNotShrunk(nameOrFile, whole, seed, json.because));
  const file = flags.out ?? `${shrunkName(whole)}.json`;
  mustBeApartFrom(nameOrFile, file, flags);
  mustBeFree('--out', file, 'scenario', isSavedPlay);
  if (flags.test !== undefined)
    mustBeFree('--test', flags.test, 'test that shrink wrote', (there) => isMarked(there, TEST_MARK));
  for (const path of [file, flags.test]) if (path !== undefined) mustBeWritable(path);
  return { job: { shrink: { json }, seed }, patch, mutant: whole.origin?.mutant, file };
}

function mustBeScenario(nameOrFile: string, play: Scenario): void {
  const refusal = scenarioRefusal(play);
  if (refusal) throw new CliError(`${nameOrFile} is not a scenario: ${refusal.because}`);
}

function mustBeApartFrom(nameOrFile: string, file: string, { test, mutant }: ShrinkFlags): void {
  // A small scenario may be written over with a smaller one.
  const isSmaller = file.endsWith('.json') && nameOrFile.endsWith('.json');
  mustBeApart({ '--out': file, '--test': test }, { '--mutant': mutant });
  const own = { 'the scenario': fileOfPlay(nameOrFile) };
  mustBeApart({ '--test': test, ...(!isSmaller && { '--out': file }) }, own);
}

/** A scenario that was shrunk with a bug planted holds on the healthy build: its origin says which that was. */
function nothingToShrink(
  nameOrFile: string,
  { job, mutant: bug }: Wanted,
  not: string,
  { mutant }: ShrinkFlags,
): string {
  const hint =
    bug !== undefined && mutant === undefined
      ? `; it broke with ${bug} planted: add --mutant ${fileOfMutant(bug)}`
      : '';
  return `there is nothing to shrink in ${nameOrFile}, seed ${job.seed}: ${not}${hint}`;
}

/** Whatever ends it, what there is of it is saved, and the error tells where. */
function endedEarly(error: unknown, { runs, least }: Attempt, { patch, file }: Wanted): unknown {
  const made = `${counted(runs, 'run')} made`;
  if (!least)
    return error instanceof Interrupted ? new Interrupted(`${made}, and nothing smaller yet`) : error;
  save(file, `${String(toJson(savedOf(least, patch)))}\n`);
  const soFar = `${made}; ${counted(least.directives, 'directive')} left so far, saved in ${file}`;
  if (error instanceof Interrupted) return new Interrupted(soFar);
  const what = `${whyNot(error).trimEnd()}\n${soFar}`;
  return isCliError(error) ? new CliError(what, error.exit) : new Error(what, { cause: error });
}

/** Functions of its own are in no file; whether anything breaks is said first. */
function whyNotShrunk(file: string, play: Scenario, seed: string, because: string): string {
  const [broken] = runScenario(play, { seed, crypto: 'sim' }).violations;
  if (!broken) return `there is nothing to shrink in ${file}, seed ${seed}: it holds (with sim-crypto)`;
  return (
    `${file} cannot be shrunk into a file (${because}): ` +
    `a program does it, with shrink(play, { seed: '${seed}' }) of rehearsal/sim (docs/library.md)`
  );
}

/** In a worker, so that this process can tell how far it is, and what there is when it is interrupted. */
class Attempt {
  runs = 0;
  least: ShrinkSoFar['least'] = null;
  private readonly bar: ProgressBar;

  constructor(isJson?: boolean) {
    this.bar = new ProgressBar(isJson);
  }

  async of(job: ShrinkJob, patch: Patch | null): Promise<ShrinkResult> {
    const within = (options: WorkerOptions): Promise<ShrinkResult> =>
      withWorkers(1, options, ([worker]) => (worker as Worker).shrink(job, undefined, this.hear));
    const shrinking = (): Promise<ShrinkResult> =>
      patch ? withPatchedBuild(patch, (dist) => within({ dist })) : within({});
    return interruptible(shrinking).finally(() => this.bar.clear());
  }

  private readonly hear = ({ runs, part, least }: ShrinkSoFar): void => {
    this.runs = runs;
    this.least = least ?? this.least;
    const now = this.least ? `, ${counted(this.least.directives, 'directive')} now` : '';
    this.bar.update(part, `${counted(runs, 'run')}${now}`);
  };
}

/** The scenario, and where it comes from. */
function savedOf(
  { scenario, seed, promise, what }: Pick<ShrunkText, 'scenario' | 'seed' | 'promise' | 'what'>,
  patch: Patch | null,
): Scenario {
  const play = playFromJson('the shrunk scenario', scenario) as Scenario;
  const origin = { oracle: promise, what, seed, commit: buildCommit(), ...(patch && { mutant: patch.id }) };
  return { ...play, name: shrunkName(play), title: `what broke ${promise}, made small`, origin };
}

const shrunkName = ({ name }: Scenario): string => (name.endsWith(SHRUNK) ? name : `${name}${SHRUNK}`);

/** Before the work: what cannot be written is said at once. */
function mustBeWritable(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const wasThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    closeSync(openSync(path, 'a'));
    if (!wasThere) rmSync(path);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${whyNot(error)}`);
  }
}

function save(path: string, text: string): void {
  try {
    write(path, text);
  } catch (error) {
    print(text); // much work was done for it
    const cause = error instanceof SetupError ? error.cause : error;
    throw new CliError(`${path} cannot be written: ${whyNot(cause)}`);
  }
}

/** Its folder takes no new file, or another file system has it. */
const ONLY_IN_PLACE = ['EACCES', 'EPERM', 'EROFS', 'EBUSY'];

/** Whole or not at all: it may be written over the only one that shows the bug. */
function write(path: string, text: string): void {
  if (isNoFile(path)) return writeFileSync(path, text);
  const there = statSync(path, { throwIfNoEntry: false });
  try {
    writeFileAtomic(path, text, there && there.mode & 0o777);
  } catch (error) {
    const code = error instanceof SetupError ? (error.cause as NodeJS.ErrnoException).code : undefined;
    if (!there || !ONLY_IN_PLACE.includes(code ?? '')) throw error;
    writeFileSync(path, text);
  }
}

function minimalText({ isMinimal, holdsWithoutAny }: ShrunkText): string {
  if (!isMinimal) return 'NO';
  return holdsWithoutAny
    ? 'yes: without any one part every promise holds'
    : 'yes: without any one part this promise does not break';
}

function tell(
  { shrunk, explanation }: Exclude<ShrinkResult, { readonly not: string }>,
  healthy: boolean | undefined,
  file: string,
  { test, mutant }: ShrinkFlags,
): void {
  const { promise, what, height, directives, survives, runs, spent } = shrunk;
  print(`${promise}: ${what}`);
  print(row('directives', `${directives.before} before, ${directives.after} now`));
  print(row('height', String(height)));
  print(row('1-minimal', minimalText(shrunk)));
  print(row('other seeds', `fails in ${survives.fails} of ${survives.seeds}`));
  print(row('runs', `${runs}, of ${grouped(spent)} deliveries`));
  if (healthy !== undefined) print(row('without it', healthy ? 'the healthy build holds' : 'VIOLATED, too'));
  print(row('saved', file));
  if (test !== undefined) print(row('test', test));
  const planted = mutant === undefined ? '' : ` --mutant ${quoted(mutant)}`;
  print(row('again', `npx nodecli sim run ${quoted(file)}${planted}`));
  if (explanation) for (const line of explanationLines(explanation)) print(line);
}
