// `nodecli sim zoo`: plants the bugs of scenarios/zoo in copies of the build, one at a time, and tells
// which oracle found each.

import { join, relative } from 'node:path';
import { jobsFor } from '../determinism/same-twice.ts';
import { Interrupted, interruptible, isUninterrupted } from '../interrupt.ts';
import { type Patch, patchesOf, patchOf, withPatchedBuild } from '../patch/patched-build.ts';
import { medianOf } from '../telling.ts';
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
} from '../usage.ts';
import { HEALTHY, hunt, type Outcome } from './hunt.ts';
import { jobsOfRules, rulePatches } from './rule-patches.ts';
import {
  canBeWritten,
  isGoodSmall,
  linesOfSmall,
  type NotSmall,
  type Small,
  shrinkKills,
  summaryOfSmall,
} from './shrink.ts';
import { proveTriggers } from './triggers.ts';

export interface ZooFlags {
  readonly seeds: string;
  readonly from: string;
  readonly only?: string;
  /** Anybody's patch instead: our JSON, or a unified diff. */
  readonly mutant?: string;
  readonly triggers?: boolean;
  /** The rules of the algorithm instead, each deleted in turn. */
  readonly rules?: boolean;
  /** So many failing runs of each are made small. */
  readonly shrink?: string;
  readonly json?: boolean;
}

const ZOO = 'scenarios/zoo';
const SOON = 500;
const WORKERS = 2;
const INDENT = ' '.repeat(10);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function zooCommand(flags: ZooFlags): Promise<Exit> {
  needsBuild('sim zoo');
  const seeds = countOf(flags.seeds, '--seeds', 1, SEEDS_MAX);
  const from = BigInt(seedOf(flags.from));
  mustBeSeeds(from, seeds, '--from');
  const jobs = (flags.rules ? jobsOfRules : jobsFor)(seeds, from);
  const wanted = flags.shrink === undefined ? 0 : countOf(flags.shrink, '--shrink');
  const chosen = chosenOf(flags);
  if (flags.triggers)
    return interruptible(() => proveTriggers(chosen, flags.json === true, flags.only !== undefined));
  const outcomes: Outcome[] = [];
  const made: (Small | NotSmall)[] = [];
  const isWhole = await isUninterrupted(async () => {
    for (const patch of chosen) {
      await withPatchedBuild(patch, async (dist) => {
        const many = wanted > 0 ? { wanted, counts: canBeWritten } : {};
        const outcome = await hunt(patch, dist, jobs, { workers: WORKERS, ...many });
        outcomes.push(outcome);
        if (!flags.json) tell(outcome, fileOf(outcome, flags));
        if (wanted === 0 || outcome.kills.length === 0 || isControl(outcome)) return;
        const small = await shrinkKills(outcome.mutant, dist, outcome.kills, WORKERS);
        made.push(...small);
        if (!flags.json) for (const line of linesOfSmall(small)) print(`${INDENT}${line}`);
      });
    }
  });
  if (flags.json) print(JSON.stringify(wanted > 0 ? { outcomes, made } : outcomes, null, 2));
  else {
    tellLeague(outcomes);
    if (made.length > 0) print(summaryOfSmall(made));
  }
  if (!isWhole) throw new Interrupted(`${outcomes.length} of ${chosen.length} builds were hunted through`);
  return outcomes.every(({ isGood }) => isGood) && made.every(isGoodSmall) ? EXIT.holds : EXIT.violated;
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
      `--only: there is no ${rules ? 'rule' : 'mutant'} "${unknown}": ${zoo.map((patch) => patch?.id ?? HEALTHY).join(', ')}`,
    );
  return chosen;
}

const isControl = ({ mutant }: Outcome): boolean => /^C[0-9]/.test(mutant);

/** How soon, over all that are no controls. */
function tellLeague(outcomes: readonly Outcome[]): void {
  const mutants = outcomes.filter((outcome) => !isControl(outcome));
  if (mutants.length < 2) return;
  const killed = mutants.filter(({ oracle }) => oracle !== null);
  const soon = killed.filter(({ seeds }) => seeds <= SOON);
  print('');
  print(
    `${killed.length} of ${mutants.length} mutants killed by an oracle, ${soon.length} of them within ${SOON} runs; ` +
      `half of them within ${medianOf(killed.map(({ seeds }) => seeds))}`,
  );
  const silent = mutants.filter(({ oracle }) => oracle === null).map(({ mutant }) => mutant);
  if (silent.length > 0) print(`not killed: ${silent.join(' ')}`);
}

/** Where the patch stands, as `sim run --mutant` takes it; those of rules are no files. */
function fileOf({ mutant }: Outcome, { mutant: own, rules }: ZooFlags): string | undefined {
  if (own !== undefined || rules) return own;
  return relative('', join(packageFolder, ZOO, `${mutant}.json`));
}

function tell(outcome: Outcome, file: string | undefined): void {
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
