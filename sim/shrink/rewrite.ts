// The same failure in other words, that depend less on chance: rules for what the network did, triggers for times, and all of it at the
// first heights.

import { type Chronicle, chronicled, type Deeds, type Performed } from '../chronicle.ts';
import { MILLISECOND } from '../latency.ts';
import type { Action, Directive, Scenario } from '../scenario/play.ts';
import { type Lab, SCORE_GOOD } from './lab.ts';
import { isOfNetwork, type Missed, missedAt, rulesOf } from './materialise.ts';
import { earlierCasts, firstOf } from './recast.ts';
import { conditionOf, symbolic } from './symbolise.ts';

/** Drafts that fail under the seed, each still with more words than it needs. */
export function rewritten(scenario: Scenario, lab: Lab): Scenario[] {
  const { chronicle } = chronicled(scenario, { seed: lab.seed });
  const { height } = lab.outcome(scenario);
  const drafts: Scenario[] = [];
  const add = (draft: Scenario | null): void => {
    if (draft && lab.stillFails(draft)) drafts.push(draft);
  };
  add(lowered(scenario, lab, chronicle));
  for (const explicit of explicits(scenario, chronicle, height)) {
    if (lab.isSpent) break;
    const told = lab.fails(explicit) ? symbolised(explicit, chronicle, lab) : explicit;
    add(told);
    add(lowered(told, lab, chronicle));
  }
  return drafts;
}

/** What the network did at the last heights as rules, and all else that was done at its time. */
function* explicits(scenario: Scenario, chronicle: Chronicle, height: number): Generator<Scenario> {
  const others = chronicle.performed.filter(({ action }) => !isOfNetwork(action));
  if (!scenario.act.some(({ actions }) => actions.some(isOfNetwork))) {
    yield { ...scenario, act: inOrder([], others) };
    return;
  }
  const known = new Set<string>();
  const before = height > 1 ? missedAt(chronicle, height - 1) : [];
  const own = missedAt(chronicle, height);
  for (const missed of [own, [...before, ...own]]) {
    for (const ruled of ruledWays(chronicle, missed)) {
      const act = inOrder(ruled, others);
      const key = JSON.stringify(act);
      if (known.has(key)) continue;
      known.add(key);
      yield { ...scenario, act };
    }
  }
}

type Ruled = readonly { readonly atNs: number; readonly directive: Directive }[];

/** What came late counts as lost until its receivers had gone on without it; or for ever; or it is not hindered. */
function* ruledWays(chronicle: Chronicle, missed: readonly Missed[]): Generator<Ruled> {
  const never = rulesOf(
    chronicle,
    missed.filter(({ until }) => until === null),
  );
  const all = rulesOf(chronicle, missed);
  const first = (actions: Action[]): Ruled[number] => ({ atNs: 0, directive: { atMs: 0, actions } });
  if (all.length > 0) yield [first(all)];
  if (never.length > 0) yield [first(never)];
  const healed = chronicle.performed.findLast(({ action }) => action.do === 'heal' || action.do === 'core');
  const heal: Action = healed?.action ?? { do: 'heal' };
  for (const deed of healings(chronicle, missed, healed?.atNs ?? 0)) {
    const { atNs } = deed;
    const when = conditionOf(deed);
    if (!when) continue;
    yield [first(all), { atNs, directive: { when, actions: [heal, ...never] } }];
    yield [first(all), { atNs, directive: { when, actions: [heal] } }];
  }
}

/** When what was late may come: after the last who went on without it, or when the play healed the network. */
function healings({ deeds }: Chronicle, missed: readonly Missed[], healedNs: number): Deeds[] {
  const late = missed.flatMap(({ until }) => until ?? []);
  const last = late.reduce<Deeds | null>(
    (most, deed) => (most && most.atNs >= deed.atNs ? most : deed),
    null,
  );
  const before = deeds.findLast((deed) => deed.atNs <= healedNs && conditionOf(deed) !== null);
  return [last, before].filter((deed) => deed !== null && deed !== undefined);
}

/** Rules and what was done to nodes, each at its time. */
function inOrder(ruled: Ruled, others: readonly Performed[]): Directive[] {
  const timed = others.map(({ atNs, action }) => ({
    atNs,
    directive: { atMs: Math.floor(atNs / MILLISECOND), actions: [action] },
  }));
  return [...ruled, ...timed].sort((a, b) => a.atNs - b.atNs).map(({ directive }) => directive);
}

/** Each time, if anything that happened can stand for it, as that. */
function symbolised(scenario: Scenario, chronicle: Chronicle, lab: Lab): Scenario {
  let best = scenario;
  for (const performed of chronicle.performed) {
    const at = best.act.findIndex(({ actions }) => actions.length === 1 && actions[0] === performed.action);
    if (at < 0) continue;
    const before = best;
    let score = lab.score(best);
    for (const directive of symbolic(chronicle, performed)) {
      if (score >= SCORE_GOOD || lab.isSpent) break;
      const candidate = { ...before, act: before.act.with(at, directive) };
      if (!lab.stillFails(candidate) || lab.score(candidate) < Math.max(1, score)) continue;
      best = candidate;
      score = lab.score(candidate);
    }
  }
  return best;
}

/**
 * At the lowest height at which it fails under other seeds, too (the first one begins a little differently
 * under each);
 * else at the lowest at all. Null: only where it is.
 */
function lowered(scenario: Scenario, lab: Lab, { deeds }: Chronicle): Scenario | null {
  const was = lab.outcome(scenario).height || heightOfRules(scenario);
  let fragile: Scenario | null = null;
  const first = firstOf(scenario);
  for (let by = was - first; by > 0; by--) {
    const last = first + by - 1; // of those that go
    const decided = deeds.find((deed) => deed.does === 'decides' && deed.height === last);
    const ms = Math.floor((decided?.atNs ?? 0) / MILLISECOND);
    for (const lower of earlierCasts(scenario, by, ms)) {
      if (!lab.stillFails(lower)) continue;
      if (lab.scores(lower, SCORE_GOOD)) return lower;
      fragile ??= lower;
    }
  }
  return fragile;
}

/** The last height that a rule speaks of: where it was to fail. */
const heightOfRules = ({ act }: Scenario): number =>
  act
    .flatMap(({ actions }) => actions)
    .reduce((most, action) => (action.do === 'rule' ? Math.max(most, action.height ?? 0) : most), 0);
