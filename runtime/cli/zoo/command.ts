// `nodecli sim zoo`: plants the bugs of scenarios/zoo in copies of the build, one at a time, and tells
// which oracle found each.

import { join, relative } from 'node:path';
import { jobsFor, jobsOfPlay } from '../determinism/same-twice.ts';
import { Interrupted, interruptible, isUninterrupted } from '../interrupt.ts';
import { type Patch, patchesOf, patchOf } from '../patch/patch-file.ts';
import { mustApply, withPatchedBuild } from '../patch/patched-build.ts';
import { drawnPlay } from '../run/play-file.ts';
import {
  CliError,
  countOf,
  EXIT,
  type Exit,
  mustBeSeeds,
  needsBuild,
  packageFolder,
  quoted,
  SEEDS_MAX,
  seedOf,
  workersOf,
} from '../usage.ts';
import type { Job } from '../workers/job.ts';
import { HEALTHY, hunt, type Outcome } from './hunt.ts';
import { isControl, LEAGUE_HEAD, type Place, placeOf, rowOf, summaryOf } from './league.ts';
import { jobsOfRules, rulePatches } from './rule-patches.ts';
import {
  canBeWritten,
  isGoodSmall,
  linesOfSmall,
  type NotSmall,
  type Small,
  shortfallsOf,
  shrinkKills,
  summaryOfSmall,
} from './shrink.ts';
import { proveTriggers } from './triggers.ts';

export interface ZooFlags {
  readonly seeds?: string;
  readonly from?: string;
  /** Each build is hunted through from so many base seeds. */
  readonly bases?: string;
  /** The runs of this play alone. */
  readonly play?: string;
  readonly only?: string;
  /** Anybody's patch instead: our JSON, or a unified diff. */
  readonly mutant?: string;
  readonly triggers?: boolean;
  /** The rules of the algorithm instead, each deleted in turn. */
  readonly rules?: boolean;
  /** So many failing runs of each are made small. */
  readonly shrink?: string;
  readonly workers?: string;
  readonly json?: boolean;
}

const ZOO = 'scenarios/zoo';
/** Base seeds lie so far apart: as many as one base may have runs. */
const BASES_APART = BigInt(SEEDS_MAX);
const BASES_MAX = 100;
const RUNS_USUAL = '500';
const INDENT = ' '.repeat(10);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function zooCommand(flags: ZooFlags): Promise<Exit> {
  needsBuild('sim zoo');
  const wanted = wantedOf(flags);
  const { chosen } = wanted;
  if (flags.triggers)
    return interruptible(() => proveTriggers(chosen, flags.json === true, flags.only !== undefined));
  const seen: Seen = { outcomes: [], made: [] };
  // Whatever goes wrong, what was seen is told.
  const wrong: unknown[] = [];
  const isWhole = await isUninterrupted(() => huntAll(wanted, flags, seen)).catch((error: unknown) => {
    wrong.push(error);
    return false;
  });
  const places = seen.outcomes.map(placeOf);
  if (flags.json) print(JSON.stringify(reportOf(wanted, seen, places), null, 2));
  else tellEnd(seen, places);
  if (wrong.length > 0) throw wrong[0];
  const whole = seen.outcomes.filter(({ length }) => length === wanted.bases.length);
  if (!isWhole) throw new Interrupted(`${whole.length} of ${chosen.length} builds were hunted through`);
  const areGood = seen.made.every(isGoodSmall) && shortfallsOf(seen.made).length === 0;
  return places.every(({ isGood }) => isGood) && areGood ? EXIT.holds : EXIT.violated;
}

interface Wanted extends Hunts {
  readonly chosen: readonly (Patch | null)[];
  readonly workers: number;
  /** So many failing runs of each are made small. */
  readonly small: number;
}

/** Whatever is to be refused is, before the first copy is made: a patch that does not apply, too. */
function wantedOf(flags: ZooFlags): Wanted {
  const hunts = huntsOf(flags);
  const small = flags.shrink === undefined ? 0 : countOf(flags.shrink, '--shrink');
  const workers = workersOf(flags.workers);
  const chosen = chosenOf(flags);
  for (const patch of chosen) if (patch) mustApply(patch);
  return { ...hunts, chosen, workers, small };
}

/** What has come of the builds so far: of each an outcome for each base seed, and runs that were made small. */
interface Seen {
  readonly outcomes: (readonly Outcome[])[];
  readonly made: (Small | NotSmall)[];
}

