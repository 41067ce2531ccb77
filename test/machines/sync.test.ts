import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DEFAULT_SYNC, type SyncConfig } from '../../machines/sync/config.ts';
import { SyncPool } from '../../machines/sync/pool.ts';
import type { Fetched } from '../../machines/sync/wanted.ts';
import { isRefusal } from '../../protocol/refusal.ts';

const S = 1_000_000_000n;

/** `good` blocks carry what the chain has there; a bad one does not verify. */
const block = (from: string, height: bigint, good = true): Fetched => ({
  from,
  bytes: Uint8Array.of(Number(height % 250n), good ? 1 : 0),
  lastCommit: Uint8Array.of(Number(height % 250n), good ? 1 : 0),
  timeNs: height * S,
});
const isGood = (bytes: Uint8Array): boolean => bytes[1] === 1;

const asked = (pool: SyncPool, nowNs: bigint): string[] =>
  pool.plan(nowNs).map(({ peer, height }) => `${peer}${height}`);
const refusalOf = (value: unknown): string => (isRefusal(value) ? value.refused : 'fine');

it('asks each height once, of the idlest peer that has it', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, requestsPerPeerMax: 2 }, 5n, 0n);
  expect(asked(pool, 0n)).toEqual([]);
  pool.range('a', 1n, 9n, 0n);
  pool.range('b', 6n, 100n, 0n);
  expect(asked(pool, 0n)).toEqual(['a5', 'b6', 'a7', 'b8']); // window: two peers with two each
  expect(asked(pool, 1n)).toEqual([]);
  expect(refusalOf(pool.gave('a', 5n, block('a', 5n), 1n))).toBe('fine');
  expect(pool.handOver()).toBe(null);
  expect(refusalOf(pool.gave('b', 6n, block('b', 6n), 1n))).toBe('fine');
  expect(pool.handOver()).toEqual({
    height: 5n,
    block: block('a', 5n).bytes,
    commit: block('b', 6n).lastCommit,
  });
  expect(pool.handOver()).toBe(null);
  pool.applied(5n, 2n);
  expect([pool.height, asked(pool, 2n)]).toEqual([6n, ['a9']]);
});

it('one request at a time makes a pair, too', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, requestsPerPeerMax: 1 }, 5n, 0n);
  pool.range('a', 1n, 20n, 0n);
  expect(asked(pool, 0n)).toEqual(['a5']);
  pool.gave('a', 5n, block('a', 5n), 1n);
  expect(asked(pool, 1n)).toEqual(['a6']);
  pool.gave('a', 6n, block('a', 6n), 2n);
  expect(pool.handOver()?.height).toBe(5n);
});

it('asks a second source for what it waits for, and again what may be lost', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  for (const peer of ['a', 'b']) pool.range(peer, 1n, 2n, 0n);
  expect(asked(pool, 0n)).toEqual(['a1', 'b2']);
  expect(asked(pool, 1n * S)).toEqual(['b1', 'a2']);
  expect(asked(pool, 5n * S)).toEqual([]);
  expect(asked(pool, 6n * S)).toEqual(['a1', 'b2']); // the one asked longest ago
  expect(refusalOf(pool.gave('b', 1n, block('b', 1n), 7n * S))).toBe('fine');
  expect(refusalOf(pool.gave('a', 1n, block('a', 1n), 7n * S))).toBe('fine'); // the slower one
});

it('knows what nobody asked for', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 5n, 0n);
  expect(refusalOf(pool.gave('a', 5n, block('a', 5n), 0n))).toBe('fine'); // an answer to an earlier life of ours
  pool.range('a', 1n, 6n, 0n);
  pool.range('b', 1n, 2n, 0n);
  asked(pool, 0n);
  expect(refusalOf(pool.gave('b', 5n, block('b', 5n), 0n))).toBe('unsolicited-block');
  expect(refusalOf(pool.gave('a', 9n, block('a', 9n), 0n))).toBe('unsolicited-block');
  expect(refusalOf(pool.gave('a', 4n, block('a', 4n), 0n))).toBe('unsolicited-block');
});

/** base, height, seconds. */
type Report = readonly [bigint, bigint, bigint];
const ranges: readonly { readonly reports: readonly Report[]; readonly believed: bigint }[] = [
  { reports: [[0n, 0n, 0n]], believed: 0n },
  {
    reports: [
      [1n, 5n, 0n],
      [1n, 6n, 1n],
    ],
    believed: 6n,
  },
  {
    reports: [
      [1n, 5n, 0n],
      [1n, 4n, 1n],
    ],
    believed: 5n,
  }, // an older envelope that came late
  {
    reports: [
      [1n, 5n, 0n],
      [1n, 4n, 10n],
    ],
    believed: 0n,
  },
  {
    reports: [
      [2n, 5n, 0n],
      [1n, 5n, 10n],
    ],
    believed: 0n,
  },
];

