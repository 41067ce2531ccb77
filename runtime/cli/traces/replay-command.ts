// `nodecli sim replay`: feeds the actors a recorded run again, without a world, and compares what they do.
// Streams: memory does not grow.

import { url as debuggerUrl } from 'node:inspector';
import { basename } from 'node:path';
import { configOfValue, type Gifts, type NodeConfig, nodeCast } from '../../../actors/node.ts';
import type { Application } from '../../../machines/apps/application.ts';
import { applicationNamed } from '../../../machines/apps/named.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { rememberingVerify, type Verify, verifySignature } from '../../../protocol/signatures.ts';
import { ownApplication } from '../../../sim/scenario/own.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import { worldCrypto } from '../../../sim/sim-crypto.ts';
import { type Divergence, publishedIn, Replay, type Replayed } from '../../kernel/replay.ts';
import type { TraceHeader } from '../../kernel/trace.ts';
import { withMutant } from '../patch/patched-build.ts';
import { loadPlay, withoutExit } from '../run/play-file.ts';
import { ProgressBar, toJson } from '../screen.ts';
import { bytesName, counted, grouped } from '../telling.ts';
import { buildCommit, CliError, countOf, EXIT, type Exit } from '../usage.ts';
import { actorName, type NodeNames, namesOf } from './diverge.ts';
import { stateLines } from './node-state.ts';
import { TraceFile } from './trace-file.ts';
import { causesLines, VoteCauses } from './vote-causes.ts';

/** Where a node stood when it last committed. */
interface Stand {
  height: bigint;
  stateDigest: string;
  lives: number;
}

const PROGRESS_EVERY_RECORDS = 4096;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export interface ReplayFlags {
  readonly at?: string;
  readonly break?: boolean;
  readonly json?: boolean;
  /** A file whose play has the application that was recorded. */
  readonly play?: string;
  readonly mutant?: string;
  /** The bug that is planted in this very build. */
  readonly planted?: string;
}

export async function replayCommand(path: string, flags: ReplayFlags): Promise<Exit> {
  const { mutant, ...rest } = flags;
  if (mutant === undefined) {
    const trace = new TraceFile(path);
    const application = await applicationOf(flags.play, trace.header);
    return withoutExit(flags.play ?? path, () => replayTrace(path, trace, flags, application));
  }
  const inPatched = (patched: typeof import('./replay-command.ts')): Promise<Exit> =>
    patched.replayCommand(path, { ...rest, planted: mutant });
  return withMutant(mutant, 'sim replay', 'runtime/cli/traces/replay-command.js', inPatched);
}

type OwnApplication = () => Application;

/** A drawn play is asked for the one that the trace's seed drew. */
async function applicationOf(
  file: string | undefined,
  { about, nodes }: TraceHeader,
): Promise<OwnApplication | null> {
  if (file === undefined) return null;
  const named = nodes.map((node) => configOfValue(node).app).find((app) => !isRefusal(applicationNamed(app)));
  if (named !== undefined)
    throw new CliError(`--play: the trace is of the application ${named}, and needs none`);
  const { app } = scenarioUnder(await loadPlay(file), about['seed'] ?? '1');
  if (typeof app !== 'function') throw new CliError(`--play: ${file} has no application of its own`);
  return ownApplication(app);
}

/** What was fed to the actors so far, and what came of it. */
interface Fed {
  readonly names: NodeNames;
  readonly replay: Replay;
  readonly stands: readonly Stand[];
  /** Of each node; null: nobody asks. */
  readonly causes: readonly VoteCauses[] | null;
  /** What actors threw, as they did when it was recorded. */
  readonly thrown: string[];
  records: number;
  lastNode: number;
  /** Null: all were followed. */
  divergedAt: DivergedAt | null;
}

/** The first turn that did something else than what was recorded. */
interface DivergedAt {
  readonly record: number;
  readonly node: string;
  readonly actor: string;
  readonly message: string;
  readonly why: string;
}

