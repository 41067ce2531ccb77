// The hands of a play: carries out its actions on a world, and counts what it did.

import { utf8Encode } from '#platform';
import { base64Of } from '../../protocol/bytes.ts';
import { unreachable } from '../../protocol/refusal.ts';
import type { DiskImage } from '../disk.ts';
import type { MediumName } from '../disk-door.ts';
import { type DiskSettings, GOOD_DISK, SLOW_DISK } from '../disk-door.ts';
import { MILLISECOND, span } from '../latency.ts';
import { CALM_LINK, type LinkSettings } from '../links.ts';
import type { Machine } from '../machine.ts';
import { SIGNING } from '../sim-crypto.ts';
import type { World } from '../world.ts';
import { CrashPoints } from './crash-points.ts';
import type { Action, Death, NodeName } from './play.ts';
import type { RuleBook } from './rules.ts';

/** Applications that take a transaction about a validator for one like any other. */
const DEAF_TO_POWER: readonly string[] = ['counter', 'counter_serial', 'noop'];

export interface StageWatcher {
  /** An action is about to be carried out. */
  acts?(action: Action): void;
  /** A node stands still, or goes on. */
  paused?(machine: Machine, isPaused: boolean): void;
}

export class Stage {
  readonly world: World;
  readonly rules: RuleBook;
  /** Each by the number of its pause. */
  readonly paused = new Map<Machine, number>();
  private pauses = 0;
  /** Those that a `core` directive healed; null before there was one. */
  core: ReadonlySet<Machine> | null = null;
  /** What happened by the play's hand, by name of the action. */
  readonly counts = new Map<string, number>();
  /** How many actions were carried out, and how often a node died or came back by one. */
  changes = 0;
  transactions = 0;
  slowDisks = 0;
  /** Told as it happens: the story, a picture. */
  readonly watchers: StageWatcher[] = [];
  private readonly usual: LinkSettings;
  private readonly backUps = new Map<Machine, DiskImage>();
  readonly points: CrashPoints;
  /** What waits for a node's first life. */
  private readonly unborn = new Map<Machine, (() => void)[]>();
  /** Actions that did nothing, each time that they were carried out. */
  readonly idle = new Set<Action>();
  private readonly effective = new Set<Action>();

  constructor(world: World, rules: RuleBook, usual: LinkSettings = CALM_LINK) {
    this.world = world;
    this.rules = rules;
    this.usual = usual;
    this.points = new CrashPoints(world, (machine, point) => {
      this.count(`crashed ${point.when} ${point.op}`);
      this.crash(machine, point);
    });
    world.starters.push((machine) => {
      const deeds = this.unborn.get(machine) ?? [];
      this.unborn.delete(machine);
      for (const deed of deeds) deed();
    });
  }

  private machine(name: NodeName): Machine {
    return this.world.machine(name);
  }

  private peer(name: NodeName): string {
    return this.machine(name).member.id;
  }

  private peers(names: readonly NodeName[]): string[] {
    return names.map((name) => this.peer(name));
  }

