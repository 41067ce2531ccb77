// Pools in other settings: one that takes nothing, and one that keeps in mind what was refused.

import { after, everyone, height, scenario, submit, txs, validators } from '../sim/scenario/words.ts';
import { numbersInForms } from './transactions.ts';

/** Each block is empty, and nobody waits for a transaction. */
export const noPool = scenario('where the application brings its own pool no transaction is taken', {
  name: 'no-pool',
  cast: validators(4),
  settings: { mempool: { kind: 'nop' } },
  load: txs({ perSecond: 3 }),
  ends: everyone.decides(height(10), { within: '60s' }),
});

const nodes = ['v0', 'v1', 'v2', 'v3'] as const;

/** Twelve that are no pairs, each given three times to one node. */
export const refusedAndKept = scenario('what was refused is not asked about again where caches keep it', {
  name: 'refused-and-kept',
  cast: validators(4),
  settings: { mempool: { keepInvalidTxsInCache: true, cacheSize: 60 } },
  load: txs({ perSecond: 2, count: 12 }),
  act: Array.from({ length: 36 }, (_, i) =>
    after('200ms', submit(nodes[i % 4] ?? 'v0', `no pair ${i % 12}`)),
  ),
  ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
});

/** Of each number a block takes some forms, of which all but one fail, and what it leaves out is stale after it: the second time nobody asks. */
export const failedAndKept = scenario('what failed, or became stale, is not asked about again either', {
  name: 'failed-and-kept',
  cast: validators(4),
  app: 'counter_serial',
  settings: { mempool: { keepInvalidTxsInCache: true } },
  act: [...numbersInForms(4), after('3s'), ...numbersInForms(4)],
  ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
});
