// What an oracle keeps of each machine, made when it is first asked for.

import type { Machine } from '../machine.ts';
import type { WorldAbout } from '../oracle.ts';
import { hexFor } from './votes.ts';

export class PerMachine<T> extends Map<Machine, T> {
  private readonly make: () => T;

  constructor(make: () => T) {
    super();
    this.make = make;
  }

  of(at: Machine): T {
    let found = this.get(at);
    if (found === undefined) {
      found = this.make();
      this.set(at, found);
    }
    return found;
  }
}

/** By address, hex; who has no key is not among them. */
export const machinesByAddress = ({ machines }: WorldAbout): ReadonlyMap<string, Machine> =>
  new Map(machines.flatMap((each) => (each.member.publicKey ? [[hexFor(each), each]] : [])));