async function huntAll(wanted: Wanted, flags: ZooFlags, seen: Seen): Promise<void> {
  if (isLeague(wanted) && !flags.json) print(LEAGUE_HEAD);
  for (const patch of wanted.chosen)
    await withPatchedBuild(patch, async (dist) => {
      const first = await huntOne(patch, dist, wanted, flags, seen);
      if (wanted.small === 0 || first.kills.length === 0 || isControl(first)) return;
      const small = await shrinkKills(first.mutant, dist, first.kills, wanted.workers, flags.json === true);
      seen.made.push(...small);
      if (!flags.json) for (const line of linesOfSmall(small)) print(`${INDENT}${line}`);
    });
}

/** One build, from every base seed; what came of the first. Of one that breaks off, too, what was seen is told. */
async function huntOne(
  patch: Patch | null,
  dist: string,
  wanted: Wanted,
  flags: ZooFlags,
  seen: Seen,
): Promise<Outcome> {
  const { bases, jobsFrom, workers, small } = wanted;
  const many = small > 0 ? { wanted: small, counts: canBeWritten } : {};
  const options = { workers, isJson: flags.json === true, ...many };
  const outcomes: Outcome[] = [];
  try {
    for (const base of bases) outcomes.push(await hunt(patch, dist, jobsFrom(base), options));
  } finally {
    if (outcomes.length > 0) seen.outcomes.push(outcomes);
    if (outcomes.length > 0 && !flags.json) tell(outcomes, isLeague(wanted), flags);
  }
  return outcomes[0] as Outcome;
}

const isLeague = ({ bases }: Hunts): boolean => bases.length > 1;

const reportOf = (wanted: Wanted, { outcomes, made }: Seen, league: readonly Place[]): object => ({
  outcomes: outcomes.flat(),
  ...(isLeague(wanted) && { league }),
  ...(wanted.small > 0 && { made }),
});

function tellEnd({ made }: Seen, places: readonly Place[]): void {
  const lines = summaryOf(places);
  for (const line of lines.length > 0 ? ['', ...lines] : []) print(line);
  if (made.length > 0) print(summaryOfSmall(made));
  for (const line of shortfallsOf(made)) print(`BAD: ${line}`);
}

interface Hunts {
  readonly bases: readonly bigint[];
  /** The runs of a base seed: listed when they are made, for they may be many. */
  readonly jobsFrom: (base: bigint) => readonly Job[];
}

function huntsOf(flags: ZooFlags): Hunts {
  const { seeds = RUNS_USUAL, from = '1', bases = '1', play, rules, shrink, triggers, workers } = flags;
  const idle = ['seeds', 'from', 'bases', 'play'].find((flag) => flags[flag as keyof ZooFlags] !== undefined);
  if (triggers && idle !== undefined)
    throw new CliError(`--triggers performs plays under seeds of their own: it does not go with --${idle}`);
  const count = countOf(seeds, '--seeds', 1, SEEDS_MAX);
  const many = countOf(bases, '--bases', 1, BASES_MAX);
  const first = BigInt(seedOf(from, '--from'));
  if (many > 1 && shrink !== undefined)
    throw new CliError('--bases makes a league table of the hunt: it does not go with --shrink');
  if (triggers && workers !== undefined)
    throw new CliError('--triggers performs three runs of each, one after the other: it takes no --workers');
  if (play !== undefined && rules)
    throw new CliError('--play says what hunts for the mutants: it does not go with --rules');
  const name = play === undefined ? undefined : drawnPlay(play);
  mustBeSeeds(first + BigInt(many - 1) * BASES_APART, count, '--from');
  return {
    bases: Array.from({ length: many }, (_, i) => first + BigInt(i) * BASES_APART),
    jobsFrom: (base) => {
      if (name !== undefined) return jobsOfPlay(name, count, base);
      return (rules ? jobsOfRules : jobsFor)(count, base);
    },
  };
}

