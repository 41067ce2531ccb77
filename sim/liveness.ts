// The plain liveness check: once all trouble is over, whoever can reach more than two thirds of the power
// commits again, within a
// generous bound. (The analytic bound per round comes with the campaigns.)

import { timeoutNs } from '../machines/consensus/config.ts';
import { hexOf } from '../protocol/bytes.ts';
import type { Machine } from './machine.ts';
import { type GhostChain, isQuorum } from './oracles/ghost.ts';
import { addressFor } from './oracles/votes.ts';
import type { Stage } from './scenario/stage.ts';
import type { World } from './world.ts';

const SECOND_NS = 1_000_000_000;
/**
 * Dials back off to 30 s and are lost after 10; peers notice a death within 5: a minute and a half covers a
 * reconnection.
 */
const RECONNECT_NS = 90 * SECOND_NS;
/**
 * Rounds that may fail after healing: proposers that are down or lie, rounds to catch up with, a hidden lock.
 */
const ROUNDS_MAX = 12;
const CHECK_EVERY_NS = 2 * SECOND_NS;
/** More loss than this is trouble: nobody promises a bound then. */
const LOSS_PPM_MAX = 100_000;

export class Liveness {
  private readonly stage: Stage;
  private readonly world: World;
  private readonly ghost: GhostChain;
  private readonly isHonest: (machine: Machine) => boolean;
  private nextAt = 0;
  private heights: bigint[];
  private readonly progressAt: number[];
  private roundMax = 0;
  private changedAt = -1;

  constructor(stage: Stage, ghost: GhostChain, isHonest: (machine: Machine) => boolean) {
    this.stage = stage;
    this.world = stage.world;
    this.ghost = ghost;
    this.isHonest = isHonest;
    this.heights = this.world.machines.map(() => 0n);
    this.progressAt = this.world.machines.map(() => 0);
  }

  /** Called before every event; looks now and then. */
  look(): { readonly what: string; readonly at: Machine } | null {
    const { now } = this.world.agenda;
    if (now < this.nextAt) return null;
    this.nextAt = now + CHECK_EVERY_NS;
    const { machines } = this.world;
    if (this.stage.changedAt !== this.changedAt) {
      this.changedAt = this.stage.changedAt;
      this.roundMax = machines.reduce((max, { round }) => Math.max(max, round), 0);
    }
    machines.forEach((machine, i) => {
      if (machine.height !== this.heights[i]) this.progressAt[i] = now;
      this.heights[i] = machine.height;
    });
    return this.judge(now);
  }

  private judge(now: number): { readonly what: string; readonly at: Machine } | null {
    const bound = this.boundNs();
    if (now - this.changedAt < bound) return null;
    const core = this.core();
    for (const machine of core) {
      const since = Math.max(this.changedAt, this.progressAt[machine.index] as number);
      if (now - since < bound) continue;
      const seconds = Math.floor((now - since) / SECOND_NS);
      const where = `${machine.height + 1n}/${machine.round}, step ${machine.step}, mode ${machine.mode}`;
      const what = `${machine.name} has committed nothing for ${seconds} s though all trouble is over; it stands at ${where}`;
      return { what, at: machine };
    }
    return null;
  }

  private boundNs(): number {
    const { consensus } = (this.world.machines[0] as Machine).config;
    let sum = RECONNECT_NS;
    for (let round = this.roundMax; round < this.roundMax + ROUNDS_MAX; round++) {
      for (const step of ['propose', 'prevote', 'precommit'] as const)
        sum += Number(timeoutNs(consensus, step, round));
    }
    return sum + Number(consensus.timeoutCommitNs) + Number(consensus.createEmptyBlocksIntervalNs);
  }

  /**
   * Those who can reach each other, both ways, if honest ones among them hold more than two thirds of the
   * power.
   */
  private core(): readonly Machine[] {
    const { world, stage } = this;
    if (!stage.rules.isEmpty) return [];
    for (const { settings } of world.network.links()) {
      if (settings.lossPpm > LOSS_PPM_MAX || settings.corruptPpm > 0) return [];
    }
    const fit = world.machines.filter(
      (machine) =>
        machine.isUp && !stage.paused.has(machine) && machine.halted === null && this.isHonest(machine),
    );
    const groups: Machine[][] = [];
    for (const machine of fit) {
      const touching = groups.filter((group) => group.some((other) => this.isLinked(machine, other)));
      const merged = [machine, ...touching.flat()];
      for (const group of touching) groups.splice(groups.indexOf(group), 1);
      groups.push(merged);
    }
    return groups.find((group) => this.isStrong(group)) ?? [];
  }

  private isLinked(a: Machine, b: Machine): boolean {
    const isNeighbour = a.config.peers.some(({ peer }) => peer === b.member.id);
    return isNeighbour && !this.world.network.link(a.member.id, b.member.id).isBroken;
  }

  private isStrong(group: readonly Machine[]): boolean {
    const height = group.reduce((max, machine) => (machine.height > max ? machine.height : max), 0n);
    // The validators of the next height and of the one after: both must be able to decide.
    return [height + 1n, height + 2n].every((h) => {
      const set = this.ghost.set(h);
      if (!set) return false;
      let sum = 0n;
      for (const machine of group) sum += set.powerOf(hexOf(addressFor(machine)));
      return isQuorum(sum, set.total);
    });
  }
}
