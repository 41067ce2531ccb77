// Validators come and go by transactions; what a block of height H decides is in force at H + 2.

import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import type { Action } from '../sim/scenario/play.ts';
import {
  after,
  anyone,
  c0,
  crash,
  cut,
  empower,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  never,
  node,
  powers,
  scenario,
  sometime,
  submit,
  txs,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const c1 = node('c1');

/** Late enough for the block to be stored everywhere. */
const restartAll: readonly Action[] = (['v0', 'v1', 'v2', 'v3', 'c0', 'c1'] as const).map((name) =>
  crash(name, { how: 'clean', restart: '300ms' }),
);

export const validatorJoinsAndLeaves = scenario(
  'a fifth validator joins, another leaves, two heights after the block that says so',
  {
    name: 'validator-joins-and-leaves',
    cast: validators(4, { candidates: 1 }),
    load: txs({ perSecond: 3 }),
    act: [
      when(v0.decides(height(2)), empower('c0', 10)),
      when(c0.precommits()),
      when(c0.proposes()),
      when(v0.decides(height(9)), empower('v3', 0)),
      when(v0.decides(height(13)), empower('c0', 7)),
      after('8s'), // time for that transaction to be decided, too
    ],
    holds: [sometime(v3.proposes()), finally_(v3.hasPower(0)), finally_(c0.hasPower(7))],
    ends: everyone.decides(height(20), { within: '240s' }),
  },
);

/** The power is cut after every block of them: whoever proposes next has the votes for the last block from its disk, of the set that cast them. */
export const restartWithEverySet = scenario('whoever joins or leaves, everybody starts again in between', {
  name: 'restart-with-every-set',
  cast: validators(4, { candidates: 2 }),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(2)), empower('c0', 10), empower('c1', 20)),
    ...[3, 4, 5, 6].map((each) => when(v0.decides(height(each)), ...restartAll)),
    when(v0.decides(height(8)), empower('c0', 0), empower('v3', 3)),
    ...[9, 10, 11, 12].map((each) => when(v0.decides(height(each)), ...restartAll)),
  ],
  holds: [finally_(c0.hasPower(0)), finally_(c1.hasPower(20)), finally_(v3.hasPower(3))],
  ends: everyone.decides(height(16), { within: '300s', afterwards: 2 }),
});

const [c2, c3] = [node('c2'), node('c3')];

/** What is in force when the last of them has left holds none of those who began. */
export const setReplaced = scenario('four others take over within ten heights, while the network splits', {
  name: 'set-replaced',
  cast: validators(4, { candidates: 4 }),
  load: txs({ perSecond: 3 }),
  act: [
    when(anyone.decides(height(3)), empower('c0', 10), empower('c1', 10), isolate('v3')),
    when(
      anyone.decides(height(5)),
      heal(),
      empower('c2', 10),
      empower('c3', 10),
      empower('v3', 0),
      isolate('c1'),
    ),
    when(
      anyone.decides(height(7)),
      heal(),
      empower('v2', 0),
      empower('v1', 0),
      cut(['v1'], ['c2']),
      cut(['c2'], ['v1']),
    ),
    when(anyone.decides(height(9)), heal(), empower('v0', 0), isolate('c3')),
    when(anyone.decides(height(14)), heal()),
  ],
  holds: [
    ...[v0, v1, v2, v3].map((old) => never(old.precommits({}, height(14)))),
    ...[v0, v1, v2, v3].map((old) => finally_(old.hasPower(0))),
    ...[c0, c1, c2, c3].map((fresh) => finally_(fresh.hasPower(10))),
    ...[c0, c1, c2, c3].map((fresh) => sometime(fresh.precommits())),
  ],
  ends: everyone.decides(height(20), { within: '300s', afterwards: 2 }),
});

/** Who had power gives up the turns that it had saved or spent: priorities fit the powers in force, and the others do not wait for them. */
export const tyrantOverthrown = scenario('a hundred times the power of all others comes and goes', {
  name: 'tyrant-overthrown',
  cast: powers(7, 10, 12, 9),
  load: txs({ perSecond: 3 }),
  act: [
    when(anyone.decides(height(3)), empower('v3', 3_000)),
    when(anyone.decides(height(8)), empower('v3', 8)),
    when(anyone.decides(height(14)), empower('v0', 900)),
    when(anyone.decides(height(19)), empower('v0', 0)),
    when(anyone.decides(height(24)), empower('v0', 7)),
  ],
  holds: [finally_(v3.hasPower(8)), finally_(v0.hasPower(7))],
  ends: everyone.decides(height(29), { within: '300s', afterwards: 2 }),
});

/** Whoever comes starts behind all others: by the power of the set with those in it who leave. */
export const tyrantReplaced = scenario(
  'who comes in the block in which a great power leaves waits for its turn',
  {
    name: 'tyrant-replaced',
    cast: { ...powers(10, 12, 9, 30), candidates: 1 },
    load: txs({ perSecond: 3 }),
    act: [when(anyone.decides(height(3)), empower('c0', 11), empower('v3', 0))],
    holds: [finally_(v3.hasPower(0)), finally_(c0.hasPower(11))],
    ends: everyone.decides(height(20), { within: '300s', afterwards: 2 }),
  },
);

/** The chain allows two kinds of keys, as of its beginning, and one from height 11 on: who has another may still leave. */
class TwoKinds extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'finalize-block') return narrowed(super.answer(request), request.value.height);
    if (request.type !== 'init-chain') return super.answer(request);
    const validator = { publicKeyTypes: ['ed25519', 'secp256k1'] };
    const consensusParams = { ...request.value.consensusParams, validator };
    const answer = super.answer({ ...request, value: { ...request.value, consensusParams } });
    if (answer.type !== 'init-chain') return answer;
    return { ...answer, value: { ...answer.value, consensusParams: { validator } } };
  }
}

function narrowed(answer: AbciResponse, height: bigint): AbciResponse {
  if (answer.type !== 'finalize-block' || height !== 10n) return answer;
  const consensusParamUpdates = { validator: { publicKeyTypes: ['ed25519'] } };
  return { ...answer, value: { ...answer.value, consensusParamUpdates } };
}

/** Of a validator that never comes: what its key signs no node of ours could verify. */
const OF_ANOTHER_KIND = 'val=secp256k1!AgcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH!';

/** It joins, changes its power and leaves, each time after v1 has started again. */
export const keysOfAnotherKind = scenario('which kinds of keys validators may have outlives a restart', {
  name: 'keys-of-another-kind',
  cast: validators(4),
  app: () => new TwoKinds(),
  act: [1, 2, 0].flatMap((power, i) => [
    when(v0.decides(height(3 + 4 * i)), crash('v1', { how: 'clean', restart: '500ms' })),
    when(v1.joins(), submit('v0', `${OF_ANOTHER_KIND}${power}`)),
  ]),
  ends: everyone.decides(height(17), { within: '240s', afterwards: 3 }),
});

const GREAT = 2 ** 32;

/** v0's application reads its powers from its disk, and adds them up when v1 leaves. */
export const greatPowersComeBack = scenario('an application knows great powers again after a restart', {
  name: 'great-powers-come-back',
  cast: powers(GREAT, GREAT, GREAT, GREAT),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(3)), crash('v0', { how: 'clean', restart: '1s' })),
    when(v0.joins()),
    when(v0.decides(height(8)), empower('v1', 0)),
  ],
  holds: [finally_(v1.hasPower(0))],
  ends: everyone.decides(height(16), { within: '120s', afterwards: 2 }),
});
