// Moments as words: what a play did at a time, or at a point that only this seed reaches, happens when a node does something. From what the
// nodes did just before.

import type { Chronicle, Deeds, Performed } from '../chronicle.ts';
import type { Action, Condition, Directive } from '../scenario/play.ts';
import { STEP_NAMES, type StepName } from '../scenario/play.ts';
import { crashAtOnce } from './deaths.ts';

/** Of what a node did before, so much is tried. */
const DEEDS_TRIED = 6;
const NTH_TRIED = 3;

const stepName = (step: number): StepName | undefined =>
  (Object.keys(STEP_NAMES) as StepName[]).find((name) => STEP_NAMES[name] === step);

/** The condition that this meets; null: no words of plays say it. */
export function conditionOf({ node, does, height, round, step }: Deeds): Condition | null {
  const who = { who: node, does };
  if (does === 'starts' || does === 'crashes' || does === 'joins' || does === 'halts') return who;
  if (does === 'decides') return { ...who, height };
  if (does === 'punishes' || does === 'drops') return null;
  const name = stepName(step);
  if (does === 'enters' && !name) return null;
  return { ...who, height, round, ...(does === 'enters' && name && { step: name }) };
}

/** Other directives for one that the play performed at a time: at something that happened, the latest first. */
export function* symbolic(chronicle: Chronicle, { atNs, action }: Performed): Generator<Directive> {
  const node = 'node' in action ? action.node : null;
  const struckNs = action.do === 'crash-at' ? deathOf(chronicle, action, atNs) : atNs;
  const seen = new Set<string>();
  for (const mine of [true, false]) {
    const deeds = chronicle.deeds.filter(
      (deed) => deed.atNs <= struckNs && deed.does !== 'crashes' && (deed.node === node) === mine,
    );
    for (const deed of deeds.slice(-DEEDS_TRIED).reverse()) {
      const when = conditionOf(deed);
      const key = JSON.stringify(when);
      if (!when || seen.has(key)) continue;
      seen.add(key);
      for (const instead of actionsFor(action)) yield { when, actions: [instead] };
    }
  }
}

/** When a crash point was reached. */
function deathOf(
  { deeds }: Chronicle,
  { node }: Extract<Action, { do: 'crash-at' }>,
  fromNs: number,
): number {
  return (
    deeds.find((deed) => deed.node === node && deed.does === 'crashes' && deed.atNs >= fromNs)?.atNs ?? fromNs
  );
}

/** A crash point is counted anew from the trigger on; or the node just dies there. */
function* actionsFor(action: Action): Generator<Action> {
  if (action.do !== 'crash-at') {
    yield action;
    return;
  }
  yield crashAtOnce(action);
  for (let nth = 1; nth <= NTH_TRIED; nth++) yield { ...action, nth };
}
