// The oracle `admission` asks nothing of a mempool that it may have seen already.

import { expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import { DEFAULT_MEMPOOL } from '../../machines/mempool/config.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { at, everyone, height, runScenario, scenario, submit, validators } from '../../sim/index.ts';
import { admissionOracle } from '../../sim/oracles/admission.ts';

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

it('what a block of more than a cache holds took, and is asked about at once, may be in the pool again', () => {
  const reports: string[] = [];
  let now = 0;
  const node = {
    name: 'v0',
    index: 0,
    height: 1n,
    node: { isPaused: false },
    mode: 'consensus',
    heldUntilNs: -1,
    member: { id: 'v0' },
    config: { mempool: { ...DEFAULT_MEMPOOL, cacheSize: 2 } },
  } as never;
  const ghost = { onBlock: [], params: () => undefined, set: () => undefined } as never;
  const about = { now: () => now, machines: [node], isHonest: () => true } as never;
  const oracle = admissionOracle(ghost)((what) => void reports.push(what), about);
  const tell = (message: object): void =>
    oracle.leaving?.(node, 'validator', { type: 'tell', to: 'app', message } as never);
  const txs = ['a', 'b', 'c', 'd'].map((text) => new TextEncoder().encode(text));
  const given = (tx: number, atNs: number): void => {
    now = atNs;
    oracle.submitted?.(node, txs[tx] as Uint8Array);
  };

  now = 1e9;
  tell({ type: 'committed', height: 1n, txs: txs.slice(0, 3), codes: [0, 0, 0] });
  now += 3e5;
  tell({ type: 'request', tag: 1, request: { type: 'check-tx', value: { tx: txs[0], type: 0 } } });
  given(0, 1e9 + 2e6);
  given(3, 1e9 + 20e6);
  expect(reports).toEqual([]);
  given(0, 1e9 + 40e6);
  expect(reports).toEqual(['v0 was given a transaction and does not ask its application about it']);
});
