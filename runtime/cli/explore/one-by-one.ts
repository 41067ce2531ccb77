// Many seeds asked for at once, in a process that one of them may end: then each alone, so that it is known which did.

import { Interrupted } from '../interrupt.ts';

/** Why there is nothing of a seed: its process ended, or it never did, and so again when it was alone. */
export interface Lost {
  readonly seed: string;
  readonly lost: string;
}

type Ask<T> = (seeds: readonly string[]) => Promise<readonly T[]>;

/** What `ask` gives, in the order of the seeds. */
export async function oneByOne<T>(seeds: readonly string[], ask: Ask<T>): Promise<readonly (T | Lost)[]> {
  if (seeds.length === 0) return [];
  try {
    return await ask(seeds);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
  }
  const found: (T | Lost)[] = [];
  for (const seed of seeds) found.push(...(await alone(seed, ask)));
  return found;
}

async function alone<T>(seed: string, ask: Ask<T>): Promise<readonly (T | Lost)[]> {
  try {
    return await ask([seed]);
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    return [{ seed, lost: error instanceof Error ? error.message : String(error) }];
  }
}
