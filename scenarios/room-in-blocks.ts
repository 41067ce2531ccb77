// What a block has room for: bytes and gas, as the application says, and it may say otherwise as the chain goes on.

import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import {
  after,
  anyone,
  application,
  at,
  backUp,
  crash,
  everyone,
  height,
  nobody,
  putBack,
  restart,
  scenario,
  submit,
  txs,
  v0,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** From height 5 on 337 bytes of transactions a block: four signatures of the largest kind need the rest. */
class Narrowing extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block' || request.value.height !== 4n)
      return answer;
    const block = { maxBytes: 14_500n, maxGas: -1n };
    const evidence = { maxAgeBlocks: 1_000n, maxAgeNs: 3_600_000_000_000n, maxBytes: 1_000n };
    return { ...answer, value: { ...answer.value, consensusParamUpdates: { block, evidence } } };
  }
}

export const roomShrinks = scenario('what is larger than a block may be keeps nothing else waiting', {
  name: 'room-shrinks',
  cast: validators(4),
  app: () => new Narrowing(),
  load: txs({ perSecond: 1, size: 100 }),
  act: [when(v0.decides(height(7)), submit('v0', `large=${'x'.repeat(500)}`))],
  ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
});

/** v3's application is told the chain from the beginning, when there is less room than there was then. */
export const toldAnew = scenario('a chain begins as it began, whatever has changed since', {
  name: 'told-anew',
  cast: validators(4),
  app: () => new Narrowing(),
  load: txs({ perSecond: 1, size: 100 }),
  act: [
    at('0s', backUp('v3')),
    when(v3.decides(height(7)), crash('v3', { how: 'clean' }), putBack('v3', 'app'), restart('v3')),
    when(v3.joins()),
  ],
  ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
});

/** Of transactions there is room for 337 bytes, framing included, and each is as long; while any waits there are blocks. */
export const fillsTheBlock = scenario('what fills all the room that a block has comes into one', {
  name: 'fills-the-block',
  cast: validators(4, { blockBytes: 14_500 }),
  app: 'noop',
  settings: { consensus: { createEmptyBlocks: false } },
  act: [
    when(everyone.decides(height(1))),
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((i) => [
      after('3s', submit('v0', `k${i}=`.padEnd(334, 'v'))),
      when(everyone.decides(height(1 + i))),
    ]),
  ],
  ends: nobody.decidesBeyond(height(10), { for: '20s' }),
});

/** It was in every pool when the room shrank. */
export const tooLargeLeaves = scenario(
  'what no block has room for any more leaves, and nothing waits for it',
  {
    name: 'too-large-leaves',
    cast: validators(4),
    app: () => new Narrowing(),
    load: txs({ perSecond: 1, size: 100 }),
    act: [when(anyone.prevotes({}, { height: 4 }), submit('v0', `large=${'x'.repeat(500)}`))],
    ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
  },
);

/** v0's application judges it when it has none any more. */
export const checkedMeanwhile = scenario('what lost its room while it was checked does not come in', {
  name: 'checked-meanwhile',
  cast: validators(4),
  app: () => new Narrowing(),
  load: txs({ perSecond: 1, size: 100 }),
  act: [
    when(
      v0.decides(height(3)),
      application('v0', { checks: '3s' }),
      submit('v0', `large=${'x'.repeat(500)}`),
    ),
    when(v0.decides(height(5))),
    after('3s', application('v0', {})),
  ],
  ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
});

/** What wants less than nothing: none that others have is of this length. */
const GIVES_GAS = `less=${'x'.repeat(145)}`;

/**
 * A transaction wants ten of the twenty-five gas that a block may take, from height 5 on of fifteen; all of it, if it is a long one;
 * twenty, if it is longer; or more than any block takes, if it is the longest. One wants less than nothing.
 */
class Metered extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    const block = (maxGas: bigint) => ({ block: { maxBytes: 3_000_000n, maxGas } });
    if (request.type === 'check-tx' && answer.type === 'check-tx') {
      const { length } = request.value.tx;
      const wanted = length > 400 ? 30n : length > 300 ? 20n : length > 200 ? 15n : 10n;
      const gasWanted = length === GIVES_GAS.length ? -10n : wanted;
      return { ...answer, value: { ...answer.value, gasWanted } };
    }
    if (answer.type === 'init-chain')
      return { ...answer, value: { ...answer.value, consensusParams: block(25n) } };
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return answer;
    const txResults = answer.value.txResults.map((result) => ({ ...result, gasWanted: 10n, gasUsed: 7n }));
    const value = { ...answer.value, txResults };
    if (request.value.height !== 4n) return { ...answer, value };
    return { ...answer, value: { ...value, consensusParamUpdates: block(15n) } };
  }
}

