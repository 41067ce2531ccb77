import { describe, expect, it } from 'vitest';
import { utf8Decode } from '#platform';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciResponse } from '../../protocol/abci.ts';
import { parseGenesis } from '../../protocol/json/genesis.ts';
import { keyPairOfSeed } from '../../protocol/keys.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { castFromFiles, makeCast } from '../../sim/cast.ts';
import {
  type Application,
  after,
  application,
  at,
  type Condition,
  calm,
  chain,
  clock,
  clog,
  core,
  crash,
  cut,
  delay,
  drawn,
  drop,
  empower,
  everyone,
  f0,
  finally_,
  heal,
  height,
  isolate,
  liar,
  links,
  never,
  nil,
  nobody,
  partition,
  powers,
  putBack,
  reset,
  runScenario,
  type Scenario,
  scenario,
  shrink,
  sometime,
  toJson,
  txs,
  v0,
  v1,
  validators,
  when,
  whenever,
  whenOrAt,
} from '../../sim/index.ts';
import { bftProperty } from '../../sim/property/index.ts';
import { ScenarioError } from '../../sim/scenario/error.ts';
import { msOf } from '../../sim/scenario/words.ts';
import { seedAfter } from '../../sim/shrink/lab.ts';

const three = everyone.decides(height(3), { within: '60s' });
const play = (more: object = {}): Scenario =>
  scenario('as typed as it gets', { name: 'typed', cast: validators(4), ends: three, ...more });

describe('what contains itself is refused by its field', () => {
  const round: Record<string, unknown> = {};
  round['again'] = round;
  const list: unknown[] = [];
  list.push(list);
  it.each<[Partial<Record<keyof Scenario, unknown>>, string]>([
    [
      { liveness: round },
      'liveness: expected one of checked, waived, not an object that no JSON can hold: it',
    ],
    [{ act: [at('1s', isolate(list as never))] }, 'act[0].actions[0].node: expected a node'],
    [{ act: list }, 'act[0]: expected a directive with atMs'],
    [{ origin: round }, 'origin.again: no such field'],
  ])('%#', (more, says) => {
    expect(() => runScenario(play(more), { seed: 1 })).toThrow(says);
    const json = toJson(play(more));
    expect(isRefusal(json) && json.because).toContain(says);
  });
});

it('a deed is at the place that it is given, or refused with it', () => {
  expect(never(v1.crashes({ height: 9 }))).toEqual({ never: { who: 'v1', does: 'crashes', height: 9 } });
  expect(v1.crashes({ height: 9, round: 1 })).toMatchObject({ height: 9, round: 1 });
  expect(v1.starts(height(4))).toMatchObject({ does: 'starts', height: 4 });
  expect(v1.joins(height(4))).toMatchObject({ does: 'joins', height: 4 });
  expect(v1.halts('full', height(4))).toMatchObject({ because: 'full', height: 4 });
  expect(v1.halts(undefined, height(4))).toEqual({ who: 'v1', does: 'halts', height: 4 });
  expect(v1.punishes('v2', height(4))).toMatchObject({ against: 'v2', height: 4 });
  expect(v1.prevotes(nil, undefined)).toEqual({ who: 'v1', does: 'prevotes', block: 'nil' });
  const refused: readonly [Condition, string][] = [
    [v1.drops('v2', 'x', height(2) as never), 'expected no height with drops (only against, because)'],
    [v1.starts({ height: 2, round: 1 } as never), 'expected no round with starts (only height)'],
    [v1.prevotes(nil, { height: 2 }, { step: 'propose' } as never), 'expected no step with prevotes'],
  ];
  for (const [odd, says] of refused)
    expect(() => runScenario(play({ holds: [never(odd)] }), { seed: 1 })).toThrow(`holds[0].never: ${says}`);
  expect(() => v1.crashes(9 as never)).toThrow('v1 crashes: write height(3)');
});

