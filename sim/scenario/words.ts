// The words in which a play is written: typed builders whose values are the directives themselves, so that a
// typo does not compile.

import type { CrashHow, MediumName } from '../disk-door.ts';
import { PEOPLE_MAX } from './amounts.ts';
import { isPromise } from './checks.ts';
import { type Duration, msOf, stepMsOf } from './durations.ts';
import { mustBe } from './must-be.ts';
import {
  type Action,
  type BlockNumber,
  type CastWords,
  type Condition,
  type CrashPoint,
  type Death,
  type Deed,
  type DrawnPlay,
  type Ending,
  type LiarWords,
  type LinkChange,
  type Load,
  type MessageKind,
  type NodeName,
  type RuleAction,
  type Scenario,
  ScenarioError,
  type StateOf,
  type StepName,
  type Who,
  type Workload,
} from './play.ts';
import { completed } from './usual.ts';

export { type Duration, msOf } from './durations.ts';
export { ScenarioError } from './play.ts';
export * from './when.ts';

// --- who and what ------------------------------------------------------------------------------------------

/** The k-th block proposed at a height, in the order of first proposals. */
export const block = (k: number): { readonly block: BlockNumber } => ({ block: k });
export const nil: { readonly block: BlockNumber } = { block: 'nil' };
export const height = (n: number): { readonly height: number } => ({ height: n });

/** Where it happens; what is not said matches anything. */
export interface Where {
  readonly height?: number;
  readonly round?: number;
}

type Places = readonly (Where | undefined)[];

interface What {
  readonly block?: BlockNumber;
}

/** How long it may take, and how many heights must follow the last directive. */
export interface Within {
  readonly within: Duration;
  readonly afterwards?: number;
}

type AtHeight = ReturnType<typeof height>;

const PLACE = 'height(3), block(2), nil or { height: 3, round: 0 }';
const WITHIN = "{ within: '60s' }";

function endingOf(who: 'everyone' | readonly NodeName[], at: AtHeight, ends: Within): Ending {
  mustBe('ends', PLACE, at);
  mustBe('ends', WITHIN, ends, ends?.within !== undefined);
  const { within, ...rest } = ends;
  return { who, decides: at.height, withinMs: msOf(within, 'within'), ...rest };
}

/** What one can say of a node, or of `anyone` and `everyone`. */
export class Actor<Name extends Who> {
  readonly name: Name;

  constructor(name: Name) {
    this.name = name;
  }

  private does(does: Deed, ...parts: readonly (Partial<Condition> | undefined)[]): Condition {
    for (const part of parts) if (part !== undefined) mustBe(`${this.name} ${does}`, PLACE, part);
    return Object.assign({ who: this.name, does }, ...parts);
  }

  // What follows is handed on, however much it is: a place that a deed has not is refused, and not left out.
  enters = (step: StepName, ...where: Places): Condition => this.does('enters', { step }, ...where);
  proposes = (what: What = {}, ...where: Places): Condition => this.does('proposes', what, ...where);
  prevotes = (what: What = {}, ...where: Places): Condition => this.does('prevotes', what, ...where);
  precommits = (what: What = {}, ...where: Places): Condition => this.does('precommits', what, ...where);
  locks = (what: What = {}, ...where: Places): Condition => this.does('locks', what, ...where);
  values = (what: What = {}, ...where: Places): Condition => this.does('values', what, ...where);
  punishes = (against: NodeName, ...where: AtHeight[]): Condition =>
    this.does('punishes', { against }, ...where);
  drops = (against: NodeName, because?: string, ...none: never[]): Condition =>
    this.does('drops', { against, ...(because !== undefined && { because }) }, ...none);
  joins = (...where: AtHeight[]): Condition => this.does('joins', ...where);
  halts = (because?: string, ...where: AtHeight[]): Condition =>
    this.does('halts', { ...(because !== undefined && { because }) }, ...where);
  crashes = (...where: Places): Condition => this.does('crashes', ...where);
  starts = (...where: AtHeight[]): Condition => this.does('starts', ...where);

