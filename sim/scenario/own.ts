// What a play brings of its own: functions, which no JSON can hold and no field check can look into. What they give is checked as it comes.

import type { Effect, NodeEvent, Payload } from '../../actors/turn.ts';
import type { Application } from '../../machines/apps/application.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import type { Liar } from '../liars/liar.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../oracle.ts';
import { PROMISES } from '../oracles/promises.ts';
import { type Check, Checker, isPromise } from './checks.ts';
import { copyOf, withAnswersChecked } from './own-answers.ts';
import type { Scenario } from './play.ts';
import { ScenarioError } from './words.ts';

/** These say already whose they are. */
const NAMED = /^(app|draw|oracles\[[0-9]+\]( beside the play)?|liars\[[0-9]+\]\.liar|load\.make): /;

/** What a function of one's own gives; what it throws instead is said with its field. `threw`: which function that was, and that it did. */
export function tried<T>(field: string, threw: string, run: () => T): T {
  try {
    const given = run();
    if (!isPromise(given)) return given;
    given.then(undefined, () => {}); // what it throws later is of no interest any more
    const which = threw.replace(/ threw\b.*$/, '');
    throw new ScenarioError(`${field}: ${which} gives a promise; it must not be async`);
  } catch (error) {
    if (error instanceof ScenarioError && NAMED.test(error.message)) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw new ScenarioError(`${field}: ${threw}: ${what}`, { cause: error });
  }
}

/** Of its own, by field. */
export function ownParts({ app, liars = [], load, oracles }: Scenario): string[] {
  const found: string[] = [];
  if (typeof app === 'function') found.push('app: an application');
  if (load?.make) found.push('load.make: a workload');
  const lying = liars.findIndex(({ liar }) => typeof liar === 'function');
  if (lying >= 0) found.push(`liars[${lying}].liar: a liar`);
  if (oracles?.length) found.push('oracles: an oracle');
  return found;
}

const APPLICATION = ['answer', 'drainWrites', 'restore', 'digest', 'digestFromScratch'] as const;

/** Asked for once to look at it, then at every start of a node. */
export function ownApplication(make: () => Application): () => Application {
  if (isClass(make)) throw new ScenarioError(`app: this is a class; write () => new ${make.name}()`);
  const making = (): Application => tried('app', 'what makes it threw', make);
  const made: Partial<Application> | undefined = making();
  const missing = APPLICATION.find((method) => typeof made?.[method] !== 'function');
  if (missing) throw new ScenarioError(`app: what it makes is no application: it has no ${missing}()`);
  const given = new WeakSet<Application>([made as Application]);
  return () => {
    const application = making();
    if (given.has(application))
      throw new ScenarioError(
        'app: it makes the same application again, and each start of a node begins with a new one; write () => new ...',
      );
    given.add(application);
    return withAnswersChecked(application);
  };
}

const isClass = (value: object): boolean => /^class\b/.test(Function.prototype.toString.call(value));

const WATCHING: Readonly<Record<keyof Omit<Oracle, 'name' | 'effects' | 'events'>, true>> = {
  heard: true,
  leaving: true,
  published: true,
  started: true,
  crashed: true,
  submitted: true,
  corrupted: true,
  ended: true,
};
const METHODS = Object.keys(WATCHING).join(', ');
const EFFECTS: Readonly<Record<Effect['type'], true>> = {
  append: true,
  sync: true,
  trim: true,
  store: true,
  load: true,
  sign: true,
  send: true,
  tell: true,
  schedule: true,
  cancel: true,
  publish: true,
  score: true,
  dial: true,
  spawn: true,
  stop: true,
};

/** Who else says that something is broken: a violation is known by the name of who said it. */
const OURS: readonly string[] = [...Object.keys(PROMISES).map((name) => name.replace(/\/.*/, '')), 'witness'];

const EVENTS: Readonly<Record<NodeEvent['type'], true>> = {
  step: true,
  committed: true,
  applied: true,
  locked: true,
  valid: true,
  warning: true,
  halted: true,
  peer: true,
  checked: true,
  evidence: true,
  mode: true,
  refused: true,
};

