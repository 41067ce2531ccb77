// What a play is: plain data, one JSON directive per fault or trigger. The builders in this folder make it;
// sim/run.ts performs it.

import type { Application } from '../../machines/apps/application.ts';
import type { Settings } from '../cast.ts';
import type { Stream } from '../choices.ts';
import type { CrashHow, MediumName } from '../disk-door.ts';
import type { Latency, Span } from '../latency.ts';
import type { LiarName } from '../liars/index.ts';
import type { Liar, WhenItLies } from '../liars/liar.ts';
import type { OracleMaker } from '../oracle.ts';
import { STEP } from '../steps.ts';

export type { Settings } from '../cast.ts';
export { ScenarioError } from './error.ts';

/**
 * Name of a machine: `v0`, `v1`, ... validators; `c0`, ... candidates; `f0`, ... full nodes. A typo does not
 * compile.
 */
export type NodeName = `${'v' | 'c' | 'f'}${number}`;

/** Whose doings count: one node, any one of them, or all of those that take part. */
export type Who = NodeName | 'anyone' | 'everyone';

/**
 * The k-th block that was proposed at a height, counted from 1 in the order of their first proposals; or nil.
 */
export type BlockNumber = number | 'nil';

export type Deed =
  /** It starts to propose, prevote, ...: `step` says which. */
  | 'enters'
  | 'proposes'
  | 'prevotes'
  | 'precommits'
  | 'locks'
  /** It learns of a polka: the valid value of the algorithm. */
  | 'values'
  /** It commits the height, or a later one. */
  | 'decides'
  /** It commits a block that carries evidence against `against`. */
  | 'punishes'
  /** It ends its connection to `against`, for what that one said. */
  | 'drops'
  /** It takes part in consensus after a handshake, and block sync if it needed it. */
  | 'joins'
  /** It stops by itself, and says why. */
  | 'halts'
  | 'crashes'
  | 'starts';

/** Something a node does. What is not said matches anything. */
export interface Condition {
  readonly who: Who;
  readonly does: Deed;
  readonly height?: number;
  readonly round?: number;
  readonly block?: BlockNumber;
  readonly step?: StepName;
  readonly against?: NodeName;
  /** What the reason says, in part. */
  readonly because?: string;
}

export const STEP_NAMES = {
  propose: STEP.propose,
  prevote: STEP.prevote,
  'prevote-wait': STEP.prevoteWait,
  precommit: STEP.precommit,
  commit: STEP.commit,
} as const;
export type StepName = keyof typeof STEP_NAMES;

/** Something that is so for a while. `cut-off`: at least one of its links is cut, in some direction. */
export type StateOf =
  | { readonly who: NodeName; readonly is: 'locked-on'; readonly block: BlockNumber }
  | { readonly who: NodeName; readonly is: 'up' | 'down' | 'syncing' | 'in-consensus' | 'cut-off' }
  /** It stopped by itself, as it may not go on. */
  | { readonly who: NodeName; readonly is: 'halted' }
  /** The voting power of its key in the set of the next height, as the chain has it. */
  | { readonly who: NodeName; readonly is: 'of-power' | 'weaker-than'; readonly power: number };

/** What messages a rule is about, by what they carry. */
export type MessageKind =
  | 'proposals'
  | 'parts'
  | 'prevotes'
  | 'precommits'
  | 'transactions'
  | 'evidence'
  | 'block-sync'
  | 'everything';

export interface RuleAction {
  readonly do: 'rule';
  readonly what: MessageKind;
  /** Gone, or so much later (the envelope that carries it, as a whole). */
  readonly effect: 'drop' | { readonly delayMs: number };
  /** On the way from and to these; none named: any. */
  readonly from?: readonly NodeName[];
  readonly to?: readonly NodeName[];
  /** Whose word it is (votes only): it may reach a node by way of others. */
  readonly by?: readonly NodeName[];
  readonly height?: number;
  readonly round?: number;
}

/** Where a node dies: at a point of its disk, or as an effect leaves one of its actors. */
export interface CrashPoint {
  readonly node: NodeName;
  readonly when: 'before' | 'inside' | 'after';
  readonly op: 'append' | 'sync' | 'trim' | 'write' | 'flush' | 'send' | 'sign';
  /** Which log or store. */
  readonly on?: MediumName;
  /** The so many-th such point from now on; 1 is the next. */
  readonly nth: number;
}

export interface LinkChange {
  readonly latency?: Latency;
  readonly lossPpm?: number;
  readonly duplicatePpm?: number;
  readonly reorderPpm?: number;
  readonly corruptPpm?: number;
  readonly bytesPerSecond?: number;
  /** How late a second copy, or one that others pass, comes. */
  readonly straggle?: Span;
}

