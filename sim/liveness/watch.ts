// Liveness: once all trouble is over, every node of the core decides the next height within the analytic bound, and the next, and the next.
// How near it came is kept.

import { hexFor } from '../addresses.ts';
import { longestNs } from '../latency.ts';
import type { Machine } from '../machine.ts';
import type { Oracle } from '../oracle.ts';
import { type GhostChain, type GhostSet, isQuorum } from '../oracles/ghost/ghost.ts';
import type { Stage } from '../scenario/stage.ts';
import { SIGNING } from '../sim-crypto.ts';
import { STEP } from '../steps.ts';
import type { World } from '../world.ts';
import { isTimeHeldBack } from './block-time.ts';
import { boundNs, joiningNs, reconnectNs, type Standing } from './bound.ts';

/** More loss than this is trouble: nobody promises a bound then. */
const LOSS_PPM_MAX = 100_000;
/** Wall clocks of the core that are further apart: nobody promises a bound, who is behind takes a block for one of the future. */
const CLOCKS_APART_MAX_NS = 30_000_000_000n;
/** What one end of a message does about it: letters within the node, signing, so many flushes. */
const LOCAL_NS = 2_000_000;
const FLUSHES = 4;
/** A vote may wait for a signature that nobody needs any more, and for those of its round before it. */
const SIGNATURES = 3;
/** An application may be busy with two proposals that nobody needs any more before it prepares or judges one, or executes a block. */
const ANSWERS = 3;
/** Sets are in the ghost for the height after next only. */
const SETS_AHEAD = [1n, 2n];

export interface Stall {
  readonly what: string;
  readonly at: Machine;
}

/** How long a height took of what it was allowed. */
export interface Closest {
  readonly ratio: number;
  readonly tookNs: number;
  readonly boundNs: number;
  readonly height: bigint;
}

/** What a node is locked on, or holds for valid. */
interface Choice {
  readonly height: bigint;
  readonly round: number;
}

interface Promise_ {
  readonly core: readonly Machine[];
  readonly height: bigint;
  readonly sinceNs: number;
  readonly boundNs: number;
}

export class Liveness {
  private stage!: Stage;
  private world!: World;
  private readonly ghost: GhostChain;
  private readonly isHonest: (machine: Machine) => boolean;
  private promised: Promise_ | null = null;
  private isStale = true;
  private changesSeen = -1;
  /** When the last promise was kept. */
  private keptAt = -1;
  private readonly locks = new Map<Machine, Choice>();
  private readonly values = new Map<Machine, Choice>();
  /** The height that came nearest to its bound; null: none was promised and kept. */
  closest: Closest | null = null;
  /** Liars have made it so that the chain can never go on: nobody is to blame who does not lie. */
  isHopeless = false;

  constructor(ghost: GhostChain, isHonest: (machine: Machine) => boolean) {
    this.ghost = ghost;
    this.isHonest = isHonest;
  }

  /** The world is made with its oracles, so its stage comes later. */
  watch(stage: Stage): void {
    this.stage = stage;
    this.world = stage.world;
  }

  /** Watches as an oracle does; what is wrong is said by `look`. */
  asOracle(): Oracle {
    const changed = (): void => {
      this.isStale = true;
    };
    return {
      name: 'liveness',
      started: changed,
      crashed: changed,
      published: (at, _actor, event) => {
        if (event.type === 'locked') this.locks.set(at, event);
        else if (event.type === 'valid') this.values.set(at, event);
        else if (event.type === 'halted') changed();
        else if (event.type === 'committed') this.onCommitted();
      },
    };
  }

  private onCommitted(): void {
    const { promised } = this;
    if (!promised || promised.core.some(({ height }) => height < promised.height)) return;
    const tookNs = this.world.agenda.now - promised.sinceNs;
    const ratio = tookNs / promised.boundNs;
    if (!this.closest || ratio > this.closest.ratio)
      this.closest = { ratio, tookNs, boundNs: promised.boundNs, height: promised.height };
    this.keptAt = this.world.agenda.now;
    this.isStale = true;
  }

  /** Called before every event, and when nothing is left to happen: then what is owed will never come. */
  look(isOver = false): Stall | null {
    const { now } = this.world.agenda;
    if (this.isStale || this.stage.changes !== this.changesSeen) this.promise(now);
    const { promised } = this;
    if (!promised || (!isOver && now <= promised.sinceNs + promised.boundNs)) return null;
    const at = promised.core.find(({ height }) => height < promised.height);
    if (!at || areFarApart(promised.core)) return null; // a clock that stands still is further off by now
    if (this.isTimeHeldBack(promised)) {
      this.isHopeless = true;
      this.stage.count('lie: block time held back');
      return null;
    }
    const seconds = (ns: number): string => `${Math.round(ns / 1e8) / 10} s`;
    const where = `it stands at ${at.height + 1n}/${at.round}, step ${at.step}, mode ${at.mode}`;
    const what = isOver
      ? `${at.name} will never commit height ${promised.height}: nobody has anything left to do; ${where}`
      : `${at.name} has not committed height ${promised.height} in ${seconds(now - promised.sinceNs)} though all ` +
        `trouble is over; the bound was ${seconds(promised.boundNs)}; ${where}`;
    return { what, at };
  }

