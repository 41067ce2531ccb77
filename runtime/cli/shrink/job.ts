// Shrinking as a job for one process: of this build, or of a patched copy, where the bug is.

import { isRefusal } from '../../../protocol/refusal.ts';
import { type Explanation, explainRun } from '../../../sim/explain/explain.ts';
import { PLAY } from '../../../sim/oracle.ts';
import { runScenario } from '../../../sim/run.ts';
import { toJson } from '../../../sim/scenario/json.ts';
import type { Play } from '../../../sim/scenario/play.ts';
import { scenarioUnder } from '../../../sim/scenario/under.ts';
import type { Least, SoFar } from '../../../sim/shrink/lab.ts';
import { type Shrunk, shrink } from '../../../sim/shrink/shrink.ts';
import { playFromJson, playNamed } from '../run/play-file.ts';

export interface ShrinkJob {
  readonly shrink: PlaySource;
  readonly seed: string;
  /** At least so many, as in the run that failed. */
  readonly heights?: number;
}

/** A play that another process can find: by name, or as the text of its JSON. */
export type PlaySource = { readonly name: string } | { readonly json: string };

/** What came of it, with the scenario as JSON: it may hold bigints. */
export type ShrunkText = Omit<Shrunk, 'scenario'> & { readonly scenario: string };
export type ShrinkResult =
  | { readonly shrunk: ShrunkText; readonly explanation: Explanation | null; readonly ms: number }
  | { readonly not: string };

/** How far it is; the least is there when it is another than told before. */
export interface ShrinkSoFar extends Pick<SoFar, 'runs' | 'part'> {
  readonly least: (Omit<Least, 'scenario'> & { readonly scenario: string }) | null;
}

const playOfSource = (source: PlaySource): Play =>
  'name' in source ? playNamed(source.name) : playFromJson('the scenario', source.json);

export function performShrink(
  { shrink: source, seed, heights }: ShrinkJob,
  tell: (soFar: ShrinkSoFar) => void = () => {},
): ShrinkResult {
  const startedMs = performance.now();
  const play = scenarioUnder(playOfSource(source), seed, heights);
  const json = toJson(play);
  if (isRefusal(json)) return { not: json.because };
  const [first] = runScenario(play, { seed, crypto: 'sim' }).violations;
  if (!first) return { not: 'it holds (with sim-crypto)' };
  if (first.oracle === PLAY) return { not: `only the play's own promise breaks: ${first.what}` };
  const shrunk = shrink(play, { seed, promise: first.promise, heard: teller(tell) });
  if (!shrunk) return { not: 'it breaks no promise when its faults are written down' };
  const ms = performance.now() - startedMs;
  // Here, where the bug is.
  const explanation = explainRun(shrunk.scenario, { seed: shrunk.seed });
  return { shrunk: { ...shrunk, scenario: String(toJson(shrunk.scenario)) }, explanation, ms };
}

/** Who waits wants to hear something this often, and at once what is smaller. */
const TELL_EVERY_MS = 200;

function teller(tell: (soFar: ShrinkSoFar) => void): (soFar: SoFar) => void {
  let told: Least | null = null;
  let toldMs = 0;
  return ({ runs, part, least }) => {
    const isSmaller = least !== told;
    if (!isSmaller && performance.now() - toldMs < TELL_EVERY_MS) return;
    told = least;
    toldMs = performance.now();
    const smaller = isSmaller && least && { ...least, scenario: String(toJson(least.scenario)) };
    tell({ runs, part, least: smaller || null });
  };
}
