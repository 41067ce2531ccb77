// `nodecli sim crashes`: every crash of a node's life, some of them in one run, over all cores; counted, and what
// failed with the line that repeats it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DEFAULT_NODE } from '../../../actors/node.ts';
import { COLUMNS, crashGrid, type Grid, type GridPoint, OPS, RESTARTS } from '../../../sim/crashes/grid.ts';
import { type PointResult, playOf } from '../../../sim/crashes/perform.ts';
import { rejoinBoundNs } from '../../../sim/crashes/rejoin.ts';
import { runsOf } from '../../../sim/crashes/runs.ts';
import type { GridOptions } from '../../../sim/crashes/stage.ts';
import { toJson as playToJson } from '../../../sim/scenario/json.ts';
import type { NodeName } from '../../../sim/scenario/play.ts';
import { Interrupted, isUninterrupted } from '../interrupt.ts';
import { mustBeFree } from '../run/outputs.ts';
import { isSavedPlay } from '../run/play-file.ts';
import { ProgressBar, toJson } from '../screen.ts';
import { counted, grouped } from '../telling.ts';
import {
  buildCommit,
  CliError,
  countOf,
  EXIT,
  type Exit,
  isCliError,
  needsBuild,
  scenarioFileOf,
  seedOf,
  whyNot,
  workersOf,
} from '../usage.ts';
import { type Worker, withWorkers } from '../workers/workers.ts';
import { DEFAULTS } from './defaults.ts';

export interface CrashesFlags {
  readonly heights: string;
  readonly validators: string;
  readonly nodes: string;
  readonly workers?: string;
  readonly seed: string;
  readonly only?: string;
  readonly save?: string;
  readonly json?: boolean;
}

/** Runs of one job: enough that the way to a worker costs nothing, few enough for a bar that moves. */
const RUNS_PER_JOB = 6;
const FAILURES_SHOWN = 10;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function crashesCommand(flags: CrashesFlags): Promise<Exit> {
  needsBuild('sim crashes');
  const { options, workers, save } = wantedOf(flags);
  const grid = crashGrid(options);
  mustHold(grid);
  const chosen = chosenOf(grid, flags.only);
  if (save !== undefined) savePlay(options, onlyOne(chosen), save);
  const startedMs = performance.now();
  const { results, isWhole, lost } = await performAll(grid, chosen, workers, flags.json);
  const summary = summaryOf(grid, results, performance.now() - startedMs);
  if (flags.json) print(toJson({ ...options, ...summary }));
  else tell(options, grid, results, summary, isWhole);
  const tried = `${grouped(results.length)} of ${grouped(chosen.length)} crashes were tried`;
  if (lost !== null) throw new CliError(`${lost.trimEnd()}\n${tried}`, EXIT.violated);
  if (!isWhole) throw new Interrupted(tried);
  return summary.failures.length === 0 ? EXIT.holds : EXIT.violated;
}

interface Wanted {
  readonly options: GridOptions;
  readonly workers: number;
  readonly save: string | undefined;
}

/** Whatever can be refused before the grid is made, for that takes a run. */
function wantedOf(flags: CrashesFlags): Wanted {
  const save = flags.save === undefined ? undefined : scenarioFileOf(flags.save, '--save');
  if (save !== undefined && flags.only === undefined)
    throw new CliError('--save keeps one crash: say which, with --only and its whole id');
  return { options: optionsOf(flags), workers: workersOf(flags.workers), save };
}

function mustHold({ calm }: Grid): void {
  const [first] = calm.violations;
  if (calm.holds) return;
  const what = `the run without a crash does not hold: ${first?.oracle}: ${first?.what}`;
  throw new CliError(what, EXIT.violated);
}

function onlyOne(chosen: readonly GridPoint[]): GridPoint {
  const [point] = chosen;
  if (point && chosen.length === 1) return point;
  throw new CliError(`--save keeps one crash, and --only names ${grouped(chosen.length)}: give a whole id`);
}

/** Each write of each height of each node is a crash of its own. */
const HEIGHTS_MAX = 10_000;
const VALIDATORS_MAX = 256;

