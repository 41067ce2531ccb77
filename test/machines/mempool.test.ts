import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TxCache } from '../../machines/mempool/cache.ts';
import { DEFAULT_MEMPOOL, type MempoolConfig } from '../../machines/mempool/config.ts';
import { Gossip, NOT_BEHIND } from '../../machines/mempool/gossip.ts';
import { type Checking, Pool, type PoolTx } from '../../machines/mempool/pool.ts';
import type { ResponseCheckTx } from '../../protocol/abci.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { protoSizeOfTx } from '../../protocol/tx-size.ts';
import { BLOCK_TXS_MAX, EMPTY_BYTES } from '../../protocol/types.ts';

const NO_LIMITS = { blockTxBytesMax: -1n, gasMax: -1n };

const response = (code: number, gasWanted = 1n): ResponseCheckTx => ({
  code,
  data: EMPTY_BYTES,
  log: '',
  info: '',
  gasWanted,
  gasUsed: 0n,
  events: [],
  codespace: '',
});

/** Transaction `n`, of a length that depends on it. */
const tx = (n: number): Uint8Array => new Uint8Array(1 + (n % 7)).fill(n);
const numberOf = (bytes: Uint8Array): number => bytes[0]!;

function admitted(pool: Pool, n: number, sender: string | null = null): Checking {
  const checking = pool.admit(tx(n), sender);
  return isRefusal(checking) ? unreachable(checking.because) : (checking as Checking);
}

function entered(pool: Pool, n: number, sender: string | null = null, gasWanted = 1n): PoolTx {
  const settled = pool.settle(admitted(pool, n, sender), response(0, gasWanted));
  return isRefusal(settled) ? unreachable(settled.because) : (settled as PoolTx);
}

const refusalOf = (value: unknown): string => (isRefusal(value) ? value.refused : 'fine');
const reaped = (pool: Pool, bytesMax = -1n, gasMax = -1n): number[] =>
  pool.reap(bytesMax, gasMax).map(numberOf);
const poolOf = (more: Partial<MempoolConfig> = {}): Pool => new Pool({ ...DEFAULT_MEMPOOL, ...more });

it('sizes a transaction as protobuf does', () => {
  const sizes = [0, 1, 127, 128, 16_383, 16_384, 2_097_152].map(protoSizeOfTx);
  expect(sizes).toEqual([2, 3, 129, 131, 16_386, 16_388, 2_097_157]);
});

it('refuses at its limits, in the order CometBFT asks', () => {
  expect(refusalOf(poolOf({ txsMax: 0 }).admit(tx(1), null))).toBe('mempool-full');
  expect(refusalOf(poolOf({ bytesMax: 1 }).admit(tx(1), null))).toBe('mempool-full');
  expect(refusalOf(poolOf().admit(EMPTY_BYTES, null))).toBe('pre-check');
  expect(refusalOf(poolOf({ txBytesMax: 1 }).admit(tx(1), null))).toBe('tx-too-large');
  expect(refusalOf(poolOf({ blockTxBytesMax: 3n }).admit(tx(1), null))).toBe('pre-check');
  expect(refusalOf(poolOf({ blockTxBytesMax: 4n }).admit(tx(1), null))).toBe('fine');
  const pool = poolOf({ txsMax: 2 });
  admitted(pool, 1);
  expect(refusalOf(pool.admit(tx(1), null))).toBe('in-cache');
  entered(pool, 2);
  expect(pool.admit(tx(3), null)).toMatchObject({
    because: 'mempool is full: number of txs 2 (max: 2), total txs bytes 5 (max: 1073741824)',
  });
});

it('knows of a peer that it has what it offers, however full the pool is', () => {
  const full = poolOf({ txsMax: 2 });
  const first = entered(full, 1);
  entered(full, 2);
  expect(refusalOf(full.admit(tx(1), 'a'))).toBe('mempool-full');
  expect([...first.knownBy]).toEqual(['a']);
  const overrun = poolOf();
  const one = entered(overrun, 1);
  overrun.beginRecheck(one);
  overrun.update(1n, [], [], NO_LIMITS);
  overrun.beginRecheck(one);
  overrun.update(2n, [], [], NO_LIMITS);
  expect(refusalOf(overrun.admit(tx(1), 'a'))).toBe('rechecking');
  expect([...one.knownBy]).toEqual(['a']);
});

