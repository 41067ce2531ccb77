// Ctrl-C and its like, where workers do the work: the first signal ends the workers, their jobs fail as
// `Interrupted`, and the command says what it has. A second one ends everything.

import { CliError, EXIT } from './usage.ts';

/** A command that was stopped has not shown what it was asked for, so it does not end with 0. */
export class Interrupted extends CliError {
  constructor(soFar?: string) {
    super(soFar === undefined ? 'interrupted' : `interrupted: ${soFar}`, EXIT.violated);
  }
}

/** Not SIGHUP: to listen would undo `nohup`, with which a campaign outlives its terminal. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const controller = new AbortController();
/** What the first signal does, and whatever else makes going on useless. */
export const interrupt = (): void => controller.abort();

/** Signals are of the process, so this is too. */
export const interruption: AbortSignal = controller.signal;

/** While this runs, the first signal of each kind aborts `interruption` and nothing else. */
export async function interruptible<T>(run: () => Promise<T>): Promise<T> {
  for (const signal of SIGNALS) process.once(signal, interrupt);
  try {
    return await run();
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

/** False: it was interrupted. */
export async function isUninterrupted(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await interruptible(run);
    return true;
  } catch (error) {
    if (error instanceof Interrupted) return false;
    throw error;
  }
}