  /** As a trigger or a claim; with `within`, how a play ends. */
  decides(at?: AtHeight): Condition;
  decides(at: AtHeight, ends: Within): Ending;
  decides(at?: AtHeight, ends?: Within): Condition | Ending {
    if (at === undefined) return this.does('decides');
    if (ends === undefined) return this.does('decides', at);
    return endingOf(this.name === 'everyone' ? 'everyone' : [this.name as NodeName], at, ends);
  }
}

export class Player extends Actor<NodeName> {
  lockedOn = (what: { readonly block: BlockNumber }): StateOf => {
    mustBe(`${this.name} lockedOn`, 'block(2)', what);
    return { who: this.name, is: 'locked-on', block: what.block };
  };
  isUp: StateOf;
  isDown: StateOf;
  isSyncing: StateOf;
  isInConsensus: StateOf;
  isCutOff: StateOf;
  isHalted: StateOf;
  hasPower = (power: number): StateOf => ({ who: this.name, is: 'of-power', power });
  isWeakerThan = (power: number): StateOf => ({ who: this.name, is: 'weaker-than', power });

  constructor(name: NodeName) {
    super(name);
    this.isUp = { who: name, is: 'up' };
    this.isDown = { who: name, is: 'down' };
    this.isSyncing = { who: name, is: 'syncing' };
    this.isInConsensus = { who: name, is: 'in-consensus' };
    this.isCutOff = { who: name, is: 'cut-off' };
    this.isHalted = { who: name, is: 'halted' };
  }
}

export const node = (name: NodeName): Player => new Player(name);
export const v0 = node('v0');
export const v1 = node('v1');
export const v2 = node('v2');
export const v3 = node('v3');
export const v4 = node('v4');
export const v5 = node('v5');
export const v6 = node('v6');
export const c0 = node('c0');
export const c1 = node('c1');
export const f0 = node('f0');
export const anyone = new Actor('anyone');
export const everyone = new Actor('everyone');

/** These reach the height; what others do does not matter. With no names: it ends once anybody is there. */
export const these = (...names: NodeName[]) => ({
  decides: (at: AtHeight, ends: Within): Ending => endingOf(names, at, ends),
});

/** From the last directive on, and for so long, nobody gets beyond this height. */
export const nobody = {
  decidesBeyond(at: AtHeight, ends: { readonly for: Duration }): Ending {
    mustBe('ends', PLACE, at);
    mustBe('ends', "{ for: '30s' }", ends);
    return { who: 'nobody', decides: at.height, forMs: msOf(ends.for, 'for') };
  },
};

/** Agreement breaks at this height, and the votes name these, and nobody else. */
export const chain = {
  forksAt(at: AtHeight, ends: { readonly guilty: readonly NodeName[]; readonly within: Duration }): Ending {
    mustBe('ends', PLACE, at);
    mustBe('ends', "{ guilty: ['v3'], within: '60s' }", ends);
    return { who: 'fork', decides: at.height, guilty: ends.guilty, withinMs: msOf(ends.within, 'within') };
  },
};

// --- trouble -----------------------------------------------------------------------------------------------

type ForEver = 'for-ever';
function lasting(how?: ForEver): { forEver?: true } {
  if (how === undefined) return {};
  if (how !== 'for-ever') throw new ScenarioError(`"for-ever" may follow, not ${JSON.stringify(how)}`);
  return { forEver: true };
}