describe('who runs a module runs it without its types, so', () => {
  it.each<[string, () => Scenario, string]>([
    [
      'an unknown kind of message',
      () => play({ act: [at('2s', drop('prevote' as never))] }),
      'act[0].actions[0].what: expected one of proposals',
    ],
    [
      'a node that is not there',
      () => play({ act: [at('2s', isolate('v9'))] }),
      'act[0].actions[0].node: v9 is not in the cast',
    ],
    [
      'a clock of nobody',
      () => play({ cast: validators(4, { clocks: { v9: { skewMs: 3 } } }) }),
      'cast.clocks: v9 is not in the cast',
    ],
    [
      'a number of validators as text',
      () => play({ cast: validators('4' as never) }),
      'validators: expected a whole',
    ],
    [
      'evidence that is too old at once, in blocks',
      () => play({ cast: validators(4, { evidence: { maxAgeBlocks: 0 } }) }),
      'cast.evidence.maxAgeBlocks: expected a whole number from 1, not 0',
    ],
    [
      'evidence that is too old at once, in time',
      () => play({ cast: validators(4, { evidence: { maxAgeMs: 0 } }) }),
      'cast.evidence.maxAgeMs: expected milliseconds, a whole number from 1 to',
    ],
    [
      'blocks larger than there may be',
      () => play({ cast: validators(4, { blockBytes: 200_000_000 }) }),
      'cast.blockBytes: expected a whole number from 0 to 104857600, not 200000000',
    ],
    [
      'a name longer than a chain may have',
      () => play({ cast: validators(4, { chainId: 'ü'.repeat(26) }) }),
      'cast.chainId: expected a text of 1 to 50 bytes',
    ],
    [
      'half a byte of a hash',
      () => play({ cast: validators(4, { appHash: '0a0' }) }),
      'cast.appHash: expected hex digits of 1 to 32 bytes, not "0a0"',
    ],
    [
      'more power than there may be',
      () => play({ cast: powers(...Array.from({ length: 200 }, () => Number.MAX_SAFE_INTEGER)) }),
      'cast.powers: expected 1152921504606846975 at most together, not 1801439850948198200',
    ],
    [
      'a load without a pause',
      () => play({ load: txs({ perSecond: 2e9 }) }),
      'load.perSecond: expected a number from 0.000001 to 1000000, not 2000000000',
    ],
    [
      'transactions whose time never comes',
      () => play({ load: txs({ perSecond: 1e-7 }) }),
      'load.perSecond: expected a number from 0.000001 to 1000000, not 1e-7',
    ],
    [
      'copies without end',
      () => play({ load: txs({ perSecond: 1, copies: Number.POSITIVE_INFINITY }) }),
      'load.copies: expected a whole number from 1 to 10000, not Infinity',
    ],
    [
      'half a copy',
      () => play({ load: txs({ perSecond: 1, copies: 0.5 }) }),
      'load.copies: expected a whole number from 1 to 10000, not 0.5',
    ],
    [
      'transactions of a height that are never all given',
      () => play({ load: txs({ perBlock: Number.MAX_SAFE_INTEGER }) }),
      'load.perBlock: expected a whole number from 1 to 1000000, not 9007199254740991',
    ],
    [
      'more validators than a set may have',
      () => play({ cast: { powers: new Array(10_001).fill(1) } }),
      'cast.powers: expected 10000 validators at most',
    ],
    [
      'a number of them that no list holds',
      () => play({ cast: validators(1e10) }),
      'validators: expected a whole number from 1 to 10000, not 10000000000',
    ],
    [
      'a name that no bytes spell',
      () => play({ cast: validators(4, { chainId: 'half \ud800' }) }),
      'cast.chainId: expected a text of 1 to 50 bytes, not "half \\ud800"',
    ],
    [
      'an effect with a word more',
      () =>
        play({
          act: [at('1s', { ...drop('prevotes'), effect: { delayMs: 5, delaysMs: 7 } } as never)],
        }),
      'act[0].actions[0].effect.delaysMs: no such field; there are delayMs',
    ],
    [
      'an effect that is none',
      () => play({ act: [at('1s', { ...drop('prevotes'), effect: 'delay' } as never)] }),
      'act[0].actions[0].effect: expected "drop" or {"delayMs": ...}, not "delay"',
    ],
    [
      'stragglers that come after the end of time',
      () => play({ act: [at('1s', links({ straggle: { minNs: 9e15, maxNs: 9e15 } }))] }),
      'act[0].actions[0].change.straggle: expected maxNs at most 1000000000000000 ns (11 days)',
    ],
    [
      'links that take as long',
      () => play({ act: [at('1s', links({ latency: { kind: 'uniform', minNs: 9e15, maxNs: 9e15 } }))] }),
      'act[0].actions[0].change.latency: expected maxNs at most 1000000000000000 ns (11 days)',
    ],
    [
      'measured links that do',
      () => play({ act: [at('1s', links({ latency: { kind: 'table', quantilesNs: [0, 9e15] } }))] }),
      'act[0].actions[0].change.latency: expected quantilesNs at most 1000000000000000 ns (11 days)',
    ],
    [
      'more people than there is room for',
      () => play({ cast: { ...validators(4), candidates: 1e12 } }),
      'cast.candidates: expected a whole number from 0 to 10000, not 1000000000000',
    ],
    [
      'links whose latency is spread over an hour',
      () => play({ act: [at('1s', links({ latency: { kind: 'uniform', minNs: 0, maxNs: 3e12 } }))] }),
      'act[0].actions[0].change.latency: expected maxNs at most 2000000000000 (33 minutes) above minNs',
    ],
    [
      'a key that takes longer than a run lasts',
      () => play({ act: [at('1s', { do: 'signer', node: 'v0', takesMs: 1e10 })] }),
      'act[0].actions[0].takesMs: expected milliseconds, a whole number from 0 to 1000000000 (11 days)',
    ],
    [
      'an application that does',
      () => play({ act: [at('1s', { do: 'application', node: 'v0', blocksMs: 1e10, checksMs: 0 })] }),
      'act[0].actions[0].blocksMs: expected milliseconds, a whole number from 0 to 1000000000 (11 days)',
    ],
    [
      'transactions larger than any block',
      () => play({ load: txs({ perSecond: 1, size: 1e9 }) }),
      'load.size: expected a whole number from 0 to 104857600, not 1000000000',
    ],
    [
      'a clock that counts beyond all numbers',
      () => play({ cast: validators(4, { clocks: { v1: { driftPpm: 9e15 } } }) }),
      'cast.clocks.v1.driftPpm: expected a whole number above -1000000, at most 9000000',
    ],
    [
      'a clock that is to do so',
      () => play({ act: [at('1s', clock('v1', { driftPpm: 9e15 }))] }),
      'act[0].actions[0].driftPpm: expected a whole number above -1000000, at most 9000000',
    ],
    [
      'links that take longer than time lasts',
      () => play({ act: [at('1s', links({ latency: { kind: 'exponential', minNs: 1, meanNs: 9e15 } }))] }),
      'change.latency: expected minNs and 14 times meanNs together at most 1000000000000000 ns (11 days)',
    ],
    [
      'a bare height',
      () => play({ holds: [sometime(v1.decides(3 as never))] }),
      'v1 decides: write height(3)',
    ],
    [
      'a bare place',
      () => play({ holds: [never(v1.prevotes(nil, 3 as never))] }),
      'v1 prevotes: write height(3)',
    ],
    [
      'a word in quotes',
      () => play({ holds: [never(v1.prevotes('nil' as never))] }),
      'v1 prevotes: write height(3), block(2), nil or { height: 3, round: 0 }, not "nil"',
    ],
    [
      'a bare end',
      () => play({ ends: everyone.decides(3 as never, { within: '9s' }) }),
      'ends: write height(3)',
    ],
    [
      'no title',
      () => scenario({ cast: validators(4), ends: three } as never, {} as never),
      'its title comes first',
    ],
    [
      'more than all',
      () => play({ act: [at('0s', links({ lossPpm: 3_000_000 }))] }),
      'change.lossPpm: expected',
    ],
    [
      'a latency that ends before it begins',
      () => play({ act: [at('0s', links({ latency: { kind: 'uniform', minNs: 5, maxNs: 2 } }))] }),
      'change.latency: expected minNs up to maxNs',
    ],
    [
      'whose proposals',
      () => play({ act: [at('0s', drop('proposals', { by: ['v0'] }))] }),
      'act[0].actions[0]: expected "by" only with prevotes and precommits',
    ],
    [
      'everything of a height',
      () => play({ act: [at('0s', drop('everything', { height: 4 }))] }),
      '"height" and "round" only with proposals',
    ],
    [
      'a crash with a slip of the pen',
      () => play({ act: [at('0s', crash('v1', { when: 'inside', op: 'flush' } as never))] }),
      'crash takes { how, restart, unnoticed: true, point }',
    ],
    [
      'a crash of nothing',
      () => play({ act: [at('0s', crash('v1', null as never))] }),
      "crash: write { how: 'lose', restart: '2s', unnoticed: true, point: { when, op, nth } }, not null",
    ],
    [
      'parts of a bare round',
      () => play({ act: [at('0s', drop('parts', 5 as never))] }),
      "drop: write { from: ['v0'], to: ['v1'], by: ['v0'], height: 3, round: 0 }, not 5",
    ],
    [
      'a delay of a bare round',
      () => play({ act: [at('0s', delay('parts', '1s', 5 as never))] }),
      'delay: write { from:',
    ],
    [
      'links of some',
      () => play({ act: [at('0s', links({ lossPpm: 5 }, ['v0'] as never))] }),
      `links: write { from: ['v0'], to: ['v1'] }, not ["v0"]`,
    ],
    [
      'never during a number',
      () => play({ holds: [never(v0.crashes(), 5 as never)] }),
      'never: write { while: v0.isDown }, not 5',
    ],
    [
      'locked on nothing',
      () => play({ holds: [finally_((v0.lockedOn as () => never)())] }),
      'v0 lockedOn: write block(2), not undefined',
    ],
    [
      'nobody for ever',
      () => play({ ends: (nobody.decidesBeyond as (at: object) => never)(height(4)) }),
      "ends: write { for: '30s' }, not undefined",
    ],
    [
      'a fork by nobody',
      () => play({ ends: (chain.forksAt as (at: object) => never)(height(4)) }),
      "ends: write { guilty: ['v3'], within: '60s' }, not undefined",
    ],
    [
      'validators and a number',
      () => play({ cast: validators(4, 5 as never) }),
      'validators: write { fullNodes: 1, degree: 3 }, not 5',
    ],
    [
      'a liar and a height',
      () => play({ liars: [liar('v3', 'amnesiac', ['v0'], 3 as never)] }),
      'liar: write { fromHeight: 3, toRound: 1 }, not 3',
    ],
    [
      'a log that is a store',
      () =>
        play({
          act: [at('0s', crash('v1', { point: { when: 'before', op: 'sync', on: 'chain', nth: 1 } }))],
        }),
      'act[0].actions[0]: expected sync on consensus or privval',
    ],
    [
      'a point that no flush has',
      () => play({ act: [at('0s', crash('v1', { point: { when: 'before', op: 'flush', nth: 1 } }))] }),
      'act[0].actions[0]: expected inside or after with flush',
    ],
    [
      'a word that is half said',
      () => play({ act: [at('0s', crash('v1', { point: { when: 'inside', op: 'send', nth: 1 } }))] }),
      'expected before or after with send',
    ],
    [
      'a point before the first',
      () => play({ act: [at('0s', crash('v1', { point: { when: 'after', op: 'sign', nth: 0 } }))] }),
      'act[0].actions[0].nth: expected a whole number from 1, not 0',
    ],
    [
      'a connection of one',
      () => play({ act: [at('0s', reset('v1', 'v1'))] }),
      'act[0].actions[0]: expected two nodes',
    ],
    ['groups of nobody', () => play({ act: [at('0s', partition([], []))] }), 'expected a group of nodes'],
    [
      'a node on both sides',
      () => play({ act: [at('0s', partition(['v0', 'v1'], ['v1', 'v2']))] }),
      'expected v1 in one group only',
    ],
    [
      'a cut from nobody',
      () => play({ act: [at('0s', cut([], ['v1']))] }),
      'act[0].actions[0]: expected something in from',
    ],
    [
      'a wire from a node to itself',
      () => play({ act: [at('0s', clog(['v1'], ['v1'], '3s'))] }),
      'expected two nodes',
    ],
    ['links with no change', () => play({ act: [at('0s', links({}))] }), 'expected something of the links'],
    [
      'links to nobody',
      () => play({ act: [at('0s', links({ lossPpm: 5 }, { to: [] }))] }),
      'expected something in to',
    ],
    [
      'a rule for nobody',
      () => play({ act: [at('0s', drop('prevotes', { by: [] }))] }),
      'expected something in by',
    ],
    ['nobody who heals', () => play({ act: [at('0s', core())] }), 'expected something in nodes'],
    [
      'nothing that is put back',
      () => play({ act: [at('0s', putBack('v1'))] }),
      'expected something in media',
    ],
    [
      'a clock as it was',
      () => play({ act: [at('0s', clock('v1', {}))] }),
      'expected a step, driftPpm or frozen',
    ],
    [
      'a clock beyond all dates',
      () => play({ cast: validators(4, { clocks: { v1: { skewMs: 1e12 } } }) }),
      'cast.clocks.v1.skewMs: expected milliseconds',
    ],
    [
      'a step beyond all dates',
      () => play({ act: [at('0s', clock('v1', { step: '-9000000000s' }))] }),
      'stepMs: expected milliseconds',
    ],
    [
      'a time after the end of the world',
      () => play({ act: [at('9000000000s', isolate('v1'))] }),
      'act[0].atMs: expected milliseconds',
    ],
    [
      'a round of an arrival',
      () => play({ holds: [never({ ...v1.joins(), round: 2 })] }),
      'holds[0].never: expected no round with joins (only height)',
    ],
    [
      'a height at which a connection ends',
      () => play({ holds: [never({ ...v1.drops('v2'), height: 2 })] }),
      'holds[0].never: expected no height with drops (only against, because)',
    ],
    [
      'a block of a step',
      () => play({ act: [when({ ...v1.enters('prevote'), block: 1 }, isolate('v1'))] }),
      'act[0].when: expected no block with enters',
    ],
    [
      'a decision for nil',
      () => play({ holds: [never({ ...v1.decides(), block: 'nil' })] }),
      'holds[0].never: expected a block: nobody decides nil',
    ],
    [
      'nobody to keep a promise',
      () =>
        play({ liars: (['v0', 'v1', 'v2', 'v3'] as const).map((name) => liar(name, 'nil-voter', ['v1'])) }),
      'liars: all nodes lie',
    ],
    [
      'a state that never happens',
      () => play({ holds: [never(v1.isUp as never)] }),
      'holds[0].never: expected what somebody does, as v0.decides()',
    ],
    [
      'a deed that is so at the end',
      () => play({ holds: [finally_(v1.joins() as never)] }),
      'holds[0].finally: expected how somebody is, as v0.isUp',
    ],
    [
      'never of everyone',
      () => play({ holds: [never(everyone.decides(height(5)))] }),
      'holds[0].never: expected never of a node, or of anyone',
    ],
    [
      'a vote of who has no key',
      () => play({ cast: validators(4, { fullNodes: 1 }), act: [when(f0.precommits(), isolate('v1'))] }),
      'act[0].when: expected a node with a key: f0 never precommits',
    ],
    [
      'a lock on nil',
      () => play({ holds: [never(v1.decides(), { while: v1.lockedOn(nil) })] }),
      'holds[0].while.block: expected the number of a block from 1: nobody is locked on nil',
    ],
    [
      'a vote before the first height',
      () =>
        play({
          cast: validators(4, { initialHeight: 7 }),
          ends: everyone.decides(height(9), { within: '60s' }),
          holds: [never(v1.prevotes(nil, { height: 6 }))],
        }),
      'holds[0].never.height: expected a height from 7, not 6',
    ],
    [
      'an end before the first height',
      () => play({ ends: everyone.decides(height(0), { within: '60s' }) }),
      'ends.decides: expected a height from 1, not 0',
    ],
    [
      'an effect that is none',
      () => play({ oracles: [() => ({ name: 'mine', effects: ['sent'], leaving: () => undefined })] }),
      'oracles[0]: mine: effects: sent is none; there are append, sync',
    ],
    [
      'an event that is none',
      () => play({ oracles: [() => ({ name: 'mine', events: ['commit'], published: () => undefined })] }),
      'oracles[0]: mine: events: commit is none; there are step, committed',
    ],
    [
      'an oracle that is asked about nothing',
      () => play({ oracles: [() => ({ name: 'mine', effects: [], leaving: () => undefined })] }),
      'effects: empty, so leaving() would never be asked',
    ],
    [
      'power for who has no key',
      () => play({ cast: validators(4, { fullNodes: 1 }), act: [at('0s', empower('f0', 10))] }),
      'expected a node with a key',
    ],
    [
      'a clock that runs backwards',
      () => play({ cast: validators(4, { clocks: { v1: { driftPpm: -1_000_000 } } }) }),
      'cast.clocks.v1.driftPpm: expected a whole number above -1000000',
    ],
    [
      'a cut for so long',
      () => play({ act: [at('0s', cut(['v0'], ['v1'], '3s' as never))] }),
      '"for-ever" may follow, not "3s"',
    ],
    [
      'a load without a rate',
      () => play({ load: txs({ count: 5 }) }),
      'load: expected perSecond or perBlock',
    ],
    [
      'no time at all',
      () => play({ ends: everyone.decides(height(5), '9s' as never) }),
      "write { within: '60s' }",
    ],
    [
      'an end without its time',
      () => play({ ends: everyone.decides(height(5)) as never }),
      'ends: say how long it may take',
    ],
    [
      'an end with another word for its time',
      () => play({ ends: everyone.decides(height(5), { wihtin: '60s' } as never) }),
      `ends: write { within: '60s' }, not {"wihtin":"60s"}`,
    ],
    [
      'a clock that nothing changes',
      () => play({ act: [at('0s', clock('v3', undefined as never))] }),
      "clock: write { step: '2s' }",
    ],
    [
      'an application that takes nothing at all',
      () => play({ act: [at('0s', application('v3', null as never))] }),
      "application: write { blocks: '300ms' } or { checks: '20ms' }, not null",
    ],
    [
      'an application that takes a time for nothing named',
      () => play({ act: [at('0s', application('v3', '300ms' as never))] }),
      "application: write { blocks: '300ms' }",
    ],
    [
      'an application that is slow about another word',
      () => play({ act: [at('0s', application('v3', { block: '300ms' } as never))] }),
      'block',
    ],
    ['powers as bigints', () => play({ cast: powers(34n as never, 22) }), 'not 34n'],
    [
      'a beat without end',
      () => play({ settings: { sync: { checkNs: 0n } } }),
      'settings.sync.checkNs: expected a bigint from 1000000n',
    ],
    [
      'validators by their powers',
      () => play({ cast: validators([3, 12] as never) }),
      'validators: expected a whole number from 1 to 10000, not [3,12]: write powers(3, 12)',
    ],
    [
      'a beat of more than 64 bits',
      () => play({ settings: { sync: { checkNs: 1n << 63n } } }),
      'settings.sync.checkNs: expected a bigint from 1000000n, less than 2^63',
    ],
    [
      'a timeout of more than 64 bits',
      () => play({ settings: { consensus: { timeoutProposeNs: 1n << 63n } } }),
      'settings.consensus.timeoutProposeNs: expected a bigint from 0n, less than 2^63',
    ],
    [
      'half a bigint',
      () => play({ settings: { consensus: { gossipNs: 5 } } }),
      'settings.consensus.gossipNs: expected a bigint',
    ],
    [
      'settings of nothing',
      () => play({ settings: { consensuss: {} } }),
      'settings.consensuss: no such field',
    ],
    [
      'an application as a class',
      () => play({ app: KvStore }),
      'app: this is a class; write () => new KvStore()',
    ],
    [
      'an application that is none',
      () => play({ app: () => 5 }),
      'app: what it makes is no application: it has no answer()',
    ],
    [
      'a liar that says nothing',
      () => play({ liars: [liar('v3', () => () => undefined as never, ['v0'])] }),
      'liars[0].liar: expected a list',
    ],
    [
      'an oracle without a name',
      () => play({ oracles: [() => ({})] }),
      'oracles[0]: what it makes has no name',
    ],
    [
      'an oracle that hears nothing',
      () => play({ oracles: [() => ({ name: 'deaf' })] }),
      'oracles[0]: deaf hears nothing',
    ],
    [
      'an oracle with a slip of the pen',
      () => play({ oracles: [() => ({ name: 'mine', publishd: () => undefined, ended: () => undefined })] }),
      'oracles[0]: mine would never be asked for publishd()',
    ],
    ['no ending', () => play({ ends: undefined }), 'ends: expected an object, not nothing'],
    ['an unknown field', () => play({ end: three }), 'end: no such field'],
    [
      'blocks that hold no commit',
      () => play({ cast: validators(4, { blockBytes: 14_162 }) }),
      'cast.blockBytes: block.max_bytes=14162 is too small for header, commit and evidence: it takes 14163',
    ],
    ['nobody to vote', () => play({ cast: { powers: [] } }), 'cast.powers: somebody must be a validator'],
  ])('%s is named', (_, made, because) => {
    expect(() => runScenario(made(), { seed: 1 })).toThrow(because);
  });

  it.each<[string, () => unknown, string]>([
    [
      'when',
      () => when(v0.decides as never, heal()),
      'when: write when(v0.decides(height(3)), ...), not the function decides: call it',
    ],
    [
      'whenever',
      () => whenever(v0.locks as never),
      'whenever: write whenever(v0.decides(height(3)), ...), not the function locks',
    ],
    [
      'whenOrAt',
      () => whenOrAt(undefined as never, '2s'),
      "whenOrAt: write whenOrAt(v0.decides(height(3)), '60s', ...), not undefined",
    ],
    [
      'never',
      () => never(v0.crashes as never),
      'never: write never(v0.decides(height(3))), not the function crashes: call it',
    ],
    [
      'sometime',
      () => sometime('v0 locks' as never),
      'sometime: write sometime(v0.decides(height(3))), not "v0 locks"',
    ],
    [
      'finally_',
      () => finally_(v0.hasPower as never),
      'finally_: write finally_(v0.isUp), not the function hasPower: call it',
    ],
    ['decides', () => v0.decides(height as never), 'not the function height: call it, height(...)'],
    ['at', () => at(heal() as never), 'at: {"do":"heal"} is no duration: write 250ms'],
    ['after', () => after(heal as never), 'after: the function heal: call it, heal(...) is no duration'],
    [
      'drawn',
      () => drawn('x', calm as never, undefined as never),
      "drawn: write drawn('name', 'title', (stream) => scenario(...))",
    ],
  ])(
    'where the word %s stands before something else it is named, and how it is written',
    (_, made, because) => {
      expect(made).toThrow(ScenarioError);
      expect(made).toThrow(because);
    },
  );

  it.each<[string, object, string]>([
    [
      'a node alone',
      { act: [when(v0 as never, heal())] },
      'act[0].when: expected what somebody does, as v0.decides(): a node alone does nothing, not {"name":"v0"',
    ],
    [
      'how a play ends',
      { act: [when(v0.decides(height(2), { within: '9s' }) as never)] },
      'act[0].when: expected what somebody does, as v0.decides(), without { within }: that goes with ends, not',
    ],
    [
      'a node for how it is',
      { holds: [finally_(v0 as never)] },
      'holds[0].finally: expected how somebody is, as v0.isUp: a node alone is nothing yet',
    ],
    [
      'a word that was not called',
      { act: [at('2s', heal as never)] },
      'act[0].actions[0]: expected what happens, as heal(), not the function heal: call it, heal(...)',
    ],
    [
      'its ending, not called',
      { ends: everyone.decides },
      'ends: expected an object, not the function decides: call it',
    ],
  ])('%s is named, and what is written instead', (_, more, because) => {
    expect(() => runScenario(play(more), { seed: 1 })).toThrow(because);
  });

  it('settings may be some of what there is', () => {
    const quick = play({ settings: { consensus: { timeoutCommitNs: 5_000_000n } } });
    const [slowNs, quickNs] = [play(), quick].map((each) => runScenario(each, { seed: 1 }).virtualNs);
    expect(quickNs).toBeLessThan(Number(slowNs) - 1e9);
  });

  it('what shrink and bftProperty take is checked', () => {
    expect(() => shrink(play(), '1' as never)).toThrow('shrink takes a play and { seed, promise, budget');
    expect(() => shrink(play(), { seed: 1, promised: 'lock' } as never)).toThrow(
      'promised: no such option; there are seed, promise, budget, oracles, heard',
    );
    expect(() => shrink(play(), { seed: 1, promise: 7 } as never)).toThrow('promise: expected a text');
    for (const budget of [-1, 5n, '40000'])
      expect(() => shrink(play(), { seed: 1, budget } as never)).toThrow(
        'budget: expected a number of deliver',
      );
    expect(() => shrink(play(), { seed: 1, heard: 'x' } as never)).toThrow('heard: expected a function');
    expect(() => shrink(play(), { seed: 1, oracles: [7] } as never)).toThrow(
      'oracles[0]: expected a function',
    );
    expect(() => bftProperty(null as never)).toThrow('bftProperty: expected an object of options, not null');
    expect(() => bftProperty({ app: class Mine {} } as never)).toThrow(
      'app: this is a class; write () => new Mine()',
    );
    expect(() => bftProperty({ heigths: 3 } as never)).toThrow(
      'heigths: no such option; there are app, heights',
    );
  });

  it('options of a run are checked', () => {
    expect(() => runScenario(play(), { seed: 1, oracle: [] } as never)).toThrow('oracle: no such option');
    expect(() => runScenario(play(), { sede: 1 } as never)).toThrow(
      'sede: no such option; there are seed, crypto, memo, shape, cast,',
    );
    for (const none of [null, 7, '7'])
      expect(() => runScenario(play(), none as never)).toThrow(`options: write { seed: 1 }, not ${none}`);
    expect(() => runScenario(play(), { seed: 1, heights: 'x' } as never)).toThrow('heights: expected');
    expect(() => runScenario(play(), { seed: 1, oracles: 'x' } as never)).toThrow('oracles: expected a list');
    expect(() => runScenario(play(), { seed: 1, crypto: 'real' } as never)).toThrow(
      'crypto: expected sim or ed25519, not real',
    );
    expect(() => runScenario(play(), { seed: 1, cast: {} } as never)).toThrow('cast: expected people');
    expect(() => runScenario(play(), { seed: 1, memo: 'no' } as never)).toThrow(
      'memo: expected true or false, not no',
    );
    expect(() => runScenario(play(), { seed: 1, shape: 0 } as never)).toThrow(
      'shape: expected true or false',
    );
    expect(() => runScenario(play(), { seed: 1, recorded: new Uint8Array(9) } as never)).toThrow(
      'recorded: expected choices as watch.choices and decodeRecording give them, not an object',
    );
    expect(() => runScenario(play(), { seed: 1, watch: { lines: () => {} } } as never)).toThrow(
      'watch.lines: no such option; there are line, event, progress, trace, choices, backstage',
    );
    expect(() => runScenario(play(), { seed: 1, watch: { line: 'x' } } as never)).toThrow(
      'watch.line: expected a function, not x',
    );
    expect(() => runScenario(play(), { seed: 1, about: { by: 3 } } as never)).toThrow(
      'about: expected an object',
    );
  });

  it.each<[string, () => unknown, string]>([
    [
      'no options',
      () => makeCast(undefined as never),
      'makeCast: what it takes: expected { powers: [10n, 10n] }, not nothing',
    ],
    [
      'numbers',
      () => makeCast({ powers: [10] as never }),
      'makeCast: powers[0]: expected a bigint that is not negative, as 10n, not 10',
    ],
    [
      'a slip',
      () => makeCast({ powers: [1n], fullnodes: 1 } as never),
      'makeCast: fullnodes: no such field; there are powers,',
    ],
    ['nobody', () => makeCast({ powers: [0n] }), 'makeCast: the genesis names no validators'],
    [
      'too much power',
      () => makeCast({ powers: [2n ** 62n, 10n] }),
      "makeCast: validators: voting power can't be higher than",
    ],
    [
      'no number of bytes',
      () => makeCast({ powers: [2n ** 70n] }),
      'makeCast: validators[0].power must be a whole number',
    ],
    [
      'a height below the first',
      () => makeCast({ powers: [1n], initialHeight: 0n }),
      'makeCast: initialHeight: expected a bigint from 1n to 4503599627370496n, not 0n',
    ],
    [
      'no name',
      () => makeCast({ powers: [1n], chainId: '' }),
      'makeCast: genesis doc must include non-empty',
    ],
    [
      'half of the parameters',
      () => makeCast({ powers: [1n], params: {} as never }),
      'makeCast: params.block: expected an object, not nothing',
    ],
    ['no hex', () => makeCast({ powers: [1n], appHash: 'xyz' }), 'makeCast: appHash: expected hex digits'],
    ['no text', () => castFromFiles(7 as never, []), 'castFromFiles: genesisText: expected a text, not 7'],
    [
      'a folder',
      () => castFromFiles('{}', '/keys' as never),
      'castFromFiles: keys: expected a list, not "/keys"',
    ],
    [
      'texts',
      () => castFromFiles('{}', ['{}'] as never),
      'castFromFiles: keys[0]: expected a key pair, as parsePriv',
    ],
  ])('people who are asked for with %s are refused by that name', (_, made, because) => {
    expect(made).toThrow(ScenarioError);
    expect(made).toThrow(because);
  });

  it('other people than those of the play may be too few', () => {
    const cast = makeCast({ powers: [1n, 1n, 1n] });
    const four = play({ act: [at('1s', crash('v3'))] });
    expect(() => runScenario(four, { seed: 1, cast })).toThrow(
      new ScenarioError('cast: the play speaks of v3, and nobody there has that name'),
    );
    const skewed = play({ cast: validators(4, { clocks: { v3: { skewMs: 20_000 } } }) });
    expect(() => runScenario(skewed, { seed: 1, cast })).toThrow('cast: the play speaks of v3, and nobody');
  });

  it('the line that makes a run again names what cannot be written in it', () => {
    const cast = makeCast({ powers: [1n, 1n, 1n, 1n] });
    const { again } = runScenario(play(), { seed: '007', cast, oracles: [], heights: 3 });
    expect(again).toBe("runScenario(play, { seed: '7', heights: 3, cast, oracles })");
  });

  it('a seed is a number, however it is written', () => {
    const [short, long] = [7, '007'].map((seed) => runScenario(play(), { seed }));
    expect(long?.seed).toBe('7');
    expect(long?.digest).toBe(short?.digest);
  });

  it('a seed is a whole number from 0', () => {
    for (const seed of [-1, 1.5, 'x', undefined, 2n ** 64n]) {
      expect(() => runScenario(play(), { seed: seed as number })).toThrow(/^seed: expected/);
    }
    // Of such a number the last digits are others than those that were written.
    expect(() => runScenario(play(), { seed: 2 ** 60 })).toThrow(
      'seed: a number as large as 1152921504606847000',
    );
    expect(runScenario(play(), { seed: 2n ** 64n - 1n }).holds).toBe(true);
    expect(() => shrink(play(), { seed: 2n ** 64n, promise: 'lock' })).toThrow(/^seed: expected/);
    expect(seedAfter(String(2n ** 64n - 1n), 2)).toBe('1');
  });

  it('a duration has a number and a unit', () => {
    expect([msOf('250ms'), msOf('1.5s'), msOf('2m')]).toEqual([250, 1_500, 120_000]);
    for (const wrong of ['3 sec', '30', 's', '-1s']) expect(() => msOf(wrong as '1s')).toThrow('no duration');
    expect([msOf('0.5s'), msOf('1.001s'), msOf('0.005m')]).toEqual([500, 1_001, 300]);
    for (const odd of ['0.4ms', '1.0005s', '0.00001m'] as const)
      expect(() => delay('prevotes', odd)).toThrow(`delay: "${odd}" is no whole number of milliseconds`);
    expect(() => at('2sec' as '2s')).toThrow('at: "2sec" is no duration');
    expect(() => crash('v0', { restart: '' as '1s' })).toThrow('restart: "" is no duration');
    expect(() => everyone.decides(height(3), { within: 60 as never })).toThrow('within: "60" is no duration');
  });

  it('sets clocks back, too', () => {
    expect(clock('v0', { step: '-1.5s' })).toEqual({ do: 'clock', node: 'v0', stepMs: -1_500 });
    expect(() => clock('v0', { step: -20 as never })).toThrow('clock: step: "20" is no duration');
    expect(() => clock('v0', { step: '--1s' as '1s' })).toThrow('clock: step: "-1s" is no duration');
  });
});

