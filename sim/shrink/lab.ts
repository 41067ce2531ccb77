// Performs candidates, remembers what came of each, and keeps the budget: a number of deliveries, so that the
// same
// input is given the same work everywhere.

import { runScenario } from '../run.ts';
import { toJson } from '../scenario/json.ts';
import type { Scenario } from '../scenario/play.ts';
import { promiseOf } from './promise.ts';

/** What came of one run, as far as shrinking asks. */
export interface Outcome {
  /** The promise that broke first; null: none, or the run could not be performed. */
  readonly promise: string | null;
  readonly what: string;
  readonly atMs: number;
  readonly height: number;
  /** The highest height that anybody had decided by then. */
  readonly heights: number;
  /** In deliveries. */
  readonly cost: number;
}

const NS_PER_MS = 1_000_000;
const NOTHING: Outcome = { promise: null, what: '', atMs: 0, height: 0, heights: 0, cost: 0 };
/** A run costs this much before its first delivery: a world is made. */
const RUN_COST = 200;

/** Others than those of the last check, so that nothing is chosen to please it. */
const SCORE_FROM = 1_000;
export const SCORE_SEEDS = 5;
/** As many of them as `survives` asks of its seeds. */
export const SCORE_GOOD = 4;

export const seedAfter = (seed: string, by: number): string => String(BigInt(seed) + BigInt(by));

export class Lab {
  /** The promise whose violation is kept. */
  readonly promise: string;
  readonly seed: string;
  /** Runs performed, and what they cost. */
  runs = 0;
  spent = 0;
  private limit: number;
  private readonly known = new Map<string, Outcome>();

  constructor(promise: string, seed: string, budget: number) {
    this.promise = promise;
    this.seed = seed;
    this.limit = budget;
  }

  /** Whether what is being done may cost no more. */
  get isSpent(): boolean {
    return this.spent >= this.limit;
  }

  /** Lets `work` spend this share of what is left. */
  within<T>(share: number, work: () => T): T {
    return this.spending((this.limit - this.spent) * share, work);
  }

  /** Lets `work` spend so much, whatever is left. */
  spending<T>(deliveries: number, work: () => T): T {
    const before = this.limit;
    this.limit = this.spent + Math.floor(deliveries);
    const done = work();
    this.limit = before;
    return done;
  }

  outcome(scenario: Scenario, seed = this.seed): Outcome {
    const key = `${seed} ${String(toJson(scenario))}`;
    let outcome = this.known.get(key);
    if (!outcome) {
      outcome = this.perform(scenario, seed);
      this.known.set(key, outcome);
    }
    return outcome;
  }

  /** Whether the scenario breaks the same promise under a seed; its own, if none is named. */
  fails(scenario: Scenario, seed = this.seed): boolean {
    return this.outcome(scenario, seed).promise === this.promise;
  }

  /** Under how many of some other seeds it breaks the promise, too: what does not is an accident of this one. */
  score(scenario: Scenario, seeds = SCORE_SEEDS): number {
    let fails = 0;
    for (let i = 0; i < seeds; i++) if (this.fails(scenario, seedAfter(this.seed, SCORE_FROM + i))) fails++;
    return fails;
  }

  /** Whether it breaks the promise under so many of them: stops asking when that is clear. */
  scores(scenario: Scenario, least: number, seeds = SCORE_SEEDS): boolean {
    let fails = 0; // of the seeds before i
    for (let i = 0; i < seeds && fails < least; i++) {
      if (this.fails(scenario, seedAfter(this.seed, SCORE_FROM + i))) fails++;
      else if (i - fails >= seeds - least) return false;
    }
    return fails >= least;
  }

  /** The same, as long as it may cost more: afterwards nothing fails any more, and what was found stays. */
  readonly stillFails = (scenario: Scenario): boolean => !this.isSpent && this.fails(scenario);

  private perform(scenario: Scenario, seed: string): Outcome {
    this.runs++;
    this.spent += RUN_COST;
    try {
      const verdict = runScenario(scenario, { seed, crypto: 'sim' });
      const { violations, deliveries: cost } = verdict;
      this.spent += cost;
      const [first] = violations;
      if (!first) return { ...NOTHING, cost };
      const atMs = Math.ceil(first.atNs / NS_PER_MS);
      const height = Number(first.height);
      const heights = Math.max(height, Number(verdict.heights));
      return { promise: promiseOf(first), what: first.what, atMs, height, heights, cost };
    } catch {
      return NOTHING; // no scenario any more, or a bug that stops the program: not what we look for
    }
  }
}
