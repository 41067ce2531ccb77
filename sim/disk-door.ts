// What the keepers of a disk share: its settings, what happened to it, the points where a node can be
// crashed, and the door of one life.

import type { LogName, StoreName } from '../actors/turn.ts';
import type { Agenda, Life } from './agenda.ts';
import type { Stream } from './choices.ts';
import { drawSpan, MICROSECOND, MILLISECOND, type Span, span } from './latency.ts';

/** May be changed at any time: a disk becomes slow, lies, or is full. */
export interface DiskSettings {
  /** How long a flush takes. */
  readonly flush: Span;
  /** How long a batch that nobody waits for stays unflushed at most. */
  readonly lazy: Span;
  /**
   * A flush is answered and nothing is durable, this often in a million: the promise of Log and Store is
   * broken.
   */
  readonly liesPpm: number;
  /** Appends and writes fail: the node is told to stop (`onFull`), and they leave nothing. */
  readonly isFull: boolean;
}

export const GOOD_DISK: DiskSettings = {
  flush: span(50 * MICROSECOND, 300 * MICROSECOND),
  lazy: span(10 * MILLISECOND, 200 * MILLISECOND),
  liesPpm: 0,
  isFull: false,
};
export const SLOW_DISK: DiskSettings = {
  ...GOOD_DISK,
  flush: span(5 * MILLISECOND, 200 * MILLISECOND),
  lazy: span(1_000 * MILLISECOND, 10_000 * MILLISECOND),
};

export type MediumName = LogName | StoreName;
/**
 * `sync` is the asking (before only); `flush` is the device's work that answers it (inside: not durable yet;
 * after: durable, nobody told).
 */
export type DiskOp = 'append' | 'sync' | 'trim' | 'write' | 'flush';

/**
 * A place where the world may crash the node: its life is over when the watcher returns, and the disk stays
 * as it was there.
 */
export interface DiskPoint {
  readonly op: DiskOp;
  readonly on: MediumName;
  readonly when: 'before' | 'inside' | 'after';
  /** This is the nth such operation on this log or store, from 1, over all lives. */
  readonly nth: number;
}

/**
 * `clean`: closed in good order. `lose`: all that was not durable is gone. `half`: the newer half of it, and
 * one thing at least. `drawn`: how much of it is gone is drawn, newest first.
 */
export type CrashHow = 'clean' | 'lose' | 'half' | 'drawn';

/** What happened to this disk, over all lives. */
export class DiskCounters {
  crashes = 0;
  recordsLost = 0;
  recordsTorn = 0;
  trimsUndone = 0;
  batchesLost = 0;
  restores = 0;
  liedFlushes = 0;
  refusedFull = 0;
  flushes = 0;
}

/** How many of `pending` things a crash takes, newest first; a drawn 0 takes none. */
export function drawLost(how: CrashHow, stream: Stream, pending: number): number {
  if (how === 'clean' || pending === 0) return 0;
  if (how === 'half') return (pending + 1) >> 1;
  return how === 'lose' ? pending : stream.draw(pending + 1);
}

/** The machine's side of the door. */
export interface Device {
  readonly agenda: Agenda;
  readonly settings: DiskSettings;
  readonly counters: DiskCounters;
  /** Told of every point of every operation, before it goes on. */
  readonly watch: ((point: DiskPoint) => void) | null;
  /** Points passed, over all lives. */
  points: number;
  readonly latencies: Stream;
  readonly lies: Stream;
}

/** What the log and store keepers of one life ask of their disk. */
export class DiskDoor {
  readonly life: Life;
  readonly agenda: Agenda;
  private readonly device: Device;
  private readonly onFull: (name: MediumName) => void;

  constructor(device: Device, life: Life, onFull: (name: MediumName) => void) {
    this.device = device;
    this.agenda = device.agenda;
    this.life = life;
    this.onFull = onFull;
  }

  get isOver(): boolean {
    return this.agenda.isOver(this.life);
  }

  /** Tells the watcher, if there is one; false when the node is dead, now or before. */
  livesThrough(op: DiskOp, on: MediumName, when: DiskPoint['when'], nth: number): boolean {
    const { device } = this;
    device.points++;
    if (device.watch !== null) device.watch({ op, on, when, nth });
    return !this.isOver;
  }

  /** False when the disk is full: the owner of the node is told, and nothing is written. */
  hasRoom(on: MediumName): boolean {
    if (!this.device.settings.isFull) return true;
    this.device.counters.refusedFull++;
    this.onFull(on);
    return false;
  }

  readonly drawFlush = (): number => drawSpan(this.device.latencies, this.device.settings.flush);

  drawLazy(): number {
    return drawSpan(this.device.latencies, this.device.settings.lazy);
  }

  /** The device answers a flush: false when it only says so. */
  completeFlush(): boolean {
    const { counters, lies, settings } = this.device;
    counters.flushes++;
    if (!lies.chance(settings.liesPpm, 1_000_000)) return true;
    counters.liedFlushes++;
    return false;
  }
}