function optionsOf(flags: CrashesFlags): GridOptions {
  const heights = countOf(flags.heights, '--heights', 1, HEIGHTS_MAX);
  const validators = countOf(flags.validators, '--validators', 4, VALIDATORS_MAX);
  const all = Array.from({ length: validators }, (_, i): NodeName => `v${i}`);
  const nodes = flags.nodes === 'all' ? all : (flags.nodes.split(',') as NodeName[]);
  for (const name of nodes) {
    if (!all.includes(name))
      throw new CliError(`--nodes takes names from v0 to v${validators - 1}, or all, not "${name}"`);
  }
  return { heights, validators, seed: seedOf(flags.seed), nodes: [...new Set(nodes)] };
}

/** `only` names points or what several have in common, with commas. */
function chosenOf({ points }: Grid, only: string | undefined): readonly GridPoint[] {
  if (only === undefined) return points;
  const parts = only.split(',');
  const isOf = ({ id }: GridPoint, part: string): boolean => id === part || id.startsWith(`${part}/`);
  const stray = parts.find((part) => !points.some((point) => isOf(point, part)));
  if (stray !== undefined)
    throw new CliError(`--only: there is no point "${stray}" in this grid, nor one that begins so`);
  return points.filter((point) => parts.some((part) => isOf(point, part)));
}