it('an application that answers what has no bytes is named, and the run goes to its verdict', () => {
  class Broken extends KvStore {
    override answer(...asked: Parameters<Application['answer']>): AbciResponse {
      const response = super.answer(...asked);
      return response.type === 'init-chain' ? { ...response, value: null as never } : response;
    }
  }
  const { holds, violations } = runScenario(play({ app: () => new Broken() }), { seed: 1 });
  expect(holds).toBe(false);
  expect(violations[0]).toMatchObject({ oracle: 'hygiene', node: expect.stringMatching(/^v/) });
  expect(violations[0]?.what).toContain('app threw');
  expect(violations[0]?.thrown).toBeInstanceOf(Error);
});

it('a cast of real files begins at the time of its genesis, whenever that is', () => {
  const { genesis, members } = makeCast({ powers: [10n, 10n, 10n, 10n] });
  const later = genesis.replace('2024-01-01T00:00:00Z', '2031-05-06T07:08:09Z');
  expect(later).not.toBe(genesis);
  const keys = members.map(({ seed }) => keyPairOfSeed(seed ?? unreachable('validators')));
  const cast = castFromFiles(later, keys);
  if (isRefusal(cast)) return unreachable(cast.because);
  expect(runScenario(play(), { seed: 1, cast }).holds).toBe(true);
});

