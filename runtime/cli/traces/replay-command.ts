// `nodecli sim replay`: feeds the actors a recorded run again, without a world, and compares what they do.
// Streams: memory does not grow.

import { url as debuggerUrl } from 'node:inspector';
import { configOfValue, type Gifts, type NodeConfig, nodeCast } from '../../../actors/node.ts';
import type { Application } from '../../../machines/apps/application.ts';
import { applicationNamed } from '../../../machines/apps/named.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { rememberingVerify, type Verify, verifySignature } from '../../../protocol/signatures.ts';
import { ownApplication } from '../../../sim/scenario/own.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import { worldCrypto } from '../../../sim/sim-crypto.ts';
import { publishedIn, Replay, type Replayed } from '../../kernel/replay.ts';
import type { TraceHeader } from '../../kernel/trace.ts';
import { withMutant } from '../patch/patched-build.ts';
import { loadPlay, withoutExit } from '../run/play-file.ts';
import { ProgressBar } from '../screen.ts';
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
  heights: number;
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

function replayTrace(
  path: string,
  trace: TraceFile,
  flags: ReplayFlags,
  application: OwnApplication | null,
): Exit {
  const at = flags.at === undefined ? null : countOf(flags.at, '--at');
  if (flags.json && at !== null) throw new CliError('--json tells the whole replay, --at a place in words');
  if (flags.break && at === null) throw new CliError('--break needs --at: the record to stop before');
  if (flags.break && debuggerUrl() === undefined)
    throw new CliError(
      '--break stops in a debugger, and there is none: begin with node inspect, or --inspect-brk',
    );
  warnOfBuild(trace.header, flags.planted);
  const names = namesOf(trace.header);
  const replay = new Replay(trace.header, castOf(application));
  const stands = names.nodes.map((): Stand => ({ height: 0n, stateDigest: '', heights: 0, lives: 0 }));
  const causes = at === null ? null : names.nodes.map(() => new VoteCauses(names));
  const bar = new ProgressBar(!flags.json);
  const startedMs = performance.now();
  const thrown: string[] = [];
  let records = 0;
  let lastNode = 0;
  for (const record of trace.records()) {
    // biome-ignore lint/suspicious/noDebugger: what --break is for; step into the next line
    if (flags.break && records + 1 === at) debugger;
    const done = replay.step(record);
    records++;
    if ('why' in done) {
      bar.clear();
      const message = done.message === '' ? record.kind : done.message;
      throw new CliError(
        `${path} diverges at record ${records}: ${placeOf(done, names)} / ${message}: ${done.why}`,
        EXIT.violated,
      );
    }
    note(stands, done);
    if (done.threw !== undefined)
      thrown.push(`record ${records}: ${placeOf(done, names)} threw: ${done.threw}`);
    if (causes) {
      if (done.kind === 'boot' && done.actor === 'validator') causes[done.node]?.reborn();
      causes[done.node]?.turn(records, done);
    }
    lastNode = done.node;
    if (records === at) break;
    if (records % PROGRESS_EVERY_RECORDS === 0)
      bar.update(at === null ? trace.part : records / at, `record ${grouped(records)}`);
  }
  bar.clear();
  for (const each of thrown) console.error(`nodecli: ${each}, as it was recorded`);
  if (at !== null && causes) return tellState(path, at, records, lastNode, names, replay, causes);
  tellEnd(trace, records, performance.now() - startedMs, stands, names, flags.json === true);
  return EXIT.holds;
}

const placeOf = ({ node, actor }: Pick<Replayed, 'node' | 'actor'>, names: NodeNames): string =>
  `${names.nodes[node] ?? node} / ${actorName(actor, names)}`;

