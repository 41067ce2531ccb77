// Some runs of a crash grid as a job for another process: which grid, which of its points share each run, and
// what came of each point.

import { crashGrid, type Grid, type GridPoint } from '../../../sim/crashes/grid.ts';
import { type PointResult, performRun } from '../../../sim/crashes/perform.ts';
import type { GridOptions } from '../../../sim/crashes/stage.ts';

export interface CrashesJob {
  readonly grid: GridOptions;
  /** Indexes of points, by run. */
  readonly runs: readonly (readonly number[])[];
}

export interface CrashesResult {
  /** In the order of the job, run after run; null: missed in company, to be tried again (`performRun`). */
  readonly results: readonly (PointResult | null)[];
}

/** A worker serves one grid at a time: making it costs one run. */
let known: { readonly key: string; readonly grid: Grid } | null = null;

function gridOf(options: GridOptions): Grid {
  const key = JSON.stringify(options);
  if (known?.key !== key) known = { key, grid: crashGrid(options) };
  return known.grid;
}

export function performCrashes({ grid: options, runs }: CrashesJob): CrashesResult {
  const { points } = gridOf(options);
  return {
    results: runs.flatMap((run) =>
      performSafely(
        options,
        run.map((index) => points[index] as GridPoint),
      ),
    ),
  };
}

/** A run that throws is a failure of its points, not of the worker. */
function performSafely(options: GridOptions, points: readonly GridPoint[]): CrashesResult['results'] {
  try {
    return performRun(options, points);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    const violation = { oracle: 'threw', what };
    return points.map(({ id }) => ({
      id,
      holds: false,
      isHit: false,
      violation,
      rejoinNs: null,
      heights: 0,
    }));
  }
}
