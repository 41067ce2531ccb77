// When a run is over as its play says, and what that is: which nodes have to get how far, and whether they did.

import { MILLISECOND } from './latency.ts';
import type { Machine } from './machine.ts';
import type { Ending, Scenario } from './scenario/play.ts';
import type { Broken, Script } from './scenario/script.ts';

/** What an ending is judged by. */
interface EndingParts {
  readonly ends: Ending;
  readonly script: Pick<Script, 'isDone' | 'isFulfilled'>;
  /** Who tells no lies. */
  readonly honest: readonly Machine[];
  readonly machine: (name: string) => Machine;
  /** The highest height that anybody has decided. */
  readonly heightMax: () => bigint;
}

/** Beyond the times that a play names: half an hour. */
const SCRIPT_MS_MAX = 1_800_000;

/** A play that ends some time after its last directive waits no longer than this for that one. */
export function scriptNsMax({ act }: Scenario): number {
  let latestMs = 0;
  let waitsMs = 0;
  for (const each of act) {
    if ('atMs' in each) latestMs = Math.max(latestMs, each.atMs);
    else if ('when' in each) latestMs = Math.max(latestMs, each.latestMs ?? 0);
    else if ('afterMs' in each) waitsMs += each.afterMs;
  }
  return (latestMs + waitsMs + SCRIPT_MS_MAX) * MILLISECOND;
}

export class EndOfPlay {
  private readonly parts: EndingParts;
  /** So far after the last directive; null: it has not fired. */
  private healed: bigint | null = null;

  constructor(parts: EndingParts) {
    this.parts = parts;
  }

  /** Everybody whom it waits for is there. */
  get isReached(): boolean {
    const { ends, script, heightMax } = this.parts;
    if (ends.who === 'fork' || !script.isDone) return false;
    const target = this.target();
    if (!script.isFulfilled || heightMax() < target) return false;
    return this.finishers().every(({ height }) => height >= target);
  }

  /** What is not as the play promises, at whom; null: all is. A fork is looked for elsewhere. */
  broken(): Broken | null {
    const { ends, honest } = this.parts;
    if (ends.who === 'fork') return null;
    const target = this.target();
    if (ends.who === 'nobody') {
      const at = honest.find(({ height }) => height > target);
      const what = `${at?.name} decided ${at?.height}; nobody was to get beyond ${target}`;
      return at ? { what, at, done: target + 1n } : null;
    }
    const at = this.finishers().find(({ height }) => height < target);
    const after = `after ${ends.withinMs / 1000} s; the play promises ${target}`;
    return at ? { what: `${at.name} stands at height ${at.height} ${after}`, at } : null;
  }

  private finishers(): readonly Machine[] {
    const { ends, honest, machine } = this.parts;
    const { who } = ends;
    return who === 'nobody' || who === 'everyone' || who === 'fork' ? honest : who.map(machine);
  }

  /** The height that ends the play; grows once, when the last directive has fired. */
  private target(): bigint {
    const { ends, script, heightMax } = this.parts;
    const decides = BigInt(ends.decides);
    if (this.healed === null && script.isDone && 'afterwards' in ends && ends.afterwards !== undefined)
      this.healed = heightMax() + BigInt(ends.afterwards);
    return this.healed !== null && this.healed > decides ? this.healed : decides;
  }
}
