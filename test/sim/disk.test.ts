// The simulated disk: what a crash takes and never takes, at every point of every operation.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Write } from '../../actors/turn.ts';
import { Agenda } from '../../sim/agenda.ts';
import { Choices } from '../../sim/choices.ts';
import { Disk } from '../../sim/disk.ts';
import {
  type CrashHow,
  type DiskPoint,
  type DiskSettings,
  GOOD_DISK,
  SLOW_DISK,
} from '../../sim/disk-door.ts';

const record = (n: number) => Uint8Array.of(n & 255, n >> 8);
const numberOf = (bytes: Uint8Array) => bytes[0]! | (bytes[1]! << 8);
const put = (key: number, value: number): Write => ({
  key: record(key),
  value: record(value),
  remove: false,
});

function machine(settings: Partial<DiskSettings> = {}, seed = 'disk') {
  const agenda = new Agenda();
  const disk = new Disk(agenda, new Choices({ seed }), 'v0', { ...GOOD_DISK, ...settings });
  const filled: string[] = [];
  let life = agenda.beginLife();
  const open = () => disk.open(life, (name) => filled.push(name));
  let ports = open();
  const crash = (how: CrashHow) => {
    agenda.endLife(life);
    disk.crash(how);
  };
  return {
    agenda,
    disk,
    filled,
    crash,
    log: () => ports.log('consensus'),
    store: () => ports.store('chain'),
    restart: () => {
      life = agenda.beginLife();
      ports = open();
    },
    settle: () => {
      while (agenda.next());
    },
    records: () => ports.log('consensus').read().map(numberOf),
  };
}

describe('log', () => {
  test.each([
    [1, 0],
    [2, 1],
    [5, 2],
  ])('of %i records that nobody synced the newer half goes, and one at least: %i are left', (count, left) => {
    const world = machine();
    for (let i = 0; i < count; i++) world.log().append(record(i));
    world.crash('half');
    world.restart();
    expect(world.records()).toEqual([0, 1, 2, 3].slice(0, left));
    expect(world.disk.counters.recordsTorn).toBe(1);
  });

  test('one flush serves all syncs that were asked while another was under way', () => {
    const world = machine();
    const answered: number[] = [];
    for (let i = 0; i < 10; i++) {
      world.log().append(record(i));
      world.log().sync(() => answered.push(i));
    }
    world.settle();
    expect(answered).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(world.disk.counters.flushes).toBe(2);
  });
  test('a flush takes its time, and a slow disk more', () => {
    const took = (settings: DiskSettings) => {
      const world = machine(settings);
      world.log().sync(() => {});
      world.settle();
      return world.agenda.now;
    };
    expect(took(GOOD_DISK)).toBeLessThanOrEqual(300_000);
    expect(took(GOOD_DISK)).toBeGreaterThanOrEqual(50_000);
    expect(took(SLOW_DISK)).toBeGreaterThanOrEqual(5_000_000);
  });
  test('a drawn crash leaves every length from what was synced to all, and tears some records', () => {
    const lengths = new Set<number>();
    let torn = 0;
    for (let seed = 0; seed < 200; seed++) {
      const world = machine({}, `${seed}`);
      for (let i = 0; i < 3; i++) world.log().append(record(i));
      world.log().sync(() => {});
      world.settle();
      for (let i = 3; i < 6; i++) world.log().append(record(i));
      world.crash('drawn');
      world.restart();
      expect(world.records()).toEqual([0, 1, 2, 3, 4, 5].slice(0, world.records().length));
      lengths.add(world.records().length);
      torn += world.disk.counters.recordsTorn;
    }
    expect([...lengths].sort()).toEqual([3, 4, 5, 6]);
    expect(torn).toBeGreaterThan(30);
  });
  test('a trim that was not durable is undone as a whole, or stands', () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const world = machine({}, `${seed}`);
      for (let i = 0; i < 9; i++) world.log().append(record(i));
      world.log().sync(() => {});
      world.settle();
      world.log().trim(6);
      world.log().trim(2);
      world.crash('drawn');
      world.restart();
      seen.add(world.records().join());
    }
    expect([...seen].sort()).toEqual(['0,1,2,3,4,5,6,7,8', '7,8']);
  });
  test('a disk that lies answers a sync and loses what it covered; the next true flush covers it', () => {
    const world = machine({ liesPpm: 1_000_000 });
    let answered = 0;
    world.log().append(record(1));
    world.log().sync(() => answered++);
    world.settle();
    world.crash('lose');
    world.restart();
    expect([answered, world.records(), world.disk.counters.liedFlushes]).toEqual([1, [], 1]);
    world.log().append(record(2));
    world.log().sync(() => {});
    world.settle();
    world.disk.settings = GOOD_DISK;
    world.log().sync(() => {});
    world.settle();
    world.crash('lose');
    world.restart();
    expect(world.records()).toEqual([2]);
  });
  test('a full disk takes no record and no batch, and tells the owner', () => {
    const world = machine();
    world.log().append(record(1));
    world.disk.settings = { ...GOOD_DISK, isFull: true };
    world.log().append(record(2));
    world.store().write([put(1, 1)]);
    expect(world.filled).toEqual(['consensus', 'chain']);
    expect(world.records()).toEqual([1]);
    expect(world.store().get(record(1))).toBeUndefined();
    expect(world.disk.counters.refusedFull).toBe(2);
  });
  test('the ports of an ended life do nothing', () => {
    const world = machine();
    const [log, store] = [world.log(), world.store()];
    let answered = 0;
    log.append(record(1));
    log.sync(() => answered++);
    world.crash('clean');
    log.append(record(2));
    log.sync(() => answered++);
    log.trim(0);
    store.write([put(1, 1)], () => answered++);
    world.settle();
    world.restart();
    expect([answered, world.records(), world.store().get(record(1))]).toEqual([0, [1], undefined]);
  });
});