/** What differs from the build that recorded the trace, and may make the replay diverge. */
function warnOfBuild({ commit, about }: TraceHeader, planted: string | undefined): void {
  const warn = (what: string): void => console.error(`nodecli: warning: the trace was recorded ${what}`);
  const ours = buildCommit();
  if (commit !== ours) warn(`by commit ${commit}, this is ${ours}: a difference may be a change of the code`);
  if (about['mutant'] !== undefined && planted === undefined)
    warn(`with a bug planted: replay it with --mutant ${about['mutant']}`);
}

/** The actors of a recorded node. Signatures are checked as its network made them. */
function castOf(own: OwnApplication | null): (node: unknown) => ReturnType<typeof nodeCast> {
  let verify: Verify | null = null;
  return (value) => {
    const config: NodeConfig = configOfValue(value);
    const isOwn = isRefusal(applicationNamed(config.app));
    if (isOwn && !own)
      throw new CliError(
        'this trace is of an application of one’s own: --play FILE, with the play that has it',
      );
    verify ??= config.crypto === 'sim' ? worldCrypto().verify : rememberingVerify(verifySignature);
    const gifts: Gifts = { verify, memo: true, ...(isOwn && own && { application: own }) };
    return nodeCast(config, gifts);
  };
}

function note(stands: readonly Stand[], done: Replayed): void {
  const stand = stands[done.node];
  if (!stand) return;
  if (done.kind === 'boot' && done.actor === 'validator') stand.lives++;
  for (const event of publishedIn(done.effects)) {
    if (event.type !== 'committed') continue;
    stand.height = event.height;
    stand.stateDigest = hexOf(event.stateDigest);
    stand.heights++;
  }
}

function tellEnd(
  trace: TraceFile,
  records: number,
  ms: number,
  stands: readonly Stand[],
  names: NodeNames,
  json: boolean,
): void {
  const heights = stands.reduce((most, { height }) => (height > most ? height : most), 0n);
  const perHeight = heights === 0n ? 0 : Math.round(trace.bytes / Number(heights));
  const perSecond = Math.round((records / ms) * 1000);
  if (trace.torn)
    console.error(`nodecli: warning: ${trace.path}: ${trace.torn.because}, as a killed node leaves it`);
  const nodes = stands.map(({ height, stateDigest, lives }, i) => ({
    name: names.nodes[i],
    height,
    lives,
    stateDigest,
  }));
  if (json) {
    const report = {
      holds: true,
      records,
      recordsPerSecond: perSecond,
      heights,
      bytes: trace.bytes,
      bytesPerHeight: perHeight,
    };
    print(
      JSON.stringify(
        { ...report, torn: trace.torn !== null, nodes },
        (_, v) => (typeof v === 'bigint' ? String(v) : v),
        2,
      ),
    );
    return;
  }
  const { about } = trace.header;
  const told = Object.entries(about).map(([key, value]) => `${key} ${value}`);
  print(`${trace.path}: ${told.join(', ')}`);
  print(
    `  ${grouped(records)} records, ${grouped(perSecond)} a second; ${counted(heights, 'height')}; ` +
      `${bytesName(trace.bytes)}, ${grouped(perHeight)} bytes a height`,
  );
  for (const { name, height, lives, stateDigest } of nodes) {
    print(
      `  ${String(name).padEnd(6)} height ${height}, ${lives} ${lives === 1 ? 'life' : 'lives'}, state ${stateDigest || '(nothing committed)'}`,
    );
  }
  print('same effects, same state digests');
}

function tellState(
  path: string,
  at: number,
  records: number,
  node: number,
  names: NodeNames,
  replay: Replay,
  causes: readonly VoteCauses[],
): Exit {
  if (records < at) throw new CliError(`${path} has only ${records} records: there is no record ${at}`);
  print(`${names.nodes[node]} after record ${at}`);
  for (const line of stateLines(replay.peek(node, 'validator'), names)) print(`  ${line}`);
  const mine = causes[node];
  if (mine) for (const line of causesLines(mine, names)) print(`  ${line}`);
  print(`  the record of ${names.nodes[node]} before it: ${mine?.before || 'none'}`);
  return EXIT.holds;
}
