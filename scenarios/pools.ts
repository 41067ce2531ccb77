// Pools in other settings: one that takes nothing, one that keeps in mind what was refused, one that is small or offers seldom; and one whose node is alone.

import { utf8Encode } from '#platform';
import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import { CHANNEL_MEMPOOL } from '../protocol/messages.ts';
import { NS_PER_MS } from '../protocol/time.ts';
import { encodeMempoolMessage } from '../protocol/wire/index.ts';
import { isItsPlace, type Liar } from '../sim/liars/liar.ts';
import { messagesIn } from '../sim/oracles/ghost/messages.ts';
import {
  after,
  application,
  at,
  block,
  crash,
  cut,
  drop,
  everyone,
  f0,
  heal,
  height,
  liar,
  nobody,
  partition,
  powers,
  reset,
  restart,
  scenario,
  submit,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';
import { numbersInForms } from './shared.ts';

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

const value = 'v'.repeat(300);

/** v3's application takes longer over each than the others over the block that has it. All together that is more than its pool may hold; there is room for what comes after. */
export const takenLeaveRoom = scenario('what a block took while it was checked takes no room', {
  name: 'taken-leave-room',
  cast: validators(4),
  settings: { mempool: { bytesMax: 2_000 } },
  act: [
    at('0s', drop('transactions', { to: ['v3'] })),
    at('1s', application('v3', { checks: '1500ms' })),
    ...Array.from({ length: 8 }, (_, i) => `k${i}=${value}`).flatMap((tx) => [
      after('3s', submit('v0', tx), submit('v3', tx)),
    ]),
    after('3s', application('v3', {})),
    ...[1, 2, 3].map((i) => after('1500ms', submit('v3', `room${i}=${value}`))),
    after('2s'),
  ],
  ends: everyone.decides(height(34), { within: '240s', afterwards: 2 }),
});

/** f0 has just lost all of its connections, and has offered nobody anything yet. */
export const takenAlone = scenario('what a node takes while it is alone it offers to who comes', {
  name: 'taken-alone',
  cast: validators(4, { fullNodes: 1 }),
  act: [
    at('3s', ...nodes.map((each) => reset('f0', each))),
    after('20ms', submit('f0', 'alone=v')),
    after('25s'),
  ],
  ends: everyone.decides(height(30), { within: '120s', afterwards: 1 }),
});

const GIFTS = 1_000;

/** Behind a word of where it stands it gives as many transactions as a pool holds, each another one. */
const giver: Liar = (kit) => (to, payloads) => {
  const [stands] = messagesIn(payloads);
  if (!kit.victims.has(to) || stands?.type !== 'new-round-step') return null;
  if (!isItsPlace(kit.words, stands.height, stands.round) || !kit.lies()) return null;
  kit.count('lie: many gifts');
  const gifts = Array.from({ length: GIFTS }, (_, i) => utf8Encode(`gift${i}=v`));
  for (const tx of gifts) kit.submitted(tx);
  return [
    ...payloads,
    { channel: CHANNEL_MEMPOOL, bytes: encodeMempoolMessage({ type: 'txs', txs: gifts }) },
  ];
};

/** v3's application needs two seconds for each answer, also to say where it is. */
export const earlyGifts = scenario('of what one peer gives to who cannot look yet little is kept', {
  name: 'early-gifts',
  cast: validators(4),
  liars: [liar('v2', giver, ['v3'], { fromHeight: 6, times: 1 })],
  act: [
    when(v0.decides(height(4)), application('v3', { blocks: '2s' }), crash('v3', { restart: '100ms' })),
    when(v3.joins(), application('v3', {})),
  ],
  ends: everyone.decides(height(16), { within: '240s', afterwards: 2 }),
});

/** For twenty seconds no block is made: each half has all that its other node was given, and does not say so. */
export const largePool = scenario('a large pool does not go round and round', {
  name: 'large-pool',
  cast: validators(4),
  settings: { mempool: { batchBytesMax: 1_000 } },
  load: txs({ perSecond: 40 }),
  act: [when(v0.decides(height(3)), partition(['v0', 'v1'], ['v2', 'v3'])), after('20s', heal())],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** f0 proposes nothing, and knows its peers by what they say to it in its new life. */
export const givenAfterRestart = scenario(
  'what a node is given after it started again reaches those who propose',
  {
    name: 'given-after-restart',
    cast: validators(4, { fullNodes: 1 }),
    act: [
      when(v0.decides(height(5)), crash('f0', { restart: '1s' })),
      when(f0.joins()),
      after('1s', submit('f0', 'late=v')),
      after('25s'),
    ],
    ends: everyone.decides(height(34), { within: '240s', afterwards: 1 }),
  },
);

/** By height 30 it was given a transaction. */
class Wanting extends KvStore {
  private taken = 0;

  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'finalize-block') {
      this.taken += request.value.txs.length;
      if (request.value.height === 30n && this.taken === 0)
        return { type: 'exception', value: { error: 'no transaction came' } };
    }
    return super.answer(request);
  }
}

/** v1 makes nearly all blocks. It gives v0 a transaction, and loses it as it dies while v0's application is asked about it. */
export const givenBeforeItDied = scenario(
  'who comes back is offered what it gave and what was checked meanwhile',
  {
    name: 'given-before-it-died',
    cast: powers(1, 100),
    app: () => new Wanting(),
    act: [
      at('1s', application('v0', { checks: '6s' })),
      when(v1.decides(height(4))),
      after('300ms', submit('v1', 'x=1')),
      after('100ms', crash('v1', { how: 'lose', restart: '500ms' })),
      when(v1.joins()),
      after('15s', application('v0', {})),
    ],
    ends: everyone.decides(height(33), { within: '120s' }),
  },
);

/** The last block takes what v0's slow application is still asked about; no other comes until v0 takes something. */
export const takesAgain = scenario('a pool whose last recheck was cut short by a block takes what is new', {
  name: 'takes-again',
  cast: validators(4, { blockBytes: 16_000 }),
  app: 'noop',
  settings: { consensus: { createEmptyBlocks: false, timeoutCommitNs: 200n * NS_PER_MS } },
  load: txs({ perSecond: 50, size: 300, count: 100 }),
  act: [
    at('500ms', application('v0', { checks: '200ms' })),
    after('30s', application('v0', {})),
    after('5s', submit('v0', 'y=1')),
  ],
  ends: everyone.decides(height(3), { within: '100s', afterwards: 1 }),
});

/** Each is as long as one may be, and three of them are a batch. */
export const asLargeAsMayBe = scenario('what is as large as may be travels', {
  name: 'as-large-as-may-be',
  cast: validators(4),
  settings: { mempool: { txBytesMax: 200, batchBytesMax: 600 } },
  act: [1, 2, 3, 4].flatMap((i) => [
    after('1100ms', submit('v0', `one${i}=`.padEnd(200, 'v'))),
    after('1100ms', ...nodes.map((_, k) => submit('v1', `four${i}${k}=`.padEnd(200, 'v')))),
  ]),
  ends: everyone.decides(height(10), { within: '60s', afterwards: 1 }),
});

/** Whoever proposes next has not heard of them all yet. */
export const givenInOneMoment = scenario('what clients give in one moment is offered in one moment', {
  name: 'given-in-one-moment',
  cast: validators(4),
  app: 'noop',
  act: [at('2s', ...Array.from({ length: 800 }, (_, i) => submit('v0', `b${i}=v`)))],
  ends: everyone.decides(height(8), { within: '60s', afterwards: 1 }),
});

/** f0 knows f1 only, and two validators are down: what waits for a block is offered again after a minute, what f0 is given meanwhile goes on at once. */
export const newBeforeAgain = scenario('what is new does not wait for what is offered again', {
  name: 'new-before-again',
  cast: validators(4, { fullNodes: 2 }),
  settings: { mempool: { reofferNs: 60_000n * NS_PER_MS } },
  act: [
    at('0s', cut(['f0'], [...nodes], 'for-ever'), cut([...nodes], ['f0'], 'for-ever')),
    when(v0.decides(height(4)), crash('v1'), crash('v2')),
    after('2s', submit('f1', 'waits=v')),
    after('3s', submit('f0', 'new=v')),
    after('30s', restart('v1'), restart('v2')),
  ],
  ends: everyone.decides(height(10), { within: '240s', afterwards: 1 }),
});

/** A number of eight bytes, as `counter_serial` takes them; three fill the pool. */
const numberOf = (n: number): string => '\0'.repeat(7) + String.fromCharCode(n);

/** f0 alone has each number for some blocks; as another block takes it f0's slow application is asked about it, and finds it stale. */
export const answeredTooLate = scenario('what a block took does not leave the pool once more', {
  name: 'answered-too-late',
  cast: validators(4, { fullNodes: 1 }),
  app: 'counter_serial',
  settings: { mempool: { bytesMax: 24 } },
  act: [
    at('0s', drop('transactions', { from: ['f0'] }), application('f0', { checks: '1500ms' })),
    ...[0, 1, 2, 3, 4, 5].flatMap((n) => [
      after('3500ms', submit('f0', numberOf(n))),
      after('3500ms', submit('v0', numberOf(n))),
    ]),
    after('4s', application('f0', {})),
    after('2s', ...[10, 11, 12, 13, 14, 15].map((n) => submit('f0', numberOf(n)))),
    after('1s', heal()),
  ],
  ends: everyone.decides(height(50), { within: '240s', afterwards: 1 }),
});

/** The last block has the transaction, as it dies and as the client gives it once more. */
export const lastBlockIsKnown = scenario('a new life knows what is in the last block', {
  name: 'last-block-is-known',
  cast: validators(1),
  app: 'noop',
  settings: { consensus: { createEmptyBlocks: false } },
  act: [
    when(v0.decides(height(1))),
    ...[2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((k) => [
      after('2s', submit('v0', `k${k}=v`)),
      when(v0.decides(height(k))),
      after('1s', crash('v0', { how: 'clean', restart: '500ms' })),
      when(v0.joins()),
      after('1s', submit('v0', `k${k}=v`)),
    ]),
  ],
  ends: nobody.decidesBeyond(height(10), { for: '10s' }),
});

/** v0 dies in the middle of a height, for which nobody else is enough, and knows from its log how far the others were; v2 is away, and nothing is decided. */
export const levelAsBefore = scenario('who was level before a restart is given what comes in after it', {
  name: 'level-as-before',
  cast: validators(3),
  act: [
    when(
      v0.precommits(block(1), { height: 4, round: 0 }),
      crash('v0', { how: 'clean', restart: '300ms' }),
      crash('v2'),
    ),
    when(v0.joins()),
    after('1s', submit('v0', 'a=b')),
    after('40s', restart('v2')),
  ],
  ends: everyone.decides(height(8), { within: '120s' }),
});