function replayTrace(
  path: string,
  trace: TraceFile,
  flags: ReplayFlags,
  application: OwnApplication | null,
): Exit {
  const at = placeIn(flags);
  warnOfBuild(trace.header, flags.planted);
  const startedMs = performance.now();
  const fed = feed(trace, at, flags, application);
  for (const each of fed.thrown) console.error(`nodecli: ${each}, as it was recorded`);
  if (fed.divergedAt) return tellDivergence(path, fed.divergedAt, flags.json === true);
  if (at !== null) return tellState(path, at, fed);
  tellEnd(trace, fed, performance.now() - startedMs, flags.json === true);
  return EXIT.holds;
}

/** The record to stop after; null: the whole trace. */
function placeIn(flags: ReplayFlags): number | null {
  const at = flags.at === undefined ? null : countOf(flags.at, '--at');
  if (flags.json && at !== null) throw new CliError('--json tells the whole replay, --at a place in words');
  if (flags.break && at === null) throw new CliError('--break needs --at: the record to stop before');
  if (flags.break && debuggerUrl() === undefined)
    throw new CliError(
      '--break stops in a debugger, and there is none: begin with node inspect, or --inspect-brk',
    );
  return at;
}

function feed(
  trace: TraceFile,
  at: number | null,
  flags: ReplayFlags,
  application: OwnApplication | null,
): Fed {
  const names = namesOf(trace.header);
  const fed: Fed = {
    names,
    replay: new Replay(trace.header, castOf(application)),
    stands: names.nodes.map((): Stand => ({ height: 0n, stateDigest: '', lives: 0 })),
    causes: at === null ? null : names.nodes.map(() => new VoteCauses(names)),
    thrown: [],
    records: 0,
    lastNode: 0,
    divergedAt: null,
  };
  const bar = new ProgressBar(flags.json);
  try {
    for (const record of trace.records()) {
      // biome-ignore lint/suspicious/noDebugger: what --break is for; step into the next line
      if (flags.break && fed.records + 1 === at) debugger;
      const done = fed.replay.step(record);
      fed.records++;
      if ('why' in done) fed.divergedAt = divergenceOf(done, record.kind, fed);
      else note(fed, done);
      if (fed.divergedAt || fed.records === at) break;
      if (fed.records % PROGRESS_EVERY_RECORDS === 0)
        bar.update(at === null ? trace.part : fed.records / at, `record ${grouped(fed.records)}`);
    }
  } finally {
    bar.clear();
  }
  return fed;
}

function divergenceOf(
  { node, actor, message, why }: Divergence,
  kind: string,
  { names, records }: Fed,
): DivergedAt {
  return {
    record: records,
    node: String(names.nodes[node] ?? node),
    actor: actorName(actor, names),
    message: message === '' ? kind : message,
    why,
  };
}

const placeOf = ({ node, actor }: Pick<Replayed, 'node' | 'actor'>, names: NodeNames): string =>
  `${names.nodes[node] ?? node} / ${actorName(actor, names)}`;

/** What differs from the build that recorded the trace, and may make the replay diverge. */
function warnOfBuild({ commit, about }: TraceHeader, planted: string | undefined): void {
  const warn = (what: string): void => console.error(`nodecli: warning: the trace was recorded ${what}`);
  const ours = buildCommit();
  if (commit !== ours) warn(`by commit ${commit}, this is ${ours}: a difference may be a change of the code`);
  const recorded = about['mutant']?.toString();
  if (recorded !== undefined && (planted === undefined || basename(planted) !== basename(recorded)))
    warn(`with a bug planted: replay it with --mutant ${recorded}`);
  if (recorded === undefined && planted !== undefined) warn('without a bug: replay it without --mutant');
}

/** The actors of a recorded node. Signatures are checked as its network made them. */
function castOf(own: OwnApplication | null): (node: unknown) => ReturnType<typeof nodeCast> {
  let verify: Verify | null = null;
  return (value) => {
    const config: NodeConfig = configOfValue(value);
    const isOwn = isRefusal(applicationNamed(config.app));
    if (isOwn && !own)
      throw new CliError(
        'this trace is of an application of one’s own: --play with the play that has it, by its name in `sim list` or its file',
      );
    verify ??= config.crypto === 'sim' ? worldCrypto().verify : rememberingVerify(verifySignature);
    const gifts: Gifts = { verify, ...(isOwn && own && { application: own }) };
    return nodeCast(config, gifts);
  };
}

