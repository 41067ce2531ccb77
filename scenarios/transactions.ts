// Many transactions, large ones and wrong ones: what pools take, keep, pass on and let go, and what blocks hold of it.

import { DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import {
  after,
  at,
  crash,
  cut,
  disk,
  drop,
  everyone,
  heal,
  height,
  isolate,
  partition,
  powers,
  reset,
  restart,
  scenario,
  submit,
  these,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';
import { numbersInForms } from './shared.ts';

/**
 * Ten times as many as fit, for twenty seconds; what was refused is refused, and what was taken is decided.
 */
export const transactionStorm = scenario(
  'more transactions than pools hold: some are refused, none is lost',
  {
    name: 'transaction-storm',
    cast: validators(4),
    load: txs({ perSecond: 300, size: 100, count: 6_000 }),
    settings: { mempool: { txsMax: 40, cacheSize: 400 } },
    act: [after('25s')],
    ends: everyone.decides(height(16), { within: '120s', afterwards: 2 }),
  },
);

/** What waits fills some fifteen blocks, each with the oldest that has room in it; the large ones are as long as twelve others. */
export const smallBlocks = scenario('blocks hold as much as they may, oldest first', {
  name: 'small-blocks',
  cast: validators(4, { blockBytes: 16_000 }),
  load: txs({ perSecond: 50, size: 100, count: 250 }),
  act: [...[1, 2, 3, 4].map((i) => after('1s', submit('v0', `large${i}=`.padEnd(1_200, 'v')))), after('4s')],
  ends: everyone.decides(height(14), { within: '120s', afterwards: 2 }),
});

/** Twice as many as there is room for, and so short that a tenth of it goes into what frames them. */
export const shortTransactions = scenario('what frames a transaction takes room in a block, too', {
  name: 'short-transactions',
  cast: validators(4, { blockBytes: 15_000 }),
  load: txs({ perSecond: 64, size: 24, count: 200 }),
  act: [after('3s')],
  ends: everyone.decides(height(8), { within: '120s', afterwards: 1 }),
});

/**
 * One fits into a block, so that pools are always full, and queues of what was offered never empty. f0 lacks the block of height 3 for
 * ever: what it could not check is held back for it.
 */
export const neverEmptyPools = scenario('what left a pool that is never empty is not kept to be offered', {
  name: 'never-empty-pools',
  cast: { ...validators(4, { blockBytes: 16_000 }), fullNodes: 1 },
  load: txs({ perBlock: 3, size: 1_000 }),
  settings: {
    consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 100_000_000n },
    mempool: { txsMax: 8 },
  },
  act: [at('0s', drop('parts', { height: 3, to: ['f0'] }))],
  ends: these('v0', 'v1', 'v2', 'v3').decides(height(200), { within: '300s' }),
});

/** What goes to a peer at once is smaller than what pools hold: two transactions fit. */
export const smallBatches = scenario('transactions go to peers in pieces that they take', {
  name: 'small-batches',
  cast: validators(4),
  load: txs({ perSecond: 200, size: 400, count: 600 }),
  settings: { mempool: { txBytesMax: 500, batchBytesMax: 1_000 } },
  ends: everyone.decides(height(6), { within: '120s' }),
});

/** A hundred bytes each, and room for twenty. */
export const fullOfBytes = scenario('a pool holds no more bytes than it may', {
  name: 'full-of-bytes',
  cast: validators(4, { blockBytes: 15_000 }),
  load: txs({ perSecond: 60, size: 100, count: 300 }),
  settings: { mempool: { bytesMax: 2_000 } },
  act: [after('5s')],
  ends: everyone.decides(height(8), { within: '120s', afterwards: 1 }),
});

/** 500 bytes may be pooled, and 501 not. */
export const largestForAPool = scenario('a pool takes a transaction as large as it may', {
  name: 'largest-for-a-pool',
  cast: validators(4),
  settings: { mempool: { txBytesMax: 500 } },
  act: [500, 501, 499].map((size, i) => after('3s', submit('v0', `k${i}=`.padEnd(size, 'v')))),
  ends: everyone.decides(height(13), { within: '60s' }),
});

/** There is room for 837 bytes: a tag, two for the length, and 834. */
export const largestForABlock = scenario('a pool takes a transaction that fills a block', {
  name: 'largest-for-a-block',
  cast: validators(4, { blockBytes: 15_000 }),
  act: [834, 835, 833].map((size, i) => after('3s', submit('v0', `k${i}=`.padEnd(size, 'v')))),
  ends: everyone.decides(height(13), { within: '60s' }),
});

/** The length of 128 bytes takes two bytes. There is room for five such transactions, and for one of what would take one byte less. */
export const framesOfTwoBytes = scenario('the length of a transaction takes the room that it takes', {
  name: 'frames-of-two-bytes',
  cast: validators(4, { blockBytes: 14_943 }),
  load: txs({ perSecond: 24, size: 128, count: 60 }),
  act: [after('3s')],
  ends: everyone.decides(height(8), { within: '120s', afterwards: 1 }),
});

const nodes = ['v0', 'v1', 'v2', 'v3'] as const;

/** Whatever the application takes: no message may carry them, and who offered one would be dropped by all. */
export const emptyTransactions = scenario("an empty transaction is nobody's, and stops nobody", {
  name: 'empty-transactions',
  cast: validators(4),
  app: 'noop',
  load: txs({ perSecond: 4 }),
  act: [when(v0.decides(height(3)), submit('v0', ''), submit('v1', ''))],
  ends: everyone.decides(height(10), { within: '60s' }),
});

/** No pair, and kvstore wants pairs: beside those that are. Each comes twice, and is asked about twice: the answer may be another by then. */
export const refusedTransactions = scenario(
  'what the application refuses is neither passed on nor proposed',
  {
    name: 'refused-transactions',
    cast: validators(4),
    load: txs({ perSecond: 4 }),
    act: Array.from({ length: 24 }, (_, i) =>
      after('300ms', submit(nodes[i % 4] ?? 'v0', `no pair ${i % 12}`)),
    ),
    ends: everyone.decides(height(8), { within: '120s', afterwards: 1 }),
  },
);

/** As a client may write them: kvstore proposes `:` as `=`, and refuses such a proposal of others when that names no validator. */
export const illFormedUpdates = scenario('what would be refused as a proposal does not enter the pools', {
  name: 'ill-formed-updates',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: ['val:x', 'val=x', 'val:ed25519!', 'val:!!1', 'val=secp256k1!AA==!1', 'val:ed25519!AA==!-1'].map(
    (tx, i) => after('700ms', submit(nodes[i % 4] ?? 'v0', tx)),
  ),
  ends: everyone.decides(height(8), { within: '120s', afterwards: 1 }),
});

/**
 * The counter wants numbers in their order. Each is given in a form of its own to each node, so of those that a block leaves out the
 * application thinks otherwise after it.
 */
export const staleNumbers = scenario('what a block has made stale leaves the pools', {
  name: 'stale-numbers',
  cast: validators(4),
  app: 'counter_serial',
  act: numbersInForms(4),
  ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
});

/** `counter_serial` takes numbers in their order: 1 fails in a block, 0 follows it, and then it is the turn of 1. */
export const failedThenAgain = scenario('what failed in a block may be given again, and is decided', {
  name: 'failed-then-again',
  cast: validators(4),
  app: 'counter_serial',
  act: [
    when(v0.decides(height(3)), submit('v0', '\x01')),
    after('3s', submit('v0', '\x00')),
    after('3s', submit('v0', '\x01')),
  ],
  ends: everyone.decides(height(12), { within: '120s' }),
});

/** A node that has died in between knows of the block from its disk, and of what came of it. */
export const failedInALifeBefore = scenario(
  'what failed in a block may be given again to who has died since',
  {
    name: 'failed-in-a-life-before',
    cast: validators(4),
    app: 'counter_serial',
    act: [
      when(v0.decides(height(3)), submit('v0', '\x01')),
      after('3s', crash('v0', { restart: '1s' })),
      after('5s', submit('v0', '\x00')),
      after('3s', submit('v0', '\x01')),
    ],
    ends: everyone.decides(height(15), { within: '120s' }),
  },
);

/** The number fails in one block and succeeds in another, which all execute as they start again: it must not come a third time. */
export const succeededAtAStart = scenario('what succeeded last has succeeded, though it failed before', {
  name: 'succeeded-at-a-start',
  cast: validators(4),
  app: 'counter_serial',
  act: [
    when(v0.decides(height(3)), submit('v0', '\x01')),
    when(v0.decides(height(7)), submit('v0', '\x00')),
    when(v0.decides(height(10)), submit('v0', '\x01')),
    when(
      v0.prevotes({}, { height: 11 }),
      ...(['v0', 'v1', 'v2', 'v3'] as const).map((name) =>
        crash(name, {
          how: 'clean',
          restart: '1s',
          point: { when: 'after', op: 'flush', on: 'chain', nth: 1 },
        }),
      ),
    ),
    when(v0.joins()),
    after('3s', submit('v0', '\x01')),
  ],
  ends: everyone.decides(height(16), { within: '120s' }),
});

/**
 * Each number comes in four forms: those that a block takes fail, all but the first, and the others are stale after it. Three seconds later all come again, and it is the application that
 * has to say no.
 */
export const givenAgain = scenario(
  'what failed in a block, or was thrown out after one, is asked about again',
  {
    name: 'given-again',
    cast: validators(4),
    app: 'counter_serial',
    act: [...numbersInForms(4), after('3s'), ...numbersInForms(4)],
    ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
  },
);

/**
 * v3 hears of no transaction of others. Each is given to it as it commits the block that holds it: the application is still asked about it
 * when the pool hears that it is in a block.
 */
export const committedMeanwhile = scenario('what a block took while it was checked is not pooled any more', {
  name: 'committed-meanwhile',
  cast: validators(4),
  act: [
    at('0s', drop('transactions', { to: ['v3'] })),
    ...Array.from({ length: 10 }, (_, i) => i + 3).flatMap((k) => [
      when(everyone.decides(height(k - 1)), submit('v0', `k${k}=v`)),
      when(v3.decides(height(k)), submit('v3', `k${k}=v`)),
    ]),
  ],
  ends: everyone.decides(height(14), { within: '240s', afterwards: 2 }),
});

/**
 * v1 decides alone, and v0 keeps what is in blocks long ago. v1 dies as its application writes: as it comes back it executes that block again, on a
 * slow disk, and v0 offers all that it has meanwhile. Then it proposes at once.
 */
export const remindedAtAStart = scenario(
  'what is in blocks is known to a pool before it is asked for a block',
  {
    name: 'reminded-at-a-start',
    cast: powers(1, 30),
    load: txs({ perSecond: 3, copies: 2 }),
    settings: { consensus: { timeoutCommitNs: 0n, createEmptyBlocks: false } },
    act: [
      at('0s', drop('block-sync', { to: ['v0'] })),
      when(
        v1.decides(height(40)),
        disk('v1', 'slow'),
        crash('v1', {
          how: 'lose',
          restart: '5s',
          point: { when: 'before', op: 'write', on: 'app', nth: 1 },
        }),
      ),
      when(v1.joins()),
      when(v1.decides(height(43)), heal()),
    ],
    ends: everyone.decides(height(51), { within: '400s', afterwards: 2 }),
  },
);

const VALIDATORS = ['v0', 'v1', 'v2', 'v3'] as const;

/**
 * f0 knows f1 only; later f1 is cut off, is given some itself, and meets the others again; then each of them falls behind and catches up, and
 * two are out of its reach.
 */
export const transactionsTravel = scenario('a transaction travels through nodes that propose nothing', {
  name: 'transactions-travel',
  cast: validators(4, { fullNodes: 2 }),
  act: [
    at('0s', cut(['f0'], [...VALIDATORS], 'for-ever'), cut([...VALIDATORS], ['f0'], 'for-ever')),
    ...[1, 2, 3].map((i) => after('2s', submit('f0', `far${i}=v`))),
    after('20s', partition(['f1'])),
    ...[1, 2, 3].map((i) => after('1s', submit('f1', `alone${i}=v`))),
    after('1s', ...VALIDATORS.map((each) => reset('f1', each))),
    after('1s', heal()),
    after('20s'),
    ...VALIDATORS.flatMap((each) => [after('3s', isolate(each)), after('5s', heal())]),
    after('3s', cut(['f1'], ['v0', 'v1'], 'for-ever')),
    ...[1, 2, 3].map((i) => after('3s', submit('f1', `caught-up${i}=v`))),
    after('25s'),
  ],
  ends: everyone.decides(height(90), { within: '240s' }),
});

/** v3 gets no blocks, though all hear it: what v0 is given meanwhile is not for it yet. Then nothing is decided for a while, and v3 catches up. */
export const heldTransactions = scenario('who was behind is offered what was held back for it', {
  name: 'held-transactions',
  cast: validators(4),
  act: [
    when(v0.decides(height(4)), drop('parts', { to: ['v3'] })),
    when(v0.decides(height(8)), crash('v1'), crash('v2'), submit('v0', 'held=v')),
    after('1s', heal()),
    when(v3.decides(height(8))),
    after('30s', restart('v1'), restart('v2')),
  ],
  ends: everyone.decides(height(14), { within: '240s' }),
});

/** Ten times the bytes that a pool holds, in the end, and never more than a tenth of them at once. */
export const poolLetsGo = scenario('what left the pool makes room', {
  name: 'pool-lets-go',
  cast: validators(4),
  load: txs({ perSecond: 10, size: 200, count: 240 }),
  settings: { mempool: { bytesMax: 16_000 } },
  act: [after('26s')],
  ends: everyone.decides(height(24), { within: '120s', afterwards: 1 }),
});

/** More bytes than v0's pool may hold, refused one by one, before those that are not. */
export const refusedLeaveRoom = scenario('what was refused takes no room', {
  name: 'refused-leave-room',
  cast: validators(4),
  settings: { mempool: { bytesMax: 8_000 } },
  act: [
    at('1s'),
    ...Array.from({ length: 20 }, (_, i) => after('100ms', submit('v0', `no pair ${i}`.padEnd(900, '.')))),
    ...Array.from({ length: 4 }, (_, i) => after('500ms', submit('v0', `k${i}=v`))),
  ],
  ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
});

const TEN = Array.from({ length: 10 }, (_, i) => i);

/**
 * A client gives v0 the same transaction three times, the last time when the cache has room only for what was seen since the second; and when
 * it is full another one, twice.
 */
export const seenAgain = scenario('what was seen again lately is not taken a second time', {
  name: 'seen-again',
  cast: validators(4),
  settings: { mempool: { cacheSize: 16 } },
  act: [
    at('1s', submit('v0', 'again=v')),
    after('3s', ...TEN.map((i) => submit('v0', `before${i}=v`))),
    after('3s', submit('v0', 'again=v')),
    after('1s', ...TEN.map((i) => submit('v0', `after${i}=v`))),
    after('3s', submit('v0', 'again=v')),
    after('3s', submit('v0', 'late=v')),
    after('3s', submit('v0', 'late=v')),
    after('3s'),
  ],
  ends: everyone.decides(height(14), { within: '120s', afterwards: 1 }),
});

/** f0 proposes nothing, and what it offers first is lost. */
export const lostTransaction = scenario('a transaction that was lost on its way is offered again', {
  name: 'lost-transaction',
  cast: validators(4, { fullNodes: 1 }),
  act: [
    at('0s', drop('transactions', { from: ['f0'] })),
    after('3s', submit('f0', 'late=1')),
    after('2s', heal()),
    after('30s'),
  ],
  ends: everyone.decides(height(36), { within: '120s', afterwards: 1 }),
});