it('links as slow as they may be, one behind the other, are still within time', () => {
  const ms = 1_000_000_000_000_000;
  const latency = { kind: 'uniform', minNs: ms, maxNs: ms } as const;
  const slow = links({ latency, reorderPpm: 1_000_000, straggle: { minNs: ms, maxNs: ms } });
  const verdict = runScenario(play({ act: [at('1s', slow)], liveness: 'waived' }), { seed: 1 });
  expect(verdict.violations.filter(({ thrown }) => thrown !== undefined)).toEqual([]);
});

it('a genesis with which no chain can begin is refused, as that of a home is', () => {
  const { genesis, members } = makeCast({ powers: [10n, 10n] });
  const keys = members.map(({ seed }) => keyPairOfSeed(seed ?? unreachable('validators')));
  const from = (change: (whole: { validators: object[]; consensus_params: object }) => object): string => {
    const whole = JSON.parse(genesis);
    const cast = castFromFiles(JSON.stringify({ ...whole, ...change(whole) }), keys);
    return isRefusal(cast) ? cast.because : 'no refusal';
  };
  expect(from(() => ({}))).toBe('no refusal');
  expect(from(({ validators: [first] }) => ({ validators: [first, first] }))).toMatch(
    /^validators: duplicate entry [0-9A-F]{40}/,
  );
  const powerOf = (power: string) =>
    from(({ validators: all }) => ({ validators: all.map((each) => ({ ...each, power })) }));
  expect(powerOf('9223372036854775807')).toMatch(/^validators: voting power can't be higher than/);
  expect(powerOf('1152921504606846975')).toMatch(/^validators: total voting power .* exceeds max/);
  expect(
    from(({ consensus_params }) => ({
      consensus_params: { ...consensus_params, abci: { vote_extensions_enable_height: '5' } },
    })),
  ).toMatch(/^consensus_params: vote extensions, which this node does not have yet/);
});

it('a cast carries the application state that it is given', () => {
  const genesis = parseGenesis(makeCast({ powers: [1n], appState: '{"a":12345678901234567890}' }).genesis);
  expect(isRefusal(genesis) ? genesis.because : utf8Decode(genesis.appState)).toContain(
    '12345678901234567890',
  );
});
