// Many seeds asked for at once, in a process that one of them may end: then each alone, so that it is known which did.

import { Interrupted } from '../interrupt.ts';

/** Why there is nothing of a seed: its process ended, or it never did. */
export interface Lost {
  readonly seed: string;
  readonly lost: string;
}

/** What `ask` gives, in the order of the seeds. */
export async function oneByOne<T>(
  seeds: readonly string[],
  ask: (seeds: readonly string[]) => Promise<readonly T[]>,
): Promise<readonly (T | Lost)[]> {
  if (seeds.length === 0) return [];
  try {
    return await ask(seeds);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    if (seeds.length === 1)
      return [{ seed: seeds[0] as string, lost: error instanceof Error ? error.message : String(error) }];
  }
  const found: (T | Lost)[] = [];
  for (const seed of seeds) found.push(...(await oneByOne([seed], ask)));
  return found;
}
