// Block sync over slow lines: who answers in order, however late, is believed, asked once, and not dropped.

import { expect, it } from 'vitest';
import { DEFAULT_SYNC } from '../../machines/sync/config.ts';
import { SyncPool } from '../../machines/sync/pool.ts';
import type { Fetched } from '../../machines/sync/wanted.ts';

const MS = 1_000_000n;
const S = 1_000n * MS;

/** How long a block takes a line that begins to send it then. */
type Pace = (nowNs: bigint) => bigint;
const always =
  (ns: bigint): Pace =>
  () =>
    ns;

/** A peer that answers in order. A report takes its line no time. */
class Peer {
  readonly name: string;
  /** Since when it is there. */
  readonly fromNs: bigint;
  private readonly pace: Pace;
  /** `null`: how far it is. */
  private readonly questions: { readonly height: bigint | null; readonly askedNs: bigint }[] = [];
  private freeNs = 0n;

  constructor(name: string, pace: Pace, fromNs = 0n) {
    this.name = name;
    this.fromNs = fromNs;
    this.pace = pace;
  }

  /** Blocks that are still to come. */
  get owed(): number {
    return this.questions.filter(({ height }) => height !== null).length;
  }

  asks(height: bigint | null, askedNs: bigint): void {
    this.questions.push({ height, askedNs });
  }

  *answersBy(nowNs: bigint): Generator<bigint | null> {
    for (let [next] = this.questions; next; [next] = this.questions) {
      const beginsNs = next.askedNs > this.freeNs ? next.askedNs : this.freeNs;
      const endsNs = beginsNs + (next.height === null ? 0n : this.pace(beginsNs));
      if (endsNs > nowNs) return;
      this.freeNs = endsNs;
      this.questions.shift();
      yield next.height;
    }
  }
}

const TIP = 100_000n;

const blockOf = (from: string, height: bigint): Fetched => {
  const bytes = Uint8Array.of(Number(height % 250n));
  return { from, bytes, lastCommit: bytes, timeNs: height * S };
};

interface Course {
  readonly forNs?: bigint;
  /** A request that never arrives. */
  readonly isLost?: (height: bigint, nowNs: bigint) => boolean;
}

/** A node that is far behind syncs for two minutes, or so long. */
function syncFrom(peers: readonly Peer[], { forNs = 120n * S, isLost = () => false }: Course = {}) {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  const dropped: string[] = [];
  const requests: { readonly height: bigint; readonly atNs: bigint }[] = [];
  let applied = 0;
  const ask = (those: readonly Peer[], nowNs: bigint): void => {
    const names = those.map(({ name }) => name);
    pool.asksReports(names, nowNs);
    for (const peer of those) peer.asks(null, nowNs);
  };
  for (let nowNs = 0n; nowNs < forNs; nowNs += 100n * MS) {
    const coming = peers.filter(({ fromNs }) => fromNs === nowNs);
    ask(coming, nowNs);
    for (const { name } of coming) pool.range(name, 1n, TIP, nowNs);
    for (const peer of peers)
      for (const height of peer.answersBy(nowNs)) {
        if (height === null) pool.range(peer.name, 1n, TIP, nowNs);
        // Long words are read of those alone who may send one.
        else if (pool.isAsked(peer.name)) pool.gave(peer.name, height, blockOf(peer.name, height), nowNs);
      }
    if (nowNs % S === 0n) dropped.push(...pool.removeQuiet(nowNs));
    const here = peers.filter(({ fromNs }) => fromNs < nowNs);
    if (nowNs % DEFAULT_SYNC.statusNs === 0n) ask(here, nowNs);
    for (let next = pool.handOver(); next; next = pool.handOver()) {
      pool.applied(next.height, nowNs);
      applied++;
    }
    for (const { peer, height } of pool.plan(nowNs)) {
      requests.push({ height, atNs: nowNs });
      if (!isLost(height, nowNs)) peers.find(({ name }) => name === peer)?.asks(height, nowNs);
    }
  }
  return {
    /** Who was dropped, or is not believed any more. */
    lost: [...dropped, ...peers.filter(({ name }) => !pool.hasReported(name)).map(({ name }) => name)],
    requests,
    /** So many more than there are heights. */
    repeated: requests.length - new Set(requests.map(({ height }) => height)).size,
    applied,
    owed: peers.map(({ owed }) => owed),
  };
}

it.each([100n, 500n, 1_000n, 1_500n])('a block every %d ms from one peer: each is asked for once', (ms) => {
  const { lost, repeated, applied } = syncFrom([new Peer('slow', always(ms * MS))]);
  expect({ lost, repeated }).toEqual({ lost: [], repeated: 0 });
  // The line is never idle, but for a step of this clock now and then; the last block waits for the next one's commit.
  expect(applied).toBeGreaterThanOrEqual(Math.floor((120_000 / Number(ms)) * 0.9) - 1);
});

it('who gives what a faster one gave before is not quiet, and is asked for no more than it may owe', () => {
  const slow = new Peer('slow', always(1_200n * MS));
  const { lost, owed } = syncFrom([slow, new Peer('fast', always(10n * MS), 25n * S)], { forNs: 300n * S });
  expect(lost).toEqual([]);
  expect(owed[0]).toBeLessThanOrEqual(22); // the next two may be asked for again
});

/** At 40 s the line stands still for six. */
const pausing =
  (ns: bigint): Pace =>
  (nowNs) =>
    nowNs >= 40n * S && nowNs < 46n * S ? 46n * S - nowNs : ns;

