// Keeps the Clock port with the machine's own clocks: hrtime for the monotonic one, the system's time of
// day for the wall.

import { NS_PER_MS } from '../../protocol/time.ts';
import type { Clock, Timer } from '../kernel/ports.ts';

/** setTimeout fires at once when asked for more than this. */
const TIMEOUT_MS_MAX = 2n ** 31n - 1n;
/**
 * The wall clock is hrtime plus an offset; when it is this far from the system's time, the system was set
 * or slewed.
 */
const WALL_DRIFT_NS_MAX = 2n * NS_PER_MS;

export interface HostClock extends Clock {
  /** Cancels every timer. */
  close(): void;
}

export function hostClock(): HostClock {
  const pending = new Set<HostTimer>();
  let offsetNs = BigInt(Date.now()) * NS_PER_MS - process.hrtime.bigint();
  return {
    monoNs: () => process.hrtime.bigint(),
    wallNs: () => {
      const monoNs = process.hrtime.bigint();
      const systemNs = BigInt(Date.now()) * NS_PER_MS;
      const drift = monoNs + offsetNs - systemNs;
      if (drift > WALL_DRIFT_NS_MAX || drift < -WALL_DRIFT_NS_MAX) offsetNs = systemNs - monoNs;
      return monoNs + offsetNs;
    },
    after: (delayNs, due) => new HostTimer(delayNs, due, pending),
    close: () => {
      for (const timer of [...pending]) timer.cancel();
    },
  };
}

/**
 * Sleeps in steps that setTimeout can do, and looks at hrtime before it fires: setTimeout may be a
 * millisecond early.
 */
class HostTimer implements Timer {
  readonly #dueNs: bigint;
  readonly #due: () => void;
  readonly #pending: Set<HostTimer>;
  #cancelSleep: () => void = () => {};

  constructor(delayNs: bigint, due: () => void, pending: Set<HostTimer>) {
    this.#dueNs = process.hrtime.bigint() + delayNs;
    this.#due = due;
    this.#pending = pending;
    pending.add(this);
    this.#sleep(delayNs);
  }

  cancel(): void {
    if (this.#pending.delete(this)) this.#cancelSleep();
  }

  #sleep(leftNs: bigint): void {
    if (leftNs <= 0n) {
      // Not cleared when cancelled: Node 20 breaks its queue when an uncaught error's handler clears one, and throws for ever.
      setImmediate(this.#wake);
      this.#cancelSleep = () => {};
      return;
    }
    const leftMs = (leftNs + NS_PER_MS - 1n) / NS_PER_MS;
    const timeout = setTimeout(this.#wake, Number(leftMs < TIMEOUT_MS_MAX ? leftMs : TIMEOUT_MS_MAX));
    this.#cancelSleep = () => clearTimeout(timeout);
  }

  readonly #wake = (): void => {
    if (!this.#pending.has(this)) return;
    const leftNs = this.#dueNs - process.hrtime.bigint();
    if (leftNs > 0n) {
      this.#sleep(leftNs);
      return;
    }
    this.#pending.delete(this);
    this.#due();
  };
}