it('says what the application and the gas limit say', () => {
  const pool = poolOf({ gasMax: 5n });
  expect(refusalOf(pool.settle(admitted(pool, 1), response(7)))).toBe('check-tx');
  expect(refusalOf(pool.settle(admitted(pool, 1), response(0, 6n)))).toBe('post-check');
  expect(refusalOf(pool.settle(admitted(pool, 1), response(0, -1n)))).toBe('post-check');
  expect(refusalOf(pool.settle(admitted(pool, 1), response(0, 5n)))).toBe('fine');
  const strict = poolOf({ keepInvalidTxsInCache: true });
  expect(refusalOf(strict.settle(admitted(strict, 1), response(7)))).toBe('check-tx');
  expect(refusalOf(strict.admit(tx(1), null))).toBe('in-cache');
});

it('lets go of what no block has room for any more, and of nothing else', () => {
  const pool = poolOf();
  for (const n of [5, 1, 4]) entered(pool, n); // of eight, four and seven bytes with their frame
  const late = admitted(pool, 6);
  pool.update(1n, [], [], { blockTxBytesMax: 7n, gasMax: -1n });
  expect(reaped(pool)).toEqual([1, 4]);
  expect([pool.size, pool.sizeBytes]).toEqual([2, 7]);
  expect(refusalOf(pool.settle(late, response(0)))).toBe('pre-check');
  // It may come again when there is room again.
  pool.update(2n, [], [], NO_LIMITS);
  for (const n of [5, 6]) expect(refusalOf(pool.admit(tx(n), null))).toBe('fine');
  const strict = poolOf({ keepInvalidTxsInCache: true });
  entered(strict, 5);
  strict.update(1n, [], [], { blockTxBytesMax: 3n, gasMax: -1n });
  strict.update(2n, [], [], NO_LIMITS);
  expect(refusalOf(strict.admit(tx(5), null))).toBe('in-cache');
});

it('lets go of what wants more gas than any block may take any more, and of nothing else', () => {
  const pool = poolOf();
  for (const [n, gas] of [
    [1, 5n],
    [2, 3n],
    [3, 4n],
  ] as const)
    entered(pool, n, null, gas);
  pool.update(1n, [], [], { blockTxBytesMax: -1n, gasMax: 4n });
  expect([reaped(pool, -1n, -1n), pool.size, pool.sizeBytes]).toEqual([[2, 3], 2, 7]);
  pool.update(2n, [], [], { blockTxBytesMax: -1n, gasMax: 4n });
  pool.update(3n, [], [], NO_LIMITS);
  expect(refusalOf(pool.admit(tx(1), null))).toBe('fine');
});

it('reaps no more than a block may have, however short they are', () => {
  const pool = poolOf({ txsMax: BLOCK_TXS_MAX + 1, cacheSize: 0 });
  for (let n = 0; n <= BLOCK_TXS_MAX; n++) {
    const checking = pool.admit(Uint8Array.of(n, n >> 8, n >> 16), null);
    if (isRefusal(checking)) return unreachable(checking.because);
    pool.settle(checking as Checking, response(0));
  }
  expect([pool.size, pool.reap(-1n, -1n).length]).toEqual([BLOCK_TXS_MAX + 1, BLOCK_TXS_MAX]);
});

it('reaps in order until the first that does not fit', () => {
  const pool = poolOf();
  for (const n of [1, 6, 2]) entered(pool, n, null, 2n); // 4, 9 and 5 bytes as protobuf
  expect(reaped(pool)).toEqual([1, 6, 2]);
  expect(reaped(pool, 12n)).toEqual([1]);
  expect(reaped(pool, 13n)).toEqual([1, 6]);
  expect(reaped(pool, 0n)).toEqual([]);
  expect(reaped(pool, -1n, 3n)).toEqual([1]);
  expect(reaped(pool, -1n, 4n)).toEqual([1, 6]);
});

