// Ctrl-C and its like, where workers do the work: the first signal ends the workers, their jobs fail as
// `Interrupted`, and the command says what it has. A second one ends everything. Clusters end in two steps.

import { CliError, EXIT } from './usage.ts';

/** A command that was stopped has not shown what it was asked for, so it does not end with 0. */
export class Interrupted extends CliError {
  constructor(soFar?: string) {
    super(soFar === undefined ? 'interrupted' : `interrupted: ${soFar}`, EXIT.violated);
  }
}

/** SIGHUP, too: Node undoes what `nohup` has set, and would die of it. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One keypress may come twice: from the terminal, and from npm or npx, which pass on what they got. */
const ECHO_MS = 1_000;

/** Signals that ask for the end: of those that come together the first alone counts. */
export class SignalEcho {
  private askedMs = Number.NEGATIVE_INFINITY;

  /** False: it is an echo of the one before. */
  counts(): boolean {
    const nowMs = performance.now();
    const isEcho = nowMs - this.askedMs < ECHO_MS;
    if (!isEcho) this.askedMs = nowMs;
    return !isEcho;
  }
}
const controller = new AbortController();
/** What the first signal does, and whatever else makes going on useless. */
export const interrupt = (): void => controller.abort();

/** Signals are of the process, so this is too. */
export const interruption: AbortSignal = controller.signal;

const echo = new SignalEcho();
/** How many `interruptible` are under way, one in another. */
let depth = 0;

function listen(isOn: boolean): void {
  for (const signal of SIGNALS) process[isOn ? 'on' : 'off'](signal, onSignal);
}

function onSignal(signal: NodeJS.Signals): void {
  if (!echo.counts()) return;
  if (!interruption.aborted) return interrupt();
  listen(false);
  process.kill(process.pid, signal);
}

/** While this runs, the first signal aborts `interruption` and nothing else. */
export async function interruptible<T>(run: () => Promise<T>): Promise<T> {
  if (depth++ === 0 && !interruption.aborted) listen(true);
  try {
    return await run();
  } finally {
    // Asked to end it goes on listening: an echo that comes while it tells what it has must not take that.
    if (--depth === 0 && !interruption.aborted) listen(false);
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

/** Of processes that end in their own time: the first signal asks them to, the second kills what is left. */
export class TwoStepEnd {
  private readonly controller = new AbortController();
  /** Aborted, with `Interrupted` as its reason, when the end is asked for. */
  readonly signal: AbortSignal = this.controller.signal;
  readonly asked: Promise<unknown> = new Promise((done) => this.signal.addEventListener('abort', done));
  private readonly onSignal: () => void;

  constructor(killAll: () => void) {
    const echo = new SignalEcho();
    this.onSignal = () => {
      if (!echo.counts()) return;
      if (this.signal.aborted) killAll();
      this.controller.abort(new Interrupted());
    };
    for (const signal of SIGNALS) process.on(signal, this.onSignal);
    interruption.addEventListener('abort', this.onSignal);
  }

  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.onSignal);
    interruption.removeEventListener('abort', this.onSignal);
  }
}
