// `nodecli sim run`: performs one play under one seed, shows what happens, and says how it went.

import { chapters, plays } from '../../../scenarios/index.ts';
import { type Cast, otherThanSaid } from '../../../sim/cast.ts';
import { type Explanation, explainRun } from '../../../sim/explain/explain.ts';
import { PictureCollector } from '../../../sim/picture/collector.ts';
import { runScenario } from '../../../sim/run.ts';
import type { RunOptions } from '../../../sim/run-options.ts';
import { isDrawn, type Play } from '../../../sim/scenario/play.ts';
import type { RunWatch, Verdict } from '../../../sim/verdict.ts';
import { withMutant } from '../patch/patched-build.ts';
import { Columns, explanationLines, ProgressBar, row, Story, toJson, verdictLines } from '../screen.ts';
import { bytesName, grouped } from '../telling.ts';
import { mustBeTrace, TraceWriter } from '../traces/trace-file.ts';
import { buildCommit, CliError, countOf, EXIT, type Exit, quoted, seedOf, whyNot } from '../usage.ts';
import { castOfFiles } from './cast-files.ts';
import { isNoFile, mustBeApart } from './outputs.ts';
import { partialOf } from './partial-file.ts';
import { mustBePage, PageFile } from './picture-page.ts';
import { fileOfPlay, playToPerform, usualSeedOf, withoutExit } from './play-file.ts';

