// Where nodes are to die, by a play's hand: at a point of a disk, or as an effect leaves.

import type { DiskPoint } from '../disk-door.ts';
import type { Machine } from '../machine.ts';
import type { World } from '../world.ts';
import type { CrashPoint, Death } from './play.ts';

/** A crash after an effect, when no other follows in the same turn, comes so much later. */
const AFTERWARDS_NS = 1_000;

type Planned = CrashPoint & Death;
type Armed = Planned & { left: number };

export class CrashPoints {
  private readonly world: World;
  private readonly strikes: (machine: Machine, point: Planned) => void;
  private readonly armed = new Map<Machine, Armed[]>();
  /** Those that nobody has reached, also those that were taken back. */
  readonly unreached = new Set<CrashPoint>();
  /** Who dies after the effect that is leaving. */
  private readonly doomed = new Map<Machine, Armed>();

  /** `strikes`: one was reached. */
  constructor(world: World, strikes: (machine: Machine, point: Planned) => void) {
    this.world = world;
    this.strikes = strikes;
  }

  arm(machine: Machine, point: Planned): void {
    const list = this.armed.get(machine) ?? [];
    this.armed.set(machine, list);
    const armed: Armed = { ...point, left: point.nth };
    list.push(armed);
    this.unreached.add(armed);
    machine.disk.watch = (reached) => this.onDiskPoint(machine, reached);
    this.world.crashHere = (at, _actor, effect) => this.onEffect(at, effect.type);
  }

  disarm(): void {
    for (const machine of this.armed.keys()) machine.disk.watch = null;
    this.armed.clear();
    this.doomed.clear();
    this.world.crashHere = null;
  }

  private strike(machine: Machine, armed: Armed): void {
    const list = this.armed.get(machine) ?? [];
    list.splice(list.indexOf(armed), 1);
    this.unreached.delete(armed);
    if (list.length === 0) {
      this.armed.delete(machine);
      machine.disk.watch = null;
      if (this.armed.size === 0) this.world.crashHere = null;
    }
    this.strikes(machine, armed);
  }

  private onDiskPoint(machine: Machine, point: DiskPoint): void {
    for (const armed of this.armed.get(machine) ?? []) {
      if (armed.op !== point.op || armed.when !== point.when) continue;
      if (armed.on !== undefined && armed.on !== point.on) continue;
      if (--armed.left === 0) return this.strike(machine, armed);
    }
  }

  /** True: it died here, and this effect does not leave. */
  private onEffect(machine: Machine, type: string): boolean {
    const doom = this.doomed.get(machine);
    if (doom) {
      this.doomed.delete(machine);
      this.strike(machine, doom);
      return true;
    }
    for (const armed of this.armed.get(machine) ?? []) {
      if (armed.op !== type || (armed.op !== 'send' && armed.op !== 'sign') || armed.left === 0) continue;
      if (--armed.left > 0) continue;
      if (armed.when === 'before') {
        this.strike(machine, armed);
        return true;
      }
      this.doom(machine, armed);
      return false;
    }
    return false;
  }

  /** It dies after this effect: at the next one, or a moment later. */
  private doom(machine: Machine, armed: Armed): void {
    this.doomed.set(machine, armed);
    this.world.agenda.after(AFTERWARDS_NS, () => {
      if (this.doomed.get(machine) !== armed) return;
      this.doomed.delete(machine);
      this.strike(machine, armed);
    });
  }
}