it('a line that stood still is soon asked for no more than before', () => {
  const alone = syncFrom([new Peer('slow', pausing(300n * MS))]);
  expect(alone.lost).toEqual([]);
  expect(alone.repeated).toBeLessThanOrEqual(20);
  expect(alone.owed[0]).toBeLessThanOrEqual(20);
  const slow = new Peer('slow', pausing(300n * MS));
  const beside = syncFrom([slow, new Peer('fast', always(10n * MS), 25n * S)]);
  expect(beside.lost).toEqual([]);
  expect(beside.owed[0]).toBeLessThanOrEqual(22);
});

it('who gets slower and slower is believed all the same', () => {
  const slower: Pace = (nowNs) => 1_000n * MS + nowNs / 400n;
  const { lost, repeated } = syncFrom([new Peer('slow', slower)], { forNs: 600n * S });
  expect({ lost, repeated }).toEqual({ lost: [], repeated: 0 });
});

it('what was lost is asked for again soon, though its peer is busy with what was asked later', () => {
  let lostNs: bigint | null = null;
  const isLost = (height: bigint, nowNs: bigint): boolean => {
    if (height !== 30n || lostNs !== null) return false;
    lostNs = nowNs;
    return true;
  };
  const { requests, lost } = syncFrom([new Peer('busy', always(1n * S))], { isLost });
  const [first, again, ...more] = requests.filter(({ height }) => height === 30n);
  expect(first?.atNs).toBe(lostNs);
  expect(more).toEqual([]);
  // Twenty blocks are on the line before what was asked next.
  expect(Number((again?.atNs ?? 0n) - (first?.atNs ?? 0n)) / 1e9).toBeLessThanOrEqual(22);
  expect(lost).toEqual([]);
});

it('who sends old blocks alone, which nobody asked of it, gives no sign of life', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  pool.range('good', 1n, 2n, 0n);
  expect(pool.plan(0n).length).toBe(2);
  for (const height of [1n, 2n]) pool.gave('good', height, blockOf('good', height), 0n);
  expect(pool.handOver()?.height).toBe(1n);
  pool.applied(1n, 0n);
  pool.range('liar', 1n, 99n, S);
  expect(pool.plan(S).map(({ peer }) => peer)).toContain('liar');
  for (let nowNs = 2n * S; nowNs < 16n * S; nowNs += S) {
    expect(pool.gave('liar', 1n, blockOf('liar', 1n), nowNs)).toBe(null);
    expect(pool.removeQuiet(nowNs)).toEqual([]);
  }
  expect(pool.removeQuiet(16n * S)).toEqual(['liar']);
});

/** Two peers of a pool, each asked for two at most: what each is asked for now, and what it gives. */
function two() {
  const pool = new SyncPool({ ...DEFAULT_SYNC, requestsPerPeerMax: 2 }, 1n, 0n);
  const asked = (peer: string, nowNs: bigint): bigint[] =>
    pool.plan(nowNs).flatMap((each) => (each.peer === peer ? [each.height] : []));
  const gives = (peer: string, height: bigint, nowNs: bigint): void =>
    expect(pool.gave(peer, height, blockOf(peer, height), nowNs)).toBe(null);
  pool.range('slow', 1n, 1n, 0n);
  expect(asked('slow', 0n)).toEqual([1n]);
  pool.range('slow', 1n, 9n, 1n);
  expect(asked('slow', 1n)).toEqual([2n]);
  pool.range('fast', 1n, 9n, 2n * S);
  expect(asked('fast', 2n * S)).toEqual([1n, 2n]);
  gives('fast', 1n, 2n * S);
  gives('fast', 2n, 2n * S);
  expect(asked('slow', 2n * S)).toEqual([]);
  return { pool, asked, gives };
}

it('what was not sent before a later block does not come, and takes no room on the line', () => {
  const { asked, gives } = two();
  gives('slow', 2n, 3n * S); // 1 was lost
  expect(asked('slow', 3n * S).length).toBe(2);
});

it('nor does what was not sent before it said that it has not a later one', () => {
  const { pool, asked } = two();
  pool.hasNot('slow', 2n, 3n * S);
  expect(asked('slow', 3n * S).length).toBe(2);
});

it('a question that was never answered is none that a later report answers', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  const asks = (nowNs: bigint): void => pool.asksReports(['liar'], nowNs);
  pool.range('liar', 1n, 99n, 0n);
  asks(10n * S); // and is not answered
  expect(pool.plan(20n * S).length).toBe(2);
  pool.gave('liar', 1n, blockOf('liar', 1n), 21n * S); // 2 is kept back
  for (const nowNs of [30n * S, 40n * S, 50n * S]) {
    expect(pool.hasReported('liar')).toBe(true);
    asks(nowNs);
    pool.range('liar', 1n, 99n, nowNs + S);
  }
  expect(pool.hasReported('liar')).toBe(false);
});

it('both halves of a pair in dispute are asked of the next one at once, whatever it was asked for before', () => {
  const pool = new SyncPool(DEFAULT_SYNC, 1n, 0n);
  for (const peer of ['z', 'y', 'x']) pool.range(peer, 1n, 2n, 0n);
  expect(pool.plan(0n).map(({ peer, height }) => `${peer}${height}`)).toEqual(['z1', 'y2']);
  expect(pool.plan(S).map(({ peer, height }) => `${peer}${height}`)).toEqual(['x1', 'z2']);
  pool.gave('x', 1n, blockOf('x', 1n), S);
  pool.gave('y', 2n, blockOf('y', 2n), S);
  expect(pool.handOver()?.height).toBe(1n);
  expect(pool.refused(1n, S)).toBe(null);
  for (const peer of ['x', 'y']) pool.remove(peer);
  expect(pool.plan(2n * S).map(({ peer, height }) => `${peer}${height}`)).toEqual(['z1', 'z2']);
});
