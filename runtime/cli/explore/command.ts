// `nodecli sim explore`: swarm runs, or those of another play, for as long as wanted, each
// twice, on all cores. Says what they saw, keeps the shortest run of each failure, and goes on where it was stopped.

import { readFileSync } from 'node:fs';
import { sha256 } from '#platform';
import { hexOf } from '../../../protocol/bytes.ts';
import { SEED_MAX } from '../../../sim/choices.ts';
import { SAME_FOR_THE_SAME } from '../../../sim/same-again.ts';
import { Interrupted, isUninterrupted } from '../interrupt.ts';
import { fileOfPlay, playToPerform } from '../run/play-file.ts';
import { ProgressBar } from '../screen.ts';
import { counted, grouped } from '../telling.ts';
import {
  buildCommit,
  CliError,
  countOf,
  EXIT,
  type Exit,
  mustBeSeeds,
  needsBuild,
  quoted,
  seedOf,
  workersOf,
} from '../usage.ts';
import { type Worker, withWorkers } from '../workers/workers.ts';
import { add, addLost, type Campaign, type Check, checksOf, newCampaign, SWARM } from './campaign.ts';
import { openCampaign, saveCampaign, saveFailures } from './folder.ts';
import type { RunSummary } from './job.ts';
import { type Lost, oneByOne } from './one-by-one.ts';

export interface ExploreFlags {
  readonly runs?: string;
  readonly minutes?: string;
  readonly workers?: string;
  readonly seed?: string;
  readonly play?: string;
  readonly out?: string;
  readonly json?: boolean;
}

const RUNS_USUAL = 2_000;
/** Seeds of one job: so few that what an interrupted campaign loses is a second's work. */
const BATCH = 8;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function exploreCommand(flags: ExploreFlags): Promise<Exit> {
  needsBuild('sim explore');
  const runs = flags.runs === undefined ? undefined : countOf(flags.runs, '--runs');
  const minutes = flags.minutes === undefined ? undefined : countOf(flags.minutes, '--minutes');
  const workers = workersOf(flags.workers);
  const goal = runs ?? (minutes === undefined ? RUNS_USUAL : Number.MAX_SAFE_INTEGER);
  const campaign = await begin(flags, goal);
  const explorer = new Explorer(campaign, goal, minutes, flags);
  // Whatever goes wrong, what was seen is told.
  const wrong: unknown[] = [];
  const trying = (what: () => void): void => {
    try {
      what();
    } catch (error) {
      wrong.push(error);
    }
  };
  const isWhole = await isUninterrupted(() =>
    withWorkers(Math.min(workers, explorer.workersMax), {}, (all) => explorer.run(all)),
  ).catch((error: unknown) => {
    wrong.push(error);
    return false;
  });
  trying(() => explorer.end());
  const checks = checksOf(campaign);
  trying(() => flags.out !== undefined && saveFailures(flags.out, campaign));
  if (flags.json) print(JSON.stringify({ ...campaign, checks }, null, 2));
  else {
    // What so few runs cannot show is missed by nobody.
    tell(campaign, isWhole ? checks : checks.filter(({ held }) => held !== null));
  }
  if (wrong.length > 0) throw wrong[0];
  if (!isWhole) {
    const of = goal === Number.MAX_SAFE_INTEGER ? '' : ` of ${grouped(goal)}`;
    const more = flags.out === undefined ? '' : '; the same command goes on';
    throw new Interrupted(`${grouped(campaign.runs)}${of} runs were made${more}`);
  }
  return checks.every(({ held }) => held !== false) ? EXIT.holds : EXIT.violated;
}

// --- beginning and going on --------------------------------------------------------------------------------

/** The first 48 bits of the commit: every commit explores other seeds. */
const baseOf = (commit: string): string =>
  /^[0-9a-f]{12,}/.test(commit) ? String(BigInt(`0x${commit.slice(0, 12)}`)) : '1';

/** Of a play in a file. */
function digestOfFile(play: string): string | undefined {
  const file = fileOfPlay(play);
  return file === undefined ? undefined : hexOf(sha256(readFileSync(file)));
}

async function begin({ out, seed, play }: ExploreFlags, goal: number): Promise<Campaign> {
  const commit = buildCommit();
  if (play !== undefined) await playToPerform(play);
  const base = seed === undefined ? baseOf(commit) : seedOf(seed);
  const fresh = newCampaign(play ?? SWARM, commit, base, play === undefined ? undefined : digestOfFile(play));
  const least = goal === Number.MAX_SAFE_INTEGER ? 1 : goal; // for some minutes nobody knows how many
  mustBeSeeds(fresh.base, least, '--seed');
  const campaign = out === undefined ? fresh : await openCampaign(out, fresh, seed !== undefined);
  mustBeSeeds(campaign.base, least, '--out');
  return campaign;
}

