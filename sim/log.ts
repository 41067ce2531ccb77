// Owns a simulated append-only log: records that are written, how many of them are durable, and what a crash
// leaves.

import type { LogName } from '../actors/turn.ts';
import { settled } from '../protocol/bytes.ts';
import type { Log } from '../runtime/kernel/ports.ts';
import type { Stream } from './choices.ts';
import { type CrashHow, type DiskCounters, type DiskDoor, drawLost } from './disk-door.ts';
import { type Flushable, Flusher } from './flusher.ts';

/** What lies on the disk. Counts are of all records ever, so a trim does not move them. */
export class LogMedium {
  records: Uint8Array[] = [];
  /** Records let go before `records[0]`. */
  base = 0;
  /** The first so many are durable. */
  synced = 0;
  /** So many were said to be durable: a disk may lie. */
  answered = 0;
  /** Records that a trim has let go but that a crash would still bring back. */
  private leaving: Uint8Array[] = [];
  /** A record is being written at this moment: a crash leaves a part of it. */
  isAppending = false;
  appends = 0;
  syncs = 0;
  trims = 0;
  flushes = 0;

  get written(): number {
    return this.base + this.records.length;
  }

  trim(keep: number): void {
    const gone = this.records.length - keep;
    if (gone <= 0) return;
    const left = this.records.splice(0, gone);
    this.leaving = this.leaving.length === 0 ? left : this.leaving.concat(left);
    this.base += gone;
  }

  /** The nth trim is durable; when others have followed it, the last one speaks for all. */
  trimmed(nth: number): void {
    if (nth === this.trims) this.leaving = [];
  }

  crash(how: CrashHow, stream: Stream, counters: DiskCounters): void {
    const isUndone = this.leaving.length > 0 && (how === 'lose' || (how === 'drawn' && stream.chance(1, 2)));
    if (isUndone) {
      counters.trimsUndone++;
      this.base -= this.leaving.length;
      this.records = this.leaving.concat(this.records);
    }
    this.leaving = [];
    const unsynced = this.written - Math.max(this.synced, this.base);
    const lost = drawLost(how, stream, unsynced);
    this.records.length -= lost;
    counters.recordsLost += lost;
    // What is left of a torn record fails its checksum at the next opening, so it only counts.
    const isTorn = lost > 0 && (how === 'half' || (how === 'drawn' && stream.chance(1, 2)));
    if (this.isAppending || isTorn) counters.recordsTorn++;
    this.isAppending = false;
    this.synced = this.written;
    this.answered = this.written;
  }

  copy(): LogMedium {
    const copy = new LogMedium();
    copy.records = this.records.slice();
    copy.base = this.base;
    copy.synced = copy.written;
    copy.answered = copy.written;
    copy.appends = this.appends;
    copy.syncs = this.syncs;
    copy.trims = this.trims;
    copy.flushes = this.flushes;
    return copy;
  }
}

/** The log port of one life. */
export class SimLog implements Log, Flushable {
  private readonly name: LogName;
  private readonly medium: LogMedium;
  private readonly door: DiskDoor;
  private readonly flusher: Flusher;

  constructor(name: LogName, medium: LogMedium, door: DiskDoor) {
    this.name = name;
    this.medium = medium;
    this.door = door;
    this.flusher = new Flusher(door.agenda, door.life, this, door.drawFlush);
  }

  append(record: Uint8Array): void {
    const { medium, door, name } = this;
    if (door.isOver || !door.hasRoom(name)) return;
    const nth = ++medium.appends;
    if (!door.livesThrough('append', name, 'before', nth)) return;
    medium.isAppending = true;
    if (!door.livesThrough('append', name, 'inside', nth)) return;
    medium.isAppending = false;
    // The consensus log goes with its height; what the signer keeps would keep a slab each.
    medium.records.push(name === 'privval' ? settled(record) : record);
    door.livesThrough('append', name, 'after', nth);
  }

  sync(done: () => void): void {
    if (this.door.isOver) return;
    if (this.door.livesThrough('sync', this.name, 'before', ++this.medium.syncs)) this.flusher.ask(done);
  }

  read(): readonly Uint8Array[] {
    return this.medium.records.slice();
  }

  trim(keep: number): void {
    const { medium, door, name } = this;
    if (door.isOver || medium.records.length <= keep) return;
    const nth = ++medium.trims;
    if (!door.livesThrough('trim', name, 'before', nth)) return;
    medium.trim(keep);
    if (!door.livesThrough('trim', name, 'after', nth)) return;
    door.agenda.after(door.drawFlush(), this.trimmed, nth, door.life);
  }

  private readonly trimmed = (nth: number): void => this.medium.trimmed(nth);

  written(): number {
    return this.medium.written;
  }

  flushed(upTo: number): void {
    const { medium, door, name } = this;
    const nth = ++medium.flushes;
    if (!door.livesThrough('flush', name, 'inside', nth)) return;
    medium.answered = Math.max(medium.answered, upTo);
    if (door.completeFlush()) medium.synced = Math.max(medium.synced, upTo);
    door.livesThrough('flush', name, 'after', nth);
  }
}
