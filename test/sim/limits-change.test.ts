// An application changes the limits from block to block: oracles judge each node by those that it has, and not by what no block may take any more.

import { expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import type { ConsensusParamsUpdate } from '../../protocol/types.ts';
import {
  at,
  crash,
  everyone,
  height,
  liar,
  nobody,
  restart,
  runScenario,
  type Scenario,
  scenario,
  submit,
  v0,
  validators,
  when,
} from '../../sim/index.ts';

type Changes = Readonly<Record<number, ConsensusParamsUpdate>>;

/** Says what comes into force after each block, and what a transaction of so many bytes wants of gas. */
class Changing extends KvStore {
  private readonly changes: Changes;
  private readonly gasOf: (length: number) => bigint;

  constructor(changes: Changes, gasOf: (length: number) => bigint = () => 0n) {
    super();
    this.changes = changes;
    this.gasOf = gasOf;
  }

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type === 'check-tx' && answer.type === 'check-tx')
      return { ...answer, value: { ...answer.value, gasWanted: this.gasOf(request.value.tx.length) } };
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return answer;
    const consensusParamUpdates = this.changes[Number(request.value.height)];
    return consensusParamUpdates ? { ...answer, value: { ...answer.value, consensusParamUpdates } } : answer;
  }
}

const BYTES = 4_194_304n;
const gas = (maxGas: bigint): ConsensusParamsUpdate => ({ block: { maxBytes: BYTES, maxGas } });
const bytes = (maxBytes: bigint): ConsensusParamsUpdate => ({
  block: { maxBytes, maxGas: -1n },
  evidence: { maxAgeBlocks: 100_000n, maxAgeNs: 10n ** 15n, maxBytes: 1000n },
});
const age = (maxAgeBlocks: bigint, maxAgeNs: bigint): ConsensusParamsUpdate => ({
  evidence: { maxAgeBlocks, maxAgeNs, maxBytes: 0n },
});

const names = ['v0', 'v1', 'v2', 'v3'] as const;
/** A transaction for each, which it keeps to itself. */
const toAll = (key: string, value: string) => names.map((name) => submit(name, `${key}-${name}=${value}`));
const silent = { mempool: { broadcast: false } };

const told = (title: string, words: Partial<Scenario>, seed = 1): readonly unknown[] =>
  runScenario(
    scenario(title, {
      cast: validators(4),
      ends: everyone.decides(height(14), { within: '60s' }),
      ...words,
    }),
    { seed },
  ).violations;

it('what wants more gas than a block may take any more is owed to no block', () => {
  const app = () => new Changing({ 2: gas(3n), 4: gas(-1n) }, () => 5n);
  for (const time of ['1s', '1500ms', '2s', '3s'] as const)
    expect(told('gas', { settings: silent, app, act: [at(time, ...toAll('a', '1'))] })).toEqual([]);
});

it('nor is what was taken later passed over for it', () => {
  const app = () => new Changing({ 2: gas(3n), 4: gas(-1n) }, (length) => (length === 6 ? 5n : 1n));
  const act = [at('1s', ...toAll('a', '1')), at('3500ms', ...toAll('bbbb', '1'))];
  expect(told('order', { settings: silent, app, act })).toEqual([]);
});

it('what is larger than a block has room for any more is left out, with all behind it', () => {
  const app = () => new Changing({ 2: bytes(20_000n), 4: bytes(BYTES) });
  const act = [at('1s', ...toAll('a', 'x'.repeat(12_000)), ...toAll('b', '1'))];
  expect(told('bytes', { settings: silent, app, act })).toEqual([]);
});

it('who waits for transactions does not wait for those, and may have begun by them', () => {
  const app = () => new Changing({ 2: gas(3n) }, () => 5n);
  const settings = { consensus: { createEmptyBlocks: false }, ...silent };
  const act = [at('1s', ...toAll('a', '1'))];
  const ends = nobody.decidesBeyond(height(14), { for: '40s' });
  expect(told('waiting', { liveness: 'waived', settings, app, act, ends })).toEqual([]);
});

it('who starts again has the limits of the genesis for a moment', () => {
  const app = () => new Changing({ 2: gas(3n) }, () => 5n);
  const starts = [at('5s', crash('v0')), at('6s', restart('v0'), submit('v0', 'a=1'))];
  expect(told('a new life', { settings: silent, app, act: starts })).toEqual([]);
});

it('evidence is too old by what is in force when its node looks for it', () => {
  const long = age(100_000n, 10n ** 15n);
  const app = () => new Changing({ 1: long, 3: age(1n, 1n), 4: long });
  const liars = [liar('v3', 'double-voter', ['v0'], { fromHeight: 2, toHeight: 2 })];
  expect(told('age', { liars, app, ends: everyone.decides(height(10), { within: '60s' }) })).toEqual([]);
});

it('who is far behind takes a block that the genesis had no room for', () => {
  const app = () => new Changing({ 3: bytes(300_000n) });
  const act = [
    at('500ms', crash('f0')),
    when(v0.decides(height(6)), submit('v0', `large=${'x'.repeat(100_000)}`)),
    when(v0.decides(height(12)), restart('f0')),
  ];
  const cast = validators(4, { fullNodes: 1, blockBytes: 40_000 });
  expect(
    told('larger blocks', { cast, app, act, ends: everyone.decides(height(16), { within: '60s' }) }),
  ).toEqual([]);
});