it('lets go of what a block holds, also while it is checked', () => {
  const pool = poolOf();
  for (const n of [1, 2, 3]) entered(pool, n);
  const checking = admitted(pool, 4);
  pool.update(9n, [tx(2), tx(4), tx(5)], [0, 0, 1], NO_LIMITS);
  expect([reaped(pool), pool.height, pool.sizeBytes]).toEqual([[1, 3], 9n, 6]);
  expect(refusalOf(pool.settle(checking, response(0)))).toBe('late');
  expect([2, 4, 5].map((n) => refusalOf(pool.admit(tx(n), null)))).toEqual(['in-cache', 'in-cache', 'fine']);
});

it('takes new limits from a block', () => {
  const pool = poolOf();
  pool.update(1n, [], [], { blockTxBytesMax: 3n, gasMax: 0n });
  expect(refusalOf(pool.admit(tx(1), null))).toBe('pre-check');
  expect(refusalOf(pool.settle(admitted(pool, 0), response(0, 1n)))).toBe('post-check');
});

it('rechecks, and counts as full while a block overtakes the recheck', () => {
  const pool = poolOf();
  const [one, two] = [entered(pool, 1), entered(pool, 2)];
  pool.update(1n, [], [], NO_LIMITS);
  expect([one, two].map((each) => pool.beginRecheck(each))).toEqual([true, true]);
  expect(refusalOf(pool.admit(tx(3), null))).toBe('fine');
  expect(pool.settleRecheck(one, response(0))).toBe(null);
  pool.update(2n, [], [], NO_LIMITS);
  expect([one, two].map((each) => pool.beginRecheck(each))).toEqual([true, false]); // the other has a question open
  expect(refusalOf(pool.admit(tx(4), null))).toBe('rechecking');
  expect(pool.settleRecheck(two, response(0))).toBe('outdated');
  expect(refusalOf(pool.settleRecheck(one, response(1)))).toBe('check-tx');
  expect(refusalOf(pool.admit(tx(4), null))).toBe('rechecking');
  expect(pool.settleRecheck(two, response(0))).toBe(null);
  expect(reaped(pool)).toEqual([2]);
  expect(refusalOf(pool.admit(tx(4), null))).toBe('fine');
  expect(refusalOf(pool.admit(tx(1), null))).toBe('fine');
});

it('cache: the least recently seen leaves first', () => {
  const cache = new TxCache(2);
  expect(['a', 'b', 'a', 'c'].map((key) => cache.push(key))).toEqual([true, true, false, true]);
  expect(['a', 'b', 'c'].map((key) => cache.has(key))).toEqual([true, false, true]);
  const none = new TxCache(0);
  expect([none.push('a'), none.push('a'), none.size]).toEqual([true, true, 0]);
});

/** The pool by lists and nothing else. */
class NaivePool {
  pool: number[] = [];
  checking: number[] = [];
  cache: number[] = [];
  private readonly config: MempoolConfig;

  constructor(config: MempoolConfig) {
    this.config = config;
  }

  private bytes(): number {
    return [...this.pool, ...this.checking].reduce((sum, n) => sum + tx(n).length, 0);
  }

  admit(n: number): string {
    const { txsMax, bytesMax, cacheSize } = this.config;
    const isFull = this.pool.length + this.checking.length >= txsMax;
    if (isFull || this.bytes() + tx(n).length > bytesMax) return 'mempool-full';
    const isKnown = this.cache.includes(n) || this.pool.includes(n) || this.checking.includes(n);
    this.forget(n);
    this.cache = [...this.cache, n].slice(-cacheSize);
    if (isKnown) return 'in-cache';
    this.checking.push(n);
    return 'fine';
  }