it.each(ranges)('after $reports we believe $believed', ({ reports, believed }) => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  for (const [base, height, seconds] of reports) pool.range('a', base, height, seconds * S);
  expect(pool.claimedHeight).toBe(believed);
  pool.range('a', 2n, 99n, 11n * S);
  const isBanned = believed === 0n && reports.length > 1;
  expect(pool.claimedHeight).toBe(isBanned ? 0n : 99n);
  pool.range('a', 2n, 99n, 71n * S);
  expect(pool.claimedHeight).toBe(99n);
});

it('drops a peer that owes blocks and goes quiet, not one that answers', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  pool.range('a', 1n, 3n, 0n);
  pool.range('b', 4n, 4n, 0n);
  asked(pool, 0n);
  expect(pool.removeQuiet(14n * S)).toEqual([]);
  pool.gave('a', 2n, block('a', 2n), 14n * S);
  expect(pool.removeQuiet(15n * S)).toEqual(['b']);
  expect(pool.removeQuiet(29n * S)).toEqual(['a']);
});

it('a second source saves the first from being called quiet', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  for (const peer of ['a', 'b']) pool.range(peer, 1n, 1n, 0n);
  expect([asked(pool, 0n), asked(pool, S)]).toEqual([['a1'], ['b1']]);
  pool.gave('b', 1n, block('b', 1n), 2n * S);
  expect(pool.removeQuiet(60n * S)).toEqual([]);
});

it('a peer that claims again what it said that it has not is not believed for a minute', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  pool.range('a', 1n, 1_000_000n, 0n);
  pool.range('b', 1n, 1n, 0n);
  asked(pool, 0n);
  expect(pool.isCaughtUp()).toBe(false);
  expect(pool.hasNot('b', 2n, 0n)).toBe(false); // was not asked
  expect(pool.hasNot('a', 2n, 0n)).toBe(true);
  pool.range('a', 1n, 1_000_000n, 1n * S); // may be older than the refusal
  expect([pool.claimedHeight, pool.isCaughtUp()]).toEqual([1_000_000n, false]);
  pool.range('a', 1n, 1_000_000n, 10n * S);
  expect([pool.claimedHeight, pool.isCaughtUp()]).toEqual([1n, true]);
  pool.range('a', 1n, 1_000_000n, 20n * S);
  expect(pool.isCaughtUp()).toBe(true);
});

it('a peer whose blocks went since it claimed them is asked for the others', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, requestsPerPeerMax: 3 }, 5n, 0n);
  pool.range('pruner', 1n, 99n, 0n);
  pool.range('archive', 1n, 8n, 0n);
  expect(asked(pool, 0n)).toEqual(['pruner5', 'archive6', 'pruner7', 'archive8']);
  expect(pool.hasNot('pruner', 5n, 1n)).toBe(true);
  expect(pool.hasNot('pruner', 7n, 1n)).toBe(false); // it is asked already what it has
  expect(pool.hasNot('pruner', 7n, 1n)).toBe(false);
  pool.range('pruner', 5n, 99n, 2n); // an older report
  expect(asked(pool, 2n)).toEqual(['pruner9', 'pruner10']); // the other owes two, as many as a stranger may
  pool.range('pruner', 9n, 99n, 3n);
  for (const height of [6n, 8n]) pool.gave('archive', height, block('archive', height), 3n);
  expect(asked(pool, 3n)).toEqual(['archive5', 'archive7']); // at once
  for (const height of [5n, 7n]) pool.gave('archive', height, block('archive', height), 4n);
  expect(pool.hasNot('pruner', 9n, 4n)).toBe(true); // the next one went, too
  pool.range('pruner', 10n, 99n, 20n * S);
  expect(['pruner', 'archive', 'stranger'].map((peer) => pool.hasReported(peer))).toEqual([
    true,
    true,
    false,
  ]);
});

it('who refuses the last block that it claims claims nothing more', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 5n, 0n);
  pool.range('a', 1n, 5n, 0n);
  expect(asked(pool, 0n)).toEqual(['a5']);
  pool.hasNot('a', 5n, 1n);
  expect([pool.claimedHeight, asked(pool, 6n * S)]).toEqual([0n, []]);
});