/** The same oracle: what it throws has its name, and what it hears is a copy, as nodes and other oracles hold the same. */
function guarded(oracle: Oracle, field: string): Oracle {
  const { name, effects, events } = oracle;
  const hooks = Object.keys(WATCHING) as (keyof typeof WATCHING)[];
  const guards = hooks
    .filter((hook) => oracle[hook])
    .map((hook) => {
      const threw = `${name}: ${hook}() threw`;
      const guard = (...about: never[]): void => {
        tried(field, threw, () => (oracle[hook] as (...about: never[]) => unknown)(...about.map(copyOf)));
      };
      return [hook, guard] as const;
    });
  return { name, ...(effects && { effects }), ...(events && { events }), ...Object.fromEntries(guards) };
}

/** Of what an oracle is told beforehand, what it asks of a node: of a name it would be told something else. */
function askedOfNodes(about: WorldAbout, field: string): WorldAbout {
  const mustBeNode = (asked: string, at: Machine): void => {
    if (about.machines.includes(at)) return;
    throw new ScenarioError(
      `${field}: ${asked} takes the node that a hook was given, not ${typeof at === 'string' ? `the text ${at}` : String(at)}`,
    );
  };
  return {
    ...about,
    isHonest: (at) => {
      mustBeNode('isHonest', at);
      return about.isHonest(at);
    },
    mayHalt: (at, reason) => {
      mustBeNode('mayHalt', at);
      return about.mayHalt(at, reason);
    },
  };
}

/** Those of the play, and those that come beside it, as errors speak of them. */
export const ownOracles = (
  play: readonly OracleMaker[] = [],
  beside: readonly OracleMaker[] = [],
): readonly OracleMaker[] => [
  ...play.map((make, i) => ownOracle(make, `oracles[${i}]`)),
  ...beside.map((make, i) => ownOracle(make, `oracles[${i}]${play.length > 0 ? ' beside the play' : ''}`)),
];

/** One that hears nothing would never object. */
const ownOracle =
  (make: OracleMaker, field: string): OracleMaker =>
  (report, about) => {
    let isMade = false;
    const told: Report = (what, at, height, promise) => {
      if (!isMade)
        throw new ScenarioError(
          `${field}: report was called before a hook was: there is nothing yet to judge`,
        );
      if (typeof what !== 'string')
        throw new ScenarioError(`${field}: report takes a text that says what is broken, not ${what}`);
      if (at !== null && !about.machines.includes(at))
        throw new ScenarioError(`${field}: report names a node by the object that a hook was given, or null`);
      if (typeof height !== 'bigint')
        throw new ScenarioError(
          `${field}: report takes a height that is a bigint (3n), not ${String(height)}`,
        );
      if (promise !== undefined && typeof promise !== 'string')
        throw new ScenarioError(`${field}: report takes a promise that is a text, not ${String(promise)}`);
      report(what, at, height, promise);
    };
    const oracle = tried(field, 'what makes it threw', () => make(told, askedOfNodes(about, field)));
    const no = (what: string): never => {
      throw new ScenarioError(`${field}: ${what}; an oracle has a name and some of ${METHODS}`);
    };
    if (typeof oracle !== 'object' || oracle === null) return no('what it makes is no oracle');
    if (typeof oracle.name !== 'string') return no('what it makes has no name');
    if (oracle.name === '') return no('what it makes has an empty name');
    if (OURS.includes(oracle.name.replace(/\/.*/, '')))
      return no(`${oracle.name} is the name of one of ours`);
    const isPlain = Object.getPrototypeOf(oracle) === Object.prototype;
    for (const [field, value] of Object.entries(oracle)) {
      if (isPlain && typeof value === 'function' && !Object.hasOwn(WATCHING, field))
        no(`${oracle.name} would never be asked for ${field}()`);
    }
    const methods = Object.keys(WATCHING).filter((method) => method in oracle);
    const odd = methods.find((method) => !/function|undefined/.test(typeof oracle[method as keyof Oracle]));
    if (odd !== undefined) no(`${oracle.name}: ${odd}: expected a function`);
    if (methods.length === 0) no(`${oracle.name} hears nothing`);
    for (const [list, method, known] of [
      ['effects', 'leaving', EFFECTS],
      ['events', 'published', EVENTS],
    ] as const) {
      const odd = oddKinds(oracle[list], Object.keys(known), method, method in oracle);
      if (odd !== null) no(`${oracle.name}: ${list}: ${odd}`);
    }
    isMade = true;
    return guarded(oracle, field);
  };

