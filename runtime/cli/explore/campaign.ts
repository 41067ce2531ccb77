// What a campaign has seen so far, as one value that is saved, resumed, judged and shown.

import { SET_CHANGES } from '../../../sim/oracles/chain/chain.ts';
import { PAPER_RULES, RARE_RULES, SWARM_FAULTS } from '../../../sim/swarm/coverage.ts';
import { counted } from '../telling.ts';
import type { RunSummary } from './job.ts';

/** The play that `sim explore` is for: of this one it is known what a campaign must see. */
export const SWARM = 'swarm';

/** Failures that break the same promise in the same words, numbers apart. */
export interface Failure {
  readonly signature: string;
  readonly oracle: string;
  what: string;
  times: number;
  /** The shortest run that shows it. */
  seed: string;
  deliveries: number;
}

export interface Campaign {
  /** Its name, or its file as it was typed. */
  readonly play: string;
  /** Of a file its SHA-256: what it imports is not in it. */
  readonly fileDigest?: string;
  readonly commit: string;
  readonly base: string;
  runs: number;
  heights: number;
  laterThanFirst: number;
  deliveries: number;
  virtualMs: number;
  /** Seconds of wall time, over all sittings. */
  seconds: number;
  readonly reached: { round2: number; restarted: number; setChanged: number; lied: number };
  readonly ratio: { max: number; seed: string };
  readonly faults: Record<string, number>;
  readonly labels: Record<string, number>;
  readonly failures: Failure[];
  /** Seeds whose two runs differed. */
  readonly mismatches: string[];
}

export const newCampaign = (play: string, commit: string, base: string, fileDigest?: string): Campaign => ({
  play,
  ...(fileDigest !== undefined && { fileDigest }),
  commit,
  base,
  runs: 0,
  heights: 0,
  laterThanFirst: 0,
  deliveries: 0,
  virtualMs: 0,
  seconds: 0,
  reached: { round2: 0, restarted: 0, setChanged: 0, lied: 0 },
  ratio: { max: 0, seed: '' },
  faults: {},
  labels: {},
  failures: [],
  mismatches: [],
});

/** A run that was made twice; `again` is the digest of the second time, null: there is none. */
export function add(campaign: Campaign, run: RunSummary, again: string | null): void {
  const { reached, faults, labels, ratio } = campaign;
  campaign.runs++;
  campaign.heights += run.heights;
  campaign.laterThanFirst += run.laterThanFirst;
  campaign.deliveries += run.deliveries;
  campaign.virtualMs += run.virtualMs;
  if (run.roundMax >= 2) reached.round2++;
  if (run.faults.includes('restarts')) reached.restarted++;
  if (run.labels.includes(SET_CHANGES)) reached.setChanged++;
  if (run.faults.some((name) => name.startsWith('lie: '))) reached.lied++;
  if (run.ratio > ratio.max) {
    ratio.max = run.ratio;
    ratio.seed = run.seed;
  }
  for (const name of run.faults) faults[name] = (faults[name] ?? 0) + 1;
  for (const name of run.labels) labels[name] = (labels[name] ?? 0) + 1;
  if (again !== null && run.digest !== again) campaign.mismatches.push(run.seed);
  if (run.broken) addFailure(campaign, run, run.broken);
}

/** The oracle of runs that took their process with them, or never came to an end. */
export const PROCESS = 'process';

/** Such a run; its first time, if that was another, is counted with `add`. */
export function addLost(campaign: Campaign, seed: string, what: string, isFirst = true): void {
  if (isFirst) campaign.runs++;
  addFailure(campaign, { seed, deliveries: 0 }, { oracle: PROCESS, what });
}

const lostOf = ({ failures }: Campaign): number =>
  failures.reduce((sum, { oracle, times }) => (oracle === PROCESS ? sum + times : sum), 0);

function addFailure(
  campaign: Campaign,
  run: Pick<RunSummary, 'seed' | 'deliveries'>,
  broken: NonNullable<RunSummary['broken']>,
): void {
  const signature = signatureOf(broken);
  const { seed, deliveries } = run;
  const known = campaign.failures.find((each) => each.signature === signature);
  if (!known) {
    campaign.failures.push({ signature, ...broken, times: 1, seed, deliveries });
    return;
  }
  known.times++;
  if (deliveries >= known.deliveries) return;
  known.what = broken.what;
  known.seed = seed;
  known.deliveries = deliveries;
}

/** The words without what differs from run to run: names of nodes, numbers, hashes, of which one in fifty looks like a number. */
export const signatureOf = ({ oracle, what }: { oracle: string; what: string }): string =>
  `${oracle}: ${what
    .replace(/\b[vcf][0-9]+\b/g, 'V')
    .replace(/\b(?=[0-9]*[a-f])[0-9a-f]{8,}\b/gi, 'N')
    .replace(/[0-9]+(\.[0-9]+)?/g, 'N')}`;

/** One thing that a campaign must show. `held` null: too few runs to say. */
export interface Check {
  readonly what: string;
  readonly held: boolean | null;
  readonly found: string;
}

/** Rare things need so many runs to be missed by more than bad luck. */
const RUNS_TO_JUDGE = 2_000;
const RUNS_TO_JUDGE_RARE_RULES = 10_000;

export function checksOf(campaign: Campaign): Check[] {
  const { runs, reached, ratio } = campaign;
  const share = (what: string, count: number, least: number): Check => ({
    what: `${what}: at least ${least} %`,
    held: runs < RUNS_TO_JUDGE / 4 ? null : count * 100 >= runs * least,
    found: `${((100 * count) / Math.max(1, runs)).toFixed(1)} %`,
  });
  const missing = (list: readonly string[], counts: Record<string, number>, what: string) => {
    const never = list.filter((name) => !counts[name]);
    const isRare = never.every((name) => RARE_RULES.includes(name));
    const enough = isRare ? RUNS_TO_JUDGE_RARE_RULES : RUNS_TO_JUDGE;
    const held = never.length === 0 ? true : runs < enough ? null : false;
    const found = never.length === 0 ? `all ${list.length}` : `not seen: ${never.join('; ')}`;
    return { what, held, found };
  };
  const always: Check[] = [
    { what: 'no promise is broken', held: campaign.failures.length === 0, found: failuresText(campaign) },
    {
      what: 'both runs of every seed have one digest',
      held: campaign.mismatches.length === 0,
      found:
        campaign.mismatches.length === 0
          ? `${runs - lostOf(campaign)} equal`
          : `seed ${campaign.mismatches[0]} differs`,
    },
  ];
  if (campaign.play !== SWARM) return always;
  return [
    ...always,
    {
      what: 'liveness: the bound is kept, and near (0.5 to 1)',
      held: runs < RUNS_TO_JUDGE / 4 ? null : ratio.max <= 1 && ratio.max >= 0.5,
      found: `${ratio.max.toFixed(2)} at most (seed ${ratio.seed})`,
    },
    share('runs that reach round 2', reached.round2, 30),
    share('runs with a restart', reached.restarted, 20),
    share('runs whose validator set changes', reached.setChanged, 20),
    share('runs with a lie', reached.lied, 20),
    missing(SWARM_FAULTS, campaign.faults, 'every fault happened'),
    missing(PAPER_RULES, campaign.labels, 'every rule of the paper was at work'),
  ];
}

function failuresText({ failures }: Campaign): string {
  if (failures.length === 0) return 'none is';
  return `${failures.reduce((sum, { times }) => sum + times, 0)} runs, in ${counted(failures.length, 'way')}`;
}
