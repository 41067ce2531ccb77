// Makes a small scenario that fails by luck one that fails under most seeds: what happened once happens at every height, there are more
// heights, and one more rule makes trouble at each of them.

import type { Action, CrashPoint, Directive, NodeName, RuleAction, Scenario } from '../scenario/play.ts';
import { type Crash, isCrash } from './deaths.ts';
import { type Lab, type Sample, SCORE_GOOD } from './lab.ts';

const HEIGHTS_LONGER = 8;
const MS_LONGER = 120_000;
const RESTART_MS = 1_000;

/** What is asked of each guess, and how many of them are enough: not the seeds that made the scenario small. */
export const SHARP: Sample = { from: 2_000, seeds: 10 };
export const SHARP_GOOD = 9;
const GLANCE: Sample = { ...SHARP, seeds: 4 };
const GLANCE_GOOD = 3;

type Family = (scenario: Scenario) => Generator<Scenario>;
const FAMILIES: readonly Family[] = [crashesAgain, harsher, looser];

/** Fails under as many seeds as were found. */
export function sharpened(scenario: Scenario, lab: Lab): Scenario {
  if (lab.isDear && lab.scores(scenario, GLANCE.seeds, GLANCE)) return scenario;
  const { ends } = longer(scenario);
  let best = scenario;
  let score = lab.score(best, SHARP);
  for (const family of FAMILIES) {
    for (const draft of family(best)) {
      if (score >= SHARP_GOOD || lab.isSpent) return best;
      const guess = { ...draft, ends };
      if (!isPromising(guess, family, lab, score) || !lab.scores(guess, score + 1, SHARP)) continue;
      best = guess;
      score = lab.score(guess, SHARP);
    }
  }
  return best;
}

/** A glance: most guesses do not help. A harsher guess is judged by other seeds alone: it need not fail under the own one. */
function isPromising(guess: Scenario, family: Family, lab: Lab, score: number): boolean {
  if (family === harsher) return lab.scores(guess, GLANCE_GOOD, GLANCE);
  const least = Math.min(GLANCE_GOOD, 1 + Math.round((score * GLANCE.seeds) / SHARP.seeds));
  return lab.stillFails(guess) && lab.scores(guess, least, GLANCE);
}

/** Every height is another chance. A promised fork is of one height, and stays there. */
function longer({ ends, ...scenario }: Scenario): Scenario {
  if (ends.who === 'fork') return { ...scenario, ends };
  const decides = ends.decides + HEIGHTS_LONGER;
  return ends.who === 'nobody'
    ? { ...scenario, ends: { ...ends, decides, forMs: ends.forMs + MS_LONGER } }
    : { ...scenario, ends: { ...ends, decides, withinMs: ends.withinMs + MS_LONGER } };
}

/** Nothing but one crash or one rule, at every height; null: no such thing fails under most seeds. */
export function singleTrouble(scenario: Scenario, lab: Lab): Scenario | null {
  const only = (directive: Directive): Scenario => ({ ...scenario, act: [directive] });
  for (const guess of [...rulesFor(scenario).map(only), ...crashesIn(scenario).map(only).map(longer)]) {
    if (lab.isSpent) return null;
    if (lab.stillFails(guess) && lab.scores(guess, SCORE_GOOD)) return guess;
  }
  return null;
}

// --- crashes -----------------------------------------------------------------------------------------------------------

/** Where data is lost: what one keeper holds is durable, and not yet what another does. */
const POINTS: readonly Pick<CrashPoint, 'on' | 'when' | 'nth'>[] = [
  { on: 'app', when: 'after', nth: 1 },
  { on: 'app', when: 'after', nth: 2 },
  { on: 'app', when: 'after', nth: 3 },
  { on: 'chain', when: 'inside', nth: 2 },
  { on: 'chain', when: 'inside', nth: 3 },
];

const crashesOf = ({ act }: Scenario): readonly { readonly crash: Crash; readonly at: number }[] =>
  act.flatMap(({ actions }, at) => actions.filter(isCrash).map((crash) => ({ crash, at })));

