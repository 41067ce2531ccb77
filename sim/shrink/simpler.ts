// Simpler scenarios one step away from a given one, by family: fewer nodes, broader rules, shorter times,
// fewer words.
// Each is a guess; whoever asks tries it.

import { textOf } from '../scenario/json.ts';
import type {
  Action,
  Directive,
  LiarWords,
  LinkChange,
  NodeName,
  RuleAction,
  Scenario,
} from '../scenario/play.ts';
import { nonsenseIn } from '../scenario/sense.ts';
import { type Crash, crashAtOnce, isCrash } from './deaths.ts';
import { nodesOf, POWER_USUAL, withEqualPowers, withoutNode } from './recast.ts';

export type Family = (scenario: Scenario) => Generator<Scenario>;

/** In the order in which they save most. */
export const FAMILIES: readonly Family[] = [
  fewerNodes,
  simplerPowers,
  mergedRules,
  simplerActions,
  earlierTriggers,
  simplerLiars,
  joined,
].map(changing);

/** A guess that leaves all as it is would be tried for nothing. */
function changing(family: Family): Family {
  return function* (scenario) {
    const own = new Map();
    const now = textOf(scenario, own);
    for (const simpler of family(scenario)) if (textOf(simpler, own) !== now) yield simpler;
  };
}

/** Powers of different sizes, as small as they can be told apart. */
function* simplerPowers(scenario: Scenario): Generator<Scenario> {
  const { powers } = scenario.cast;
  if (powers.every((power) => power === powers[0])) return;
  const put = (by: readonly number[]): Scenario => ({ ...scenario, cast: { ...scenario.cast, powers: by } });
  for (const unit of [1_000, 100, 10])
    yield put(powers.map((power) => Math.max(1, Math.round(power / unit))));
  for (const [i, power] of powers.entries())
    for (const round of [1, POWER_USUAL]) if (round < power) yield put(powers.with(i, round));
}

const SMALL = 4;
/** With its first validators only. */
const upTo = (scenario: Scenario, size: number): Scenario =>
  nodesOf(scenario).slice(size).reverse().reduce(withoutNode, scenario);

function* fewerNodes(scenario: Scenario): Generator<Scenario> {
  yield withEqualPowers(scenario);
  for (let size = 1; size <= SMALL; size++) yield withEqualPowers(upTo(scenario, size));
  const isOnly = scenario.cast.powers.length === 1;
  for (const node of [...nodesOf(scenario)].reverse()) {
    if (isOnly && node === 'v0') continue;
    const smaller = withoutNode(scenario, node);
    yield smaller;
    yield withEqualPowers(smaller);
  }
}

// --- actions -----------------------------------------------------------------------------------------------

/** The scenario with one action in the place of another. */
function withAction(scenario: Scenario, directive: number, action: number, by: Action): Scenario {
  const act = scenario.act.map((each, i) =>
    i === directive ? { ...each, actions: each.actions.map((old, j) => (j === action ? by : old)) } : each,
  );
  return { ...scenario, act };
}

function* simplerActions(scenario: Scenario): Generator<Scenario> {
  for (const [i, directive] of scenario.act.entries()) {
    for (const [j, action] of directive.actions.entries())
      for (const simpler of simplerAction(action))
        if (nonsenseIn(simpler) === null && !('whenever' in directive && isRestless(simpler)))
          yield withAction(scenario, i, j, simpler);
  }
}

/** Who dies and starts at once, whenever it starts, does so a thousand times a second. */
const isRestless = (action: Action): boolean => isCrash(action) && action.restartMs === 0;

function* simplerAction(action: Action): Generator<Action> {
  switch (action.do) {
    case 'rule':
      return yield* simplerRule(action);
    case 'links':
      return yield* simplerLinks(action);
    case 'crash-at':
    case 'crash':
      return yield* simplerCrash(action);
    case 'clog':
    case 'pause':
      if (action.forMs !== undefined && action.forMs > 1_000) yield { ...action, forMs: action.forMs >> 1 };
      return;
    case 'signer':
      if (action.takesMs > 100) yield { ...action, takesMs: action.takesMs >> 1 };
      return;
    case 'application': {
      const { blocksMs, checksMs } = action;
      if (blocksMs > 0 && checksMs > 0) {
        yield { ...action, blocksMs: 0 };
        yield { ...action, checksMs: 0 };
      }
      if (blocksMs > 50) yield { ...action, blocksMs: blocksMs >> 1 };
      if (checksMs > 10) yield { ...action, checksMs: checksMs >> 1 };
      return;
    }
    case 'empower':
      for (const power of [0, 1, POWER_USUAL]) if (power < action.power) yield { ...action, power };
      return;
    case 'partition':
      for (const group of action.groups)
        for (const node of group) yield { ...action, groups: action.groups.map((each) => less(each, node)) };
      return;
    case 'cut':
      for (const to of shorter(action.to)) yield { ...action, to };
      for (const from of shorter(action.from)) yield { ...action, from };
      return;
    default:
  }
}

const less = (names: readonly NodeName[], name: NodeName): NodeName[] =>
  names.filter((each) => each !== name);

/** The list without one of its names, while any is left. */
function* shorter(names: readonly NodeName[]): Generator<NodeName[]> {
  if (names.length > 1) for (const name of names) yield less(names, name);
}

