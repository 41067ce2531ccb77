// The oracle `admission` asks nothing of a mempool that it may have seen already.

import { expect, it } from 'vitest';
import { KvStore } from '../../../../machines/apps/kvstore.ts';
import { DEFAULT_MEMPOOL } from '../../../../machines/mempool/config.ts';
import type { AbciRequest, AbciResponse } from '../../../../protocol/abci.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { at, everyone, height, runScenario, scenario, submit, validators } from '../../../../sim/index.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { admissionOracle } from '../../../../sim/oracles/mempool/admission.ts';
import { Counted } from '../../../../sim/oracles/mempool/counted.ts';

/** Takes everything, and executes only the first transaction of a block. */
class FirstOnly extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type !== 'finalize-block') return answer;
    const txResults = answer.value.txResults.map((result, i) => (i === 0 ? result : { ...result, code: 9 }));
    return { ...answer, value: { ...answer.value, txResults } };
  }
}

it('what failed in a block pushes nothing out of a cache', () => {
  const play = scenario('a small cache', {
    cast: validators(1),
    app: () => new FirstOnly(),
    settings: { mempool: { cacheSize: 2, keepInvalidTxsInCache: true } },
    act: [
      at('2s', ...['good=1', 'bad=1', 'bad=2', 'bad=3'].map((tx) => submit('v0', tx))),
      at('6s', submit('v0', 'good=1')),
    ],
    ends: everyone.decides(height(12), { within: '60s' }),
  });
  const verdict = runScenario(play, { seed: 1 });
  expect(verdict.violations).toEqual([]);
  expect(verdict.transactions.committed).toBe(4);
});

/** The oracle at one node: a height is done with these, and asked about soon after are these. */
function afterBlock(
  txs: readonly Uint8Array[],
  asked: readonly Uint8Array[],
  { txsMax = DEFAULT_MEMPOOL.txsMax, cacheSize = 2, afterNs = 3e5 },
) {
  const reports: string[] = [];
  let now = 1e9;
  const node = {
    name: 'v0',
    index: 0,
    height: 1n,
    node: { isPaused: false },
    mode: 'consensus',
    heldUntilNs: -1,
    member: { id: 'v0' },
    config: { mempool: { ...DEFAULT_MEMPOOL, cacheSize, txsMax } },
  } as never;
  const ghost = new GhostChain(makeCast({ powers: [1n] }).genesis);
  const about = { now: () => now, machines: [node], isHonest: () => true } as never;
  const oracle = admissionOracle(ghost)((what) => void reports.push(what), about);
  const tell = (message: object): void =>
    oracle.leaving?.(node, 'validator', { type: 'tell', to: 'app', message } as never);
  const takes = (taken: readonly Uint8Array[]): void =>
    tell({ type: 'committed', height: 1n, txs: taken, codes: taken.map(() => 0) });
  takes(txs);
  now += afterNs;
  for (const [i, tx] of asked.entries())
    tell({ type: 'request', tag: i + 1, request: { type: 'check-tx', value: { tx, type: 0 } } });
  const given = (tx: Uint8Array, sinceNs: number): void => {
    now = 1e9 + sinceNs;
    oracle.submitted?.(node, tx);
  };
  return { reports, given, takes };
}

type Txs = [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
const SILENT = 'v0 was given a transaction and does not ask its application about it';

it('what a block of more than a cache holds took, and is asked about at once, may be in the pool again', () => {
  const [a, b, c, d] = [1, 2, 3, 4].map((byte) => Uint8Array.of(byte)) as Txs;
  const { reports, given } = afterBlock([a, b, c], [a], {});
  given(a, 2e6);
  given(d, 20e6);
  expect(reports).toEqual([]);
  given(a, 40e6);
  expect(reports).toEqual([SILENT]);
});

it.each([
  [20, []],
  [5_000, [SILENT]],
])('and takes room there: with twelve of them a pool of %d may be full', (txsMax, reported) => {
  const txs = Array.from({ length: 12 }, (_, i) => Uint8Array.of(i));
  const { reports, given } = afterBlock(txs, txs, { txsMax });
  for (const atNs of [2e7, 4e7]) given(Uint8Array.of(99), atNs);
  expect(reports).toEqual(reported);
});

it.each([
  [4, []],
  [5_000, [SILENT]],
])('what comes again to a pool of %d that may be full pushes nothing out', (txsMax, reported) => {
  const [a, b, c, d] = [1, 2, 3, 4].map((byte) => Uint8Array.of(byte)) as Txs;
  const [x, y] = [Uint8Array.of(5), Uint8Array.of(6)];
  const { reports, given, takes } = afterBlock([a, b], [x, y], { txsMax, cacheSize: 5, afterNs: 2e7 });
  given(a, 3e7);
  takes([x, y, c, d]);
  given(b, 5e7);
  given(a, 7e7);
  expect(reports).toEqual(reported);
});

it('what comes in one envelope takes the room of what comes behind it', () => {
  const pool = new Counted({ ...DEFAULT_MEMPOOL, txsMax: 8, bytesMax: 1_000 });
  const late = 1e12;
  for (const [id, bytes] of [
    ['a', 10],
    ['b', 10],
    ['c', 10],
  ] as const) {
    expect(pool.mayBeFull(bytes, late)).toBe(false);
    pool.due.set(id, { sinceNs: late, bytes });
  }
  expect(pool.mayBeFull(470, late)).toBe(false); // half of the bytes, and of the transactions
  expect(pool.mayBeFull(471, late)).toBe(true);
  pool.due.set('d', { sinceNs: late, bytes: 10 });
  expect(pool.mayBeFull(10, late)).toBe(true);
});

it.each([
  ['as it was', {}, true],
  ['with another room', { blockTxBytesMax: 90n }, false],
  ['with what is asked about', { txs: [Uint8Array.of(1)] }, false],
])('a block that comes before all is checked again, %s', (_, second, isOverrun) => {
  const [ms, tx] = [1e6, Uint8Array.of(1)];
  const block = {
    type: 'committed',
    height: 1n,
    txs: [],
    codes: [0],
    blockTxBytesMax: 100n,
    gasMax: -1n,
  } as const;
  const room = { bytes: 100, gas: Number.POSITIVE_INFINITY };
  const pool = new Counted(DEFAULT_MEMPOOL);
  pool.asks(1, tx, 0, 10 * ms);
  pool.answers(1, true, 0n, { count: 20 * ms, atNs: 20 * ms });
  pool.takes(block, [], room, 30 * ms);
  pool.asks(2, tx, 1, 30 * ms);
  expect(pool.isOverrun(40 * ms, -1)).toBe(false);
  pool.takes({ ...block, height: 2n, ...second }, [0], room, 50 * ms);
  expect(pool.isOverrun(50 * ms, -1)).toBe(false); // it may not have read that
  expect(pool.isOverrun(60 * ms, 60 * ms)).toBe(false); // nor when it was held until now
  expect(pool.isOverrun(60 * ms, -1)).toBe(isOverrun);
  pool.answers(2, true, 0n, { count: 70 * ms, atNs: 70 * ms });
  expect(pool.isOverrun(80 * ms, -1)).toBe(false);
});
