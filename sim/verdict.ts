// What a run says when it is over: held or broken, by which promise, what happened on the way, and the digest that anyone can reproduce.

import type { NodeEvent } from '../actors/turn.ts';
import type { Fork } from './fork.ts';
import type { Closest } from './liveness/watch.ts';
import type { Machine } from './machine.ts';
import type { Violation } from './oracle.ts';
import type { GhostChain } from './oracles/ghost/ghost.ts';
import type { Recording } from './recording.ts';
import type { Scenario } from './scenario/play.ts';
import type { Stage } from './scenario/stage.ts';
import type { Witness } from './scenario/witness.ts';
import type { World } from './world.ts';

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
  /** SHA-256 over the sequence of (time, node, actor, message type, height, round): equal for sim-crypto and ed25519. Empty where `shape: false` asked for none. */
  readonly shape: string;
  readonly nodes: readonly NodeOutcome[];
  readonly heights: bigint;
  readonly rounds: { readonly max: number; readonly laterThanFirst: number };
  readonly virtualNs: number;
  readonly deliveries: number;
  readonly transactions: { readonly submitted: number; readonly committed: number };
  /** How often each fault happened, by name. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often each rule of the algorithm was seen at work, by its line in the paper and what it did. */
  readonly labels: Readonly<Record<string, number>>;
  /** The height that took most of its bound after trouble was over; null: none was promised and kept. */
  readonly liveness: Closest | null;
  /** The fork that the play promised, and whom it names; null: none was promised, or it did not come. */
  readonly fork: Fork | null;
  /** What the play has in it and the run never met, in words: rules without a message, crash points not reached, actions that did nothing, liars that told no lie, a load of which nothing was committed, claims whose time or height did not come, a bound on heights that is far away. */
  readonly unmet: readonly string[];
  /** The line that reproduces it. */
  readonly again: string;
}

/** One line of the story of a run. */
export interface StoryLine {
  readonly atNs: number;
  /** Empty: the world itself (a fault, a heal). */
  readonly node: string;
  readonly what: string;
  /** True: it happens all the time in a healthy network, and a short story leaves it out. */
  readonly isEveryday?: boolean;
}

/** All that makes a run, for whoever watches closely: a picture. */
export interface Backstage {
  readonly play: Scenario;
  readonly world: World;
  readonly stage: Stage;
  readonly witness: Witness;
  readonly ghost: GhostChain;
}

/** What a caller may watch while a run goes on. */
export interface RunWatch {
  readonly line?: (line: StoryLine) => void;
  readonly event?: (at: Machine, event: NodeEvent) => void;
  /** Called now and then; `done` in 0..1 as far as it is known. */
  readonly progress?: (done: number, height: bigint) => void;
  /** Bytes of the trace as they are made: header first, then one frame per turn, with the node whose it is. */
  readonly trace?: (bytes: Uint8Array, node?: string) => void;
  /** Given every choice of the run when it is over; they are kept for nobody else. */
  readonly choices?: (choices: Recording) => void;
  /** Told before the run begins. */
  readonly backstage?: (backstage: Backstage) => void;
}