function savePlay(options: GridOptions, point: GridPoint, path: string): void {
  mustBeFree('--save', path, 'scenario', isSavedPlay);
  const { seed } = options;
  const origin = { oracle: '', what: `the crash ${point.id}`, seed, commit: buildCommit() };
  const text = playToJson({ ...playOf(options, [point]), origin });
  if (typeof text !== 'string') throw new CliError(text.because);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${text}\n`);
  } catch (error) {
    throw new CliError(`--save: ${path} cannot be written: ${whyNot(error)}`);
  }
}

interface Tried {
  /** In the order of the grid, whichever worker made them. */
  readonly results: readonly PointResult[];
  readonly isWhole: boolean;
  /** What ended a worker, and with it the campaign: what was found before that is told all the same. */
  readonly lost: string | null;
}

async function performAll(
  grid: Grid,
  chosen: readonly GridPoint[],
  count: number,
  isJson?: boolean,
): Promise<Tried> {
  const campaign = new Campaign(grid, chosen, isJson);
  let lost: string | null = null;
  const most = Math.ceil(runsOf(chosen).length / RUNS_PER_JOB);
  const isWhole = await isUninterrupted(() =>
    withWorkers(Math.min(count, most), {}, (workers) => campaign.perform(workers)).catch((error: unknown) => {
      if (error instanceof Interrupted || !isCliError(error)) throw error;
      lost = error.message;
    }),
  ).finally(() => campaign.bar.clear());
  return { results: campaign.results, isWhole: isWhole && lost === null, lost };
}

/** The chosen points, each tried once; what was missed in company is tried again, until nothing is. */
class Campaign {
  readonly bar: ProgressBar;
  private readonly grid: Grid;
  private readonly chosen: readonly GridPoint[];
  private readonly indexes: ReadonlyMap<GridPoint, number>;
  private readonly found = new Map<GridPoint, PointResult>();

  constructor(grid: Grid, chosen: readonly GridPoint[], isJson?: boolean) {
    this.bar = new ProgressBar(isJson);
    this.grid = grid;
    this.chosen = chosen;
    this.indexes = new Map(grid.points.map((point, index) => [point, index]));
  }

  /** Of those that were tried. */
  get results(): readonly PointResult[] {
    return this.chosen.flatMap((point) => this.found.get(point) ?? []);
  }

  async perform(workers: readonly Worker[]): Promise<void> {
    for (let left = this.chosen; left.length > 0; left = left.filter((point) => !this.found.has(point))) {
      const queue = runsOf(left);
      await Promise.all(workers.map((worker) => this.work(worker, queue)));
    }
  }

  private async work(worker: Worker, queue: GridPoint[][]): Promise<void> {
    while (queue.length > 0) {
      const runs = queue.splice(0, RUNS_PER_JOB);
      const indexes = runs.map((run) => run.map((point) => this.indexes.get(point) ?? -1));
      const answer = await worker.crashes({ grid: this.grid.options, runs: indexes });
      runs.flat().forEach((point, i) => {
        const result = answer.results[i];
        if (result) this.found.set(point, result);
      });
      const [done, all] = [this.found.size, this.chosen.length];
      this.bar.update(done / all, `${grouped(done)} of ${grouped(all)} crashes`);
    }
  }
}

// --- what came of it ---------------------------------------------------------------------------------------

interface Summary {
  readonly points: number;
  readonly hit: number;
  readonly counts: readonly {
    readonly op: string;
    readonly column: string;
    readonly restarts: readonly number[];
  }[];
  readonly slowestRejoinNs: number;
  readonly rejoinBoundNs: number;
  readonly wallMs: number;
  readonly failures: readonly (PointResult & { readonly again: string })[];
}

function summaryOf(grid: Grid, results: readonly PointResult[], wallMs: number): Summary {
  const { options } = grid;
  const performed = new Set(results.map(({ id }) => id));
  const points = grid.points.filter(({ id }) => performed.has(id));
  const counts = OPS.flatMap((op) =>
    COLUMNS.map((column) => {
      const here = points.filter((point) => point.op === op && point.column === column);
      return {
        op,
        column,
        restarts: RESTARTS.map((r) => here.filter(({ restart }) => restart === r).length),
      };
    }),
  ).filter(({ restarts }) => restarts.some((n) => n > 0));
  return {
    points: results.length,
    hit: results.filter(({ isHit }) => isHit).length,
    counts,
    slowestRejoinNs: results.reduce((max, { rejoinNs }) => Math.max(max, rejoinNs ?? 0), 0),
    rejoinBoundNs: rejoinBoundNs(DEFAULT_NODE),
    wallMs,
    failures: results
      .filter(({ holds }) => !holds)
      .map((result) => ({ ...result, again: againOf(options, result) })),
  };
}

function againOf({ heights, validators, seed, nodes }: GridOptions, { id, company }: PointResult): string {
  const more = [
    String(heights) === DEFAULTS.heights ? '' : ` --heights ${heights}`,
    String(validators) === DEFAULTS.validators ? '' : ` --validators ${validators}`,
    nodes.join() === DEFAULTS.nodes ? '' : ` --nodes ${id.split('/')[0]}`,
    seed === DEFAULTS.seed ? '' : ` --seed ${seed}`,
  ].join('');
  return `npx nodecli sim crashes --only ${company?.join() ?? id}${more}`;
}

const seconds = (ns: number): string => (ns / 1e9).toFixed(1);

function tell(
  options: GridOptions,
  grid: Grid,
  results: readonly PointResult[],
  summary: Summary,
  isWhole: boolean,
): void {
  const { nodes, heights, validators, seed } = options;
  print(
    `${nodes.join(', ')} of ${validators} validators, ${counted(heights, 'height')}, seed ${seed}: ${grouped(grid.points.length)} points`,
  );
  for (const line of tableOf(summary)) print(line);
  print(
    `${grouped(summary.hit)} of ${grouped(results.length)} points hit, in ${seconds(summary.wallMs * 1e6)} s`,
  );
  print(
    `slowest to rejoin: ${seconds(summary.slowestRejoinNs)} s of virtual time; the bound is ${seconds(summary.rejoinBoundNs)} s`,
  );
  const { failures } = summary;
  if (failures.length === 0) {
    if (isWhole) print('HOLDS  no double signature, no fork; all rejoin; every state as without a crash');
    return;
  }
  print(`VIOLATED  ${grouped(failures.length)} of ${grouped(results.length)} points failed`);
  for (const { isHit, violation, again } of failures.slice(0, FAILURES_SHOWN)) {
    const why = violation ? `${violation.oracle}: ${violation.what}` : isHit ? '' : 'the point was not hit';
    print(`  ${again}`);
    print(`      ${why}`);
  }
}

/** One row per operation: how many points in each column, for each of the restarts. */
function tableOf({ counts }: Summary): string[] {
  const cell = (op: string, column: string): string => {
    const found = counts.find((each) => each.op === op && each.column === column);
    if (!found) return '-';
    const [one] = found.restarts;
    const isEven = found.restarts.every((n) => n === one);
    return isEven ? `${one} x ${RESTARTS.length}` : found.restarts.join('+');
  };
  const width = 13;
  const line = (cells: readonly string[]): string => cells.map((text) => text.padStart(width)).join('');
  return [
    line(['', ...COLUMNS]),
    ...OPS.filter((op) => counts.some((each) => each.op === op)).map((op) =>
      line([op, ...COLUMNS.map((column) => cell(op, column))]),
    ),
  ];
}