  private get names(): NodeName[] {
    return this.world.machines.map(({ name }) => name as NodeName);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  private later(ms: number, happens: () => void): void {
    this.world.agenda.after(ms * MILLISECOND, happens);
  }

  /** Now, or as soon as the node begins its first life: nodes start within the first tenth of a second. */
  private onceBorn(machine: Machine, deed: () => void): void {
    if (machine.lives > 0) return deed();
    const deeds = this.unborn.get(machine);
    if (deeds) deeds.push(deed);
    else this.unborn.set(machine, [deed]);
  }

  private note(action: Action, hadEffect: boolean): void {
    if (hadEffect) this.effective.add(action);
    if (this.effective.has(action)) this.idle.delete(action);
    else this.idle.add(action);
  }

  perform(action: Action): void {
    this.changes++;
    for (const { acts } of this.watchers) acts?.(action);
    this.count(action.do);
    const { network } = this.world;
    const until = (forEver?: true): 'for-ever' | 'until-healed' => (forEver ? 'for-ever' : 'until-healed');
    switch (action.do) {
      case 'isolate':
      case 'partition': {
        const named = action.do === 'isolate' ? [[action.node]] : action.groups;
        const groups = named.map((group) => this.peers(group));
        this.note(action, this.isAcross(groups));
        return network.partition(groups, until(action.forEver));
      }
      case 'cut':
        this.note(action, this.haveLine(action.from, action.to));
        return this.pairs(action.from, action.to, (from, to) => network.cut(from, to, until(action.forEver)));
      case 'heal':
        network.heal();
        return this.rules.clear();
      case 'clog': {
        const end = this.world.agenda.now + action.forMs * MILLISECOND;
        this.note(action, this.haveLine(action.from, action.to));
        return this.pairs(action.from, action.to, (from, to) => network.clog(from, to, end));
      }
      case 'reset':
        this.note(action, this.haveLine([action.nodes[0]], [action.nodes[1]]));
        return network.reset(this.peer(action.nodes[0]), this.peer(action.nodes[1]));
      case 'links': {
        const { from: ones = this.names, to: others = this.names, change } = action;
        this.note(action, this.haveLine(ones, others));
        return this.pairs(ones, others, (from, to) => {
          const link = network.link(from, to);
          link.settings = { ...link.settings, ...change };
        });
      }
      case 'calm':
        this.points.disarm();
        return network.setLinks(this.usual);
      case 'core':
        return this.healCore(action.nodes);
      case 'rule':
        return this.rules.add(action);
      default:
        return this.performOnNode(action);
    }
  }

  private healCore(names: readonly NodeName[]): void {
    const { network } = this.world;
    const core = names.map((name) => this.machine(name));
    this.core = new Set(core);
    this.rules.clear();
    this.points.disarm();
    this.pairs(names, names, (from, to) => {
      network.mend(from, to);
      const link = network.link(from, to);
      link.settings = this.usual;
      link.cloggedUntil = 0;
    });
    for (const machine of core) {
      this.rules.repent(machine.member.id);
      this.setDisk(machine, GOOD_DISK);
      if (machine.signing !== SIGNING) this.setSigning(machine, 0);
      this.setAnswering(machine, 0, 0);
      machine.clock.thawWall();
      this.unpause(machine);
      this.start(machine);
    }
  }

  /** Outside the core nothing changes any more. */
  private isFrozen(machine: Machine): boolean {
    return this.core !== null && !this.core.has(machine);
  }

  private pairs(
    from: readonly NodeName[],
    to: readonly NodeName[],
    each: (from: string, to: string) => void,
  ): void {
    for (const a of this.peers(from)) for (const b of this.peers(to)) if (a !== b) each(a, b);
  }

  /** Whether one of these talks to one of those: in a mesh not all do. */
  private haveLine(ones: readonly NodeName[], others: readonly NodeName[]): boolean {
    const peers = this.peers(others);
    return ones.some((name) => this.machine(name).config.peers.some(({ peer }) => peers.includes(peer)));
  }

  /** Whether two that talk are in different groups; those that none names are one more. */
  private isAcross(groups: readonly (readonly string[])[]): boolean {
    const groupOf = (peer: string): number => groups.findIndex((group) => group.includes(peer));
    return this.world.machines.some(({ member, config }) =>
      config.peers.some(({ peer }) => groupOf(peer) !== groupOf(member.id)),
    );
  }

  private performOnNode(action: Extract<Action, { node: NodeName } | { to: NodeName }>): void {
    const machine = this.machine('node' in action ? action.node : action.to);
    switch (action.do) {
      case 'crash':
        return this.onceBorn(machine, () => {
          this.note(action, this.crash(machine, action));
        });
      case 'crash-at':
        return this.points.arm(machine, action);
      case 'restart':
        return this.note(action, this.start(machine));
      case 'remove-log':
        return this.note(action, this.removeLog(machine));
      case 'back-up':
        this.backUps.set(machine, machine.disk.image());
        return;
      case 'put-back':
        return this.note(action, this.putBack(machine, action.media));
      case 'pause':
        return this.onceBorn(machine, () => this.note(action, this.pause(machine, action.forMs)));
      case 'unpause':
        return this.note(action, this.unpause(machine));
      case 'clock':
        return this.setClock(machine, action);
      case 'disk': {
        if (action.disk === 'slow') this.slowDisks++;
        const full = { ...GOOD_DISK, isFull: true };
        const settings = { slow: SLOW_DISK, full, good: GOOD_DISK }[action.disk];
        return this.setDisk(machine, settings);
      }
      case 'signer':
        return this.setSigning(machine, action.takesMs);
      case 'application':
        return this.setAnswering(machine, action.blocksMs, action.checksMs);
      case 'submit':
        return this.submitted(action, action.to, action.tx);
      case 'empower': {
        const { publicKey } = machine.member;
        const key = base64Of((publicKey ?? unreachable(`${action.node} has no key`)).bytes);
        return this.submitted(action, action.via, `val=ed25519!${key}!${action.power}`);
      }
      default:
        return unreachable(`no hand for ${action.do}`);
    }
  }

  /** What waited for the disk as it was still waits: the flush under way keeps its time, and what is behind it was said before. */
  private setDisk(machine: Machine, settings: DiskSettings): void {
    const heldUntilNs = this.world.agenda.now + 4 * machine.disk.settings.flush.maxNs;
    machine.heldUntilNs = Math.max(machine.heldUntilNs, heldUntilNs);
    machine.disk.settings = settings;
  }

  /** What waits for a signature still waits as long as it was to take. */
  private setSigning(machine: Machine, takesMs: number): void {
    const heldUntilNs = this.world.agenda.now + machine.signing.maxNs;
    machine.heldUntilNs = Math.max(machine.heldUntilNs, heldUntilNs);
    const takesNs = takesMs * MILLISECOND;
    machine.signing = takesMs === 0 ? SIGNING : span(takesNs, takesNs + SIGNING.maxNs);
  }

  /** What an application is asked already it still takes its time for. */
  private setAnswering(machine: Machine, blocksMs: number, checksMs: number): void {
    machine.heldUntilNs = Math.max(machine.heldUntilNs, machine.answersUntilNs);
    machine.answering = { blocksNs: blocksMs * MILLISECOND, checksNs: checksMs * MILLISECOND };
  }

  private setClock({ clock }: Machine, change: Extract<Action, { do: 'clock' }>): void {
    if (change.frozen === false) clock.thawWall();
    if (change.stepMs !== undefined) clock.stepWall(BigInt(change.stepMs) * BigInt(MILLISECOND));
    if (change.driftPpm !== undefined) clock.setDrift(change.driftPpm);
    if (change.frozen === true) clock.freezeWall();
  }

  /** As a client does that waits for the first node to be up. */
  private submitted(action: Action, name: NodeName, tx: string): void {
    const bytes = utf8Encode(tx);
    const machine = this.machine(name);
    const isHeard = action.do === 'submit' || !DEAF_TO_POWER.includes(machine.config.app);
    const deed = (): boolean => {
      const isTaken = this.submit(name, bytes);
      this.note(action, isHeard && isTaken);
      return isTaken;
    };
    if (!deed()) this.onceBorn(machine, deed);
  }

  /** To the node named, or the next one that is up: a client tries another. Copies go to those after it. */
  submit(name: NodeName, tx: Uint8Array, copies = 1): boolean {
    const { machines } = this.world;
    const first = this.machine(name).index;
    let left = copies;
    for (let i = 0; i < machines.length && left > 0; i++) {
      const machine = machines[(first + i) % machines.length] as Machine;
      if (!machine.isUp) continue;
      this.world.submit(machine, tx);
      left--;
    }
    if (left === copies) return false;
    this.transactions++;
    return true;
  }

  // --- lives -----------------------------------------------------------------------------------------------

  // Each says whether it did anything: who is down does not die, and who is up is not started.

  private crash(machine: Machine, { how, restartMs, unnoticed }: Death): boolean {
    if (!machine.isUp) return false;
    if (this.paused.delete(machine)) this.tellPaused(machine, false);
    this.changes++;
    this.world.crash(machine, how, unnoticed === true ? 'unnoticed' : 'noticed');
    const { lives } = machine; // it may have come back by then, and died again
    if (restartMs !== undefined) this.later(restartMs, () => machine.lives === lives && this.start(machine));
    return true;
  }

  private start(machine: Machine): boolean {
    if (machine.isUp || this.isFrozen(machine)) return false;
    this.changes++;
    this.world.startNode(machine);
    return true;
  }

  private putBack(machine: Machine, media: readonly MediumName[]): boolean {
    const image = this.backUps.get(machine);
    if (!image || machine.isUp) return false;
    machine.disk.restore(image, media);
    return true;
  }

  private removeLog(machine: Machine): boolean {
    if (machine.isUp) return false;
    machine.disk.remove('consensus');
    return true;
  }

  private pause(machine: Machine, forMs: number | undefined): boolean {
    if (!machine.node) return false;
    machine.node.pause();
    const pause = ++this.pauses; // which ends by its own time, and by no earlier one's
    this.paused.set(machine, pause);
    this.tellPaused(machine, true);
    if (forMs !== undefined)
      this.later(forMs, () => this.paused.get(machine) === pause && this.unpause(machine));
    return true;
  }

  private unpause(machine: Machine): boolean {
    if (this.isFrozen(machine) || !this.paused.delete(machine)) return false;
    this.tellPaused(machine, false);
    this.changes++;
    machine.heldUntilNs = Math.max(machine.heldUntilNs, this.world.agenda.now);
    machine.node?.unpause();
    return true;
  }

  private tellPaused(machine: Machine, isPaused: boolean): void {
    for (const { paused } of this.watchers) paused?.(machine, isPaused);
  }
}