describe('store', () => {
  test('a drawn crash takes the newest batches, each as a whole, and puts back what stood there', () => {
    const left = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      const world = machine({}, `${seed}`);
      world.store().write([put(1, 10), put(2, 10)], () => {});
      world.settle();
      world.store().write([put(1, 11), put(3, 11)]);
      world.store().write([{ ...put(2, 0), remove: true }, put(3, 12), put(3, 13)]);
      world.crash('drawn');
      world.restart();
      const all = world.store().range(new Uint8Array(0), new Uint8Array(0), 10);
      left.add(all.map(({ key, value }) => `${numberOf(key)}:${numberOf(value)}`).join());
    }
    expect([...left].sort()).toEqual(['1:10,2:10', '1:11,2:10,3:11', '1:11,3:13']);
  });
  test('a batch that nobody waits for becomes durable by itself, later', () => {
    const world = machine();
    world.store().write([put(1, 1)]);
    world.agenda.runUntil(5_000_000);
    expect(world.disk.counters.flushes).toBe(0);
    world.settle();
    world.crash('lose');
    world.restart();
    expect(world.disk.counters.flushes).toBe(1);
    expect(world.store().get(record(1))).toEqual(record(1));
  });
  test('ranges agree with a sorted map, whatever is written between them', () => {
    const key = fc.integer({ min: 0, max: 1500 });
    const step = fc.oneof(
      fc.record({ puts: fc.array(key, { maxLength: 600 }) }),
      fc.record({ removes: fc.array(key, { maxLength: 600 }) }),
      fc.record({ from: key, to: key, limit: fc.nat(40) }),
    );
    const bigEndian = (n: number) => Uint8Array.of(n >> 8, n & 255);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { store } = machine();
        const model = new Map<number, number>();
        for (const now of steps) {
          if ('puts' in now) {
            store().write(
              now.puts.map((k, i) => ({ key: bigEndian(k), value: bigEndian(i), remove: false })),
            );
            for (const [i, k] of now.puts.entries()) model.set(k, i);
          } else if ('removes' in now) {
            store().write(now.removes.map((k) => ({ key: bigEndian(k), value: bigEndian(0), remove: true })));
            for (const k of now.removes) model.delete(k);
          } else {
            const found = store().range(bigEndian(now.from), bigEndian(now.to), now.limit);
            const expected = [...model]
              .filter(([k]) => k >= now.from && k < now.to)
              .sort(([a], [b]) => a - b)
              .slice(0, now.limit);
            expect(found.map(({ key: k, value: v }) => [(k[0]! << 8) | k[1]!, (v[0]! << 8) | v[1]!])).toEqual(
              expected,
            );
          }
        }
      }),
      { numRuns: 60 },
    );
  });
  test('an image is restored as it was taken, with nothing of later', () => {
    const world = machine();
    world.log().append(record(1));
    world.store().write([put(1, 1)]);
    const image = world.disk.image();
    world.log().append(record(2));
    world.store().write([put(1, 2), put(2, 2)]);
    world.crash('clean');
    world.disk.restore(image);
    world.restart();
    expect(world.records()).toEqual([1]);
    expect(world.store().get(record(1))).toEqual(record(1));
    expect(world.store().get(record(2))).toBeUndefined();
    world.log().append(record(3));
    world.crash('lose');
    world.disk.restore(image);
    world.restart();
    expect(world.records()).toEqual([1]);
  });
});