function note(fed: Fed, done: Replayed): void {
  const { records, names } = fed;
  fed.lastNode = done.node;
  if (done.threw !== undefined)
    fed.thrown.push(`record ${records}: ${placeOf(done, names)} threw: ${done.threw}`);
  const isBirth = done.kind === 'boot' && done.actor === 'validator';
  const causes = fed.causes?.[done.node];
  if (isBirth) causes?.reborn();
  causes?.turn(records, done);
  const stand = fed.stands[done.node];
  if (!stand) return;
  if (isBirth) stand.lives++;
  for (const event of publishedIn(done.effects)) {
    if (event.type !== 'committed') continue;
    stand.height = event.height;
    stand.stateDigest = hexOf(event.stateDigest);
  }
}

function tellDivergence(path: string, divergedAt: DivergedAt, isJson: boolean): Exit {
  const { record, node, actor, message, why } = divergedAt;
  if (!isJson)
    throw new CliError(
      `${path} diverges at record ${record}: ${node} / ${actor} / ${message}: ${why}`,
      EXIT.violated,
    );
  print(toJson({ holds: false, divergedAt }));
  return EXIT.violated;
}

function tellEnd(trace: TraceFile, fed: Fed, ms: number, isJson: boolean): void {
  const { torn } = trace;
  if (torn) console.error(`nodecli: warning: ${trace.path}: ${torn.because}, as a killed node leaves it`);
  const report = reportOf(trace, fed, ms);
  if (isJson) print(toJson(report));
  else for (const line of linesOf(trace, report)) print(line);
}

type Report = ReturnType<typeof reportOf>;

function reportOf(trace: TraceFile, { names, records, stands }: Fed, ms: number) {
  const heights = stands.reduce((most, { height }) => (height > most ? height : most), 0n);
  return {
    holds: true,
    records,
    recordsPerSecond: Math.round((records / ms) * 1000),
    heights,
    bytes: trace.bytes,
    bytesPerHeight: heights === 0n ? 0 : Math.round(trace.bytes / Number(heights)),
    torn: trace.torn !== null,
    nodes: stands.map(({ height, stateDigest, lives }, i) => ({
      name: names.nodes[i],
      height,
      lives,
      stateDigest,
    })),
  };
}

function linesOf({ path, header }: TraceFile, report: Report): string[] {
  const { records, recordsPerSecond, heights, bytes, bytesPerHeight, nodes } = report;
  const told = Object.entries(header.about).map(([key, value]) => `${key} ${value}`);
  return [
    `${path}: ${told.join(', ')}`,
    `  ${grouped(records)} records, ${grouped(recordsPerSecond)} a second; ${counted(heights, 'height')}; ` +
      `${bytesName(bytes)}, ${grouped(bytesPerHeight)} bytes a height`,
    ...nodes.map(({ name, height, lives, stateDigest }) => {
      const many = lives === 1 ? 'life' : 'lives';
      return `  ${String(name).padEnd(6)} height ${height}, ${lives} ${many}, state ${stateDigest || '(nothing committed)'}`;
    }),
    'same effects, same state digests',
  ];
}

function tellState(path: string, at: number, { records, lastNode, names, replay, causes }: Fed): Exit {
  if (records < at) throw new CliError(`${path} has only ${records} records: there is no record ${at}`);
  print(`${names.nodes[lastNode]} after record ${at}`);
  for (const line of stateLines(replay.peek(lastNode, 'validator'), names)) print(`  ${line}`);
  const mine = causes?.[lastNode];
  if (mine) for (const line of causesLines(mine, names)) print(`  ${line}`);
  print(`  the record of ${names.nodes[lastNode]} before it: ${mine?.before || 'none'}`);
  return EXIT.holds;
}
