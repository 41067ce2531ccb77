// Block sync over slow lines: who answers in order, however late, is believed, asked once, and not dropped.

import { expect, it } from 'vitest';
import { DEFAULT_SYNC, type SyncConfig } from '../../machines/sync/config.ts';
import { SyncPool } from '../../machines/sync/pool.ts';

const MS = 1_000_000n;
const S = 1_000n * MS;

/** A peer that answers in order. A block takes its line so long, a report no time. */
class Peer {
  readonly name: string;
  /** Since when it is there. */
  readonly fromNs: bigint;
  private readonly blockNs: bigint;
  /** `null`: how far it is. */
  private readonly questions: { readonly height: bigint | null; readonly askedNs: bigint }[] = [];
  private freeNs = 0n;

  constructor(name: string, blockNs: bigint, fromNs = 0n) {
    this.name = name;
    this.fromNs = fromNs;
    this.blockNs = blockNs;
  }

  asks(height: bigint | null, askedNs: bigint): void {
    this.questions.push({ height, askedNs });
  }

  *answersBy(nowNs: bigint): Generator<bigint | null> {
    for (let [next] = this.questions; next; [next] = this.questions) {
      const beginsNs = next.askedNs > this.freeNs ? next.askedNs : this.freeNs;
      const endsNs = beginsNs + (next.height === null ? 0n : this.blockNs);
      if (endsNs > nowNs) return;
      this.freeNs = endsNs;
      this.questions.shift();
      yield next.height;
    }
  }
}

const TIP = 100_000n;

/** Two minutes of a node that is far behind. `isLost`: a request that never arrives. */
function syncFrom(peers: readonly Peer[], isLost: (height: bigint, nowNs: bigint) => boolean = () => false) {
  const config: SyncConfig = DEFAULT_SYNC;
  const pool = new SyncPool(config, 1n, 0n);
  const dropped: string[] = [];
  const requests: { readonly height: bigint; readonly atNs: bigint }[] = [];
  const appliedNs: bigint[] = [];
  const ask = (those: readonly Peer[], nowNs: bigint): void => {
    pool.asksReports(
      those.map(({ name }) => name),
      nowNs,
    );
    for (const peer of those) peer.asks(null, nowNs);
  };
  for (let nowNs = 0n; nowNs < 120n * S; nowNs += 100n * MS) {
    const coming = peers.filter(({ fromNs }) => fromNs === nowNs);
    ask(coming, nowNs);
    for (const { name } of coming) pool.range(name, 1n, TIP, nowNs);
    for (const peer of peers)
      for (const height of peer.answersBy(nowNs)) {
        if (height === null) pool.range(peer.name, 1n, TIP, nowNs);
        else {
          const bytes = Uint8Array.of(Number(height % 250n));
          pool.gave(
            peer.name,
            height,
            { from: peer.name, bytes, lastCommit: bytes, timeNs: height * S },
            nowNs,
          );
        }
      }
    if (nowNs % S === 0n) dropped.push(...pool.removeQuiet(nowNs));
    if (nowNs % config.statusNs === 0n && nowNs > 0n)
      ask(
        peers.filter(({ fromNs }) => fromNs < nowNs),
        nowNs,
      );
    for (let next = pool.handOver(); next; next = pool.handOver()) {
      pool.applied(next.height, nowNs);
      appliedNs.push(nowNs);
    }
    for (const { peer, height } of pool.plan(nowNs)) {
      requests.push({ height, atNs: nowNs });
      if (!isLost(height, nowNs)) peers.find(({ name }) => name === peer)?.asks(height, nowNs);
    }
  }
  return { dropped, requests, appliedNs, isBelieved: peers.map(({ name }) => pool.hasReported(name)) };
}

it.each([100n, 500n, 1_000n, 1_500n])(
  'a block every %d ms from one peer: each is asked for once',
  (blockMs) => {
    const { dropped, requests, appliedNs, isBelieved } = syncFrom([new Peer('slow', blockMs * MS)]);
    expect({ dropped, isBelieved }).toEqual({ dropped: [], isBelieved: [true] });
    expect(requests.length).toBe(new Set(requests.map(({ height }) => height)).size);
    // The line is never idle, but for a step of this clock now and then; the last block waits for the next one's commit.
    expect(appliedNs.length).toBeGreaterThanOrEqual(Math.floor((120_000 / Number(blockMs)) * 0.9) - 1);
  },
);

it('who gives what a faster one gave before is not quiet', () => {
  const { dropped, isBelieved } = syncFrom([
    new Peer('slow', 1_200n * MS),
    new Peer('fast', 10n * MS, 25n * S),
  ]);
  expect({ dropped, isBelieved }).toEqual({ dropped: [], isBelieved: [true, true] });
});

it('what was lost is asked for again soon, though its peer is busy with what was asked later', () => {
  let lostNs: bigint | null = null;
  const isLost = (height: bigint, nowNs: bigint): boolean => {
    if (height !== 30n || lostNs !== null) return false;
    lostNs = nowNs;
    return true;
  };
  const { requests, dropped } = syncFrom([new Peer('busy', 1n * S)], isLost);
  const [first, again, ...more] = requests.filter(({ height }) => height === 30n);
  expect(first?.atNs).toBe(lostNs);
  expect(more).toEqual([]);
  // Twenty blocks are on the line before what was asked next.
  expect(Number((again?.atNs ?? 0n) - (first?.atNs ?? 0n)) / 1e9).toBeLessThanOrEqual(22);
  expect(dropped).toEqual([]);
});

it('what was not sent before a later block does not come, and takes no room on the line', () => {
  const pool = new SyncPool({ ...DEFAULT_SYNC, requestsPerPeerMax: 2 }, 1n, 0n);
  const asked = (peer: string, nowNs: bigint): bigint[] =>
    pool.plan(nowNs).flatMap((each) => (each.peer === peer ? [each.height] : []));
  const gives = (peer: string, height: bigint, nowNs: bigint): void => {
    const bytes = Uint8Array.of(Number(height));
    expect(pool.gave(peer, height, { from: peer, bytes, lastCommit: bytes, timeNs: height * S }, nowNs)).toBe(
      null,
    );
  };
  pool.range('slow', 1n, 1n, 0n);
  expect(asked('slow', 0n)).toEqual([1n]);
  pool.range('slow', 1n, 9n, 1n);
  expect(asked('slow', 1n)).toEqual([2n]);
  pool.range('fast', 1n, 9n, 2n * S);
  expect(asked('fast', 2n * S)).toEqual([1n, 2n]);
  gives('fast', 1n, 2n * S);
  gives('fast', 2n, 2n * S);
  expect(asked('slow', 2n * S)).toEqual([]);
  gives('slow', 2n, 3n * S); // 1 was lost
  expect(asked('slow', 3n * S).length).toBe(2);
});