/** Each that crashes, at every height. */
function crashesIn(scenario: Scenario): readonly Directive[] {
  const tried = new Set<NodeName>();
  const all: Directive[] = [];
  for (const { crash } of crashesOf(scenario)) {
    if (!tried.has(crash.node)) all.push(...everyTime(crash));
    tried.add(crash.node);
  }
  return all;
}

/** One crash at every height, with all else as it was. */
function* crashesAgain(scenario: Scenario): Generator<Scenario> {
  const { act } = scenario;
  for (const { crash, at } of crashesOf(scenario))
    for (const again of everyTime(crash)) yield { ...scenario, act: act.with(at, again) };
}

function* everyTime(crash: Crash): Generator<Directive> {
  const { node } = crash;
  const restartMs = Math.max(crash.restartMs ?? 0, RESTART_MS);
  const decides = { who: node, does: 'decides' } as const;
  const precommits = { who: node, does: 'precommits', round: 0 } as const;
  yield { whenever: decides, actions: [{ ...crash, restartMs }] };
  if (crash.do === 'crash-at' || crash.how !== 'drawn')
    yield { whenever: decides, actions: [{ do: 'crash', node, how: 'drawn', restartMs }] };
  for (const point of POINTS) {
    const strike: Crash = { do: 'crash-at', node, how: 'lose', restartMs, op: 'flush', ...point };
    yield { whenever: precommits, actions: [strike] };
  }
  yield { whenever: precommits, actions: [{ do: 'crash', node, how: 'drawn', restartMs }] };
}

// --- rules -------------------------------------------------------------------------------------------------------------

const isOfHeight = (action: Action): action is RuleAction =>
  action.do === 'rule' && action.height !== undefined;

/** With such rules at every height that `which` names by their order. */
function atEveryHeight(scenario: Scenario, which: (index: number) => boolean): Scenario {
  let index = 0;
  const loosened = (action: Action): Action => {
    if (!isOfHeight(action) || !which(index++)) return action;
    const { height: _, ...anywhere } = action;
    return anywhere;
  };
  const act = scenario.act.map((directive) => ({ ...directive, actions: directive.actions.map(loosened) }));
  return { ...scenario, act };
}

function* looser(scenario: Scenario): Generator<Scenario> {
  const rules = scenario.act.flatMap(({ actions }) => actions).filter(isOfHeight).length;
  if (rules > 0) yield atEveryHeight(scenario, () => true);
  if (rules > 1) for (let i = 0; i < rules; i++) yield atEveryHeight(scenario, (index) => index === i);
  yield scenario;
}

// --- one more rule -----------------------------------------------------------------------------------------------------

const LATE = { delayMs: 1_000 };
/** Who is behind, who must go to a later round, and what comes again when it is over. */
const HARSH: readonly ((node: NodeName) => Omit<RuleAction, 'do'>)[] = [
  (node) => ({ what: 'everything', effect: LATE, to: [node] }),
  () => ({ what: 'parts', effect: 'drop', round: 0 }),
  (node) => ({ what: 'transactions', effect: LATE, to: [node] }),
  (node) => ({ what: 'prevotes', effect: 'drop', round: 0, to: [node] }),
  (node) => ({ what: 'precommits', effect: LATE, to: [node] }),
  () => ({ what: 'precommits', effect: 'drop', round: 0 }),
  (node) => ({ what: 'precommits', effect: 'drop', round: 0, to: [node] }),
  (node) => ({ what: 'everything', effect: LATE, from: [node] }),
  (node) => ({ what: 'parts', effect: 'drop', round: 0, to: [node] }),
];

/** Each at every height, against one who tells no lies. */
function rulesFor(scenario: Scenario): readonly Directive[] {
  const lies = new Set(scenario.liars.map(({ node }) => node));
  const names = scenario.cast.powers.map((_, i): NodeName => `v${i}`);
  const node = names.find((name) => !lies.has(name));
  if (node === undefined) return [];
  return HARSH.map((rule) => ({ atMs: 0, actions: [{ do: 'rule', ...rule(node) }] }));
}

/** Beside what happens, or instead of it. */
function* harsher(scenario: Scenario): Generator<Scenario> {
  const rules = rulesFor(scenario);
  for (const rule of rules) yield { ...scenario, act: [...scenario.act, rule] };
  for (const rule of rules) yield { ...scenario, act: [rule] };
}
