// A random life of a log beside a model of it: all records by number, where the log may begin, how far it is
// durable.

import fc from 'fast-check';
import { expect } from 'vitest';
import { bytesOf, textsOf } from './bytes.ts';
import type { LogCrash, LogWorld } from './log.ts';

export type LogStep =
  | { readonly do: 'append'; readonly length: number }
  | { readonly do: 'sync' }
  | { readonly do: 'settle' }
  | { readonly do: 'trim'; readonly keep: number }
  | { readonly do: 'crash'; readonly how: LogCrash };

const length = fc.integer({ min: 0, max: 3000 });
const how = fc.constantFrom<LogCrash>('clean', 'lose-unsynced', 'torn');
export const logStep: fc.Arbitrary<LogStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('append' as const), length }) },
  { weight: 3, arbitrary: fc.constant({ do: 'sync' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const), keep: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), how }) },
);

/** After each crash, and at the end, what is found must be a run of the records that the model allows. */
export async function historyHolds(
  open: () => LogWorld | Promise<LogWorld>,
  steps: readonly LogStep[],
): Promise<void> {
  const world = await open();
  try {
    const life = new ModelledLife(world);
    for (const step of steps) await life.take(step);
    await life.take({ do: 'crash', how: 'lose-unsynced' });
  } finally {
    await world.close();
  }
}

class ModelledLife {
  readonly #world: LogWorld;
  /** Records of this life and of those before it that it found. */
  #all: string[] = [];
  /** The log may begin at any of these: each trim may have happened or not. */
  #starts = [0];
  #durable = 0;
  #count = 0;

  constructor(world: LogWorld) {
    this.#world = world;
  }

  async take(step: LogStep): Promise<void> {
    const { log } = this.#world;
    if (step.do === 'append') {
      const text = `${this.#count++} ${'x'.repeat(step.length)}`;
      this.#all.push(text);
      log.append(bytesOf(text));
    } else if (step.do === 'sync') {
      const [life, upTo] = [this.#all, this.#all.length];
      log.sync(() => {
        if (life === this.#all) this.#durable = Math.max(this.#durable, upTo);
      });
    } else if (step.do === 'trim') {
      this.#starts.push(Math.max(this.#all.length - step.keep, 0));
      log.trim(step.keep);
    } else if (step.do === 'settle') {
      await this.#world.settle();
    } else {
      await this.#crash(step.how);
    }
  }

  async #crash(how: LogCrash): Promise<void> {
    const crashed = this.#world.crash(how);
    const durable = how === 'clean' ? this.#all.length : this.#durable;
    const found = textsOf((await crashed).read());
    const allowed = this.#starts.some((start) => {
      const run = this.#all.slice(start, start + found.length);
      return (
        start + found.length >= durable &&
        run.length === found.length &&
        run.every((text, i) => text === found[i])
      );
    });
    const short = (texts: readonly string[]) => texts.map((text) => text.split(' ')[0]).join(' ');
    expect(
      allowed,
      `found [${short(found)}] of [${short(this.#all)}], begins at ${this.#starts}, durable to ${durable}`,
    ).toBe(true);
    this.#all = found;
    this.#starts = [0];
    this.#durable = found.length;
  }
}
