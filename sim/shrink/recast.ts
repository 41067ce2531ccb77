// The same play with other people or at another place of the chain: names changed, nodes left out, heights and times moved to the front.

import { hexOf } from '../../protocol/bytes.ts';
import { addressOf } from '../../protocol/keys.ts';
import { makeCast } from '../cast.ts';
import { GhostChain } from '../oracles/ghost/ghost.ts';
import { isNodeName, TEXT_FIELDS } from '../scenario/names.ts';
import type {
  Action,
  CastWords,
  Condition,
  Directive,
  Ending,
  NodeName,
  Scenario,
} from '../scenario/play.ts';
import { nonsenseIn } from '../scenario/sense.ts';

export const POWER_USUAL = 10;

/** Null for a name: the node is gone. What spoke of nobody else is gone with it; lists lose the name. */
type Renaming = (name: NodeName) => NodeName | null;

/** Undefined: it spoke of a node that is gone. */
function renamed(value: unknown, to: Renaming): unknown {
  if (isNodeName(value)) return to(value) ?? undefined;
  if (Array.isArray(value)) {
    const kept = value.map((each) => renamed(each, to)).filter((each) => each !== undefined);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, unknown> = {};
  for (const [field, inner] of Object.entries(value)) {
    const said = TEXT_FIELDS.has(field) ? inner : renamed(inner, to);
    if (said === undefined) return undefined;
    fields[field] = said;
  }
  return fields;
}

/** A cut between two nodes of which one is gone does not. */
const meansSomething = (action: Action | undefined): action is Action =>
  action !== undefined && nonsenseIn(action) === null;

function renamedDirective({ actions, ...trigger }: Directive, to: Renaming): Directive[] {
  const when = renamed(trigger, to);
  if (when === undefined) return [];
  const kept = actions.map((action) => renamed(action, to) as Action | undefined).filter(meansSomething);
  if (kept.length === 0 && actions.length > 0) return [];
  return [{ ...(when as object), actions: kept } as unknown as Directive];
}

/** The same play with other people and names. What it claims of nobody any more is not claimed. */
function recast(scenario: Scenario, cast: CastWords, to: Renaming): Scenario {
  const { ends } = scenario;
  const named = <T>(list: readonly T[]): T[] =>
    list.map((each) => renamed(each, to)).filter((each) => each !== undefined) as T[];
  return {
    ...scenario,
    cast,
    act: scenario.act.flatMap((directive) => renamedDirective(directive, to)),
    liars: named(scenario.liars),
    holds: named(scenario.holds),
    ends: endingOf(ends, named),
  };
}

function endingOf(ends: Ending, named: <T>(list: readonly T[]) => T[]): Ending {
  if (ends.who === 'fork') return { ...ends, guilty: named(ends.guilty) };
  return Array.isArray(ends.who) ? ({ ...ends, who: named(ends.who) } as Ending) : ends;
}

const nameOf = (index: number): NodeName => `v${index}`;

function clocksOf({ clocks }: CastWords, to: Renaming): Pick<CastWords, 'clocks'> {
  if (!clocks) return {};
  const kept = Object.entries(clocks).flatMap(([name, clock]) => {
    const other = to(name as NodeName);
    return other ? [[other, clock] as const] : [];
  });
  return kept.length === 0 ? {} : { clocks: Object.fromEntries(kept) };
}

/** `order[i]` plays what the i-th validator of `instead` played; both name all validators. */
export function swapped(
  scenario: Scenario,
  order: readonly NodeName[],
  instead: readonly NodeName[],
): Scenario {
  const to: Renaming = (name) => (name[0] === 'v' ? (order[instead.indexOf(name)] ?? name) : name);
  const powers = scenario.cast.powers.map((_, i) => {
    const before = instead[order.indexOf(nameOf(i))] ?? nameOf(i);
    return scenario.cast.powers[Number(before.slice(1))] as number;
  });
  return recast(scenario, { ...scenario.cast, powers, ...clocksOf(scenario.cast, to) }, to);
}

/** Without one of its nodes: those behind it move up. */
export function withoutNode(scenario: Scenario, gone: NodeName): Scenario {
  const kind = gone[0];
  const number = Number(gone.slice(1));
  const to: Renaming = (name) => {
    if (name === gone) return null;
    const own = Number(name.slice(1));
    return name[0] === kind && own > number ? (`${kind}${own - 1}` as NodeName) : name;
  };
  const { clocks: _, candidates = 0, fullNodes = 0, powers, ...cast } = scenario.cast;
  const people: CastWords = {
    ...cast,
    powers: kind === 'v' ? powers.filter((_power, i) => i !== number) : powers,
    ...(candidates > 0 && { candidates: kind === 'c' ? candidates - 1 : candidates }),
    ...(fullNodes > 0 && { fullNodes: kind === 'f' ? fullNodes - 1 : fullNodes }),
    ...clocksOf(scenario.cast, to),
  };
  return recast(scenario, people, to);
}

export const nodesOf = ({
  cast: { powers, candidates = 0, fullNodes = 0 },
}: Scenario): readonly NodeName[] => [
  ...powers.map((_, i) => nameOf(i)),
  ...Array.from({ length: candidates }, (_, i): NodeName => `c${i}`),
  ...Array.from({ length: fullNodes }, (_, i): NodeName => `f${i}`),
];

export const withEqualPowers = (scenario: Scenario): Scenario => ({
  ...scenario,
  cast: { ...scenario.cast, powers: scenario.cast.powers.map(() => POWER_USUAL) },
});

/** Who proposes the first rounds of height 1, one after the other: with equal powers, everybody once. */
export function proposersOf({ cast: { powers } }: Scenario): readonly NodeName[] {
  const cast = makeCast({ powers: powers.map((power) => BigInt(power)) });
  const set = new GhostChain(cast.genesis).set(1n);
  const names = new Map(
    cast.members.map(({ name, publicKey }) => [publicKey ? hexOf(addressOf(publicKey)) : '', name]),
  );
  return powers.map((_, round) => (names.get(set?.atRound(round) ?? '') ?? 'v0') as NodeName);
}

// --- earlier -----------------------------------------------------------------------------------------------

/** The height with which its chain begins. */
export const firstOf = ({ cast }: Scenario): number => cast.initialHeight ?? 1;

/**
 * So many heights and milliseconds earlier: rules, conditions and liars of a height move with it. Null: something belongs to a height that
 * is no more.
 */
export function earlier(scenario: Scenario, heights: number, ms: number): Scenario | null {
  let isLost = false;
  const first = firstOf(scenario);
  const at = (height: number): number => {
    if (height - heights < first) isLost = true;
    return height - heights;
  };
  const moved = <T extends { readonly height?: number }>(words: T): T =>
    words.height === undefined ? words : { ...words, height: at(words.height) };
  const act = scenario.act.map((directive): Directive => {
    const actions = directive.actions.map((action) => (action.do === 'rule' ? moved(action) : action));
    if ('atMs' in directive) return { atMs: Math.max(0, directive.atMs - ms), actions };
    if ('whenever' in directive) return { whenever: moved<Condition>(directive.whenever), actions };
    if (!('when' in directive)) return { ...directive, actions };
    const { latestMs } = directive;
    const latest = latestMs === undefined ? {} : { latestMs: Math.max(0, latestMs - ms) };
    return { when: moved<Condition>(directive.when), ...latest, actions };
  });
  const liars = scenario.liars.map(({ fromHeight, toHeight, ...liar }) => ({
    ...liar,
    ...(fromHeight !== undefined && { fromHeight: Math.max(first, fromHeight - heights) }),
    ...(toHeight !== undefined && { toHeight: Math.max(first, toHeight - heights) }),
  }));
  const { ends } = scenario;
  const decides = Math.max(first, ends.decides - heights);
  return isLost ? null : { ...scenario, act, liars, ends: { ...ends, decides } };
}

/**
 * Moved to the front, with those who propose there in the parts of those who proposed where it was: first so that all proposers are the
 * same, then with nobody changed, then in every other turn.
 */
export function* earlierCasts(scenario: Scenario, heights: number, ms: number): Generator<Scenario> {
  const moved = earlier(scenario, heights, ms);
  if (!moved) return;
  const order = proposersOf(scenario);
  const size = order.length;
  const isWheel = new Set(order).size === size;
  if (!isWheel) {
    yield moved;
    return;
  }
  const turns = [heights % size, 0, ...order.keys()].filter((turn, i, all) => all.indexOf(turn) === i);
  for (const turn of turns) {
    const instead = order.map((_, i) => order[(i + turn) % size] as NodeName);
    yield swapped(moved, order, instead);
  }
}
