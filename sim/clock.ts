// Owns what one node believes about time: its oscillator drifts, its wall clock is skewed and steps, and its
// timers follow its own monotonic time.

import { must } from '../protocol/refusal.ts';
import type { Clock, Timer } from '../runtime/kernel/ports.ts';
import type { Agenda, Handle, Life } from './agenda.ts';

const MILLION = 1_000_000;
/** Virtual time ends after 104 days; what is due then or later is never due. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER;
const NEVER: Handle = -1;

export interface ClockSettings {
  /** Wall time of the world's beginning, in nanoseconds since 1970. */
  readonly epochNs: bigint;
  /** How far this node's wall clock is off at the beginning. */
  readonly skewNs: bigint;
  /** Parts per million by which its oscillator runs fast (or slow, down to -999,999). */
  readonly driftPpm: number;
}

/** `ns` of virtual time as this oscillator counts them: exact for all ns < 2^53, by integers alone. */
export function drifted(ns: number, driftPpm: number): number {
  if (driftPpm === 0) return ns;
  const rest = ns % MILLION;
  return ns + ((ns - rest) / MILLION) * driftPpm + Math.floor((rest * driftPpm) / MILLION);
}

/** A virtual time after which this oscillator has counted `ns`, give or take two. */
function undrifted(ns: number, driftPpm: number): number {
  if (driftPpm === 0) return ns;
  const rate = MILLION + driftPpm;
  const rest = ns % rate;
  return ((ns - rest) / rate) * MILLION + Math.ceil((rest * MILLION) / rate);
}

/** The oscillator and the wall clock of a machine: outlive the node's lives. */
export class MachineClock {
  readonly agenda: Agenda;
  private driftPpm: number;
  /** The slowest that the oscillator ever ran, as a share of true time, at most 1; for those who watch. */
  slowest = 1;
  /** The fastest, at least 1. */
  fastest = 1;
  /** When the drift last changed: virtual time, and this oscillator's count. */
  private since = 0;
  private countThen = 0;
  /** Wall time minus the oscillator's count. */
  private wallAheadNs: bigint;
  private frozenWallNs: bigint | null = null;
  /** What the wall clock showed before each step back, the highest. */
  private shownNs: bigint | null = null;
  /** When the wall clock was set last, in virtual time; -1: never. For those who watch. */
  setAtNs = -1;

  // Many turns share an instant, and a bigint costs more than they need.
  private cachedAt = -1;
  private cachedMono = 0n;
  private cachedWall = 0n;

  // By place, which is what the agenda is given.
  private readonly timers: (NodeTimer | null)[] = [];
  private readonly vacant: number[] = [];

  constructor(agenda: Agenda, settings: ClockSettings) {
    must(
      settings.driftPpm > -MILLION && Number.isInteger(settings.driftPpm),
      'a drift in whole ppm, not backwards',
    );
    this.agenda = agenda;
    this.driftPpm = settings.driftPpm;
    this.notePace(settings.driftPpm);
    this.since = agenda.now;
    this.wallAheadNs = settings.epochNs + settings.skewNs + BigInt(agenda.now);
  }

  private notePace(driftPpm: number): void {
    const pace = 1 + driftPpm / MILLION;
    this.slowest = Math.min(this.slowest, pace);
    this.fastest = Math.max(this.fastest, pace);
  }

  /** The oscillator's count, in its own nanoseconds. */
  count(): number {
    return this.countThen + drifted(this.agenda.now - this.since, this.driftPpm);
  }

  private refresh(): void {
    this.cachedAt = this.agenda.now;
    this.cachedMono = BigInt(this.count());
    this.cachedWall = this.frozenWallNs ?? this.wallAheadNs + this.cachedMono;
  }

  monoNs(): bigint {
    if (this.cachedAt !== this.agenda.now) this.refresh();
    return this.cachedMono;
  }

  wallNs(): bigint {
    if (this.cachedAt !== this.agenda.now) this.refresh();
    return this.cachedWall;
  }

