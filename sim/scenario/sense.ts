// What no shape shows: words that are right one by one and mean nothing together, so that a play with them would hold for nothing.

import type { Action, Condition, CrashPoint, Deed, MessageKind, NodeName } from './play.ts';

/** What a rule may ask of a message beside its way: whose word it is, and of which height and round. */
const MESSAGES: Readonly<Record<MessageKind, { readonly hasPlace: boolean; readonly hasVoter: boolean }>> = {
  proposals: { hasPlace: true, hasVoter: false },
  parts: { hasPlace: true, hasVoter: false },
  prevotes: { hasPlace: true, hasVoter: true },
  precommits: { hasPlace: true, hasVoter: true },
  transactions: { hasPlace: false, hasVoter: false },
  evidence: { hasPlace: false, hasVoter: false },
  'block-sync': { hasPlace: false, hasVoter: false },
  everything: { hasPlace: false, hasVoter: false },
};
export const MESSAGE_KINDS = Object.keys(MESSAGES);

interface Operation {
  /** Logs or stores; empty: it is none of a disk. */
  readonly on: readonly string[];
  readonly when: readonly string[];
}
const LOGS = ['consensus', 'privval'];
const STORES = ['chain', 'app'];

/** Where a node can die in an operation. A flush is begun some time after a write: what comes before it is after that. */
const OPERATIONS: Readonly<Record<CrashPoint['op'], Operation>> = {
  append: { on: LOGS, when: ['before', 'inside', 'after'] },
  sync: { on: LOGS, when: ['before'] },
  trim: { on: LOGS, when: ['before', 'after'] },
  write: { on: STORES, when: ['before', 'inside', 'after'] },
  flush: { on: [...LOGS, ...STORES], when: ['inside', 'after'] },
  send: { on: [], when: ['before', 'after'] },
  sign: { on: [], when: ['before', 'after'] },
};

export const OPERATION_NAMES = Object.keys(OPERATIONS);

/** What is expected instead; null: it makes sense. */
export function nonsenseIn(action: Action): string | null {
  switch (action.do) {
    case 'rule': {
      const { what, by, height, round } = action;
      if (by !== undefined && !MESSAGES[what].hasVoter) return '"by" only with prevotes and precommits';
      const isOfPlace = (height ?? round) !== undefined;
      if (isOfPlace && !MESSAGES[what].hasPlace)
        return '"height" and "round" only with proposals, parts and votes';
      return emptyOf(action, ['from', 'to', 'by']);
    }
    case 'crash-at': {
      const { op, on, when } = action;
      const can = OPERATIONS[op];
      if (!can.when.includes(when)) return `${can.when.join(' or ')} with ${op}`;
      if (on === undefined || can.on.includes(on)) return null;
      return can.on.length === 0 ? `no "on" with ${op}` : `${op} on ${can.on.join(' or ')}`;
    }
    case 'partition':
      return nonsenseOfGroups(action.groups);
    case 'cut':
    case 'clog':
      return emptyOf(action, ['from', 'to']) ?? (hasPair(action) ? null : 'two nodes');
    case 'links':
      if (Object.keys(action.change).length === 0) return 'something of the links to change';
      return emptyOf(action, ['from', 'to']) ?? (hasPair(action) ? null : 'two nodes');
    case 'core':
      return emptyOf(action, ['nodes']);
    case 'put-back':
      return emptyOf(action, ['media']);
    case 'reset':
      return action.nodes.length === 2 && action.nodes[0] !== action.nodes[1] ? null : 'two nodes';
    case 'clock': {
      const { stepMs, driftPpm, frozen } = action;
      const isNothing = stepMs === undefined && driftPpm === undefined && frozen === undefined;
      return isNothing ? 'a step, driftPpm or frozen' : null;
    }
    case 'empower':
    case 'signer':
      return action.node.startsWith('f') ? 'a node with a key: v or c' : null;
    default:
      return null;
  }
}

/** A list of nobody: what is about nobody does nothing. */
function emptyOf(action: object, fields: readonly string[]): string | null {
  const field = fields.find((name) => (action as Record<string, unknown[]>)[name]?.length === 0);
  return field === undefined ? null : `something in ${field}`;
}

/** Nobody named: any. */
const hasPair = ({ from, to }: { from?: readonly NodeName[]; to?: readonly NodeName[] }): boolean =>
  !from || !to || from.some((a) => to.some((b) => a !== b));

function nonsenseOfGroups(groups: readonly (readonly NodeName[])[]): string | null {
  const names = groups.flat();
  if (names.length === 0) return 'a group of nodes';
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? null : `${twice} in one group only`;
}

// --- what happens ----------------------------------------------------------------------------------------------------

type Field = keyof Omit<Condition, 'who' | 'does'>;

/** What is known of a deed; a condition that asks for more is never met. */
const KNOWN_OF: Readonly<Record<Deed, readonly Field[]>> = {
  enters: ['height', 'round', 'step'],
  proposes: ['height', 'round', 'block'],
  prevotes: ['height', 'round', 'block'],
  precommits: ['height', 'round', 'block'],
  locks: ['height', 'round', 'block'],
  values: ['height', 'round', 'block'],
  decides: ['height', 'round', 'block'],
  punishes: ['height', 'against'],
  drops: ['against', 'because'],
  joins: ['height'],
  halts: ['height', 'because'],
  crashes: ['height', 'round'],
  starts: ['height'],
};

export const DEEDS = Object.keys(KNOWN_OF);

/** Deeds that are never about nil. */
const OF_A_BLOCK: readonly Deed[] = ['proposes', 'locks', 'values', 'decides'];

/** Deeds that take a key. */
const OF_VALIDATORS: readonly Deed[] = ['proposes', 'prevotes', 'precommits'];

/** What is expected instead of what can never happen; null: it may. */
export function nonsenseOf(condition: Condition): string | null {
  const { who, does, block, against } = condition;
  if (who.startsWith('f') && OF_VALIDATORS.includes(does)) return `a node with a key: ${who} never ${does}`;
  if (does === 'punishes' && against?.startsWith('f'))
    return `a node with a key in against: ${against} signs nothing to be punished for`;
  const known = KNOWN_OF[does];
  const odd = Object.keys(condition).find(
    (field) => field !== 'who' && field !== 'does' && !known.includes(field as Field),
  );
  if (odd !== undefined) return `no ${odd} with ${does} (only ${known.join(', ')})`;
  return block === 'nil' && OF_A_BLOCK.includes(does) ? `a block: nobody ${does} nil` : null;
}

/** `never` is of each of those named, so that of everyone it would say less than it seems to. */
export const nonsenseOfNever = ({ who }: Condition): string | null =>
  who === 'everyone' ? 'never of a node, or of anyone: that nobody ever does it' : null;