  forget(n: number): void {
    this.cache = this.cache.filter((each) => each !== n);
  }

  drop(n: number): void {
    this.pool = this.pool.filter((each) => each !== n);
    this.checking = this.checking.filter((each) => each !== n);
  }
}

type Step =
  | { readonly do: 'admit' | 'accept' | 'reject' | 'recheck-fails'; readonly n: number }
  | { readonly do: 'commit'; readonly ns: readonly number[] };

const number = fc.integer({ min: 0, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('admit', 'admit', 'accept', 'reject', 'recheck-fails'), n: number }),
  fc.record({ do: fc.constant('commit' as const), ns: fc.uniqueArray(number, { maxLength: 4 }) }),
);

it('agrees with a pool made of lists', () => {
  const config = { ...DEFAULT_MEMPOOL, txsMax: 6, bytesMax: 24, cacheSize: 8 };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [pool, naive] = [new Pool(config), new NaivePool(config)];
      const open = new Map<number, Checking>();
      let height = 0n;
      for (const each of steps) {
        if (each.do === 'commit') {
          const txs = each.ns.map(tx);
          pool.update(
            ++height,
            txs,
            each.ns.map((n) => (n % 5 === 0 ? 1 : 0)),
            NO_LIMITS,
          );
          for (const n of each.ns) {
            naive.drop(n);
            naive.forget(n);
            if (n % 5 !== 0) naive.cache = [...naive.cache, n].slice(-config.cacheSize);
          }
        } else if (each.do === 'admit') {
          const checking = pool.admit(tx(each.n), null);
          expect(refusalOf(checking)).toBe(naive.admit(each.n));
          if (!isRefusal(checking)) open.set(each.n, checking as Checking);
        } else if (each.do === 'recheck-fails') {
          const pooled = [...pool.txs.values()].find((one) => numberOf(one.tx) === each.n);
          if (!pooled) continue;
          pool.beginRecheck(pooled);
          pool.settleRecheck(pooled, response(1));
          naive.drop(each.n);
          naive.forget(each.n);
        } else {
          const checking = open.get(each.n);
          open.delete(each.n);
          if (!checking) continue;
          const said = refusalOf(pool.settle(checking, response(each.do === 'accept' ? 0 : 1)));
          const isLate = !naive.checking.includes(each.n);
          expect(said).toBe(isLate ? 'late' : each.do === 'accept' ? 'fine' : 'check-tx');
          if (isLate) continue;
          naive.drop(each.n);
          if (each.do === 'accept') naive.pool.push(each.n);
          else naive.forget(each.n);
        }
        expect(reaped(pool)).toEqual(naive.pool);
        expect(pool.sizeBytes).toBe(naive.pool.reduce((sum, n) => sum + tx(n).length, 0));
      }
    }),
    { numRuns: 500 },
  );
});

const MS = 1_000_000n;
const offersOf = (gossip: Gossip, nowNs: bigint): [string, number[]][] =>
  gossip.take(nowNs).map(({ to, txs }) => [to.join(), txs.map((pooled) => numberOf(pooled.tx))]);

it('gossip: our own at once, those of others after a period, never back, and again after a while', () => {
  const pool = poolOf();
  const gossip = new Gossip(DEFAULT_MEMPOOL);
  for (const peer of ['a', 'b', 'c']) gossip.peerUp(peer, [], 0n, true);
  const own = entered(pool, 1);
  gossip.entered(own, true, 0n);
  expect(gossip.dueNs()).toBe(0n);
  expect(offersOf(gossip, 0n)).toEqual([['a,b,c', [1]]]);
  const heard = entered(pool, 2, 'a');
  gossip.entered(heard, false, 10n * MS);
  expect(offersOf(gossip, 109n * MS)).toEqual([]);
  expect(gossip.dueNs()).toBe(110n * MS);
  heard.knownBy.add('b'); // it came from b too
  expect(offersOf(gossip, 110n * MS)).toEqual([['c', [2]]]);
  own.knownBy.add('a');
  expect(gossip.dueNs()).toBe(5_000n * MS);
  expect(offersOf(gossip, 5_000n * MS)).toEqual([['b,c', [1]]]);
  expect(offersOf(gossip, 9_999n * MS)).toEqual([]);
  // On the beat, and so all together.
  expect(offersOf(gossip, 10_000n * MS)).toEqual([
    ['b', [1]],
    ['c', [2, 1]],
  ]);
});