/** Peers a, b and c have 1 to 9; a gave block 1, b block 2, c block 3, and the pair 1, 2 was refused. */
function inDispute(): SyncPool {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  for (const peer of ['a', 'b', 'c']) pool.range(peer, 1n, 9n, 0n);
  expect(asked(pool, 0n)).toEqual(['a1', 'b2', 'c3', 'a4', 'b5', 'c6']); // strangers get two each
  pool.gave('a', 1n, block('a', 1n, false), 0n);
  pool.gave('b', 2n, block('b', 2n), 0n);
  pool.gave('c', 3n, block('c', 3n), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  expect(pool.isCaughtUp()).toBe(false);
  expect(pool.refused(1n, 0n)).toBe(null);
  return pool;
}

it('a pair of one sender is its lie', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  pool.range('a', 1n, 9n, 0n);
  asked(pool, 0n);
  for (const height of [1n, 2n]) pool.gave('a', height, block('a', height, false), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  expect(pool.refused(1n, 0n)).toBe('a');
  expect([pool.claimedHeight, pool.handOver()]).toEqual([0n, null]);
  expect(refusalOf(pool.gave('a', 3n, block('a', 3n), 0n))).toBe('fine'); // asked before it fell from grace
});

it('what a liar gave in the place of another is not asked again of who owes enough', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, requestsPerPeerMax: 2 }, 1n, 0n);
  for (const peer of ['a', 'b']) pool.range(peer, 1n, 9n, 0n);
  expect(asked(pool, 0n)).toEqual(['a1', 'b2', 'a3', 'b4']);
  pool.gave('a', 1n, block('a', 1n), 0n);
  for (const height of [2n, 4n]) pool.gave('b', height, block('b', height), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  pool.applied(1n, 0n);
  expect(asked(pool, 0n)).toEqual(['b5']);
  expect(asked(pool, 1n * S)).toEqual(['b3', 'a5']);
  pool.gave('b', 3n, block('b', 3n), 1n * S);
  expect(pool.handOver()?.height).toBe(2n);
  expect(pool.refused(2n, 1n * S)).toBe('b'); // whose 3 and 4 are of no worth, either
  expect(asked(pool, 1n * S)).toEqual([]); // its line is full: b was faster with 3, which a sends all the same, as 5
  expect(asked(pool, 6n * S)).toEqual(['a2']); // 3 would have come by now; asked for it anew it would owe three
  pool.gave('a', 5n, block('a', 5n), 7n * S);
  expect(asked(pool, 7n * S)).toContain('a3');
});

