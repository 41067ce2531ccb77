// What an oracle keeps of each machine, made when it is first asked for.

import type { Machine } from '../../machine.ts';

export class PerMachine<T> extends Map<Machine, T> {
  private readonly make: (at: Machine) => T;
  /** The same by the machine's index: a place in a list is found in a fraction of the time. */
  private readonly byIndex: (T | undefined)[] = [];

  constructor(make: (at: Machine) => T) {
    super();
    this.make = make;
  }

  of(at: Machine): T {
    let found = this.byIndex[at.index];
    if (found === undefined) {
      found = this.make(at);
      this.set(at, found);
    }
    return found;
  }

  override get(at: Machine): T | undefined {
    return this.byIndex[at.index];
  }

  override set(at: Machine, value: T): this {
    this.byIndex[at.index] = value;
    return super.set(at, value);
  }

  override delete(at: Machine): boolean {
    this.byIndex[at.index] = undefined;
    return super.delete(at);
  }
}
