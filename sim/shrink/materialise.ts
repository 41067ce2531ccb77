// Chance, and whatever else kept messages away, as explicit rules: what of a height did not reach whom in time becomes "drop the prevotes
// of height 4, round 0, by v2, on their way to v0".

import type { Chronicle, Deeds, WordKind } from '../chronicle.ts';
import type { Action, NodeName, RuleAction } from '../scenario/play.ts';
import { STEP } from '../steps.ts';

const NETWORK: readonly Action['do'][] = [
  'isolate',
  'partition',
  'cut',
  'heal',
  'clog',
  'reset',
  'links',
  'calm',
  'core',
  'rule',
];

/** Whether an action works on the network alone, so that rules may stand for it. */
export const isOfNetwork = ({ do: does }: Action): boolean => NETWORK.includes(does);

/** A message that a node had to do without. */
export interface Missed {
  readonly what: WordKind;
  readonly to: NodeName;
  /** Whose vote; empty: no vote. */
  readonly by: NodeName | '';
  readonly height: number;
  readonly round: number;
  /** What the node did without it, though it came later; null: it never came. */
  readonly until: Deeds | null;
}

/** All that did not reach its receivers at this height before they went on without it. */
export function missedAt(chronicle: Chronicle, height: number): Missed[] {
  const missed: Missed[] = [];
  const roundMax = roundsOf(chronicle, height);
  const voters = chronicle.names.filter((name) => name[0] !== 'f');
  for (let round = 0; round <= roundMax; round++) {
    const add = (what: WordKind, to: NodeName, by: NodeName | ''): void => {
      const word = { what, to, by, height, round };
      const until = missing(chronicle, word);
      if (until !== undefined) missed.push({ ...word, until });
    };
    for (const to of chronicle.names) {
      const isOwn = chronicle.deeds.some(
        (deed) =>
          deed.node === to && deed.does === 'proposes' && deed.height === height && deed.round === round,
      );
      if (!isOwn) for (const what of ['proposals', 'parts'] as const) add(what, to, '');
      for (const what of ['prevotes', 'precommits'] as const)
        for (const by of voters) if (by !== to) add(what, to, by);
    }
  }
  return missed;
}

/** The last round that anybody came to at this height; liars speak of rounds that nobody ever sees. */
function roundsOf({ deeds }: Chronicle, height: number): number {
  let most = 0;
  for (const { does, height: at, round } of deeds)
    if (does === 'enters' && at === height && round > most) most = round;
  return most;
}

/** Undefined: it came in time. */
function missing(chronicle: Chronicle, word: Omit<Missed, 'until'>): Deeds | null | undefined {
  const { what, to, by, height, round } = word;
  const heard = chronicle.heard.find(
    (each) =>
      each.to === to &&
      each.kind === what &&
      each.by === by &&
      each.height === height &&
      each.round === round,
  );
  if (!heard) return null;
  const done = goesOn(chronicle, word);
  return done && done.atNs < heard.atNs ? done : undefined;
}

/** What a node does when it is done with such a message of a round, whether it has come or not. */
function goesOn({ deeds }: Chronicle, { what, to, height, round }: Omit<Missed, 'until'>): Deeds | undefined {
  const does = what === 'prevotes' ? 'precommits' : what === 'precommits' ? 'enters' : 'prevotes';
  return deeds.find(
    (deed) =>
      deed.node === to &&
      deed.height === height &&
      deed.does === does &&
      (does === 'enters' ? deed.round > round && deed.step === STEP.propose : deed.round === round),
  );
}

/** Rules that keep away just these messages, in as few groups as their senders and receivers allow. */
export function rulesOf({ names }: Chronicle, missed: readonly Missed[]): RuleAction[] {
  const groups = new Map<
    string,
    { readonly first: Missed; readonly to: NodeName[]; readonly by: NodeName[] }
  >();
  for (const one of missed) {
    const alike = missed.filter((other) => isOfOneRule(one, other) && other.to === one.to);
    const by = alike.map((other) => other.by).filter((name) => name !== '');
    // A node that heard of nobody needs no list of them: it would leave out only itself.
    const isAll = by.length === names.filter((name) => name !== one.to && name[0] !== 'f').length;
    const key = `${one.what} ${one.height} ${one.round} ${isAll ? 'all' : by.join()}`;
    const group = groups.get(key) ?? { first: one, to: [], by: isAll ? [] : by };
    groups.set(key, group);
    if (!group.to.includes(one.to)) group.to.push(one.to);
  }
  return [...groups.values()].map(({ first: { what, height, round }, to, by }) => ({
    do: 'rule',
    what,
    effect: 'drop',
    ...(by.length > 0 && { by }),
    ...(to.length < names.length && { to }),
    height,
    round,
  }));
}

const isOfOneRule = (a: Missed, b: Missed): boolean =>
  a.what === b.what && a.height === b.height && a.round === b.round;