/** From height 11 to 13 blocks take nothing that wants gas: a limit of none is one. */
class Closing extends Metered {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return answer;
    const maxGas = new Map([
      [10n, 0n],
      [13n, 15n],
    ]).get(request.value.height);
    if (maxGas === undefined) return answer;
    const consensusParamUpdates = { block: { maxBytes: 3_000_000n, maxGas } };
    return { ...answer, value: { ...answer.value, consensusParamUpdates } };
  }
}

export const gasIsCounted = scenario('a block takes no more gas than it may', {
  name: 'gas-is-counted',
  cast: validators(4, { evidence: { maxAgeBlocks: 500 } }),
  app: () => new Closing(),
  load: txs({ perSecond: 4, count: 80 }),
  act: [
    when(v0.decides(height(7)), submit('v0', `longer=${'x'.repeat(300)}`)),
    when(v0.decides(height(8)), submit('v0', `long=${'x'.repeat(200)}`)),
  ],
  ends: everyone.decides(height(16), { within: '120s', afterwards: 2 }),
});

const TOO_DEAR = `longer=${'x'.repeat(300)}`;

/** It was in every pool when blocks came to take less, and is not checked again there. Later it is given to each once more. */
const losesItsRoom = [
  when(anyone.prevotes({}, { height: 4 }), submit('v0', TOO_DEAR)),
  when(
    everyone.decides(height(7)),
    ...(['v0', 'v1', 'v2', 'v3'] as const).map((name) => submit(name, TOO_DEAR)),
  ),
];

export const tooDearLeaves = scenario(
  'what wants more gas than a block may take any more leaves, and nothing waits for it',
  {
    name: 'too-dear-leaves',
    cast: validators(4, { evidence: { maxAgeBlocks: 500 } }),
    app: () => new Metered(),
    load: txs({ perSecond: 1, size: 100 }),
    settings: { mempool: { recheck: false } },
    act: losesItsRoom,
    ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
  },
);

export const tooDearAndKept = scenario('what lost its room is not asked about again where caches keep it', {
  name: 'too-dear-and-kept',
  cast: validators(4, { evidence: { maxAgeBlocks: 500 } }),
  app: () => new Metered(),
  load: txs({ perSecond: 1, size: 100 }),
  settings: { mempool: { recheck: false, keepInvalidTxsInCache: true } },
  act: losesItsRoom,
  ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
});

/** Nothing else is in the pools: it fits alone. */
export const allTheGas = scenario('a transaction may take all the gas of a block', {
  name: 'all-the-gas',
  cast: validators(4, { evidence: { maxAgeBlocks: 500 } }),
  app: () => new Metered(),
  act: [
    when(everyone.decides(height(5)), submit('v0', `long=${'x'.repeat(200)}`)),
    when(everyone.decides(height(8)), submit('v2', `long=${'y'.repeat(200)}`)),
  ],
  ends: everyone.decides(height(12), { within: '120s', afterwards: 1 }),
});

/** Before the first block, and in a new life before the next one, only InitChain has said how much gas a block may take. */
export const earlyGreed = scenario(
  'no pool takes what wants more gas than a block, not before the first one either',
  {
    name: 'early-greed',
    cast: validators(4, { evidence: { maxAgeBlocks: 500 } }),
    app: () => new Metered(),
    settings: { consensus: { timeoutCommitNs: 3_000_000_000n } },
    act: [
      at('200ms', submit('v0', `first=${'x'.repeat(400)}`)),
      when(v0.decides(height(3)), crash('v0')),
      after('100ms', restart('v0')),
      when(v0.joins()),
      after('100ms', submit('v0', `second=${'x'.repeat(400)}`)),
    ],
    ends: everyone.decides(height(5), { within: '120s', afterwards: 1 }),
  },
);

/** A block that took it would have room for more than it may take. */
export const lessThanNoGas = scenario('no pool takes what wants less gas than nothing', {
  name: 'less-than-no-gas',
  cast: validators(4, { evidence: { maxAgeBlocks: 500 } }),
  app: () => new Metered(),
  load: txs({ perSecond: 2, count: 12 }),
  act: [when(v0.decides(height(3)), submit('v0', GIVES_GAS)), after('3s', submit('v2', GIVES_GAS))],
  ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
});
