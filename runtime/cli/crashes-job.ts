// Some points of a crash grid as a job for another process: which grid, which of its points, and what came of
// each.

import {
  crashGrid,
  type Grid,
  type GridOptions,
  type GridPoint,
  type PointResult,
  performPoint,
} from '../../sim/crash-grid.ts';

export interface CrashesJob {
  readonly grid: GridOptions;
  /** Indexes of points. */
  readonly points: readonly number[];
}

export interface CrashesResult {
  readonly results: readonly PointResult[];
}

/** A worker serves one grid at a time: making it costs one run. */
let known: { readonly key: string; readonly grid: Grid } | null = null;

function gridOf(options: GridOptions): Grid {
  const key = JSON.stringify(options);
  if (known?.key !== key) known = { key, grid: crashGrid(options) };
  return known.grid;
}

export function performCrashes({ grid: options, points }: CrashesJob): CrashesResult {
  const grid = gridOf(options);
  return { results: points.map((index) => performSafely(options, grid.points[index] as GridPoint)) };
}

/** A run that throws is a failure of its point, not of the worker. */
function performSafely(options: GridOptions, point: GridPoint): PointResult {
  try {
    return performPoint(options, point);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    return {
      id: point.id,
      holds: false,
      isHit: false,
      violation: { oracle: 'threw', what },
      rejoinNs: null,
      heights: 0,
    };
  }
}
