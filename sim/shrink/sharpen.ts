// Makes a small scenario that fails by luck one that fails under most seeds: what happened once happens at every height, and there are
// more heights.

import type { Action, CrashPoint, Directive, NodeName, RuleAction, Scenario } from '../scenario/play.ts';
import { type Lab, SCORE_GOOD } from './lab.ts';

const HEIGHTS_LONGER = 8;
const MS_LONGER = 120_000;
const RESTART_MS = 1_000;

/** So many seeds are asked of each guess, and so many of them are enough. */
export const SHARP_SEEDS = 10;
export const SHARP_GOOD = 9;

type Family = (scenario: Scenario) => Generator<Scenario>;
const FAMILIES: readonly Family[] = [crashesAgain, looser];

/** Fails under the seed, and under as many others as were found. */
export function sharpened(scenario: Scenario, lab: Lab): Scenario {
  let best = scenario;
  let score = lab.score(best, SHARP_SEEDS);
  for (const family of FAMILIES) {
    for (const guess of family(best)) {
      if (score >= SHARP_GOOD || lab.isSpent) return best;
      if (!lab.stillFails(guess) || !lab.scores(guess, score + 1, SHARP_SEEDS)) continue;
      best = guess;
      score = lab.score(guess, SHARP_SEEDS);
    }
  }
  return best;
}

/** Every height is another chance. */
function longer({ ends, ...scenario }: Scenario): Scenario {
  const decides = ends.decides + HEIGHTS_LONGER;
  return ends.who === 'nobody'
    ? { ...scenario, ends: { ...ends, decides, forMs: ends.forMs + MS_LONGER } }
    : { ...scenario, ends: { ...ends, decides, withinMs: ends.withinMs + MS_LONGER } };
}

// --- crashes -----------------------------------------------------------------------------------------------------------

type Crash = Extract<Action, { do: 'crash' | 'crash-at' }>;
const isCrash = (action: Action): action is Crash => action.do === 'crash' || action.do === 'crash-at';

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

/** Nothing but one crash, at every height; null: no such thing fails under most seeds. */
export function onlyCrashing(scenario: Scenario, lab: Lab): Scenario | null {
  const tried = new Set<NodeName>();
  for (const { crash } of crashesOf(scenario)) {
    if (tried.has(crash.node)) continue;
    tried.add(crash.node);
    for (const again of everyTime(crash)) {
      if (lab.isSpent) return null;
      const guess = longer({ ...scenario, act: [again] });
      if (lab.stillFails(guess) && lab.scores(guess, SCORE_GOOD)) return guess;
    }
  }
  return null;
}

/** One crash at every height, with all else as it was. */
function* crashesAgain(scenario: Scenario): Generator<Scenario> {
  const { act } = scenario;
  for (const { crash, at } of crashesOf(scenario))
    for (const again of everyTime(crash)) yield longer({ ...scenario, act: act.with(at, again) });
}

function* everyTime(crash: Crash): Generator<Directive> {
  const { node } = crash;
  const restartMs = Math.max(crash.restartMs ?? 0, RESTART_MS);
  const decides = { who: node, does: 'decides' } as const;
  yield { whenever: decides, actions: [{ ...crash, restartMs }] };
  if (crash.do === 'crash-at' || crash.how !== 'drawn')
    yield { whenever: decides, actions: [{ do: 'crash', node, how: 'drawn', restartMs }] };
  for (const point of POINTS) {
    const strike: Crash = { do: 'crash-at', node, how: 'lose', restartMs, op: 'flush', ...point };
    yield { whenever: { who: node, does: 'precommits', round: 0 }, actions: [strike] };
  }
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
  if (rules > 0) yield longer(atEveryHeight(scenario, () => true));
  if (rules > 1)
    for (let i = 0; i < rules; i++) yield longer(atEveryHeight(scenario, (index) => index === i));
  yield longer(scenario);
}
