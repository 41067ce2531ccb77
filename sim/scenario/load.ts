// Transactions from outside: so many a second, or with every height, each one different.

import { utf8Encode } from '#platform';
import { hexOf } from '../../protocol/bytes.ts';
import type { Block } from '../../protocol/types.ts';
import type { Stream } from '../choices.ts';
import type { Machine } from '../machine.ts';
import type { GhostChain } from '../oracles/ghost/ghost.ts';
import { asWritten } from '../oracles/ghost/transactions.ts';
import type { World } from '../world.ts';
import { tried } from './own.ts';
import type { Load, NodeName } from './play.ts';
import type { Stage } from './stage.ts';
import { ScenarioError } from './words.ts';

const SECOND_NS = 1_000_000_000;

export class Loader {
  private readonly load: Load;
  private readonly stage: Stage;
  private readonly world: World;
  private readonly stream: Stream;
  /** So many were given to nodes. */
  made = 0;
  private heightMax = 0n;
  /** What nodes were given, as long as none of it was in a block. */
  private readonly given = new Set<string>();
  /** Some of it came into a block. */
  isTaken = false;

  constructor(load: Load, stage: Stage, stream: Stream, ghost: GhostChain) {
    this.load = load;
    this.stage = stage;
    this.world = stage.world;
    this.stream = stream;
    ghost.onBlock.push((_at, block) => this.look(block));
    if (load.perSecond) this.wait();
    if (load.perBlock) {
      this.world.listeners.push((at, event) => {
        if (event.type === 'committed' && event.height > this.heightMax) this.onHeight(at, event.height);
      });
    }
  }

  private get isOver(): boolean {
    return this.load.count !== undefined && this.made >= this.load.count;
  }

  private wait(): void {
    const perSecond = this.load.perSecond ?? 1;
    this.world.agenda.after(Math.floor(SECOND_NS / perSecond), () => {
      if (this.isOver) return;
      const { machines } = this.world;
      this.give(machines[this.stream.draw(machines.length)] as Machine);
      this.wait();
    });
  }

  private onHeight(at: Machine, height: bigint): void {
    this.heightMax = height;
    const { machines } = this.world;
    const perBlock = this.load.perBlock ?? 0;
    for (let i = 0; i < perBlock && !this.isOver; i++) {
      this.give(machines[(at.index + i + 1) % machines.length] as Machine);
    }
  }

  private give(machine: Machine): void {
    const { make, size, copies } = this.load;
    const tx = make
      ? tried('load.make', `it threw at transaction ${this.made}`, () => make(this.stream, this.made))
      : pair(this.made, size);
    if (!(tx instanceof Uint8Array))
      throw new ScenarioError(`load.make: expected the bytes of transaction ${this.made}, a Uint8Array`);
    // A copy: it may fill the same bytes again (`slice` of a Buffer copies nothing).
    const copy = new Uint8Array(tx);
    if (!this.stage.submit(machine.name as NodeName, copy, copies)) return;
    this.made++;
    if (this.isTaken) return;
    this.given.add(hexOf(copy));
    const written = asWritten(copy);
    if (written) this.given.add(hexOf(written));
  }

  /** An application may add transactions of its own to a block, and a play gives others: they are none of it. */
  private look({ txs }: Block): void {
    if (this.isTaken || !txs.some((tx) => this.given.has(hexOf(tx)))) return;
    this.isTaken = true;
    this.given.clear();
  }
}

/** `t17=xxxx...`: a pair that kvstore accepts, exactly `size` bytes when there is room. */
function pair(n: number, size: number): Uint8Array {
  const key = `t${n}=`;
  return utf8Encode(key + 'x'.repeat(Math.max(1, size - key.length)));
}
