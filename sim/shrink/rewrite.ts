// The same failure in other words, that depend less on chance: rules for what the network did, triggers for times, and
// all of it at the first height.

import { type Chronicle, chronicled } from '../chronicle.ts';
import type { Directive, RuleAction, Scenario } from '../scenario/play.ts';
import { type Lab, SCORE_GOOD } from './lab.ts';
import { isOfNetwork, type Lateness, rulesOf } from './materialise.ts';
import { firstOf } from './polish.ts';
import { earlierCasts } from './recast.ts';
import { symbolic, timed } from './symbolise.ts';

const NS_PER_MS = 1_000_000;

/** Drafts that fail under the seed, each still with more words than it needs. */
export function rewritten(scenario: Scenario, lab: Lab): Scenario[] {
  const { chronicle } = chronicled(scenario, { seed: lab.seed });
  const { height } = lab.outcome(scenario);
  const drafts = [...lowered(scenario, lab, chronicle)];
  const known = new Set<string>();
  for (const from of [height, Math.max(1, height - 1)]) {
    for (const lateness of ['strict', 'lenient'] as const) {
      const explicit = withRules(scenario, chronicle, from, height, lateness);
      const key = JSON.stringify(explicit.act);
      if (known.has(key)) continue;
      known.add(key);
      if (!lab.fails(explicit)) {
        drafts.push(...lowered(explicit, lab, chronicle));
        continue;
      }
      const told = symbolised(explicit, chronicle, lab);
      drafts.push(told, ...lowered(told, lab, chronicle));
    }
  }
  return drafts;
}

/** What the network did at these heights as rules, and all else that was done at its time. */
function withRules(
  scenario: Scenario,
  chronicle: Chronicle,
  from: number,
  to: number,
  lateness: Lateness,
): Scenario {
  const isTouched = scenario.act.some(({ actions }) => actions.some(isOfNetwork));
  const rules: RuleAction[] = [];
  if (isTouched)
    for (let height = from; height <= to; height++) rules.push(...rulesOf(chronicle, height, lateness));
  const first: Directive[] = rules.length > 0 ? [{ atMs: 0, actions: rules }] : [];
  return { ...scenario, act: [...first, ...timed(chronicle)] };
}

/** Each time, if anything that happened can stand for it, as that. */
function symbolised(scenario: Scenario, chronicle: Chronicle, lab: Lab): Scenario {
  const done = chronicle.performed.filter(({ action }) => !isOfNetwork(action));
  const offset = scenario.act.length - done.length;
  let best = scenario;
  for (const [i, performed] of done.entries()) {
    let score = lab.score(best);
    const before = best;
    for (const directive of symbolic(chronicle, performed)) {
      if (score >= SCORE_GOOD || lab.isSpent) break;
      const candidate = { ...before, act: before.act.with(offset + i, directive) };
      if (!lab.fails(candidate) || lab.score(candidate) < Math.max(1, score)) continue;
      best = candidate;
      score = lab.score(candidate);
    }
  }
  return best;
}

/** At the lowest height at which it still fails. */
function lowered(scenario: Scenario, lab: Lab, { deeds }: Chronicle): Scenario[] {
  const { height } = lab.outcome(scenario);
  const was = height > 0 ? height : heightOfRules(scenario);
  for (let by = was - 1; by > 0; by--) {
    const decided = deeds.find((deed) => deed.does === 'decides' && deed.height === by);
    const ms = Math.floor((decided?.atNs ?? 0) / NS_PER_MS);
    const lower = firstOf(earlierCasts(scenario, by, ms), (each) => !lab.isSpent && lab.fails(each));
    if (lower) return [lower];
  }
  return [];
}

/** The last height that a rule speaks of: where it was to fail. */
const heightOfRules = ({ act }: Scenario): number =>
  act
    .flatMap(({ actions }) => actions)
    .reduce((most, action) => (action.do === 'rule' ? Math.max(most, action.height ?? 0) : most), 0);
