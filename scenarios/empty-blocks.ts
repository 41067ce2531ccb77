// Chains that make no empty blocks, or few: when they wait, and what ends the wait.

import {
  after,
  crash,
  drop,
  everyone,
  heal,
  height,
  isolate,
  nobody,
  powers,
  scenario,
  sometime,
  submit,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const SECOND_NS = 1_000_000_000n;

/**
 * The block after a transaction is made without being asked for: its header proves the application's state.
 * So each transaction makes two heights, and then all wait again.
 */
export const noEmptyBlocks = scenario(
  'without transactions no blocks, but for one that proves the app hash',
  {
    name: 'no-empty-blocks',
    cast: validators(4),
    settings: { consensus: { createEmptyBlocks: false } },
    act: [
      when(everyone.decides(height(1))),
      ...[1, 2, 3, 4, 5].flatMap((i) => [
        after('20s', submit('v0', `k${i}=v`)),
        when(everyone.decides(height(1 + 2 * i))),
      ]),
    ],
    ends: nobody.decidesBeyond(height(11), { for: '60s' }),
    liveness: 'waived', // waiting for a transaction has no bound
  },
);

const FORTY = Array.from({ length: 40 }, (_, i) => submit('v0', `k${i}=`.padEnd(250, 'v')));

/** Forty transactions come at once, and a block takes a few of them. Nothing of them is in the app hash, so no block is owed for that. */
export const leftOverTransactions = scenario('what a block leaves over is reason enough for the next one', {
  name: 'left-over-transactions',
  cast: validators(4, { blockBytes: 15_000 }),
  app: 'noop',
  settings: { consensus: { createEmptyBlocks: false } },
  act: [when(everyone.decides(height(1))), after('5s', ...FORTY)],
  ends: everyone.decides(height(12), { within: '240s' }),
});

/** Nobody asks the application about them again, so they wait for no answer, either. */
export const leftOverUnchecked = scenario(
  'what a block leaves over is reason enough where nothing is rechecked, too',
  {
    name: 'left-over-unchecked',
    cast: validators(4, { blockBytes: 15_000 }),
    app: 'noop',
    settings: { consensus: { createEmptyBlocks: false }, mempool: { recheck: false } },
    act: [when(everyone.decides(height(1))), after('5s', ...FORTY)],
    ends: everyone.decides(height(12), { within: '240s' }),
  },
);

/** v1 looks first whether v0 has blocks that it lacks; the transaction comes before that, and for a while v0 does not hear of it. The application proves nothing new. */
export const earlyTransaction = scenario(
  'a transaction that comes before consensus is reason enough for a block',
  {
    name: 'early-transaction',
    cast: powers(30, 1),
    app: 'noop',
    settings: { consensus: { createEmptyBlocks: false } },
    act: [
      when(everyone.decides(height(1))),
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((k) => [
        after('2s', crash('v1', { how: 'clean', restart: '1s' }), drop('transactions', { from: ['v1'] })),
        when(v1.starts(), submit('v1', `early${k}=v`)),
        when(v1.enters('propose', { height: k + 1 })),
        after('3s', heal()),
        when(everyone.decides(height(k + 1))),
      ]),
    ],
    ends: nobody.decidesBeyond(height(10), { for: '10s' }),
  },
);

/** Each time that v3 is away two blocks are decided, and then nobody has anything to say. */
export const waitingNodeCatchesUp = scenario('who missed a block while all wait is given it', {
  name: 'waiting-node-catches-up',
  cast: validators(4),
  settings: { consensus: { createEmptyBlocks: false } },
  act: [
    when(everyone.decides(height(1))),
    ...[3, 5, 7, 9, 11].flatMap((k) => [
      after('5s', isolate('v3')),
      after('100ms', submit('v0', `k${k}=v`)),
      when(v0.decides(height(k))),
      after('100ms', heal()),
      when(v3.decides(height(k))),
    ]),
  ],
  ends: nobody.decidesBeyond(height(11), { for: '10s' }),
});

/** Five seconds without a transaction, then the height itself: nine to ten heights a minute. */
export const emptyBlocksAtIntervals = scenario('an empty block is made when nothing came for five seconds', {
  name: 'empty-blocks-at-intervals',
  cast: validators(4),
  settings: { consensus: { createEmptyBlocksIntervalNs: 5n * SECOND_NS } },
  act: [when(everyone.decides(height(2)))],
  holds: [sometime(everyone.decides(height(11)))],
  ends: nobody.decidesBeyond(height(12), { for: '60s' }),
});

/** Ten minutes without a transaction would be an empty block; one that comes sooner is not kept waiting. */
export const transactionEndsTheWait = scenario('a transaction does not wait until an empty block is due', {
  name: 'transaction-ends-the-wait',
  cast: validators(4),
  settings: { consensus: { createEmptyBlocksIntervalNs: 600n * SECOND_NS } },
  act: [
    when(everyone.decides(height(1))),
    ...[2, 4, 6, 8, 10].map((k) => after('15s', submit('v0', `soon${k}=v`))),
  ],
  ends: everyone.decides(height(11), { within: '120s' }),
});