export const isolate = (name: NodeName, how?: ForEver): Action => ({
  do: 'isolate',
  node: name,
  ...lasting(how),
});
/** Until `heal`: for ever are `isolate` and `cut`. */
export const partition = (...groups: NodeName[][]): Action => {
  const odd = groups.find((group) => !Array.isArray(group));
  if (odd !== undefined)
    throw new ScenarioError(
      `partition: write partition(['v0'], ['v1', 'v2']), not ${JSON.stringify(odd)}; for ever are isolate and cut`,
    );
  return { do: 'partition', groups };
};
/** One way only: what `from` says does not reach `to`. */
export const cut = (from: NodeName[], to: NodeName[], how?: ForEver): Action => ({
  do: 'cut',
  from,
  to,
  ...lasting(how),
});
export const heal = (): Action => ({ do: 'heal' });
export const clog = (from: NodeName[], to: NodeName[], time: Duration): Action => ({
  do: 'clog',
  from,
  to,
  forMs: msOf(time, 'clog'),
});
export const reset = (a: NodeName, b: NodeName): Action => ({ do: 'reset', nodes: [a, b] });
export const links = (change: LinkChange, between: { from?: NodeName[]; to?: NodeName[] } = {}): Action => {
  mustBe('links', "{ from: ['v0'], to: ['v1'] }", between);
  return { do: 'links', change, ...between };
};
export const calm = (): Action => ({ do: 'calm' });
/** Chaos is over: these heal, all others stay as they are for ever. */
export const core = (...nodes: NodeName[]): Action => ({ do: 'core', nodes });

export type Matching = Omit<RuleAction, 'do' | 'what' | 'effect'>;
const MATCHING = "{ from: ['v0'], to: ['v1'], by: ['v0'], height: 3, round: 0 }";
export const drop = (what: MessageKind, matching: Matching = {}): Action => {
  mustBe('drop', MATCHING, matching);
  return { do: 'rule', what, effect: 'drop', ...matching };
};
export const delay = (what: MessageKind, by: Duration, matching: Matching = {}): Action => {
  mustBe('delay', MATCHING, matching);
  return { do: 'rule', what, effect: { delayMs: msOf(by, 'delay') }, ...matching };
};

const backAfter = (restart?: Duration): { restartMs?: number } =>
  restart === undefined ? {} : { restartMs: msOf(restart, 'restart') };

/**
 * Now. With a `point`, there: `{ when: 'inside', op: 'flush', on: 'privval', nth: 2 }`. `unnoticed`: its peers go on
 * believing in their connections until it runs again, as when a machine loses its power.
 */
export function crash(
  name: NodeName,
  more: {
    how?: CrashHow;
    restart?: Duration;
    unnoticed?: boolean;
    point?: Omit<CrashPoint, 'node'>;
  } = {},
): Action {
  mustBe('crash', "{ how: 'lose', restart: '2s', unnoticed: true, point: { when, op, nth } }", more);
  const { how = 'drawn', restart, unnoticed = false, point, ...odd } = more;
  if (Object.keys(odd).length > 0 || typeof unnoticed !== 'boolean')
    throw new ScenarioError(
      `crash takes { how, restart, unnoticed: true, point }, not ${JSON.stringify(more)}`,
    );
  const death: Death = { how, ...backAfter(restart), ...(unnoticed && { unnoticed }) };
  return point ? { do: 'crash-at', ...point, node: name, ...death } : { do: 'crash', node: name, ...death };
}
export const restart = (name: NodeName): Action => ({ do: 'restart', node: name });
/** Of a node that is down, as operators do with a log that cannot be read. Who was locked forgets it: then it is a fault like a lie. */
export const removeLog = (name: NodeName): Action => ({ do: 'remove-log', node: name });
export const backUp = (name: NodeName): Action => ({ do: 'back-up', node: name });
/** Of a node that is down, as operators do: `consensus`, `chain` and `app` of an older day, and what the signer remembers of today. */
export const putBack = (name: NodeName, ...media: MediumName[]): Action => ({
  do: 'put-back',
  node: name,
  media,
});
export const pause = (name: NodeName, time?: Duration): Action => ({
  do: 'pause',
  node: name,
  ...(time === undefined ? {} : { forMs: msOf(time, 'pause') }),
});
export const unpause = (name: NodeName): Action => ({ do: 'unpause', node: name });
export const clock = (
  name: NodeName,
  change: { step?: Duration; driftPpm?: number; frozen?: boolean },
): Action => {
  mustBe('clock', "{ step: '2s' }, { driftPpm: 50 } or { frozen: true }", change);
  const { step, ...rest } = change;
  return { do: 'clock', node: name, ...(step === undefined ? {} : { stepMs: stepMsOf(step) }), ...rest };
};
export const disk = (name: NodeName, how: 'good' | 'slow' | 'full'): Action => ({
  do: 'disk',
  node: name,
  disk: how,
});
/** From now on each signature takes so long; `'0s'`: a moment, as usual. */
export const signer = (name: NodeName, takes: Duration): Action => ({
  do: 'signer',
  node: name,
  takesMs: msOf(takes, 'signer'),
});
/** From now on its application takes so long for each answer, one after the other; what is not said: a moment, as usual. */
export const application = (name: NodeName, takes: { blocks?: Duration; checks?: Duration }): Action => {
  mustBe('application', "{ blocks: '300ms' } or { checks: '20ms' }", takes);
  const { blocks = '0s', checks = '0s', ...rest } = takes;
  return {
    do: 'application',
    node: name,
    blocksMs: msOf(blocks, 'application: blocks'),
    checksMs: msOf(checks, 'application: checks'),
    ...rest,
  };
};
export const submit = (to: NodeName, tx: string): Action => ({ do: 'submit', to, tx });
export const empower = (name: NodeName, power: number, via: NodeName = 'v0'): Action => ({
  do: 'empower',
  node: name,
  power,
  via,
});

