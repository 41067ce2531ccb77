// Where something ends or begins: the first block, a height of more than two bytes, a chain of one, the last block, a pool that is full.

import { type BlockId, type Commit, NIL_BLOCK_ID } from '../protocol/types.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import type { NodeName } from '../sim/scenario/play.ts';
import {
  after,
  crash,
  cut,
  everyone,
  f0,
  heal,
  height,
  liar,
  powers,
  restart,
  scenario,
  sometime,
  submit,
  txs,
  v0,
  v1,
  validators,
  when,
} from '../sim/scenario/words.ts';
import { loses } from './shared.ts';

/** As the first block carries it, but for one thing that it says. */
const emptyCommit =
  (change: Partial<Commit>): Liar =>
  (kit) =>
    aboutOwnBlocks(kit, 'lie: a commit of no block', (block) => {
      const lastCommit = { height: 0n, round: 0, blockId: NIL_BLOCK_ID, signatures: [], ...change };
      return { block: { ...block, lastCommit } };
    });

const ODD = new Uint8Array(32).fill(0xee);
const NO_BLOCK: BlockId = { hash: ODD, parts: { total: 1, hash: ODD } };

const TEN: NodeName[] = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9'];

/** v8, v2 and v5 propose the first rounds. */
export const noCommitBeforeTheFirst = scenario('the first block carries a commit of nothing', {
  name: 'no-commit-before-the-first',
  cast: validators(10),
  liars: [
    liar('v8', emptyCommit({ height: 5n, blockId: NO_BLOCK }), TEN, { toHeight: 1 }),
    liar('v2', emptyCommit({ round: -1 }), TEN, { toHeight: 1 }),
    liar('v5', emptyCommit({ height: -1n }), TEN, { toHeight: 1 }),
  ],
  holds: [sometime(v0.enters('propose', { height: 1, round: 3 }))],
  ends: everyone.decides(height(6), { within: '120s' }),
});

/** v1 is away as the chain passes it, and has the blocks on both sides from the others. */
export const pastTwoBytes = scenario('a chain passes the height 65,536', {
  name: 'past-two-bytes',
  cast: validators(4, { initialHeight: 65_530 }),
  load: txs({ perSecond: 2 }),
  act: [
    when(v0.decides(height(65_532)), crash('v1', { how: 'clean' })),
    when(v0.decides(height(65_540)), restart('v1')),
    when(v1.joins()),
  ],
  ends: everyone.decides(height(65_545), { within: '120s' }),
});

/** What v1 and v2 find on their disks is of both sides. */
export const pastFourBytes = scenario('a chain passes the height 4,294,967,296', {
  name: 'past-four-bytes',
  cast: validators(4, { initialHeight: 4_294_967_290 }),
  load: txs({ perSecond: 4 }),
  act: [
    when(v0.decides(height(4_294_967_299)), crash('v1', { restart: '1s' }), crash('v2', { restart: '8s' })),
  ],
  ends: everyone.decides(height(4_294_967_310), { within: '120s', afterwards: 2 }),
});

/** One signature is all that a commit has; what f1 makes has none that is true. f0 hears of f1 alone at first. */
export const oneSignature = scenario('of a chain of one validator no block is taken that it did not sign', {
  name: 'one-signature',
  cast: { ...powers(10), fullNodes: 2 },
  load: txs({ perSecond: 3 }),
  liars: [liar('f1', 'block-forger', ['f0'])],
  act: [
    when(v0.decides(height(2)), crash('f0')),
    when(v0.decides(height(20)), cut(['v0'], ['f0']), cut(['f0'], ['v0']), restart('f0')),
    after('15s', heal()),
    when(f0.joins()),
  ],
  holds: loses('f1', 'block sync at height'),
  ends: everyone.decides(height(26), { within: '400s', afterwards: 2 }),
});

/** A length of 128 takes a second byte, one of 16,384 a third: of a pair, of a transaction, of all that a block carries. */
const AROUND_EDGES = [128, 16_384].flatMap((edge) => Array.from({ length: 10 }, (_, i) => edge - 8 + i));

export const lengthsAtTheEdge = scenario('what is as long as a number has bytes for comes through', {
  name: 'lengths-at-the-edge',
  cast: validators(4),
  act: [
    when(v0.decides(height(2))),
    ...AROUND_EDGES.map((length, i) => after('1s', submit('v0', `k${i}=`.padEnd(length, 'v')))),
  ],
  ends: everyone.decides(height(12), { within: '120s' }),
});

/** Three are all that a pool holds. Each of the others is given again when they are in a block. */
export const fullThenRoom = scenario('what a full pool refused is taken when there is room', {
  name: 'full-then-room',
  cast: validators(4),
  settings: { mempool: { txsMax: 3 } },
  act: [
    when(v0.decides(height(3)), ...['a', 'b', 'c', 'd', 'e'].map((key) => submit('v0', `${key}=1`))),
    after('4s', submit('v0', 'd=1')),
    after('1ms', submit('v0', 'e=1')),
  ],
  ends: everyone.decides(height(12), { within: '120s' }),
});

export const largerThanABatch = scenario('a transaction may be larger than a batch', {
  name: 'larger-than-a-batch',
  cast: validators(4),
  settings: { mempool: { txBytesMax: 3_000, batchBytesMax: 1_000 } },
  act: [when(v0.decides(height(3)), submit('v0', 'large='.padEnd(2_500, 'v')))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** A pair of the application has ten bytes before its key: the first key is as long as a store takes. The last transaction changes what a long one says. */
const LONG_KEYS = [1_968, 1_969, 2_500].map((bytes) => 'k'.padEnd(bytes, 'y'));

export const longKeys = scenario('a key that is longer than a store takes outlives a restart', {
  name: 'long-keys',
  cast: validators(4),
  act: [
    when(v0.decides(height(3)), ...LONG_KEYS.map((key) => submit('v0', `${key}=first`))),
    after('3s', ...LONG_KEYS.map((key) => submit('v0', `${key}=second`))),
    after('3s', crash('v1', { how: 'clean', restart: '1s' })),
    when(v1.joins(), ...LONG_KEYS.map((key) => submit('v1', `${key}=third`))),
    after('3s', crash('v1', { how: 'clean', restart: '1s' })),
    when(v1.joins()),
  ],
  ends: everyone.decides(height(16), { within: '120s', afterwards: 2 }),
});

/** v0's cache has room for two, and has forgotten what waits for the next block. */
export const takenOnce = scenario('what waits in a pool is not taken a second time', {
  name: 'taken-once',
  cast: validators(4),
  settings: { mempool: { cacheSize: 2 } },
  act: [
    when(v0.decides(height(3))),
    ...['first', 'second', 'third', 'fourth', 'first'].map((name) =>
      after('100ms', submit('v0', `${name}=v`)),
    ),
  ],
  ends: everyone.decides(height(10), { within: '60s', afterwards: 1 }),
});
