// What watches a world from outside: oracles keep ghost state of their own from what leaves the nodes, and say when a promise is broken.

import type { ActorName, Effect, NodeEvent, Payload, PeerId } from '../actors/turn.ts';
import type { Verify } from '../protocol/signatures.ts';
import type { Machine } from './machine.ts';

export interface Violation {
  readonly oracle: string;
  /** The oracle's name, or `chain/agreement` where an oracle keeps several: what stays the same while a failing run is made smaller. */
  readonly promise: string;
  readonly what: string;
  readonly node: string;
  readonly atNs: number;
  readonly height: bigint;
  /** Of a play: somebody did at that height what was not to be. Otherwise something did not come. */
  readonly isDeed?: boolean;
  /** What an actor or an application threw. */
  readonly thrown?: unknown;
}

export type ViolationWords = Pick<Violation, 'oracle' | 'promise' | 'what'>;

/** How an oracle says that something is broken. `at`: the node that a hook was given, null: nobody's; `promise`: which, where it keeps several. */
export type Report = (what: string, at: Machine | null, height: bigint, promise?: string) => void;

/** What a play itself promises is no oracle's word. */
export const PLAY = 'play';

/** What a violation says of itself, by the oracle that found it. `what` begins with the promise, where there are several. */
export const wordsOf = (oracle: string, what: string, promise?: string): ViolationWords =>
  promise === undefined
    ? { oracle, promise: oracle, what }
    : { oracle, promise: `${oracle}/${promise}`, what: `${promise}: ${what}` };

export interface Oracle {
  readonly name: string;
  /** The types of effects that `leaving` is told of; not given: all. They are frequent, so name those that you need. */
  readonly effects?: readonly Effect['type'][];
  /** Which events `published` is told of; not given: all. */
  readonly events?: readonly NodeEvent['type'][];
  /** An envelope has reached a node. */
  heard?(at: Machine, from: PeerId, payloads: readonly Payload[]): void;
  /** An effect is about to leave an actor. */
  leaving?(at: Machine, actor: ActorName, effect: Effect): void;
  published?(at: Machine, actor: ActorName, event: NodeEvent): void;
  /** A node begins a life, or its life has ended by a crash. */
  started?(at: Machine): void;
  crashed?(at: Machine): void;
  /** A transaction was given to a node. */
  submitted?(at: Machine, tx: Uint8Array): void;
  /** A link changed bytes on their way: what arrives is this. */
  corrupted?(payload: Payload): void;
  /** The run is over. */
  ended?(): void;
}

/** Makes an oracle for one world; its promises are about honest nodes alone (`about.isHonest`). */
export type OracleMaker = (report: Report, about: WorldAbout) => Oracle;

/** What oracles may know of the world beforehand. */
export interface WorldAbout {
  readonly chainId: string;
  readonly machines: readonly Machine[];
  readonly now: () => number;
  readonly isHonest: (at: Machine) => boolean;
  /** The play promises that it stops by itself, for this reason. */
  readonly mayHalt: (at: Machine, reason: string) => boolean;
  /** Something worth counting happened: a rule of the algorithm at work, by name. */
  readonly reached: (label: string) => void;
  /** Checks a signature of this world; what was found is remembered, unless nothing is (`memo: false`). */
  readonly verify: Verify;
}