  private isTimeHeldBack({ core, height }: Promise_): boolean {
    const honest = new Set(this.world.machines.filter((each) => this.isHonest(each)).map(hexFor));
    const set = this.ghost.set(height - 1n);
    return set !== undefined && isTimeHeldBack(core, height - 1n, set, (address) => honest.has(address));
  }

  // --- the promise -----------------------------------------------------------------------------------------

  private promise(now: number): void {
    this.isStale = false;
    this.changesSeen = this.stage.changes;
    const core = this.core();
    const standing = core.length > 0 ? this.standing(core, now) : null;
    const bound = standing && boundNs(standing);
    this.promised = null;
    if (bound === null) return;
    const top = core.reduce((max, machine) => (machine.height > max ? machine.height : max), 0n);
    const height = mayWaitForEver(core) ? top : top + 1n;
    this.promised = { core, height, sinceNs: now, boundNs: bound };
  }

  /**
   * Those who can reach each other, both ways, if honest ones among them hold more than two thirds of the
   * power. After a `core` directive only those whom it names.
   */
  private core(): readonly Machine[] {
    const { world, stage } = this;
    if (!stage.rules.isEmpty) return [];
    const named = stage.core;
    const fit = world.machines.filter(
      (machine) =>
        machine.isUp &&
        !stage.paused.has(machine) &&
        machine.halted === null &&
        (named ? named.has(machine) : true) &&
        (this.isHonest(machine) || named?.has(machine)),
    );
    for (const a of fit) for (const b of fit) if (a !== b && !this.isFair(a, b)) return [];
    const groups: Machine[][] = [];
    for (const machine of fit) {
      const touching = groups.filter((group) => group.some((other) => this.isLinked(machine, other)));
      const merged = [machine, ...touching.flat()];
      for (const group of touching) groups.splice(groups.indexOf(group), 1);
      groups.push(merged);
    }
    return groups.find((group) => this.isStrong(group)) ?? [];
  }

  private isFair(a: Machine, b: Machine): boolean {
    const { settings } = this.world.network.link(a.member.id, b.member.id);
    // A line that carries only so much may fall behind what is said: nobody promises a bound then, either.
    return settings.lossPpm <= LOSS_PPM_MAX && settings.corruptPpm === 0 && settings.bytesPerSecond === 0;
  }

  private isLinked(a: Machine, b: Machine): boolean {
    const isNeighbour = a.config.peers.some(({ peer }) => peer === b.member.id);
    return isNeighbour && !this.world.network.link(a.member.id, b.member.id).isBroken;
  }

  private isStrong(group: readonly Machine[]): boolean {
    const height = group.reduce((max, machine) => (machine.height > max ? machine.height : max), 0n);
    // The validators of the next height and of the one after: both must be able to decide.
    return SETS_AHEAD.every((ahead) => {
      const set = this.ghost.set(height + ahead);
      return set !== undefined && isQuorum(powerOf(group, set), set.total);
    });
  }

  // --- how the core stands ---------------------------------------------------------------------------------

  private standing(core: readonly Machine[], now: number): Standing | null {
    const config = (core[0] as Machine).config;
    if (areFarApart(core)) return null;
    const heights = core.map(({ height }) => height);
    const top = heights.reduce((max, height) => (height > max ? height : max), 0n);
    const low = heights.reduce((min, height) => (height < min ? height : min), top);
    if (mayWaitForEver(core) && low === top) return null;
    const set = this.ghost.set(top + 1n);
    if (!set) return null;
    const first = core.filter(({ height }) => height === top);
    const rounds = first.map(({ round, step }) => (isBegun(step) ? round : 0));
    const isBehind = rounds.length < core.length;
    const isTruthful = core.length === this.world.machines.length || this.liarsAreQuiet(core);
    return {
      config,
      slowest: slowestOf(core),
      fastest: Math.max(...core.map(({ clock }) => clock.fastest)),
      roundMin: isBehind ? 0 : Math.min(...rounds),
      roundMax: Math.max(...rounds),
      hopNs: this.hopNs(core),
      diameter: this.diameter(core),
      isLossy: core.some((a) => core.some((b) => a !== b && this.lossOf(a, b) > 0)),
      settleNs: this.settleNs(core, now),
      lag: Number(top - low),
      hasLiars: !isTruthful,
      isFresh: this.keptAt === now && !first.some(({ step }) => isBegun(step)),
      proposers: new Set(this.acceptable(core, top + 1n, set).map(hexFor)),
      core: new Map(core.map((machine) => [hexFor(machine), set.powerOf(hexFor(machine))])),
      powerTotal: set.total,
      proposerAt: (round) => set.atRound(round),
    };
  }

  private liarsAreQuiet(core: readonly Machine[]): boolean {
    return this.world.machines.every((machine) => this.isHonest(machine) || core.includes(machine));
  }

  private lossOf(a: Machine, b: Machine): number {
    return this.world.network.link(a.member.id, b.member.id).settings.lossPpm;
  }

