// An application that says that it failed, instead of an answer, to each question of a node's consensus: the node stops, and says so; and a
// block with which it could not but fail.

import { utf8Encode } from '#platform';
import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import { withTx } from '../sim/liars/invalid-proposer.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  after,
  anyone,
  crash,
  everyone,
  height,
  liar,
  scenario,
  sometime,
  txs,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** What a node says that it asked, and at which height of the chain. */
const FAILURES: readonly (readonly [string, AbciRequest['type'], bigint])[] = [
  ['process', 'process-proposal', 3n],
  ['prepare', 'prepare-proposal', 5n],
  ['finalize', 'finalize-block', 7n],
  ['commit', 'commit', 9n],
];

/** Who has executed the block before, in this life, fails at this one: it is mended as its node starts again. */
class Failing extends KvStore {
  private before = 0n;
  private executed = 0n;

  override answer(request: AbciRequest): AbciResponse {
    const at = heightOf(request) ?? this.executed;
    if (request.type === 'finalize-block') {
      this.before = this.executed;
      this.executed = at;
    }
    const last = this.executed === at ? this.before : this.executed;
    const isFailure = FAILURES.some(([, type, failsAt]) => type === request.type && failsAt === at);
    if (isFailure && last === at - 1n) return { type: 'exception', value: { error: 'out of luck' } };
    return super.answer(request);
  }
}

const heightOf = (request: AbciRequest): bigint | null =>
  'height' in request.value ? request.value.height : null;

const names = ['v0', 'v1', 'v2', 'v3'] as const;

export const failingApplication = scenario(
  'a node whose application fails stops, and goes on when it is mended',
  {
    name: 'failing-application',
    cast: validators(4),
    app: () => new Failing(),
    load: txs({ perSecond: 3 }),
    act: FAILURES.flatMap(() => [
      when(anyone.halts()),
      after('2s', ...names.map((name) => crash(name, { restart: '1s' }))),
    ]),
    holds: FAILURES.map(([asked]) =>
      sometime(anyone.halts(`the application failed (${asked}): out of luck`)),
    ),
    ends: everyone.decides(height(12), { within: '300s', afterwards: 2 }),
  },
);

const senseless: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: a transaction that says nothing', (block) =>
    withTx(block, utf8Encode('nothing')),
  );

/** The rules of the chain allow the block, and what executes it could do nothing with it. */
export const senselessTransactions = scenario('a block that the application cannot execute is not decided', {
  name: 'senseless-transactions',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', senseless, ['v0', 'v1', 'v3'], { fromHeight: 5, toHeight: 10 })],
  ends: everyone.decides(height(14), { within: '120s' }),
});
