// `nodecli sim crashes`: every crash of a node's life, some of them in one run, over all cores; counted, and what
// failed with the line that repeats it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DEFAULT_NODE } from '../../../actors/node.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { COLUMNS, crashGrid, type Grid, type GridPoint, OPS, RESTARTS } from '../../../sim/crashes/grid.ts';
import { type PointResult, playOf } from '../../../sim/crashes/perform.ts';
import { rejoinBoundNs } from '../../../sim/crashes/rejoin.ts';
import { runsOf } from '../../../sim/crashes/runs.ts';
import type { GridOptions } from '../../../sim/crashes/stage.ts';
import { toJson as playToJson } from '../../../sim/scenario/json.ts';
import type { NodeName } from '../../../sim/scenario/play.ts';
import { Interrupted, isUninterrupted } from '../interrupt.ts';
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
  const options = optionsOf(flags);
  const workers = workersOf(flags.workers);
  const grid = crashGrid(options);
  if (!grid.calm.holds) {
    const [first] = grid.calm.violations;
    throw new CliError(
      `the run without a crash does not hold: ${first?.oracle}: ${first?.what}`,
      EXIT.violated,
    );
  }
  const chosen = chosenOf(grid, flags.only);
  if (flags.save !== undefined && chosen.length !== 1)
    throw new CliError(
      flags.only === undefined
        ? '--save keeps one crash: say which, with --only and its whole id'
        : `--save keeps one crash, and --only names ${grouped(chosen.length)}: give a whole id`,
    );
  if (flags.save !== undefined)
    savePlay(
      options,
      chosen[0] ?? unreachable('what names no point is refused'),
      scenarioFileOf(flags.save, '--save'),
    );
  const startedMs = performance.now();
  const { results, isWhole, lost } = await performAll(grid, chosen, workers, flags.json !== true);
  const summary = summaryOf(grid, results, performance.now() - startedMs);
  if (flags.json) print(toJson({ ...options, ...summary }));
  else tell(options, grid, results, summary, isWhole);
  const tried = `${grouped(results.length)} of ${grouped(chosen.length)} crashes were tried`;
  if (lost !== null) throw new CliError(`${lost.trimEnd()}\n${tried}`, EXIT.violated);
  if (!isWhole) throw new Interrupted(tried);
  return summary.failures.length === 0 ? EXIT.holds : EXIT.violated;
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

/** Results in the order of the grid, whichever worker made them. What was missed in company is tried again, until nothing is. */
async function performAll(
  grid: Grid,
  chosen: readonly GridPoint[],
  count: number,
  isShown: boolean,
): Promise<{
  readonly results: readonly PointResult[];
  readonly isWhole: boolean;
  /** What ended a worker, and with it the campaign: what was found before that is told all the same. */
  readonly lost: string | null;
}> {
  const indexes = new Map(grid.points.map((point, index) => [point, index]));
  const bar = new ProgressBar(isShown);
  const results: PointResult[] = [];
  let done = 0;
  const performRuns = (runs: readonly (readonly number[])[], missed: GridPoint[]) => {
    let next = 0;
    return async (worker: Worker): Promise<void> => {
      while (next < runs.length) {
        const from = next;
        next += RUNS_PER_JOB;
        const job = runs.slice(from, next);
        const answer = await worker.crashes({ grid: grid.options, runs: job });
        const order = job.flat();
        answer.results.forEach((result, i) => {
          const index = order[i] ?? -1;
          if (result) results[index] = result;
          else missed.push(grid.points[index] ?? unreachable('a worker answers what it was asked'));
        });
        done += answer.results.filter((result) => result).length;
        bar.update(done / chosen.length, `${grouped(done)} of ${grouped(chosen.length)} crashes`);
      }
    };
  };
  let lost: string | null = null;
  const isWhole = await isUninterrupted(() =>
    withWorkers(Math.min(count, Math.ceil(runsOf(chosen).length / RUNS_PER_JOB)), {}, async (workers) => {
      for (let left = chosen; left.length > 0; ) {
        const runs = runsOf(left).map((run) => run.map((point) => indexes.get(point) ?? -1));
        const missed: GridPoint[] = [];
        await Promise.all(workers.map(performRuns(runs, missed)));
        left = missed;
      }
    }).catch((error: unknown) => {
      if (error instanceof Interrupted || !isCliError(error)) throw error;
      lost = error.message;
    }),
  );
  bar.clear();
  return { results: results.filter(() => true), isWhole: isWhole && lost === null, lost }; // without the holes of those that were not tried
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
