// What one node has heard, said and shown in the height that it is at, as far as it can be seen from outside.

import { seenCommitKey } from '../../../machines/chain/keys.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import type { BlockId } from '../../../protocol/types.ts';
import { decodeCommit } from '../../../protocol/wire/index.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { WorldAbout } from '../../oracle.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { Heard } from '../ghost/tally.ts';
import { AtWork, type Choice } from './at-work.ts';
import { Claims } from './claims.ts';

/** Which round decided a height, as its disk has it; null: it has not. */
function roundOfCommit(at: Machine, height: bigint): number | null {
  const kept = at.disk.read('chain', seenCommitKey(height));
  const commit = kept === undefined ? null : decodeCommit(kept);
  return commit === null || isRefusal(commit) ? null : commit.round;
}

/** In which rounds it last locked something, and held it for valid. */
interface Published {
  readonly lock: number | null;
  readonly valid: number | null;
}
const NOTHING: Published = { lock: null, valid: null };

export class Standing {
  readonly heard: Heard;
  readonly work: AtWork;
  readonly claims: Claims;
  height = 0n;
  round = 0;
  /** From its precommits: a node that speaks for a value is locked on it. */
  lock: Choice = null;
  /** From what it publishes, in this life. */
  published: Published = NOTHING;
  /** Its votes of this height, by round and type. */
  said = new Set<number>();
  /** What it prevoted at this height, in this life: its rules and its application allow that. */
  chosen: BlockId[] = [];
  /** When it came to propose in its round. */
  proposeNs: number | null = null;
  /** What it is locked on stood before it, proposed, as it came to prevote in its round. */
  isOwnProposed = false;

  constructor(ghost: GhostChain, about: WorldAbout, at: Machine) {
    const { reached, now } = about;
    this.work = new AtWork((label) => about.isHonest(at) && reached(label), now);
    this.heard = new Heard((height) => ghost.set(height), hexFor(at));
    this.claims = new Claims(ghost.genesis.initialHeight, (height) => roundOfCommit(at, height));
  }

  /** The lock as a vote of this round may have met it: who had nobody to hear it says a vote after later ones. */
  lockBefore(round: number): Choice {
    return this.lock && this.lock.round < round ? this.lock : null;
  }

  /** What it knew but for its log is gone. */
  startsLife(): void {
    this.published = NOTHING;
    this.chosen = [];
    this.claims.startsLife();
    this.work.restarts();
  }

  moveTo(height: bigint): void {
    if (height <= this.height) return;
    this.height = height;
    this.work.moveTo(height);
    this.lock = null;
    this.published = NOTHING;
    this.said = new Set();
    this.chosen = [];
    this.proposeNs = null;
    this.isOwnProposed = false;
  }
}