it('gossip: a burst goes together, a large pool in pieces, an empty one not at all', () => {
  const pool = poolOf();
  const gossip = new Gossip({ ...DEFAULT_MEMPOOL, batchBytesMax: 10 });
  gossip.peerUp('a', [], 0n, true);
  gossip.entered(entered(pool, 1), true, 100n);
  expect(offersOf(gossip, 100n)).toEqual([['a', [1]]]);
  gossip.entered(entered(pool, 2), true, 101n);
  gossip.entered(entered(pool, 3), true, 102n);
  expect([offersOf(gossip, 102n), gossip.dueNs()]).toEqual([[], 100n + 2n * MS]);
  expect(offersOf(gossip, 100n + 2n * MS)).toEqual([['a', [2, 3]]]);
  gossip.peerUp('b', pool.forgetPeer('b'), 200n * MS, true);
  expect(offersOf(gossip, 200n * MS)).toEqual([['b', [1, 2, 3]]]);
  for (const n of [4, 5]) gossip.entered(entered(pool, n), true, 300n * MS);
  expect(offersOf(gossip, 302n * MS)).toEqual([['a,b', [4]]]); // 5 + 6 bytes are more than 10
  expect(gossip.dueNs()).toBe(402n * MS);
  expect(offersOf(gossip, 402n * MS)).toEqual([['a,b', [5]]]);
  gossip.clear();
  expect(gossip.dueNs()).toBe(null);
});

it('gossip: lists that begin alike are not the same', () => {
  const pool = poolOf();
  const gossip = new Gossip(DEFAULT_MEMPOOL);
  for (const peer of ['a', 'b', 'c']) gossip.peerUp(peer, [], 0n, true);
  for (const [n, sender] of [
    [1, null],
    [2, 'a'],
    [3, 'b'],
  ] as const)
    gossip.entered(entered(pool, n, sender), false, 0n);
  expect(offersOf(gossip, 1_000n * MS)).toEqual([
    ['a', [1, 3]],
    ['b', [1, 2]],
    ['c', [1, 2, 3]],
  ]);
});

it('gossip: waits for a peer that is behind, and forgets one that goes', () => {
  const pool = poolOf();
  pool.update(5n, [], [], NO_LIMITS);
  const gossip = new Gossip(DEFAULT_MEMPOOL);
  gossip.peerUp('a', [], 0n, true);
  gossip.peerUp('b', [], 0n, true);
  gossip.peerAt('a', 3n, 0n);
  gossip.peerAt('b', 4n, 0n);
  gossip.entered(entered(pool, 1), true, 0n);
  expect(offersOf(gossip, 0n)).toEqual([['b', [1]]]);
  gossip.peerAt('a', 4n, 1n);
  expect([gossip.dueNs(), offersOf(gossip, 1n)]).toEqual([1n, [['a', [1]]]]);
  gossip.peerDown('a', 2n);
  gossip.peerUp('a', pool.forgetPeer('a'), 2n, true);
  expect(offersOf(gossip, 2n)).toEqual([['a', [1]]]);
});

it('gossip: of what was offered already a beat takes one batch, in turn, and new ones do not wait for it', () => {
  const pool = poolOf();
  const gossip = new Gossip({ ...DEFAULT_MEMPOOL, batchBytesMax: 12 });
  gossip.peerUp('a', [], 0n, true);
  for (const n of [4, 5, 6]) gossip.entered(entered(pool, n), true, 0n);
  for (const at of [0n, 2n, 102n, 204n]) offersOf(gossip, at * MS);
  const given = (s: bigint): unknown => offersOf(gossip, s * 1000n * MS).map(([, txs]) => txs);
  expect([given(10n), given(11n), given(14n)]).toEqual([[[4, 5]], [], []]);
  expect(gossip.dueNs()).toBe(15_000n * MS);
  gossip.entered(entered(pool, 1), true, 14_100n * MS);
  expect(offersOf(gossip, 14_100n * MS)).toEqual([['a', [1]]]);
  expect([given(15n), given(16n)]).toEqual([[[6, 4]], []]);
});

