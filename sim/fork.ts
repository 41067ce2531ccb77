// Judges a play that promises a fork: agreement must break where it says, and forensics must name those who
// lied, nobody else, with more than a third of the power.

import { hexFor } from './addresses.ts';
import type { Violation } from './oracle.ts';
import type { Findings, Forensics } from './oracles/chain/forensics.ts';
import type { Ending } from './scenario/play.ts';
import type { World } from './world.ts';

export interface Fork {
  readonly height: number;
  /** Of the power at that height: whom it names, and all. */
  readonly power: bigint;
  readonly total: bigint;
  readonly guilty: readonly { readonly name: string; readonly why: string }[];
}

/** The promise that a fork breaks. */
const AGREEMENT = 'chain/agreement';

export type ForkEnding = Extract<Ending, { who: 'fork' }>;

/**
 * Takes the violations that are this fork out of the world's: what the oracle of the chain says of this
 * height, agreement first. Null: there is no fork, or more is wrong than that.
 */
export function takeFork(
  world: World,
  ends: ForkEnding,
  forensics: Forensics,
  broken: (what: string) => void,
): Fork | null {
  const { violations } = world;
  const [first] = violations;
  if (!first) {
    broken(`no fork at height ${ends.decides} after ${ends.withinMs / 1000} s; the play promises one`);
    return null;
  }
  const isOfFork = (each: Violation): boolean =>
    each.oracle === 'chain' && each.height === BigInt(ends.decides) && each.atNs === first.atNs;
  if (first.promise !== AGREEMENT || !violations.every(isOfFork)) return null;
  violations.length = 0;
  const findings = forensics.examine();
  const fork = forkOf(world, ends, findings);
  for (const what of unkept(ends, findings, fork)) broken(what);
  return fork;
}

function forkOf(world: World, { decides }: ForkEnding, { guilty, total }: Findings): Fork {
  const names = new Map(world.machines.map((machine) => [hexFor(machine), machine.name]));
  return {
    height: decides,
    power: guilty.reduce((sum, { power }) => sum + power, 0n),
    total,
    guilty: guilty
      .map(({ address, why }) => ({ name: names.get(address) ?? address, why }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function* unkept({ guilty, decides }: ForkEnding, { decided }: Findings, fork: Fork): Generator<string> {
  const at = `the fork at height ${decides}`;
  if (decided.length < 2)
    yield `${at} is not in the votes that honest nodes know: ${decided.length} blocks have two thirds there`;
  const names = fork.guilty.map(({ name }) => name).join(', ');
  const promised = [...guilty].sort().join(', ');
  if (names !== promised)
    yield `${at} names ${names === '' ? 'nobody' : names}; the play promises ${promised}`;
  if (fork.power * 3n <= fork.total)
    yield `${at} names ${fork.power} of ${fork.total} power: a third forks nothing`;
}