// --- the whole ---------------------------------------------------------------------------------------------

const POWER_USUAL = 10;
export function validators(count: number, more: Omit<CastWords, 'powers'> = {}): CastWords {
  if (!Number.isSafeInteger(count) || count < 1 || count > PEOPLE_MAX) {
    const hint = Array.isArray(count) ? `: write powers(${count.join(', ')})` : '';
    throw new ScenarioError(
      `validators: expected a whole number from 1 to ${PEOPLE_MAX}, not ${JSON.stringify(count)}${hint}`,
    );
  }
  mustBe('validators', '{ fullNodes: 1, degree: 3 }', more);
  return { powers: Array.from({ length: count }, () => POWER_USUAL), ...more };
}
export const powers = (...list: number[]): CastWords => ({ powers: list });

const TX_BYTES_USUAL = 64;
export const txs = (load: {
  perSecond?: number;
  perBlock?: number;
  count?: number;
  copies?: number;
  size?: number;
  make?: Workload;
}): Load => ({
  size: TX_BYTES_USUAL,
  ...load,
});

export const liar = (
  name: NodeName,
  what: LiarWords['liar'],
  to: NodeName[],
  more: Omit<LiarWords, 'node' | 'liar' | 'to'> = {},
): LiarWords => {
  mustBe('liar', '{ fromHeight: 3, toRound: 1 }', more);
  return { node: name, liar: what, to, ...more };
};

export type ScenarioWords = Pick<Scenario, 'cast' | 'ends'> &
  Partial<Omit<Scenario, 'title' | 'cast' | 'ends'>>;

const kebab = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** A play whose every fault is written down. Its name, if not given, is its title in kebab-case. */
export function scenario(title: string, words: ScenarioWords): Scenario {
  if (typeof title !== 'string') throw new ScenarioError('scenario: its title comes first, a text');
  if ('does' in (words?.ends ?? {}))
    throw new ScenarioError("ends: say how long it may take: decides(height(3), { within: '60s' })");
  return completed({ name: kebab(title), title, ...words });
}

/** A play that a seed writes. */
export function drawn(name: string, title: string, draw: DrawnPlay['draw']): DrawnPlay {
  if (typeof draw !== 'function')
    throw new ScenarioError(
      "drawn: write drawn('name', 'title', (stream) => scenario(...)): a function draws it",
    );
  return {
    name,
    title,
    draw: (stream) => {
      const play = draw(stream);
      return isPromise(play) ? play : { ...play, name, title }; // a promise is refused where the draw was asked for
    },
  };
}