function* simplerRule(rule: RuleAction): Generator<RuleAction> {
  if (rule.effect !== 'drop') yield { ...rule, effect: 'drop' };
  const { from, to, by, ...any } = rule;
  const said = { ...(from && { from }), ...(to && { to }), ...(by && { by }) };
  yield any;
  for (const field of Object.keys(said)) {
    const { [field]: _, ...rest } = said as Record<string, readonly NodeName[]>;
    yield { ...any, ...rest };
  }
  for (const [field, names] of Object.entries(said))
    for (const fewer of shorter(names)) yield { ...rule, [field]: fewer };
}

function* simplerLinks(action: Extract<Action, { do: 'links' }>): Generator<Action> {
  for (const field of Object.keys(action.change) as (keyof LinkChange)[]) {
    const { [field]: _, ...change } = action.change;
    yield { ...action, change };
  }
}

function* simplerCrash(action: Crash): Generator<Action> {
  const { restartMs, ...stays } = action;
  if (action.do === 'crash-at') {
    yield crashAtOnce(action);
    for (let nth = 1; nth < Math.min(action.nth, 4); nth++) yield { ...action, nth };
  }
  if (restartMs !== undefined) yield stays as Action;
  if (restartMs !== undefined && restartMs > 0) yield { ...action, restartMs: 0 };
  if (restartMs !== undefined && restartMs > 1_000) yield { ...action, restartMs: 1_000 };
  if (action.unnoticed !== undefined) {
    const { unnoticed: _, ...noticed } = action;
    yield noticed as Action;
  }
  if (action.how === 'drawn') yield { ...action, how: 'lose' };
  if (action.how !== 'clean') yield { ...action, how: 'clean' };
}

// --- rules together ----------------------------------------------------------------------------------------

/** Two rules as one that covers both. */
function* mergedRules(scenario: Scenario): Generator<Scenario> {
  for (const [i, { actions }] of scenario.act.entries()) {
    for (const [j, one] of actions.entries()) {
      for (let k = j + 1; k < actions.length; k++) {
        const other = actions[k] as Action;
        if (one.do !== 'rule' || other.do !== 'rule' || one.what !== other.what) continue;
        const rest = { ...scenario.act[i], actions: actions.filter((_, at) => at !== k) } as Directive;
        const merged = withAction({ ...scenario, act: scenario.act.with(i, rest) }, i, j, union(one, other));
        yield merged;
      }
    }
  }
}

/** What is said alike stays; names are put together; what only one of them says is not said. */
function union(one: RuleAction, other: RuleAction): RuleAction {
  const both = (a?: readonly NodeName[], b?: readonly NodeName[]) =>
    a && b ? [...new Set([...a, ...b])].sort() : undefined;
  const from = both(one.from, other.from);
  const to = both(one.to, other.to);
  const by = both(one.by, other.by);
  return {
    do: 'rule',
    what: one.what,
    effect: one.effect,
    ...(from && { from }),
    ...(to && { to }),
    ...(by && { by }),
    ...(one.height !== undefined && one.height === other.height && { height: one.height }),
    ...(one.round !== undefined && one.round === other.round && { round: one.round }),
  };
}

// --- triggers ----------------------------------------------------------------------------------------------

function* earlierTriggers(scenario: Scenario): Generator<Scenario> {
  for (const [i, directive] of scenario.act.entries()) {
    const put = (by: Directive): Scenario => ({ ...scenario, act: scenario.act.with(i, by) });
    const { actions } = directive;
    if (!('atMs' in directive) || directive.atMs > 0) yield put({ atMs: 0, actions });
    if ('afterMs' in directive && directive.afterMs > 0) yield put({ afterMs: 0, actions });
    if (!('when' in directive)) continue;
    yield put({ when: { who: directive.when.who, does: 'joins' }, actions });
    const { round, height: _, ...anywhere } = directive.when;
    if (round !== undefined) {
      const { round: __, ...when } = directive.when;
      yield put({ when, actions });
    }
    yield put({ when: { ...anywhere, ...(round !== undefined && { round }) }, actions });
  }
}

/** What follows at once, or begins at the same time, needs no trigger of its own. */
function* joined(scenario: Scenario): Generator<Scenario> {
  for (const [i, directive] of scenario.act.entries()) {
    const before = scenario.act[i - 1];
    if (!before) continue;
    const isSame = 'atMs' in directive && 'atMs' in before && directive.atMs === before.atMs;
    if (!isSame && !('afterMs' in directive && directive.afterMs === 0)) continue;
    const both = { ...before, actions: [...before.actions, ...directive.actions] };
    yield { ...scenario, act: [...scenario.act.slice(0, i - 1), both, ...scenario.act.slice(i + 1)] };
  }
}

// --- liars -------------------------------------------------------------------------------------------------

function* simplerLiars(scenario: Scenario): Generator<Scenario> {
  for (const [i, liar] of scenario.liars.entries()) {
    const put = (by: LiarWords): Scenario => ({ ...scenario, liars: scenario.liars.with(i, by) });
    const { ppm, ...always } = liar;
    if (ppm !== undefined) yield put(always);
    for (const field of ['times', 'votes', 'fromHeight', 'toHeight'] as const) {
      const { [field]: said, ...rest } = liar;
      if (said !== undefined) yield put(rest);
    }
    for (const to of shorter(liar.to)) yield put({ ...liar, to });
  }
}