// --- the runs ----------------------------------------------------------------------------------------------

/** A batch that has been made once, by this worker. */
interface Half {
  readonly index: number;
  readonly by: Worker;
  readonly runs: readonly Made[];
}

type Made = RunSummary | Lost;
/** A run with the digest of its second time. */
type Pair = Lost | { readonly run: RunSummary; readonly again: string | Lost };

/** A campaign that loses more runs in a row is given up. */
const LOST_MAX = 8;
/** No batch of a swarm takes so long, on the slowest machine: one of its runs has no end. */
const WITHIN_MS = 120_000;

class Explorer {
  private readonly campaign: Campaign;
  private readonly goal: number;
  /** The goal, or as many as there are seeds. */
  private readonly most: number;
  private readonly deadlineMs: number;
  private readonly out: string | undefined;
  private readonly bar: ProgressBar;
  private readonly startedMs = performance.now();
  private readonly secondsBefore: number;
  /** Batches begin where an earlier sitting ended. */
  private readonly runsBefore: number;
  private nextBatch = 0;
  private readonly halves: Half[] = [];
  /** Batches that are being made for the first time now: they will need another worker. */
  private firstTimes = 0;
  /** Batches that are done, and wait for those before them: a campaign is counted in order. */
  private readonly done = new Map<number, readonly Pair[]>();
  private counted = 0;
  /** Somebody's work broke off. */
  private hasBroken = false;
  /** Lost ones, until one is not. */
  private readonly held: Pair[] = [];

  constructor(campaign: Campaign, goal: number, minutes: number | undefined, { out, json }: ExploreFlags) {
    this.bar = new ProgressBar(json);
    this.campaign = campaign;
    this.goal = goal;
    const seeds = SEED_MAX - BigInt(campaign.base) + 1n;
    this.most = seeds < BigInt(goal) ? Number(seeds) : goal;
    this.out = out;
    this.deadlineMs = minutes === undefined ? Number.POSITIVE_INFINITY : this.startedMs + minutes * 60_000;
    this.secondsBefore = campaign.seconds;
    this.runsBefore = campaign.runs;
  }

  /** No more have anything to do: one a batch, and another for its second time. */
  get workersMax(): number {
    return Math.max(2, Math.ceil((this.most - this.runsBefore) / BATCH));
  }

  async run(workers: readonly Worker[]): Promise<void> {
    try {
      await Promise.all(workers.map((worker) => this.work(worker, workers.length > 1)));
    } finally {
      this.hasBroken = true;
    }
  }

  private get isOver(): boolean {
    return performance.now() > this.deadlineMs || this.offset(this.nextBatch) >= this.most;
  }

  private offset(batch: number): number {
    return this.runsBefore + batch * BATCH;
  }

  private seedsOf(batch: number): string[] {
    const base = BigInt(this.campaign.base);
    const offset = this.offset(batch);
    const count = Math.min(BATCH, this.most - offset);
    return Array.from({ length: count }, (_, i) => String(base + BigInt(offset + i)));
  }

  private async work(worker: Worker, areOthers: boolean): Promise<void> {
    while (!this.hasBroken) {
      const at = this.halves.findIndex(({ by }) => !areOthers || by !== worker);
      const half = at < 0 ? undefined : this.halves.splice(at, 1)[0];
      if (half) await this.again(worker, half);
      else if (!this.isOver) {
        const index = this.nextBatch++;
        this.firstTimes++;
        const { play: explore } = this.campaign;
        const runs = await oneByOne(this.seedsOf(index), async (seeds) => {
          const made = await worker.explore({ explore, seeds }, WITHIN_MS);
          return made.runs;
        });
        this.halves.push({ index, by: worker, runs });
        this.firstTimes--;
      } else if (this.halves.length === 0 && this.firstTimes === 0) return;
      else await new Promise((resolve) => setTimeout(resolve, 20)); // another worker's turn
    }
  }