describe('gossip: who has not said where it stands', () => {
  const pool = poolOf();
  pool.update(5n, [], [], NO_LIMITS);
  const one = entered(pool, 1);
  const gossip = (): Gossip => new Gossip(DEFAULT_MEMPOOL);
  const given = [['a', [1]]];

  it('is given nothing that it could not judge, until it says so', () => {
    const to = gossip();
    to.peerUp('a', [one], 0n, false);
    expect(offersOf(to, 0n)).toEqual([]);
    to.peerAt('a', NOT_BEHIND, 1n);
    expect(offersOf(to, 1n)).toEqual(given);
  });

  it('is level where the chain begins, whether it came before that was known or after', () => {
    const [before, after] = [gossip(), gossip()];
    before.peerUp('a', [one], 0n, false);
    before.begins();
    after.peerUp('a', [one], 0n, true);
    expect([before, after].map((each) => offersOf(each, 0n))).toEqual([given, given]);
  });

  it('has said so when that was told a moment before it came, or before its last connection went', () => {
    const [first, again] = [gossip(), gossip()];
    first.peerAt('a', NOT_BEHIND, 0n);
    first.peerUp('a', [one], 1n, false);
    again.peerUp('a', [], 0n, false);
    again.peerAt('a', NOT_BEHIND, 5n * MS);
    again.peerDown('a', 6n * MS);
    again.peerUp('a', [one], 6n * MS, false);
    expect([first, again].map((each) => offersOf(each, 6n * MS))).toEqual([given, given]);
  });

  it('is one that comes back later', () => {
    const to = gossip();
    to.peerUp('a', [], 0n, false);
    to.peerAt('a', NOT_BEHIND, 0n);
    to.peerDown('a', 60_000n * MS);
    to.peerUp('a', [one], 60_001n * MS, false);
    expect(offersOf(to, 60_001n * MS)).toEqual([]);
  });
});

it('gossip: who has caught up stays so, however many blocks follow', () => {
  const pool = poolOf();
  const gossip = new Gossip(DEFAULT_MEMPOOL);
  gossip.peerUp('a', [], 0n, true);
  gossip.peerAt('a', 3n, 0n);
  gossip.peerAt('a', -1n, 1n);
  pool.update(9n, [], [], NO_LIMITS);
  gossip.entered(entered(pool, 1), true, 2n);
  expect(offersOf(gossip, 2n)).toEqual([['a', [1]]]);
});

it('gossip: who is behind, or had its fill, is so when the pool was empty in between', () => {
  const pool = poolOf();
  pool.update(9n, [], [], NO_LIMITS);
  const gossip = new Gossip({ ...DEFAULT_MEMPOOL, batchBytesMax: 10 });
  for (const peer of ['a', 'b']) gossip.peerUp(peer, [], 0n, true);
  gossip.peerAt('a', 3n, 0n);
  for (const n of [4, 5]) gossip.entered(entered(pool, n), true, 0n);
  expect(offersOf(gossip, 2n * MS)).toEqual([['b', [4]]]); // 5 + 6 bytes are more than 10
  gossip.clear();
  gossip.entered(entered(pool, 1), true, 3n * MS);
  expect(offersOf(gossip, 50n * MS)).toEqual([]);
  expect(offersOf(gossip, 102n * MS)).toEqual([['b', [1]]]);
  gossip.peerAt('a', 8n, 103n * MS);
  expect(offersOf(gossip, 103n * MS)).toEqual([['a', [1]]]);
});