it('a pair of two is fetched again from one, and what fits tells who lied', () => {
  const pool = inDispute();
  expect(asked(pool, 0n)).toEqual(['a1', 'a2', 'b7', 'c8', 'b9']);
  for (const height of [1n, 2n]) pool.gave('a', height, block('a', height, false), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  expect(pool.refused(1n, 0n)).toBe('a');
  expect(asked(pool, 0n)).toEqual(['c1', 'c2', 'b4']);
  expect(refusalOf(pool.gave('b', 2n, block('b', 2n), 0n))).toBe('fine'); // asked before, and late
  for (const height of [1n, 2n]) pool.gave('c', height, block('c', height), 0n);
  expect(pool.handOver()).toMatchObject({ height: 1n, commit: block('c', 2n).lastCommit });
  expect(pool.applied(1n, 0n)).toBe(null); // a was the liar, and is gone already
  expect([pool.handOver()?.height, pool.applied(2n, 0n)]).toEqual([2n, null]);
});

it('who has not what it is asked for alone in a dispute leaves it to another', () => {
  const pool = inDispute();
  expect(asked(pool, 0n).slice(0, 2)).toEqual(['a1', 'a2']);
  pool.hasNot('a', 2n, 1n);
  expect(asked(pool, 1n).slice(0, 2)).toEqual(['c1', 'c2']);
});

it('the liar of a dispute is found by an honest third, though it went', () => {
  const pool = inDispute();
  expect(asked(pool, 0n).slice(0, 2)).toEqual(['a1', 'a2']);
  pool.remove('a');
  expect(asked(pool, 0n).slice(0, 2)).toEqual(['c1', 'c2']);
  pool.remove('c');
  expect(asked(pool, 0n).slice(0, 2)).toEqual(['b1', 'b2']);
  pool.range('a', 1n, 9n, 0n);
  for (const height of [1n, 2n]) pool.gave('b', height, block('b', height), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  expect(pool.applied(1n, 0n)).toBe('a');
  pool.range('a', 1n, 99n, 59n * S);
  expect(pool.claimedHeight).toBe(9n);
});

it('who was tried in a dispute, and went as all did, is tried again when it is back', () => {
  const pool = inDispute();
  for (const peer of ['a', 'c', 'b']) {
    expect(asked(pool, 0n).slice(0, 2)).toEqual([`${peer}1`, `${peer}2`]);
    pool.remove(peer);
  }
  expect(asked(pool, 0n)).toEqual([]);
  pool.range('a', 1n, 9n, 0n);
  expect([...asked(pool, 1n), ...asked(pool, 2n)]).toEqual(expect.arrayContaining(['a1', 'a2']));
});

it('what else the liar of a dispute gave is fetched from others', () => {
  const pool = inDispute();
  expect(asked(pool, 0n).slice(0, 2)).toEqual(['a1', 'a2']);
  pool.gave('a', 4n, block('a', 4n, false), 0n);
  pool.hasNot('a', 2n, 1n);
  expect(asked(pool, 1n).slice(0, 2)).toEqual(['c1', 'c2']);
  for (const height of [1n, 2n]) pool.gave('c', height, block('c', height), 1n);
  expect(pool.handOver()?.height).toBe(1n);
  expect(asked(pool, 1n).map((each) => each.slice(1))).not.toContain('4');
  expect(pool.applied(1n, 1n)).toBe('a');
  expect(asked(pool, 1n).map((each) => each.slice(1))).toContain('4');
});

it('gives up on a height that nobody serves', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  pool.range('a', 1n, 100n, 0n);
  expect([pool.isStalled(59n * S), pool.isStalled(60n * S)]).toEqual([false, true]);
  pool.beginPatience(30n * S);
  expect([pool.isStalled(60n * S), pool.isStalled(90n * S)]).toEqual([false, true]);
});

/** What a pool of peers `honest` and `liar` comes to, which start at height 100 of a chain that goes on. */
function syncBehind(blocksPerSecond: bigint, doesReport: boolean) {
  const pool = new SyncPool(DEFAULT_SYNC, 90n, 0n);
  for (let second = 0n; second < 600n; second++) {
    const nowNs = second * S;
    const tip = 100n + second * blocksPerSecond;
    if (second % 10n === 0n) {
      pool.asksReports(['honest', 'liar'], nowNs);
      pool.range('honest', 1n, tip, nowNs);
      if (doesReport || second === 0n) pool.range('liar', 1n, tip + 1_000n, nowNs);
    }
    pool.removeQuiet(nowNs);
    if (pool.isCaughtUp()) return { second, isAtTip: tip - pool.height < 10n * blocksPerSecond };
    for (const { peer, height } of pool.plan(nowNs))
      if (height <= tip) pool.gave(peer, height, block(peer, height), nowNs);
    for (let next = pool.handOver(); next; next = pool.handOver()) pool.applied(next.height, nowNs);
  }
  return null;
}

it.each([1n, 3n, 4n])('is caught up though a liar serves %d blocks a second and claims more', (pace) => {
  for (const doesReport of [true, false]) {
    const end = syncBehind(pace, doesReport);
    expect(end?.isAtTip).toBe(true);
    expect(end?.second).toBeLessThanOrEqual(60n);
  }
});

it('keeps no more blocks than its buffer holds', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, bufferBytesMax: 3, requestsPerPeerMax: 3 }, 1n, 0n);
  pool.range('a', 1n, 99n, 0n);
  expect(asked(pool, 0n)).toEqual(['a1', 'a2']);
  pool.gave('a', 2n, block('a', 2n), 0n);
  expect(asked(pool, 0n)).toEqual([]); // two bytes wait, and two are to come
  pool.gave('a', 1n, block('a', 1n), 0n);
  pool.handOver();
  pool.applied(1n, 0n);
  expect(asked(pool, 0n)).toEqual(['a3']);
  pool.gave('a', 3n, block('a', 3n), 0n);
  expect(asked(pool, 0n)).toEqual([]);
  pool.handOver();
  pool.applied(2n, 0n);
  expect(asked(pool, 0n)).toEqual(['a4']);
});

it('asks for no more large blocks at once than its buffer holds, and for many again when they are small', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, bufferBytesMax: 64 }, 1n, 0n);
  pool.range('a', 1n, 999n, 0n);
  const open: bigint[] = [];
  /** How many it waits for at most until `last` is here, while blocks of this size come in their order. */
  const openMost = (last: bigint, size: number): number => {
    let most = 0;
    for (let height = 0n; height < last; ) {
      open.push(...pool.plan(0n).map((request) => request.height));
      most = Math.max(most, open.length);
      height = open.shift() ?? last;
      pool.gave('a', height, { ...block('a', height), bytes: new Uint8Array(size) }, 0n);
      for (let next = pool.handOver(); next; next = pool.handOver()) pool.applied(next.height, 0n);
    }
    return most;
  };
  expect(openMost(50n, 1)).toBe(19);
  openMost(70n, 21); // asked for as small ones
  expect(openMost(100n, 21)).toBe(3);
  expect(openMost(150n, 1)).toBe(19);
});

