// Performs candidates, remembers what came of each, and keeps the budget: a number of deliveries, so that the same
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
}

const NS_PER_MS = 1_000_000;
const NOTHING: Outcome = { promise: null, what: '', atMs: 0, height: 0 };
/** A run costs this much before its first delivery: a world is made. */
const RUN_COST = 1_000;

export class Lab {
  /** The promise whose violation is kept. */
  readonly promise: string;
  readonly seed: string;
  /** Runs performed, and what they cost. */
  runs = 0;
  spent = 0;
  private readonly budget: number;
  private readonly known = new Map<string, Outcome>();

  constructor(promise: string, seed: string, budget: number) {
    this.promise = promise;
    this.seed = seed;
    this.budget = budget;
  }

  get isSpent(): boolean {
    return this.spent >= this.budget;
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

  private perform(scenario: Scenario, seed: string): Outcome {
    this.runs++;
    this.spent += RUN_COST;
    try {
      const { violations, deliveries } = runScenario(scenario, { seed, crypto: 'sim' });
      this.spent += deliveries;
      const [first] = violations;
      if (!first) return NOTHING;
      const atMs = Math.ceil(first.atNs / NS_PER_MS);
      return { promise: promiseOf(first), what: first.what, atMs, height: Number(first.height) };
    } catch {
      return NOTHING; // no scenario any more, or a bug that stops the program: not what we look for
    }
  }
}