  private hopNs(core: readonly Machine[]): number {
    let latency = 0;
    let flush = 0;
    let signing = SIGNING.maxNs;
    let answering = 0;
    for (const a of core) {
      flush = Math.max(flush, a.disk.settings.flush.maxNs);
      signing = Math.max(signing, a.signing.maxNs);
      answering = Math.max(answering, a.answering.blocksNs);
      for (const b of core) {
        if (a === b) continue;
        const { settings } = this.world.network.link(a.member.id, b.member.id);
        const late = settings.reorderPpm + settings.duplicatePpm > 0 ? settings.straggle.maxNs : 0;
        latency = Math.max(latency, longestNs(settings.latency) + late);
      }
    }
    const late = SIGNATURES * (signing - SIGNING.maxNs) + ANSWERS * answering;
    return latency + LOCAL_NS + FLUSHES * flush + late;
  }

  /** Of the graph of neighbours; 1 for one node, too: it hears itself. */
  private diameter(core: readonly Machine[]): number {
    let most = 1;
    for (const start of core) {
      const seen = new Set([start]);
      let edge: Machine[] = [start];
      for (let hops = 0; edge.length > 0; hops++) {
        most = Math.max(most, hops);
        edge = core.filter((each) => !seen.has(each) && edge.some((near) => this.isLinked(near, each)));
        for (const each of edge) seen.add(each);
      }
    }
    return most;
  }

  private settleNs(core: readonly Machine[], now: number): number {
    const config = (core[0] as Machine).config;
    const held = this.heldBackNs(core, now);
    // What got lost before is offered again; since the last promise was kept nothing was. What comes late brings news
    // of long ago, which those who hear it believe until the sender says again where it stands.
    let own = held === 0 && this.keptAt === now ? 0 : Number(config.consensus.reofferNs) * 1.25;
    const isTorn = core.some((a) =>
      core.some(
        (b) => this.isLinked(a, b) && this.world.network.link(a.member.id, b.member.id).session === 0,
      ),
    );
    if (isTorn) own += reconnectNs(now);
    if (core.some(({ mode }) => mode !== 'consensus')) own += joiningNs(config, this.areMoreClaimed(core));
    return held + own / slowestOf(core); // what nodes time themselves is by their own clocks
  }

  /**
   * Until the last clog between two of the core ends, what a narrow line holds has passed, the last of what rules made late is there, and what
   * slow disks, signers and applications were at when they became good is done.
   */
  private heldBackNs(core: readonly Machine[], now: number): number {
    let end = now;
    for (const a of core) {
      end = Math.max(end, a.heldUntilNs);
      for (const b of core) {
        if (a === b) continue;
        const { cloggedUntil, lateUntil, lastAt, settings } = this.world.network.link(
          a.member.id,
          b.member.id,
        );
        end = Math.max(end, cloggedUntil, lateUntil, lastAt - longestNs(settings.latency));
      }
    }
    return end - now;
  }

  private areMoreClaimed(core: readonly Machine[]): boolean {
    const top = core.reduce((max, { height }) => (height > max ? height : max), 0n);
    return this.world.machines.some(
      (machine) => !core.includes(machine) && (machine.height > top || !this.isHonest(machine)),
    );
  }

  /** Those whose valid value is as late as the locks of more than two thirds. */
  private acceptable(core: readonly Machine[], height: bigint, set: GhostSet): readonly Machine[] {
    const roundOf = (map: Map<Machine, Choice>, machine: Machine): number => {
      const known = map.get(machine);
      return known?.height === height ? known.round : -1;
    };
    return core.filter((proposer) => {
      const valid = roundOf(this.values, proposer);
      const willing = core.filter((machine) => roundOf(this.locks, machine) <= valid);
      return isQuorum(powerOf(willing, set), set.total);
    });
  }
}

function areFarApart(core: readonly Machine[]): boolean {
  let first: bigint | null = null;
  let last = 0n;
  for (const { clock } of core) {
    const wall = clock.wallNs();
    if (first === null || wall < first) first = wall;
    if (wall > last) last = wall;
  }
  return first !== null && last - first > CLOCKS_APART_MAX_NS;
}

/** The next height may rightly wait for a transaction, for ever: who is behind gets as far as the others. With an interval an empty block ends the wait. */
const mayWaitForEver = ([first]: readonly Machine[]): boolean => {
  const { createEmptyBlocks = true, createEmptyBlocksIntervalNs = 0n } = first?.config.consensus ?? {};
  return !createEmptyBlocks && createEmptyBlocksIntervalNs === 0n;
};

const slowestOf = (core: readonly Machine[]): number =>
  core.reduce((least, { clock }) => Math.min(least, clock.slowest), 1);

/** Whether a node is in a round of its height; before, it will begin with round 0. */
const isBegun = (step: number): boolean => step !== STEP.newHeight && step !== STEP.commit;

function powerOf(group: readonly Machine[], set: GhostSet): bigint {
  let sum = 0n;
  for (const machine of group) sum += set.powerOf(hexFor(machine));
  return sum;
}
