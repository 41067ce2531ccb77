// A machine of the simulated world: a disk and a clock that outlive the node's lives, and the node that runs on it now.

import type { NodeConfig } from '../actors/node.ts';
import type { PeerId } from '../actors/turn.ts';
import type { Node } from '../runtime/kernel/node.ts';
import { type Life, WORLD_LIFE } from './agenda.ts';
import type { Member } from './cast.ts';
import type { MachineClock } from './clock.ts';
import type { Disk } from './disk.ts';
import type { Span } from './latency.ts';
import { type Answering, AT_ONCE } from './mail.ts';
import { SIGNING, type SigningKey } from './sim-crypto.ts';

/** What `config.app` says where a play brings the application. */
export const OWN_APPLICATION = 'own';

export class Machine {
  readonly index: number;
  readonly member: Member;
  readonly config: NodeConfig;
  readonly disk: Disk;
  readonly clock: MachineClock;
  readonly key: SigningKey | null;
  /** How long its key takes for a signature. */
  signing: Span = SIGNING;
  /** How long its application takes for an answer, and when the last about a block is out. */
  answering: Answering = AT_ONCE;
  answersUntilNs = 0;
  /** Null: not running. */
  node: Node | null = null;
  life: Life = WORLD_LIFE;
  /** Lives begun. */
  lives = 0;
  crashes = 0;
  /** Where it stands, from what it published. */
  height = 0n;
  round = 0;
  step = 0;
  mode = 'down';
  halted: string | null = null;
  /** Until then a pause, a slow disk, signer or application may have held back what it did. */
  heldUntilNs = 0;

  constructor(
    index: number,
    config: NodeConfig,
    member: Member,
    disk: Disk,
    clock: MachineClock,
    key: SigningKey | null,
  ) {
    this.index = index;
    this.config = config;
    this.member = member;
    this.disk = disk;
    this.clock = clock;
    this.key = key;
  }

  get name(): string {
    return this.member.name;
  }

  get isUp(): boolean {
    return this.node !== null;
  }
}

/** What plays call the node behind a peer's id; undefined: it is none of these. */
export const nameOfPeer = (machines: readonly Machine[], peer: PeerId): string | undefined =>
  machines.find(({ member }) => member.id === peer)?.name;