export interface RunFlags {
  readonly seed?: string;
  readonly json?: boolean;
  readonly log?: boolean;
  readonly story?: boolean;
  readonly quiet?: boolean;
  readonly trace?: string;
  readonly html?: string;
  readonly genesis?: string;
  readonly keys?: string;
  readonly crypto?: string;
  readonly heights?: string;
  readonly memo: boolean;
  readonly mutant?: string;
  /** The bug that is planted in this very build. */
  readonly planted?: string;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export function listPlays(flags: { readonly json?: boolean }): Exit {
  if (flags.json) {
    print(
      JSON.stringify(
        chapters.flatMap(({ about, plays }) => plays.map(({ name, title }) => ({ name, title, about }))),
        null,
        2,
      ),
    );
    return EXIT.holds;
  }
  const width = Math.max(...plays.map(({ name }) => name.length)) + 2;
  for (const chapter of chapters) {
    // For people alone: who reads our lines finds a play in each.
    if (process.stdout.isTTY) print(`\n  ${chapter.about}\n`);
    for (const { name, title } of chapter.plays) print(`${name.padEnd(width)}${title}`);
  }
  return EXIT.holds;
}

export async function runCommand(nameOrFile: string, flags: RunFlags): Promise<Exit> {
  const wanted = await wantedOf(nameOrFile, flags);
  const { mutant, ...rest } = flags;
  if (mutant === undefined) return tell(performed(nameOrFile, wanted, flags), flags);
  const inPatched = (patched: typeof import('./command.ts')): Promise<Exit> =>
    patched.runCommand(nameOrFile, { ...rest, planted: mutant });
  return withMutant(mutant, 'sim run', 'runtime/cli/run/command.js', inPatched);
}

interface Wanted {
  readonly play: Play;
  readonly options: RunOptions;
}

/** Whatever is to be refused is, before anything is copied or written over. */
async function wantedOf(nameOrFile: string, flags: RunFlags): Promise<Wanted> {
  const told = (['json', 'quiet', 'log', 'story'] as const).filter((flag) => flags[flag]);
  if (told.length > 1) throw new CliError(`--${told[0]} and --${told[1]} do not go together`);
  const chosen = {
    ...(flags.crypto !== undefined && { crypto: cryptoOf(flags.crypto) }),
    ...(flags.heights !== undefined && { heights: countOf(flags.heights, '--heights') }),
  };
  const play = await playToPerform(nameOrFile);
  const seed = seedOf(flags.seed ?? usualSeedOf(play));
  const { trace, html, genesis, planted } = flags;
  const read = { 'the scenario': fileOfPlay(nameOrFile), '--genesis': genesis };
  mustBeApart(
    { '--trace': trace, '--html': html, ...whileWritten('--trace', trace), ...whileWritten('--html', html) },
    { ...read, '--mutant': planted ?? flags.mutant },
  );
  if (trace !== undefined) mustBeTrace(trace);
  if (html !== undefined) mustBePage(html);
  const cast = castFor(play, flags);
  const about = planted !== undefined && { about: { mutant: planted } };
  const options = {
    seed,
    memo: flags.memo,
    commit: buildCommit(),
    ...about,
    ...chosen,
    ...(cast && { cast }),
  };
  return { play, options };
}

/** The file in which it gathers is none of the others either. */
const whileWritten = (flag: string, path: string | undefined): Readonly<Record<string, string>> =>
  path === undefined || isNoFile(path) ? {} : { [`${flag}, while it is written`]: partialOf(path) };

interface Performed {
  readonly verdict: Verdict;
  /** Null: it holds, or nobody reads one, which would take as long as the run did. */
  readonly explanation: Explanation | null;
  readonly wallMs: number;
  readonly trace: TraceWriter | null;
  readonly page: PageFile | null;
  /** What came of the trace, and of the page: its bytes. */
  readonly kept: Tried<void>;
  readonly drawn: Tried<number>;
}

/** Files of an earlier run are written over by one that ends, and by no other. */
function performed(nameOrFile: string, { play, options }: Wanted, flags: RunFlags): Performed {
  const bar = new ProgressBar(flags.json);
  const trace = flags.trace === undefined ? null : new TraceWriter(flags.trace);
  const page = flags.html === undefined ? null : new PageFile(flags.html);
  const collector = page && new PictureCollector();
  const watching = watchingOf(flags, bar, trace, collector);
  try {
    const startedMs = performance.now();
    const run = withoutExit(nameOrFile, () => runScenario(play, { ...options, ...watching }));
    const wallMs = performance.now() - startedMs;
    const verdict = asTyped(run, nameOrFile, flags);
    const kept = tried(() => trace?.close());
    const drawn = tried(() => (collector && page ? page.write(collector.picture(verdict)) : 0));
    const isExplained = !verdict.holds && !flags.quiet;
    const explanation = isExplained ? withoutExit(nameOrFile, () => explainRun(play, options)) : null;
    return { verdict, explanation, wallMs, trace, page, kept, drawn };
  } catch (error) {
    tried(() => trace?.close()); // a part of one's own may throw: the trace up to there says when it did
    throw error;
  } finally {
    bar.clear();
  }
}

interface Tried<T> {
  readonly value?: T;
  readonly threw?: unknown;
}

function tried<T>(run: () => T): Tried<T> {
  try {
    return { value: run() };
  } catch (threw) {
    return { threw };
  }
}

/** A full disk takes a file, and not what the run came to: that is told first. */
function tell(run: Performed, flags: RunFlags): Exit {
  const { verdict, kept, drawn } = run;
  if (flags.json) print(reportOf(run));
  else tellInWords(run);
  for (const { threw } of [kept, drawn]) {
    if (threw !== undefined && verdict.holds) throw threw;
    if (threw !== undefined) console.error(`nodecli: ${whyNot(threw)}`);
  }
  return verdict.holds ? EXIT.holds : EXIT.violated;
}

function reportOf({ verdict, explanation }: Performed): string {
  if (verdict.holds) return toJson(verdict);
  return toJson({ ...verdict, commit: buildCommit(), ...(explanation && { explanation }) });
}

function tellInWords(run: Performed): void {
  const { verdict, explanation, wallMs, trace, page, kept, drawn } = run;
  for (const line of verdictLines(verdict, wallMs, buildCommit())) print(line);
  if (explanation) for (const line of explanationLines(explanation)) print(line);
  if (trace && kept.threw === undefined)
    print(row('trace', `${trace.path}, ${bytesName(trace.bytes)}, ${recordsOf(trace, verdict)}`));
  if (page && drawn.threw === undefined)
    print(row('picture', `${page.path}, ${bytesName(drawn.value ?? 0)}`));
}

/** Where to look first is the last record of the node that broke its promise: a vote leaves it when the disk has it, and others go on meanwhile. */
function recordsOf({ records, lastOf }: TraceWriter, { violations }: Verdict): string {
  const [first] = violations;
  const last = first && lastOf.get(first.node);
  return `${grouped(records)} records${last === undefined ? '' : `; the last of ${first?.node} is ${last}`}`;
}

function watchingOf(
  flags: RunFlags,
  bar: ProgressBar,
  trace: TraceWriter | null,
  collector: PictureCollector | null,
): Pick<RunOptions, 'watch' | 'onWorld'> {
  const say = (line: string): void => {
    bar.clear();
    print(line);
  };
  const columns = new Columns(say, process.stdout.isTTY ? process.stdout.columns : undefined);
  const story = new Story(say, flags.story === true);
  const isSilent = flags.json === true || flags.quiet === true;
  const watch: RunWatch = {
    ...(!isSilent && {
      event: (at, event) => (flags.log ? columns : story).event(at, event, at.disk.agenda.now),
      line: (line) => (flags.log ? columns : story).line(line),
    }),
    progress: (done, height) => bar.update(done, `height ${height}`),
    ...(trace && { trace: (bytes, node) => trace.write(bytes, node) }),
    ...(collector && { backstage: collector.open }),
  };
  return { watch, onWorld: ({ machines }) => columns.seat(machines.length) };
}

/** The line that reproduces a run names what was typed: a file, and the options that change the run. */
function asTyped(verdict: Verdict, nameOrFile: string, flags: RunFlags): Verdict {
  let again = `npx nodecli sim run ${quoted(nameOrFile)} --seed ${verdict.seed}`;
  if (flags.crypto !== undefined) again += ` --crypto ${flags.crypto}`;
  if (flags.heights !== undefined) again += ` --heights ${flags.heights}`;
  if (flags.genesis !== undefined)
    again += ` --genesis ${quoted(flags.genesis)} --keys ${quoted(flags.keys ?? '')}`;
  if (flags.planted !== undefined) again += ` --mutant ${quoted(flags.planted)}`;
  return { ...verdict, again };
}

function cryptoOf(text: string): 'sim' | 'ed25519' {
  if (text === 'sim' || text === 'ed25519') return text;
  throw new CliError(`--crypto takes sim or ed25519, not "${text}"`);
}

const warn = (line: string): void => void process.stderr.write(`nodecli: ${line}\n`);

function castFor(play: Play, { genesis, keys }: RunFlags): Cast | null {
  if (genesis === undefined && keys === undefined) return null;
  if (genesis === undefined || keys === undefined)
    throw new CliError('give both --genesis and --keys, or neither');
  if (isDrawn(play))
    throw new CliError(`${play.name} draws its own cast: --genesis needs a play with a written one`);
  const cast = castOfFiles(genesis, keys);
  const { powers, candidates = 0, fullNodes = 0 } = play.cast;
  if (candidates + fullNodes > 0) {
    throw new CliError(
      `${play.name} has people beside the validators of a genesis: it cannot take --genesis`,
    );
  }
  if (cast.members.length < powers.length) {
    const have = `${genesis} has ${cast.members.length} validators`;
    throw new CliError(`${play.name} speaks of ${powers.length} validators, and ${have}`);
  }
  const other = otherThanSaid(play.cast, cast);
  if (other === 'initialHeight') {
    const have = `${genesis} has initial_height ${cast.initialHeight}`;
    throw new CliError(`${play.name} speaks of heights from ${play.cast.initialHeight ?? 1} on, and ${have}`);
  }
  if (other) throw new CliError(`${play.name} sets cast.${other}, and ${genesis} has another`);
  const own = cast.members.map(({ power }) => power);
  if (own.join() !== powers.join())
    warn(
      `warning: ${genesis} has powers ${own.join(', ')}; ${play.name} is written for ${powers.join(', ')}`,
    );
  return cast;
}
