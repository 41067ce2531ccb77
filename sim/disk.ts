// Owns the disk of one machine: what is durable, what is only written, and what a crash takes. Outlives the
// node's lives.

import type { LogName, StoreName } from '../actors/turn.ts';
import type { Log, Store } from '../runtime/kernel/ports.ts';
import type { Agenda, Life } from './agenda.ts';
import type { Choices, Stream } from './choices.ts';
import {
  type CrashHow,
  type Device,
  DiskCounters,
  DiskDoor,
  type DiskPoint,
  type DiskSettings,
  GOOD_DISK,
  type MediumName,
} from './disk-door.ts';
import { LogMedium, SimLog } from './log.ts';
import { SimStore, StoreMedium } from './store.ts';

/** The content of a disk at one moment, to be restored later. */
export interface DiskImage {
  readonly logs: ReadonlyMap<LogName, LogMedium>;
  readonly stores: ReadonlyMap<StoreName, StoreMedium>;
}

/** One life's door to the disk. */
export interface DiskPorts {
  log(name: LogName): Log;
  store(name: StoreName): Store;
}

export class Disk implements Device {
  readonly agenda: Agenda;
  settings: DiskSettings;
  readonly counters = new DiskCounters();
  watch: ((point: DiskPoint) => void) | null = null;
  points = 0;
  readonly latencies: Stream;
  readonly lies: Stream;
  private readonly losses: Stream;
  private readonly logs = new Map<LogName, LogMedium>();
  private readonly stores = new Map<StoreName, StoreMedium>();

  /** `name` tells the machine's streams of choices from those of others. */
  constructor(agenda: Agenda, choices: Choices, name: string, settings: DiskSettings = GOOD_DISK) {
    this.agenda = agenda;
    this.settings = settings;
    this.latencies = choices.stream(`disk/${name}/latency`);
    this.lies = choices.stream(`disk/${name}/lie`);
    this.losses = choices.stream(`disk/${name}/loss`);
  }

  /** The log and store ports of one life of the node, which reads what the lives before it left. */
  open(life: Life, onFull: (name: MediumName) => void): DiskPorts {
    const door = new DiskDoor(this, life, onFull);
    const logs = new Map<LogName, Log>();
    const stores = new Map<StoreName, Store>();
    return {
      log: (name) => logs.get(name) ?? kept(logs, name, new SimLog(name, this.logMedium(name), door)),
      store: (name) =>
        stores.get(name) ?? kept(stores, name, new SimStore(name, this.storeMedium(name), door)),
    };
  }

  /** What is written, durable or not; for those who watch. */
  read(store: StoreName, key: Uint8Array): Uint8Array | undefined {
    return this.stores.get(store)?.get(key);
  }

  /** The records of a log, durable or not; for those who watch. */
  records(log: LogName): readonly Uint8Array[] {
    return this.logs.get(log)?.records ?? [];
  }

  /** How many records or batches were written, of all ever, and how many the node was told are durable; for those who watch. */
  counts(name: MediumName): { readonly written: number; readonly answered: number } {
    return this.logs.get(name as LogName) ?? this.stores.get(name as StoreName) ?? NOTHING_WRITTEN;
  }

  private logMedium(name: LogName): LogMedium {
    return fetch(this.logs, name, () => new LogMedium());
  }

  private storeMedium(name: StoreName): StoreMedium {
    return fetch(this.stores, name, () => new StoreMedium());
  }

  /**
   * The machine lost its power, or the node was closed in good order. End the life first: afterwards all that
   * is left is durable.
   */
  crash(how: CrashHow): void {
    const { losses, counters } = this;
    counters.crashes++;
    for (const medium of this.logs.values()) medium.crash(how, losses, counters);
    for (const medium of this.stores.values()) medium.crash(how, losses, counters);
  }

  /** A log is gone, as a file that somebody removes. Only between lives. */
  remove(log: LogName): void {
    this.logs.delete(log);
  }

  /**
   * A copy of the content, records and values shared. Take it between lives or of a living node: then with
   * all that is written.
   */
  image(): DiskImage {
    return {
      logs: new Map([...this.logs].map(([name, medium]) => [name, medium.copy()])),
      stores: new Map([...this.stores].map(([name, medium]) => [name, medium.copy()])),
    };
  }

  /** Puts an old image back, or some of it, as an operator may from a backup. Only between lives. */
  restore(image: DiskImage, media?: readonly MediumName[]): void {
    this.counters.restores++;
    const isMeant = (name: MediumName): boolean => media?.includes(name) ?? true;
    for (const name of this.logs.keys()) if (isMeant(name)) this.logs.delete(name);
    for (const name of this.stores.keys()) if (isMeant(name)) this.stores.delete(name);
    for (const [name, medium] of image.logs) if (isMeant(name)) this.logs.set(name, medium.copy());
    for (const [name, medium] of image.stores) if (isMeant(name)) this.stores.set(name, medium.copy());
  }
}

const NOTHING_WRITTEN = { written: 0, answered: 0 };

function kept<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value);
  return value;
}

function fetch<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
