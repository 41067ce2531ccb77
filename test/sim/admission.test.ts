// The oracle `admission` asks nothing of a mempool that it may have seen already.

import { expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { at, everyone, height, runScenario, scenario, submit, validators } from '../../sim/index.ts';

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