function chosenOf({ only, mutant, rules, triggers, shrink }: ZooFlags): readonly (Patch | null)[] {
  if (triggers && shrink !== undefined)
    throw new CliError('--shrink makes runs small that were hunted for, and triggers are small already');
  if (rules && (mutant !== undefined || triggers))
    throw new CliError(
      '--rules deletes the rules of the chart: it goes with neither --mutant nor --triggers',
    );
  if (mutant !== undefined && only !== undefined)
    throw new CliError(`--only picks mutants of ${ZOO}, --mutant brings another: give one of them`);
  if (mutant !== undefined) return [patchOf(mutant)];
  const zoo: (Patch | null)[] = rules ? rulePatches() : [null, ...patchesOf(ZOO)];
  if (only === undefined) return zoo;
  if (only === '')
    throw new CliError(`--only: give an id, as ${rules ? 'L36' : 'M06'}, or several with commas`);
  const ids = only.split(',');
  const chosen = zoo.filter((patch) => ids.includes(patch?.id ?? HEALTHY));
  const unknown = ids.find((id) => !zoo.some((patch) => (patch?.id ?? HEALTHY) === id));
  if (unknown !== undefined)
    throw new CliError(
      rules
        ? `--only: there is no rule "${unknown}": ${zoo.map((patch) => patch?.id).join(', ')}`
        : `--only: there is no mutant "${unknown}": ${neighboursOf(unknown, zoo)}they lie between ${rangesOf(zoo)}`,
    );
  return chosen;
}

const numberOf = (id: string): number => Number(id.slice(1));

/** Not every number is taken: of one that is written as they are, those before and after it. */
function neighboursOf(unknown: string, zoo: readonly (Patch | null)[]): string {
  const ids = zoo.map((patch) => patch?.id ?? HEALTHY).filter((id) => id.charAt(0) === unknown.charAt(0));
  if (!ids.some((id) => id.length === unknown.length) || !/^[A-Z][0-9]+$/.test(unknown)) return '';
  const sorted = ids.sort((a, b) => numberOf(a) - numberOf(b));
  const before = sorted.findLast((id) => numberOf(id) < numberOf(unknown));
  const after = sorted.find((id) => numberOf(id) > numberOf(unknown));
  if (before === undefined || after === undefined) return '';
  return `that number is not taken, next to it are ${before} and ${after}; `;
}

/** The first and the last of each letter. */
function rangesOf(zoo: readonly (Patch | null)[]): string {
  const byLetter = new Map<string, string[]>();
  for (const patch of zoo) {
    const id = patch?.id ?? HEALTHY;
    const letter = id.charAt(0);
    byLetter.set(letter, [...(byLetter.get(letter) ?? []), id]);
  }
  const ranges = [...byLetter.values()].map((ids) => {
    const sorted = ids.sort((a, b) => numberOf(a) - numberOf(b));
    return `${sorted[0]} and ${sorted.at(-1)}`;
  });
  return `${ranges.join(', ')} (docs/zoo.md has them all)`;
}

/** Where the patch stands, as `sim run --mutant` takes it; those of rules are no files. */
function fileOf({ mutant }: Outcome, { mutant: own, rules }: ZooFlags): string | undefined {
  if (own !== undefined || rules) return own;
  return relative('', join(packageFolder, ZOO, `${mutant}.json`));
}

/** A row of the league, and what is not well in it; without a league, what came of the one hunt. */
function tell(outcomes: readonly Outcome[], ofLeague: boolean, flags: ZooFlags): void {
  if (ofLeague) print(rowOf(placeOf(outcomes)));
  for (const outcome of outcomes) if (!ofLeague || !outcome.isGood) tellOne(outcome, fileOf(outcome, flags));
}

function tellOne(outcome: Outcome, file: string | undefined): void {
  const { mutant, name, oracle, seeds, play, seed, what, crashes, playsBroken, isGood } = outcome;
  const verdict =
    oracle === null
      ? `silent over ${seeds} seeds`
      : `killed by ${oracle} after ${seeds} seeds (${play}, seed ${seed})`;
  print(`${isGood ? 'ok ' : 'BAD'} ${mutant.padEnd(5)} ${name}: ${verdict}`);
  if (what !== '' && what !== outcome.broken?.what) print(`${INDENT}${what}`);
  const heights = outcome.heights === undefined ? '' : ` --heights ${outcome.heights}`;
  const planted = file === undefined || mutant === HEALTHY ? '' : ` --mutant ${quoted(file)}`;
  const again = (of: string, under: string): string =>
    `again: npx nodecli sim run ${of} --seed ${under}${heights}${planted}`;
  if (oracle !== null && file !== undefined) print(`${INDENT}${again(play, seed)}`);
  if (oracle === null && outcome.broken) {
    const { broken } = outcome;
    print(`${INDENT}a promise of ${broken.play} breaks, seed ${broken.seed}: ${broken.what}`);
    if (file !== undefined) print(`${INDENT}${again(broken.play, broken.seed)}`);
  }
  if (crashes + playsBroken > 0)
    print(`${INDENT}before that: ${crashes} crashes, ${playsBroken} broken promises of plays`);
}