/** How a node dies, and what comes of it. */
export interface Death {
  readonly how: CrashHow;
  /** Starts again after this; without it, it stays down until a `restart`. */
  readonly restartMs?: number;
  /** Its machine lost its power, or its wire: nobody sees the connections end until a node runs there again. */
  readonly unnoticed?: true;
}

export type Action =
  | { readonly do: 'isolate'; readonly node: NodeName; readonly forEver?: true }
  | { readonly do: 'partition'; readonly groups: readonly (readonly NodeName[])[]; readonly forEver?: true }
  /** One way only. */
  | {
      readonly do: 'cut';
      readonly from: readonly NodeName[];
      readonly to: readonly NodeName[];
      readonly forEver?: true;
    }
  /** All cuts but those for ever, all clogs and message rules end. */
  | { readonly do: 'heal' }
  | {
      readonly do: 'clog';
      readonly from: readonly NodeName[];
      readonly to: readonly NodeName[];
      readonly forMs: number;
    }
  | { readonly do: 'reset'; readonly nodes: readonly [NodeName, NodeName] }
  | {
      readonly do: 'links';
      readonly change: LinkChange;
      readonly from?: readonly NodeName[];
      readonly to?: readonly NodeName[];
    }
  /**
   * Links as at the beginning of the world: short delays, no faults. Crash points that were not reached are
   * lifted.
   */
  | { readonly do: 'calm' }
  /**
   * Chaos is over. The nodes named are started and woken, have good disks, speak the truth and hear each
   * other over calm links; all others stay as they are now, for ever (down, frozen, cut off, lying). Message
   * rules end, and what was to happen later by the clock, or again, does not happen any more.
   */
  | { readonly do: 'core'; readonly nodes: readonly NodeName[] }
  | RuleAction
  | ({ readonly do: 'crash'; readonly node: NodeName } & Death)
  | ({ readonly do: 'crash-at' } & CrashPoint & Death)
  | { readonly do: 'restart'; readonly node: NodeName }
  /**
   * Somebody removes the log of consensus of a node that is down. What it signed last is kept elsewhere, and keeps it from voting twice;
   * its lock is forgotten.
   */
  | { readonly do: 'remove-log'; readonly node: NodeName }
  /** What its disk holds now is remembered. */
  | { readonly do: 'back-up'; readonly node: NodeName }
  /** Of a node that is down: these are again as they were at the last `back-up`. */
  | { readonly do: 'put-back'; readonly node: NodeName; readonly media: readonly MediumName[] }
  | { readonly do: 'pause'; readonly node: NodeName; readonly forMs?: number }
  | { readonly do: 'unpause'; readonly node: NodeName }
  | {
      readonly do: 'clock';
      readonly node: NodeName;
      readonly stepMs?: number;
      readonly driftPpm?: number;
      readonly frozen?: boolean;
    }
  | { readonly do: 'disk'; readonly node: NodeName; readonly disk: 'good' | 'slow' | 'full' }
  /** From now on its key takes so long for each signature, as one in a device or behind a network; 0: a moment, as usual. */
  | { readonly do: 'signer'; readonly node: NodeName; readonly takesMs: number }
  /**
   * From now on its application takes so long for each answer, one after the other: about a proposal, a block or a commit, and about a
   * transaction; 0: a moment, as usual.
   */
  | {
      readonly do: 'application';
      readonly node: NodeName;
      readonly blocksMs: number;
      readonly checksMs: number;
    }
  | { readonly do: 'submit'; readonly to: NodeName; readonly tx: string }
  /** A kvstore transaction that gives this node's key so much power; 0: it leaves the set. */
  | { readonly do: 'empower'; readonly node: NodeName; readonly power: number; readonly via: NodeName };

export type Directive =
  /** At this time, whatever else happened. */
  | { readonly atMs: number; readonly actions: readonly Action[] }
  /** So long after the directive before it. */
  | { readonly afterMs: number; readonly actions: readonly Action[] }
  /** Once this happens, after the directive before it; at the latest at this time of the world. */
  | { readonly when: Condition; readonly latestMs?: number; readonly actions: readonly Action[] }
  /** Each time that this happens, after the directive before it, until chaos is over; once a moment. */
  | { readonly whenever: Condition; readonly actions: readonly Action[] };

export type Claim =
  /** This does not happen, or not while something is so. */
  | { readonly never: Condition; readonly while?: StateOf }
  /** This happens before the end. */
  | { readonly sometime: Condition }
  /** So it is at the end. */
  | { readonly finally: StateOf };