/** What is wrong with the list of what it wants to hear of, by this method of its; null: nothing. */
function oddKinds(kinds: unknown, known: readonly string[], method: string, isThere: boolean): string | null {
  if (kinds === undefined) return null;
  if (!Array.isArray(kinds)) return `expected a list of ${known.join(', ')}`;
  if (kinds.length === 0) return isThere ? `empty, so ${method}() would never be asked` : null;
  const odd = kinds.find((type) => !known.includes(type));
  if (odd !== undefined) return `${String(odd)} is none; there are ${known.join(', ')}`;
  return isThere ? null : `there is no ${method}() that would be told of them`;
}

const payload: Check = {
  expects: '{ channel, bytes }, a number and a Uint8Array',
  holds: (value) => {
    const { channel, bytes } = (value ?? {}) as Partial<Payload>;
    return Number.isSafeInteger(channel) && bytes instanceof Uint8Array;
  },
};

/** What is wrong with one of them; null: nothing. */
function oddPayload(said: readonly unknown[]): string | null {
  const checker = new Checker();
  for (const [i, each] of said.entries()) {
    const of = `payload ${i}`;
    if (each instanceof Object && 'blockId' in each)
      checker.fail(of, 'this is a vote; wrap it in signedVote(kit, vote)');
    checker.check(payload, each, of);
  }
  return checker.problem;
}

/** The truth, in whatever list. */
const isSame = (said: readonly Payload[], truth: readonly Payload[]): boolean =>
  said.length === truth.length &&
  said.every(({ channel, bytes }, at) => {
    const { channel: line, bytes: whole } = truth[at] as Payload;
    return channel === line && equalBytes(bytes, whole);
  });

const LIE = 'lie: ';
const shown = (what: unknown): string => (what === '' ? '""' : String(what));

/** What its words become is `null` or a list of payloads. */
export const ownLiar =
  (make: Liar, i: number): Liar =>
  (kit) => {
    const field = `liars[${i}].liar`;
    let counted = 0;
    let told = 0;
    // `times` is of those that it counts; who counts none is held to those that it tells.
    const lies = (): boolean =>
      (counted > 0 || told < (kit.words.times ?? Number.MAX_SAFE_INTEGER)) && kit.lies();
    // Among what happened in a run it stands as a lie, whatever it is called, and never as a fault of the world.
    const count = (what: string): void => {
      counted++;
      if (typeof what !== 'string' || what === '')
        throw new ScenarioError(`${field}: count takes a text that says what the lie is, not ${shown(what)}`);
      kit.count(what.startsWith(LIE) ? what : `${LIE}${what}`);
    };
    const lie: unknown = tried(field, 'what makes its lies threw', () => make({ ...kit, lies, count }));
    if (typeof lie !== 'function')
      throw new ScenarioError(`${field}: expected a function (to, payloads) => ..., from it`);
    return (to, payloads) => {
      if (!kit.victims.has(to)) return null; // the others hear the truth
      // Copies: the list and its bytes go to others, too, and may be changed here.
      const copies = payloads.map(({ channel, bytes }) => ({ channel, bytes: bytes.slice() }));
      const said: unknown = tried(field, 'its lie threw', () => lie(to, copies));
      if (said !== null && !Array.isArray(said))
        throw new ScenarioError(`${field}: expected a list of payloads, or null for the truth`);
      const odd = said && oddPayload(said);
      if (odd) throw new ScenarioError(`${field}: ${odd}`);
      if (said === null || isSame(said, payloads)) return null;
      told++;
      // Copies again: it may fill the same bytes anew for the next victim, and what was remembered of the truth must not go with a lie.
      return said.map(({ channel, bytes }: Payload) => ({ channel, bytes: new Uint8Array(bytes) }));
    };
  };
