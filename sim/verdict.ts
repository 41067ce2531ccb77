// What a run says when it is over: held or broken, by which promise, what happened on the way, and the digest that anyone can reproduce.

import type { NodeEvent } from '../actors/turn.ts';
import type { Machine } from './machine.ts';
import type { Violation } from './oracle.ts';
import type { Action } from './scenario/play.ts';
import type { Happening } from './scenario/witness.ts';

export interface NodeOutcome {
  readonly name: string;
  readonly height: bigint;
  readonly appHash: string;
  readonly crashes: number;
  readonly lives: number;
  readonly mode: string;
}

export interface Verdict {
  readonly scenario: string;
  readonly seed: string;
  readonly crypto: 'sim' | 'ed25519';
  /** True: every oracle was silent, everything that the play promises came true, and every trigger fired. */
  readonly holds: boolean;
  readonly violations: readonly Violation[];
  /** The world's digest: 64 lower-case hex digits over every turn of every node, in order. */
  readonly digest: string;
  /** SHA-256 over the sequence of (time, node, actor, message type, height, round): equal for sim-crypto and ed25519. */
  readonly shape: string;
  readonly nodes: readonly NodeOutcome[];
  readonly heights: bigint;
  readonly rounds: { readonly max: number; readonly laterThanFirst: number };
  readonly virtualNs: number;
  readonly deliveries: number;
  readonly transactions: { readonly submitted: number; readonly committed: number };
  /** How often each fault happened, by name. */
  readonly faults: Readonly<Record<string, number>>;
  /** The line that reproduces it. */
  readonly again: string;
}

/** One line of the story of a run. */
export interface StoryLine {
  readonly atNs: number;
  /** Empty: the world itself (a fault, a heal). */
  readonly node: string;
  readonly what: string;
}

/** What a caller may watch while a run goes on. */
export interface RunWatch {
  readonly line?: (line: StoryLine) => void;
  readonly event?: (at: Machine, event: NodeEvent) => void;
  /** What nodes do and what the play does, as data: what the lines are made of. */
  readonly happening?: (happening: Happening) => void;
  readonly action?: (action: Action) => void;
  /** Called now and then; `done` in 0..1 as far as it is known. */
  readonly progress?: (done: number, height: bigint) => void;
  /** Bytes of the trace as they are made: header first, then one frame per turn. */
  readonly trace?: (bytes: Uint8Array) => void;
}