it('asks for the height in a gap, however full the blocks behind it have made the buffer', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, bufferBytesMax: 3 }, 1n, 0n);
  pool.range('archive', 1n, 99n, 0n);
  pool.range('pruned', 4n, 99n, 0n);
  expect(asked(pool, 0n)).toEqual(['archive1', 'archive2', 'pruned4', 'pruned5']); // a stranger owes two at most
  for (const height of [4n, 5n]) pool.gave('pruned', height, block('pruned', height), 0n);
  for (const height of [1n, 2n]) pool.gave('archive', height, block('archive', height), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  pool.applied(1n, 0n);
  expect(asked(pool, 0n)).toEqual(['archive3']);
  pool.gave('archive', 3n, block('archive', 3n), 0n);
  for (let next = pool.handOver(); next; next = pool.handOver()) pool.applied(next.height, 0n);
  expect(pool.height).toBe(5n);
});

type Lie = 'honest' | 'claims-more' | 'silent' | 'has-not' | 'bad-blocks';
const lie: fc.Arbitrary<Lie> = fc.constantFrom('claims-more', 'silent', 'has-not', 'bad-blocks');

/** What a peer answers to a request; null: nothing. */
function answerOf(kind: Lie, height: bigint, tip: bigint): 'block' | 'bad' | 'none' | null {
  if (kind === 'silent') return null;
  if (kind === 'has-not') return 'none';
  if (kind === 'bad-blocks') return 'bad';
  return height <= tip ? 'block' : kind === 'claims-more' ? null : 'none';
}

/** Steps of a second; liars that were dropped come back at once. Returns when the pool was caught up, and how. */
function syncAmong(kinds: readonly Lie[], tip: bigint, lossPercent: number, draw: () => number) {
  const config: SyncConfig = DEFAULT_SYNC;
  const pool = new SyncPool(config, 1n, 0n);
  const report = (i: number, nowNs: bigint): void => {
    const claims = kinds[i] === 'honest' ? tip : tip + 1_000n;
    pool.range(`${i}`, 1n, claims, nowNs);
  };
  for (let second = 0n; second < 600n; second++) {
    const nowNs = second * S;
    for (let i = 0; i < kinds.length; i++) if (second % 10n === 0n) report(i, nowNs);
    for (const name of pool.removeQuiet(nowNs)) report(Number(name), nowNs);
    if (pool.isCaughtUp()) return { second, height: pool.height, gaveUp: false };
    if (pool.isStalled(nowNs)) return { second, height: pool.height, gaveUp: true };
    for (const { peer, height } of pool.plan(nowNs)) {
      if (draw() < lossPercent) continue;
      const answer = answerOf(kinds[Number(peer)]!, height, tip);
      if (answer === 'none') pool.hasNot(peer, height, nowNs);
      else if (answer) pool.gave(peer, height, block(peer, height, answer === 'block'), nowNs);
    }
    for (let next = pool.handOver(); next; next = pool.handOver()) {
      const isRight = isGood(next.block) && isGood(next.commit);
      const liar = isRight ? pool.applied(next.height, nowNs) : pool.refused(next.height, nowNs);
      if (liar !== null) expect(kinds[Number(liar)]).toBe('bad-blocks');
    }
  }
  return { second: 600n, height: pool.height, gaveUp: false };
}

it('reaches the tip among liars, as long as one peer is honest; among losses, too, or gives up in time', () => {
  fc.assert(
    fc.property(
      fc.array(lie, { maxLength: 4 }),
      fc.integer({ min: 1, max: 2 }),
      fc.bigInt(2n, 120n),
      fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
      fc.integer({ min: 1, max: 1 << 30 }),
      (liars, honest, tip, lossPercent, seed) => {
        let state = seed;
        const draw = (): number => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return (state >>> 8) % 100;
        };
        const kinds: Lie[] = [...Array.from({ length: honest }, (): Lie => 'honest'), ...liars];
        const { second, height, gaveUp } = syncAmong(kinds, tip, lossPercent, draw);
        expect(second).toBeLessThan(600n);
        // A minute of lost answers can happen: then consensus fetches the rest.
        if (lossPercent === 0 || !gaveUp) expect(height).toBeGreaterThanOrEqual(tip - 1n);
      },
    ),
    { numRuns: 400 },
  );
});
