// What a picture of a run is: one plain value, JSON as it stands, in columns because there are many rows. A
// page, a test or another tool reads it; sim/picture/collector.ts makes it.

import type { DONE } from '../links.ts';
import type { Verdict } from '../verdict.ts';

export const PICTURE_FORMAT = 1;

/** What a message is. Places in this list are what `messages.kind` holds. */
export const MESSAGE_KINDS = [
  'proposal',
  'part',
  'prevote',
  'precommit',
  'evidence',
  'block sync',
  'transactions',
  'gossip',
  'greeting',
  'unreadable',
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** They go first where there is no room for all. */
export const CHATTER: ReadonlySet<MessageKind> = new Set(['transactions', 'gossip', 'greeting']);

/** What became of an envelope. Places in this list are what `arrows.end` holds. */
export const ENDS = [
  'heard',
  /** By chance. */
  'lost',
  /** The line was cut when it was sent ... */
  'cut at once',
  /** ... or when it would have arrived. */
  'cut on the way',
  /** A message rule of the play. */
  'ruled out',
  /** By a liar, who says nothing instead. */
  'kept back',
  /** It came to a node that had died, or to a connection that had ended. */
  'nobody there',
  /** The run ended first. */
  'on the way',
] as const;
export type EndName = (typeof ENDS)[number];

/** What happened on a lane. Places in this list are what `marks.what` holds. */
export const MARKS = [
  'starts',
  'crashes',
  'mode',
  'enters',
  'proposes',
  'prevotes',
  'precommits',
  'locks',
  'values',
  'decides',
  'punishes',
  'drops',
  'warns',
  'halts',
  'accuses',
] as const;
export type MarkName = (typeof MARKS)[number];

export interface PictureNode {
  readonly name: string;
  readonly role: 'validator' | 'candidate' | 'full node';
  /** At genesis. */
  readonly power: string;
  readonly lies: boolean;
}

/**
 * A height, round, step and what the node held when the picture begins: more was before it than it has room
 * for.
 */
export interface NodeBefore {
  readonly height: number;
  readonly round: number;
  readonly step: number;
  /** Index of a block; -1: none. */
  readonly lock: number;
  readonly value: number;
  readonly mode: string;
  readonly decided: number;
  readonly lives: number;
}

/** Something that the play did, from then until it ended. */
export interface Trouble {
  /** As the play calls it: `partition`, `pause`, ... */
  readonly does: string;
  readonly text: string;
  /** The nodes it is about; empty: all. */
  readonly nodes: readonly number[];
  readonly fromNs: number;
  /** The same as `fromNs`: it happened at an instant. */
  readonly toNs: number;
}

export interface PictureViolation {
  readonly oracle: string;
  readonly what: string;
  /** -1: of no one node. */
  readonly node: number;
  readonly atNs: number;
  readonly height: number;
}

/**
 * `chatter`: envelopes with nothing in them but transactions, gossip and greetings, of which there are
 * most.
 */
export interface Omitted {
  readonly what: 'messages' | 'chatter' | 'events';
  readonly count: number;
  readonly untilNs: number;
}

export interface Picture {
  readonly format: typeof PICTURE_FORMAT;
  /** What the numbers of its columns mean, so that a reader needs nothing else. */
  readonly names: {
    readonly kinds: readonly MessageKind[];
    readonly ends: readonly EndName[];
    readonly marks: readonly MarkName[];
    readonly done: typeof DONE;
  };
  readonly about: {
    readonly scenario: string;
    readonly title: string;
    readonly seed: string;
    readonly crypto: Verdict['crypto'];
    readonly holds: boolean;
    readonly digest: string;
    readonly again: string;
    readonly endNs: number;
    readonly heights: number;
    readonly deliveries: number;
    readonly faults: Verdict['faults'];
  };
  readonly nodes: readonly PictureNode[];
  /** Blocks in the order of their first appearance; the first is nil, with an empty hash. */
  readonly blocks: readonly { readonly hash: string; readonly height: number }[];
  /** Texts that marks and messages speak of. */
  readonly texts: readonly string[];
  /** What was said, each different thing once. */
  readonly messages: {
    readonly kind: readonly number[];
    /** -1: of none. */
    readonly height: readonly number[];
    readonly round: readonly number[];
    /** Index of a block; -1: of none. */
    readonly block: readonly number[];
    /** Who signed it, or proposed it; -1: nobody here. */
    readonly signer: readonly number[];
    readonly bytes: readonly number[];
    /** Index of a text. */
    readonly text: readonly number[];
  };
  /** Contents of envelopes: indices of messages. */
  readonly parcels: readonly (readonly number[])[];
  /** One for each envelope and each copy of one, in the order in which they were sent. */
  readonly arrows: {
    readonly from: readonly number[];
    readonly to: readonly number[];
    /** After the arrow before; the first: after the beginning of the run. */
    readonly afterNs: readonly number[];
    /** From sending to the end of its way; 0 for what never left. */
    readonly tookNs: readonly number[];
    readonly end: readonly number[];
    /** Bits of `DONE` (sim/links.ts). */
    readonly done: readonly number[];
    /** Index of the parcel that was given to the link. */
    readonly said: readonly number[];
    /** Index of the parcel that arrives, where a rule, a liar or a fault changed it; else -1. */
    readonly became: readonly number[];
  };
  readonly marks: {
    readonly node: readonly number[];
    readonly afterNs: readonly number[];
    readonly what: readonly number[];
    readonly height: readonly number[];
    readonly round: readonly number[];
    /** Index of a block; -1: of none. */
    readonly block: readonly number[];
    /** `enters`: the step as spec 5.1 numbers it; `starts`: the life; else an index of a text, or -1. */
    readonly more: readonly number[];
  };
  readonly troubles: readonly Trouble[];
  /** Which lines are cut, from each of these times on: pairs of from and to. */
  readonly cuts: readonly { readonly atNs: number; readonly lines: readonly (readonly [number, number])[] }[];
  readonly violations: readonly PictureViolation[];
  readonly before: readonly NodeBefore[];
  /** What there was no room for: always the oldest, so that after `untilNs` nothing of it is missing. */
  readonly omitted: readonly Omitted[];
}
