// Chance, and whatever else kept messages away, as explicit rules: what of a height did not reach whom in time becomes
// "drop the prevotes of height 4, round 0, by v2, on their way to v0".

import type { Chronicle, WordKind } from '../chronicle.ts';
import type { Action, NodeName, RuleAction } from '../scenario/play.ts';

/** `strict`: what came too late to matter in its round counts as lost; `lenient`: only what never came. */
export type Lateness = 'strict' | 'lenient';

const NETWORK: readonly Action['do'][] = [
  'isolate',
  'partition',
  'cut',
  'heal',
  'clog',
  'reset',
  'links',
  'calm',
  'rule',
];

/** Whether an action works on the network alone, so that rules may stand for it. */
export const isOfNetwork = ({ do: does }: Action): boolean => NETWORK.includes(does);

/** The rules that keep away what a height's messages did not reach in the run. */
export function rulesOf(chronicle: Chronicle, height: number, lateness: Lateness): RuleAction[] {
  const roundMax = roundsOf(chronicle, height);
  const rules: RuleAction[] = [];
  for (let round = 0; round <= roundMax; round++) {
    for (const what of ['proposals', 'parts'] as const) {
      const to = chronicle.names.filter(
        (name) => !hasProposal(chronicle, name, what, height, round, lateness),
      );
      if (to.length > 0) rules.push(ruleOf(chronicle, what, { to, height, round }));
    }
    for (const what of ['prevotes', 'precommits'] as const)
      rules.push(...rulesOfVotes(chronicle, what, height, round, lateness));
  }
  return rules;
}

/** The last round in which anybody did anything at this height. */
function roundsOf({ deeds }: Chronicle, height: number): number {
  let most = 0;
  for (const deed of deeds) if (deed.height === height && deed.round > most) most = deed.round;
  return most;
}

/** When a node was done with such a message of a round, whether it had come or not. */
function deadline(
  { deeds }: Chronicle,
  node: NodeName,
  what: WordKind,
  height: number,
  round: number,
): number {
  const isIt = what === 'prevotes' ? 'precommits' : what === 'precommits' ? 'enters' : 'prevotes';
  const found = deeds.find(
    (deed) =>
      deed.node === node &&
      deed.height === height &&
      deed.does === isIt &&
      (isIt === 'enters' ? deed.round > round : deed.round === round),
  );
  return found?.atNs ?? Number.MAX_SAFE_INTEGER;
}

function hasProposal(
  chronicle: Chronicle,
  node: NodeName,
  what: 'proposals' | 'parts',
  height: number,
  round: number,
  lateness: Lateness,
): boolean {
  const isOwn = chronicle.deeds.some(
    (deed) =>
      deed.node === node && deed.does === 'proposes' && deed.height === height && deed.round === round,
  );
  return isOwn || hasHeard(chronicle, node, { what, by: '', height, round }, lateness);
}

interface Word {
  readonly what: WordKind;
  readonly by: NodeName | '';
  readonly height: number;
  readonly round: number;
}

function hasHeard(chronicle: Chronicle, node: NodeName, word: Word, lateness: Lateness): boolean {
  const { what, by, height, round } = word;
  const until =
    lateness === 'strict' ? deadline(chronicle, node, what, height, round) : Number.MAX_SAFE_INTEGER;
  return chronicle.heard.some(
    (heard) =>
      heard.to === node &&
      heard.kind === what &&
      heard.by === by &&
      heard.height === height &&
      heard.round === round &&
      heard.atNs <= until,
  );
}

function rulesOfVotes(
  chronicle: Chronicle,
  what: 'prevotes' | 'precommits',
  height: number,
  round: number,
  lateness: Lateness,
): RuleAction[] {
  const voters = chronicle.names.filter((name) => name[0] !== 'f');
  const receiversByVoters = new Map<string, { readonly by: NodeName[]; readonly to: NodeName[] }>();
  for (const node of chronicle.names) {
    const by = voters.filter(
      (voter) => voter !== node && !hasHeard(chronicle, node, { what, by: voter, height, round }, lateness),
    );
    if (by.length === 0) continue;
    const isAll = by.length === voters.filter((voter) => voter !== node).length;
    const key = isAll ? '' : by.join();
    const group = receiversByVoters.get(key);
    if (group) group.to.push(node);
    else receiversByVoters.set(key, { by: isAll ? [] : by, to: [node] });
  }
  return [...receiversByVoters.values()].map(({ by, to }) =>
    ruleOf(chronicle, what, { ...(by.length > 0 && { by }), to, height, round }),
  );
}

/** Whom no message reached need not be named one by one. */
function ruleOf(
  { names }: Chronicle,
  what: WordKind,
  { to, ...where }: { to: NodeName[]; by?: NodeName[]; height: number; round: number },
): RuleAction {
  return { do: 'rule', what, effect: 'drop', ...where, ...(to.length < names.length && { to }) };
}
