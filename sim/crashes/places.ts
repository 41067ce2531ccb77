// Where a node stands, in words that a play can wait for: the last step of a first round that it entered.

import type { Machine } from '../machine.ts';
import { STEP_NAMES, type StepName } from '../scenario/play.ts';
import type { World } from '../world.ts';

export interface Place {
  readonly height: number;
  readonly step: StepName;
}

const NAMES = new Map(Object.entries(STEP_NAMES).map(([name, step]) => [step as number, name as StepName]));

/** Follows all nodes of a world. */
export class Places {
  private readonly found = new Map<Machine, Place>();

  constructor(world: World) {
    world.listeners.push((at, event) => {
      if (event.type !== 'step') return;
      const step = NAMES.get(event.step);
      if (event.round > 0) this.found.delete(at);
      else if (step) this.found.set(at, { height: Number(event.height), step });
    });
  }

  /** Null: it has entered none, or is in a later round. */
  of(machine: Machine): Place | null {
    return this.found.get(machine) ?? null;
  }
}