  /** The latest that the wall clock ever showed; for those who watch. */
  wallLatestNs(): bigint {
    const now = this.wallNs();
    return this.shownNs !== null && this.shownNs > now ? this.shownNs : now;
  }

  /** From now on the oscillator runs at another rate; pending timers move with it. */
  setDrift(driftPpm: number): void {
    must(driftPpm > -MILLION && Number.isInteger(driftPpm), 'a drift in whole ppm, not backwards');
    this.countThen = this.count();
    this.since = this.agenda.now;
    this.driftPpm = driftPpm;
    this.notePace(driftPpm);
    for (const timer of this.timers) {
      if (timer === null) continue;
      this.agenda.cancel(timer.handle);
      timer.handle = this.schedule(timer);
    }
  }

  /** The wall clock jumps, forwards or back. Timers do not notice. */
  stepWall(byNs: bigint): void {
    if (byNs < 0n) this.shownNs = this.wallLatestNs();
    this.setAtNs = this.agenda.now;
    if (this.frozenWallNs === null) this.wallAheadNs += byNs;
    else this.frozenWallNs += byNs;
    this.cachedAt = -1;
  }

  /** The wall clock shows one instant until it is thawed; it then goes on from there. */
  freezeWall(): void {
    this.frozenWallNs = this.wallNs();
    this.cachedAt = -1;
  }

  thawWall(): void {
    if (this.frozenWallNs === null) return;
    this.wallAheadNs = this.frozenWallNs - BigInt(this.count());
    this.frozenWallNs = null;
    this.cachedAt = -1;
  }

  /** When the oscillator will have counted to this, or shortly before. */
  whenCounted(count: number): number {
    const wait = undrifted(Math.max(count - this.count(), 0), this.driftPpm);
    return Math.min(this.agenda.now + wait, END_OF_TIME);
  }

  /** The clock port of one life of the node. */
  open(life: Life): Clock {
    return {
      wallNs: () => this.wallNs(),
      monoNs: () => this.monoNs(),
      after: (delayNs, due) => this.arm(Number(delayNs), due, life),
    };
  }

  private arm(delay: number, due: () => void, life: Life): Timer {
    const dueAt = Math.min(this.count() + delay, END_OF_TIME);
    const place = this.vacant.pop() ?? this.timers.length;
    const timer = new NodeTimer(this, place, life, dueAt, due);
    this.timers[place] = timer;
    timer.handle = this.schedule(timer);
    return timer;
  }

  private schedule(timer: NodeTimer): Handle {
    const at = this.whenCounted(timer.dueAt);
    return at < END_OF_TIME ? this.agenda.at(at, this.fire, timer.place, timer.life) : NEVER;
  }

  private readonly fire = (place: number): void => {
    const timer = this.timers[place] as NodeTimer;
    // Rounding may have brought us here a nanosecond early; and a timer is never early.
    if (this.count() < timer.dueAt) {
      timer.handle = this.schedule(timer);
      return;
    }
    const due = timer.due as () => void;
    this.forget(timer);
    due();
  };

  private forget(timer: NodeTimer): void {
    timer.due = null;
    this.timers[timer.place] = null;
    this.vacant.push(timer.place);
  }

  cancel(timer: NodeTimer): void {
    if (timer.due === null) return;
    this.agenda.cancel(timer.handle);
    this.forget(timer);
  }

  /** The node died, and its timers with it. */
  crash(): void {
    for (const timer of this.timers) if (timer) this.cancel(timer);
  }

  get timersPending(): number {
    return this.timers.length - this.vacant.length;
  }
}

class NodeTimer implements Timer {
  readonly place: number;
  readonly life: Life;
  /** In counts of the oscillator. */
  readonly dueAt: number;
  /** Null once it fired or was cancelled. */
  due: (() => void) | null;
  handle: Handle = NEVER;
  private readonly clock: MachineClock;

  constructor(clock: MachineClock, place: number, life: Life, dueAt: number, due: () => void) {
    this.clock = clock;
    this.place = place;
    this.life = life;
    this.dueAt = dueAt;
    this.due = due;
  }

  cancel(): void {
    this.clock.cancel(this);
  }
}
