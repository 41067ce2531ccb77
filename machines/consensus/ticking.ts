// When the next gossip tick is due: a period after anything new, and while nothing is, not before it is time to offer again what was lost.

/** `fast`: every period; `idle`: nothing to say until the next offer, unless something new comes; `slow`: nobody may propose yet. */
export type Pace = 'no' | 'slow' | 'fast' | 'idle';

/** Ticks in a row that say nothing before the next ones are left out: votes are announced on one, and offered on the next. */
const QUIET_TICKS = 2;

export class Ticking {
  /** At which pace the timer runs. */
  runs: Pace = 'no';
  /** Gossip periods of this height, those included in which no tick was needed. */
  private ticks = 0;
  private quiet = 0;
  /** Periods that the idle timer leaves out, and since when. */
  private leftOut = 0;
  private idleSinceNs = 0n;

  /** The height is decided. */
  rest(): void {
    this.runs = 'no';
    this.ticks = 0;
    this.quiet = 0;
    this.leftOut = 0;
  }

  /** Something came, or we did something, that a peer may have to be told. */
  stir(): void {
    this.quiet = 0;
  }

  /** The timer fired: the number of the period that it ended. */
  fired(): number {
    this.runs = 'no';
    this.ticks += this.leftOut + 1;
    this.leftOut = 0;
    return this.ticks;
  }

  /** What a tick came to: whether it told anybody anything. */
  told(anything: boolean): void {
    this.quiet = anything ? 0 : this.quiet + 1;
  }

  /** Nobody may propose yet. True: no timer runs, and a slow one begins. */
  slows(): boolean {
    if (this.runs !== 'no') return false;
    this.runs = 'slow';
    return true;
  }

  /** Periods until the next tick while a height is undecided; null: the timer that runs is right. `periods` is how many lie between offers. */
  next(nowNs: bigint, periodNs: bigint, periods: number): number | null {
    if (this.runs === 'fast') return null;
    const isIdle = this.quiet >= QUIET_TICKS;
    if (this.runs === 'idle') {
      if (isIdle) return null;
      this.wake(nowNs, periodNs);
    }
    this.leftOut = isIdle ? periods - (this.ticks % periods) - 1 : 0;
    this.runs = this.leftOut > 0 ? 'idle' : 'fast';
    this.idleSinceNs = nowNs;
    return this.leftOut + 1;
  }

  /** The periods that passed while idle count; the one under way begins anew. */
  private wake(nowNs: bigint, periodNs: bigint): void {
    const passed = nowNs > this.idleSinceNs ? Number((nowNs - this.idleSinceNs) / periodNs) : 0;
    this.ticks += Math.min(passed, this.leftOut);
  }
}