  /** In the opposite order: what a run leaves behind in its process must not show. Oracles look on only where one has spoken. */
  private async again(worker: Worker, { index, runs }: Half): Promise<void> {
    const there = runs.filter((run) => !('lost' in run)) as readonly RunSummary[];
    const seeds = there.map(({ seed }) => seed).reverse();
    const again = there.every(({ broken }) => broken === null);
    const { play: explore } = this.campaign;
    const digests = await oneByOne(seeds, async (some) => {
      const made = await worker.explore({ explore, seeds: some, again }, WITHIN_MS);
      return made.digests;
    });
    const second = new Map(seeds.map((seed, i) => [seed, digests[i] as string | Lost]));
    const pairs = runs.map((run): Pair => {
      return 'lost' in run ? run : { run, again: second.get(run.seed) ?? '' };
    });
    this.done.set(index, pairs);
    this.count();
  }

  private count(): void {
    const { campaign } = this;
    if (this.hasBroken || !this.done.has(this.counted)) return;
    for (let pairs = this.done.get(this.counted); pairs; pairs = this.done.get(this.counted)) {
      this.done.delete(this.counted++);
      for (const each of pairs) this.hold(each);
    }
    const part = this.goal === Number.MAX_SAFE_INTEGER ? this.timePart() : campaign.runs / this.goal;
    const failed = campaign.failures.length + campaign.mismatches.length;
    this.bar.update(
      part,
      `${grouped(campaign.runs)} runs, twice each${failed > 0 ? `, ${failed} FAILURES` : ''}`,
    );
    this.save();
  }

  /** Runs that are lost one after the other say something of the machine, or of a build that is gone, and nothing of so many seeds. */
  private hold(pair: Pair): void {
    this.held.push(pair);
    const lost = 'lost' in pair ? pair : typeof pair.again === 'string' ? null : pair.again;
    if (lost === null) this.settle();
    else if (this.held.length > LOST_MAX) {
      this.held.length = 0; // the next sitting makes them again
      this.hasBroken = true;
      const what = `${LOST_MAX + 1} runs in a row took their process with them, the last with seed ${lost.seed}`;
      throw new CliError(`${what}: ${lost.lost}`, EXIT.violated);
    }
  }

  private settle(): void {
    for (const each of this.held.splice(0)) {
      if ('lost' in each) addLost(this.campaign, each.seed, each.lost);
      else if (typeof each.again === 'string') add(this.campaign, each.run, each.again);
      else {
        add(this.campaign, each.run, null);
        addLost(this.campaign, each.again.seed, each.again.lost, false);
      }
    }
  }

  private save(): void {
    this.campaign.seconds = this.secondsBefore + (performance.now() - this.startedMs) / 1000;
    if (this.out !== undefined) saveCampaign(this.out, this.campaign);
  }

  private timePart(): number {
    return (performance.now() - this.startedMs) / (this.deadlineMs - this.startedMs);
  }

  end(): void {
    this.bar.clear();
    this.settle();
    this.save();
  }
}

// --- what is told ------------------------------------------------------------------------------------------

function tell(campaign: Campaign, checks: readonly Check[]): void {
  const { runs, heights, seconds, base, laterThanFirst } = campaign;
  const perSecond = seconds > 0 ? runs / seconds : 0;
  print(`${grouped(runs)} runs of ${campaign.play}, twice each, seeds from ${base}`);
  print(
    `${grouped(heights)} heights, ${((100 * laterThanFirst) / Math.max(1, heights)).toFixed(0)} % of them decided after ` +
      `round 0; ${grouped(campaign.deliveries)} deliveries; ${Math.round(seconds)} s, ${perSecond.toFixed(1)} seeds a second`,
  );
  for (const { what, held, found } of checks)
    print(`${held === null ? '  -- ' : held ? '  ok ' : ' BAD '} ${what.padEnd(52)} ${found}`);
  print('');
  const table = (title: string, counts: Readonly<Record<string, number>>): void => {
    print(`${title.padEnd(52)} runs`);
    for (const [name, times] of Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
      print(`  ${name.padEnd(50)} ${grouped(times)}`);
  };
  table('what happened', campaign.faults);
  table('rules at work', campaign.labels);
  for (const { oracle, what, times, seed } of campaign.failures) {
    print(`\n${oracle}, ${counted(times, 'time')}: ${what}`);
    print(`  npx nodecli sim run ${quoted(campaign.play)} --seed ${seed}`);
  }
  for (const seed of campaign.mismatches.slice(0, 5))
    print(`\nNOT THE SAME twice: ${campaign.play}, seed ${seed}`);
  if (campaign.mismatches.length > 0 && campaign.fileDigest !== undefined) print(SAME_FOR_THE_SAME);
}