describe('a crash at every point', () => {
  /**
   * A node that appends, syncs, and writes a batch once the sync is answered; answers are promises it has
   * made.
   */
  function work(world: ReturnType<typeof machine>, promised: { records: number; batches: number }) {
    const round = (n: number): void => {
      if (n === 6) return;
      world.log().append(record(2 * n));
      world.log().append(record(2 * n + 1));
      world.log().sync(() => {
        promised.records = Math.max(promised.records, 2 * n + 2);
        world.store().write([put(1, n), put(100 + n, n)], () => {
          promised.batches = Math.max(promised.batches, n + 1);
          round(n + 1);
        });
      });
    };
    round(0);
    world.settle();
  }

  function crashAt(point: number, how: CrashHow, seed: string) {
    const world = machine({}, seed);
    const promised = { records: 0, batches: 0 };
    let crashedAt: DiskPoint | null = null;
    world.disk.watch = (at) => {
      if (world.disk.points !== point) return;
      crashedAt = at;
      world.crash(how);
    };
    work(world, promised);
    world.disk.watch = null;
    if (crashedAt !== null) world.restart();
    const batches = world.store().range(record(100), new Uint8Array(0), 100).length;
    return {
      crashedAt,
      promised,
      records: world.records(),
      batches,
      last: world.store().get(record(1)),
      world,
    };
  }

  test('leaves what was promised, and a prefix of the rest', () => {
    const kinds = new Set<string>();
    for (const how of ['lose', 'drawn', 'clean'] as const) {
      for (let point = 1; ; point++) {
        const { crashedAt, promised, records, batches, last, world } = crashAt(point, how, `${point}`);
        if (crashedAt === null) break;
        const { op, on, when } = crashedAt as DiskPoint;
        kinds.add(`${op} ${on} ${when}`);
        const what = `${how} at point ${point}: ${op} ${on} ${when}`;
        expect(records, what).toEqual(Array.from({ length: records.length }, (_, i) => i));
        expect(records.length, what).toBeGreaterThanOrEqual(promised.records);
        expect(batches, what).toBeGreaterThanOrEqual(promised.batches);
        // A batch is atomic: the last value is that of the last batch.
        expect(last && numberOf(last), what).toBe(batches === 0 ? undefined : batches - 1);
        if (op === 'append' && when === 'inside') expect(world.disk.counters.recordsTorn).toBeGreaterThan(0);
      }
    }
    expect([...kinds].sort()).toEqual([
      'append consensus after',
      'append consensus before',
      'append consensus inside',
      'flush chain after',
      'flush chain inside',
      'flush consensus after',
      'flush consensus inside',
      'sync consensus before',
      'write chain after',
      'write chain before',
      'write chain inside',
    ]);
  });
  test('the same point names the same operation in every run', () => {
    const names = (seed: string) => {
      const world = machine({}, seed);
      const points: string[] = [];
      world.disk.watch = ({ op, on, when, nth }) => points.push(`${op} ${on} #${nth} ${when}`);
      work(world, { records: 0, batches: 0 });
      return points;
    };
    const points = names('a');
    expect(points).toEqual(names('a'));
    expect(points.slice(0, 7)).toEqual([
      'append consensus #1 before',
      'append consensus #1 inside',
      'append consensus #1 after',
      'append consensus #2 before',
      'append consensus #2 inside',
      'append consensus #2 after',
      'sync consensus #1 before',
    ]);
  });
});

describe('each draw has a stream of its own, so', () => {
  test('a disk that may lie takes as long as one that does not', () => {
    const times = (liesPpm: number) => {
      const world = machine({ liesPpm });
      const at: number[] = [];
      for (let i = 0; i < 5; i++) {
        world.log().append(record(i));
        world.log().sync(() => at.push(world.agenda.now));
        world.settle();
      }
      return at;
    };
    expect(times(1)).toEqual(times(0));
  });

  test('what a crash takes does not follow from whether it may lie', () => {
    const left = (liesPpm: number) => {
      const world = machine({ liesPpm });
      world.log().sync(() => {});
      world.settle();
      for (let i = 0; i < 1000; i++) world.log().append(record(i));
      world.crash('drawn');
      world.restart();
      return world.records().length;
    };
    expect(left(1)).toBe(left(0));
  });
});

test('an image of an empty disk empties it', () => {
  const world = machine();
  const image = world.disk.image();
  world.log().append(record(1));
  world.store().write([put(1, 1)]);
  world.crash('clean');
  world.disk.restore(image);
  world.restart();
  expect([world.records(), world.store().get(record(1))]).toEqual([[], undefined]);
});

test('the flush of an older trim does not make a newer one durable', () => {
  const world = machine({ flush: { minNs: 100, maxNs: 100 } });
  for (let i = 0; i < 9; i++) world.log().append(record(i));
  world.log().sync(() => {});
  world.settle();
  for (const keep of [6, 2]) {
    world.log().trim(keep);
    world.agenda.runUntil(world.agenda.now + 60);
  }
  world.crash('lose');
  world.restart();
  expect(world.records()).toHaveLength(9);
});

test('every sync is answered, in order, however many wait', () => {
  const world = machine();
  const answered: number[] = [];
  const ask = (i: number): void => {
    world.log().append(record(i));
    world.log().sync(() => {
      answered.push(i);
      if (i < 300) ask(i + 100);
    });
  };
  for (let i = 0; i < 100; i++) ask(i);
  world.settle();
  expect(answered).toEqual(Array.from({ length: 400 }, (_, i) => i));
});
