// A batch of swarm runs as a job for another process, and what a campaign keeps of each run.

import { digestAgain, runScenario } from '../../../sim/run.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import { playAtOnce } from '../run/play-file.ts';

export interface ExploreJob {
  readonly explore: string;
  /** In this order. */
  readonly seeds: readonly string[];
  readonly memo?: boolean;
  /** The second time, of runs that held: only the digests are wanted. */
  readonly again?: boolean;
}

export interface RunSummary {
  readonly seed: string;
  readonly digest: string;
  /** Null: it held. `oracle` is `threw` when the run itself broke. */
  readonly broken: { readonly oracle: string; readonly what: string } | null;
  readonly heights: number;
  readonly laterThanFirst: number;
  readonly roundMax: number;
  readonly deliveries: number;
  readonly virtualMs: number;
  /** Of the height that took most of its liveness bound; 0: none was promised. */
  readonly ratio: number;
  /** Names of what happened at least once. */
  readonly faults: readonly string[];
  readonly labels: readonly string[];
}

export interface ExploreResult {
  /** Empty the second time. */
  readonly runs: readonly RunSummary[];
  readonly digests: readonly string[];
}

export function performExplore({ explore, seeds, memo = true, again = false }: ExploreJob): ExploreResult {
  if (again) return { runs: [], digests: seeds.map((seed) => digestOf(explore, seed, memo)) };
  const runs = seeds.map((seed) => summary(explore, seed, memo));
  return { runs, digests: runs.map(({ digest }) => digest) };
}

function digestOf(play: string, seed: string, memo: boolean): string {
  try {
    return digestAgain(playAtOnce(play), { seed, memo });
  } catch {
    return ''; // it held the first time: that differs
  }
}

function summary(play: string, seed: string, memo: boolean): RunSummary {
  try {
    // As it was drawn: some chains begin later, and what lies before their first height was never decided.
    const whole = playAtOnce(play);
    const before = (scenarioUnder(whole, seed).cast.initialHeight ?? 1) - 1;
    const verdict = runScenario(whole, { seed, memo, shape: false });
    const [first] = verdict.violations;
    return {
      seed,
      digest: verdict.digest,
      broken: first ? { oracle: first.oracle, what: first.what } : null,
      heights: Math.max(0, Number(verdict.heights) - before),
      laterThanFirst: verdict.rounds.laterThanFirst,
      roundMax: verdict.rounds.max,
      deliveries: verdict.deliveries,
      virtualMs: Math.round(verdict.virtualNs / 1e6),
      ratio: verdict.liveness?.ratio ?? 0,
      faults: Object.keys(verdict.faults),
      labels: Object.keys(verdict.labels),
    };
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    const nothing = { heights: 0, laterThanFirst: 0, roundMax: 0, deliveries: 0, virtualMs: 0, ratio: 0 };
    return { seed, digest: '', broken: { oracle: 'threw', what }, ...nothing, faults: [], labels: [] };
  }
}
