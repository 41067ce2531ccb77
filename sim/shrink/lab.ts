// Performs candidates, remembers what came of each, and keeps the budget: a number of deliveries, so that the same input is given the
// same work everywhere.

import { SEED_MAX } from '../choices.ts';
import { MILLISECOND } from '../latency.ts';
import { runScenario } from '../run.ts';
import type { RunOptions } from '../run-options.ts';
import { textOf } from '../scenario/json.ts';
import type { Scenario } from '../scenario/play.ts';
import type { World } from '../world.ts';
import { directivesIn } from './parts.ts';

/** What came of one run, as far as shrinking asks. */
export interface Outcome {
  /** The one that is kept, if it is among those that broke; else the first. Null: none broke, or the run could not be performed. */
  readonly promise: string | null;
  /** It came to its end, and broke none. */
  readonly holds: boolean;
  readonly what: string;
  readonly atMs: number;
  readonly height: number;
  /** The highest height that anybody had decided by then. */
  readonly heights: number;
  /** In deliveries. */
  readonly cost: number;
}

/** How far shrinking is: for those who wait, and for those who wait no longer. */
export interface SoFar {
  readonly runs: number;
  /** Of what may be spent, 0 to 1; the last checks come on top. */
  readonly part: number;
  /** The scenario of fewest directives so far that breaks the promise under this seed; null: none yet. */
  readonly least: Least | null;
}

export interface Least {
  readonly scenario: Scenario;
  readonly seed: string;
  readonly promise: string;
  readonly what: string;
  readonly directives: number;
}

const NOTHING: Outcome = { promise: null, holds: false, what: '', atMs: 0, height: 0, heights: 0, cost: 0 };
/** A run costs this much before its first delivery: a world is made. */
const RUN_COST = 200;
/** What costs more than this, and than so many times the first run, is given up: it would leave nothing for the others. */
const RUN_MOST = 20_000;
const RUN_MOST_TIMES = 3;
/** A run that costs more than this share of the budget is dear. */
const DEAR = 1 / 20;

/** So many seeds from this one on, after the run's own: others than those of the last check, so that nothing is chosen to please it. */
export interface Sample {
  readonly from: number;
  readonly seeds: number;
}

export const SCORE: Sample = { from: 1_000, seeds: 5 };
/** As many of them as `survives` asks of its seeds. */
export const SCORE_GOOD = 4;

/** After the last comes the first. */
export const seedAfter = (seed: string, by: number): string =>
  String((BigInt(seed) + BigInt(by)) % (SEED_MAX + 1n));

export class Lab {
  /** The promise whose violation is kept. */
  readonly promise: string;
  readonly seed: string;
  /** Runs performed, and what they cost. */
  runs = 0;
  spent = 0;
  private least: Least | null = null;
  /** Told after each run. */
  private readonly heard: (soFar: Omit<SoFar, 'part'>) => void;
  private readonly budget: number;
  private limit: number;
  /** What the first run cost. */
  private first = 0;
  private most = RUN_MOST;
  private readonly known = new Map<string, Outcome>();
  /** Functions of one's own that it has met. */
  private readonly own = new Map<unknown, number>();

  constructor(promise: string, seed: string, budget: number, heard: Lab['heard'] = () => {}) {
    this.promise = promise;
    this.seed = seed;
    this.budget = budget;
    this.limit = budget;
    this.heard = heard;
  }

  /** Whether what is being done may cost no more. */
  get isSpent(): boolean {
    return this.spent >= this.limit;
  }

  /** A single run takes much of the budget: what asks many seeds asks fewer. */
  get isDear(): boolean {
    return this.first > this.budget * DEAR;
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
    const key = `${seed} ${textOf(scenario, this.own)}`;
    let outcome = this.known.get(key);
    if (!outcome) {
      outcome = this.perform(scenario, seed);
      this.known.set(key, outcome);
      this.tell(scenario, seed, outcome);
    }
    return outcome;
  }

  /** Whether the scenario breaks the same promise under a seed; its own, if none is named. */
  fails(scenario: Scenario, seed = this.seed): boolean {
    return this.outcome(scenario, seed).promise === this.promise;
  }

  /** Under how many of some other seeds it breaks the promise, too: what does not is an accident of this one. */
  score(scenario: Scenario, { from, seeds } = SCORE): number {
    let fails = 0;
    for (let i = 0; i < seeds; i++) if (this.fails(scenario, seedAfter(this.seed, from + i))) fails++;
    return fails;
  }

  /** Whether it breaks the promise under so many of them: stops asking when that is clear. */
  scores(scenario: Scenario, least: number, { from, seeds } = SCORE): boolean {
    let fails = 0; // of the seeds before i
    for (let i = 0; i < seeds && fails < least; i++) {
      if (this.fails(scenario, seedAfter(this.seed, from + i))) fails++;
      else if (i - fails >= seeds - least) return false;
    }
    return fails >= least;
  }

  /** The same, as long as it may cost more: afterwards nothing fails any more, and what was found stays. */
  readonly stillFails = (scenario: Scenario): boolean => !this.isSpent && this.fails(scenario);

  private tell(scenario: Scenario, seed: string, { promise, what }: Outcome): void {
    if (promise === this.promise && seed === this.seed) {
      const directives = directivesIn(scenario);
      if (!this.least || directives < this.least.directives)
        this.least = { scenario, seed, promise, what, directives };
    }
    this.heard({ runs: this.runs, least: this.least });
  }

  private perform(scenario: Scenario, seed: string): Outcome {
    this.runs++;
    this.spent += RUN_COST;
    let cost = 0;
    try {
      const { violations, deliveries, heights } = runScenario(scenario, {
        seed,
        crypto: 'sim',
        shape: false,
        ...this.guard,
      });
      cost = deliveries;
      const broken = violations.find(({ promise }) => promise === this.promise) ?? violations[0];
      if (!broken) return { ...NOTHING, holds: true, cost };
      const atMs = Math.ceil(broken.atNs / MILLISECOND);
      const height = Number(broken.height);
      return {
        promise: broken.promise,
        holds: false,
        what: broken.what,
        atMs,
        height,
        heights: Math.max(height, Number(heights)),
        cost,
      };
    } catch (error) {
      if (error instanceof TooLong) cost = error.deliveries;
      return { ...NOTHING, cost }; // or no scenario any more, or a bug that stops the program: not what we look for
    } finally {
      if (this.runs === 1) {
        this.first = cost;
        this.most = Math.max(RUN_MOST, cost * RUN_MOST_TIMES);
      }
      this.spent += cost;
    }
  }

  /** Ends a run that takes too long. */
  private get guard(): Pick<RunOptions, 'onWorld' | 'watch'> {
    if (this.runs === 1) return {};
    let world: World | null = null;
    const look = (): void => {
      const deliveries = world?.deliveries ?? 0;
      if (deliveries > this.most) throw new TooLong(deliveries);
    };
    return {
      onWorld: (made) => {
        world = made;
      },
      watch: { progress: look },
    };
  }
}

class TooLong extends Error {
  readonly deliveries: number;

  constructor(deliveries: number) {
    super('too long');
    this.deliveries = deliveries;
  }
}