export type Ending =
  /**
   * `who`: `everyone` is whoever tells no lies; a list names them; an empty one promises of nobody, and the run ends once anybody is there.
   */
  | {
      readonly who: 'everyone' | readonly NodeName[];
      readonly decides: number;
      readonly withinMs: number;
      /**
       * And so many heights beyond the highest one at the time of the last directive: what is healed works.
       */
      readonly afterwards?: number;
    }
  /**
   * Nobody gets beyond this height from the last directive on until so much later: liveness is lost, safety
   * is kept.
   */
  | { readonly who: 'nobody'; readonly decides: number; readonly forMs: number }
  /**
   * Two honest nodes decide different blocks at this height, and what honest nodes said and heard names these
   * as the liars, nobody else, with more than a third of the power.
   */
  | {
      readonly who: 'fork';
      readonly decides: number;
      readonly guilty: readonly NodeName[];
      readonly withinMs: number;
    };

/** One's own transactions: the n-th of a run, from 0. What it draws comes from the run's seed. */
export type Workload = (stream: Stream, n: number) => Uint8Array;

export interface Load {
  /** Every so many a second, over all nodes that are up, ... */
  readonly perSecond?: number;
  /** ... or so many as each height is decided. */
  readonly perBlock?: number;
  /** So many in all; not given: until the end. */
  readonly count?: number;
  /** Each is given to so many nodes; not given: to one, which may take it to its grave. */
  readonly copies?: number;
  /** Bytes of each, if nobody else makes them. */
  readonly size: number;
  /** One's own; no JSON can hold it. Not given: pairs that kvstore accepts. */
  readonly make?: Workload;
}

export interface CastWords {
  readonly powers: readonly number[];
  readonly candidates?: number;
  readonly fullNodes?: number;
  /** Mean number of neighbours; not given: everybody talks to everybody. */
  readonly degree?: number;
  /** In the genesis: evidence is too old when it is older than both. Not given: what a genesis says by default. */
  readonly evidence?: { readonly maxAgeBlocks?: number; readonly maxAgeMs?: number };
  /** In the genesis: the name of the chain, which every signature covers, of 50 bytes at most. Not given: `rehearsal`. */
  readonly chainId?: string;
  /** In the genesis: the hash of the application's state, in hex. Not given: it names none. */
  readonly appHash?: string;
  /** In the genesis: the first height; not given: 1. */
  readonly initialHeight?: number;
  /** In the genesis: `block.max_bytes`. Not given: what a genesis says by default, 21 MiB. */
  readonly blockBytes?: number;
  /** The machine clocks: how far off at the beginning, and how fast they run. */
  readonly clocks?: Readonly<Record<NodeName, { readonly skewMs?: number; readonly driftPpm?: number }>>;
}

/** A node that lies. */
export interface LiarWords extends WhenItLies {
  readonly node: NodeName;
  /** A name of sim/liars (an editor knows them; a list of one's own need not be typed for it), or one's own, which no JSON can hold. */
  readonly liar: LiarName | (string & Record<never, never>) | Liar;
  /** Whom it lies to; others get the truth. */
  readonly to: readonly NodeName[];
}

/** Where a saved scenario comes from: a run that broke a promise, made small. */
export interface Origin {
  /** The promise, and what was said of its violation. */
  readonly oracle: string;
  readonly what: string;
  /** Under this seed it breaks; `sim run` takes it when no other is named. */
  readonly seed: string;
  readonly commit: string;
  /** The planted bug that it finds; not given: it found one of the build's own. */
  readonly mutant?: string;
}

/** A play whose every fault is written down. */
export interface Scenario {
  /** kebab-case. */
  readonly name: string;
  /** One line: what it shows. */
  readonly title: string;
  readonly cast: CastWords;
  readonly act: readonly Directive[];
  readonly load?: Load;
  readonly holds: readonly Claim[];
  readonly ends: Ending;
  readonly liars: readonly LiarWords[];
  /** A name of machines/apps, or one's own (which no JSON can hold). */
  readonly app: string | (() => Application);
  /** More that watch, beside those that always do; one's own, so no JSON can hold them. */
  readonly oracles?: readonly OracleMaker[];
  readonly settings?: Settings;
  readonly crypto?: 'sim' | 'ed25519';
  /** `waived`: the plain liveness check is off, as this play promises none. */
  readonly liveness: 'checked' | 'waived';
  readonly origin?: Origin;
}

/** A play that a seed writes: the same seed, the same scenario. */
export interface DrawnPlay {
  readonly name: string;
  readonly title: string;
  readonly draw: (stream: Stream) => Scenario;
}

export type Play = Scenario | DrawnPlay;

export const isDrawn = (play: Play): play is DrawnPlay => 'draw' in play;
