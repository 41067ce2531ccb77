// What a play brings of its own: liars, oracles, workloads. They take part, and what cannot hold them says so.

import { describe, expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import {
  aboutOwnVotes,
  at as atTime,
  castFromFiles,
  crash,
  decodeRecording,
  everyone,
  fromJson,
  height,
  type Liar,
  liar,
  makeCast,
  type OracleMaker,
  pause,
  pictureOf,
  requestIn,
  responseIn,
  runScenario,
  type Scenario,
  scenario,
  shrink,
  toJson,
  txs,
  validators,
} from '../../sim/index.ts';
import { Transactions } from '../../sim/oracles/ghost/transactions.ts';

const silence: Liar = (kit) => aboutOwnVotes(kit, 'lie: silence of my own', () => []);
const watches: OracleMaker = () => ({ name: 'mine' });
const silent =
  (name: string): OracleMaker =>
  () => ({ name, ended: () => {} });
const order = (): Uint8Array => bytes('order=1');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const play = (more: object): Scenario =>
  scenario('of my own', {
    cast: validators(4),
    ends: everyone.decides(height(4), { within: '60s' }),
    ...more,
  });

describe('of one’s own', () => {
  it('a liar lies to its victims, under the dice of the run', () => {
    const lying = (ppm: number) =>
      runScenario(play({ liars: [liar('v3', silence, ['v0'], { ppm })] }), { seed: 1 });
    const { holds, faults } = lying(1_000_000);
    expect(holds).toBe(true);
    expect(faults['lie: silence of my own']).toBeGreaterThan(4);
    expect(lying(0).faults['lie: silence of my own']).toBeUndefined();
    expect(lying(300_000).digest).toBe(lying(300_000).digest);
  });

  it('a liar that says the truth in another list has not lied', () => {
    const { unmet } = runScenario(
      play({ liars: [liar('v3', () => (_, payloads) => payloads.filter(() => true), ['v0'])] }),
      { seed: 1 },
    );
    expect(unmet).toEqual(['no lie of v3 (its own liar)']);
  });

  it('a liar that counts nothing tells so many lies as `times` says', () => {
    let lies = 0;
    const mute: Liar = (kit) => () => {
      if (!kit.lies()) return null;
      lies++;
      return [];
    };
    const liars = [liar('v3', mute, ['v0'], { times: 2 })];
    expect(runScenario(play({ liars }), { seed: 1 }).holds).toBe(true);
    expect(lies).toBe(2);
  });

  it('an oracle reads what the application is asked, and what it answers', () => {
    const asked: string[] = [];
    const answered: string[] = [];
    const reads: OracleMaker = () => ({
      name: 'reads',
      effects: ['tell'],
      leaving: ({ name }, _, effect) => {
        const request = requestIn(effect);
        const response = responseIn(effect);
        if (name === 'v0' && request) asked.push(request.type);
        if (name === 'v0' && response) answered.push(response.type);
      },
    });
    runScenario(play({ oracles: [reads], load: txs({ perBlock: 1 }) }), { seed: 1 });
    expect(asked.filter((type) => type === 'finalize-block').length).toBeGreaterThanOrEqual(4);
    expect(new Set(asked)).toEqual(new Set(answered));
    expect(answered).toEqual(asked.slice(0, answered.length));
  });

  it('an oracle is asked, once per run anew, and what it reports ends the run', () => {
    let made = 0;
    const noThird: OracleMaker = (report) => {
      made++;
      return {
        name: 'no third block',
        effects: [],
        published(at, _actor, event) {
          if (event.type === 'committed' && event.height === 3n) report('there it is', at, 3n);
        },
      };
    };
    for (const seed of [1, 2]) {
      const { violations } = runScenario(play({ oracles: [noThird] }), { seed });
      expect(violations).toMatchObject([{ oracle: 'no third block', what: 'there it is', height: 3n }]);
    }
    expect(made).toBe(2);
  });

  it('a workload may fill the same buffer again for each transaction', () => {
    const buffer = bytes('k00=v');
    const refill = (_: unknown, n: number): Uint8Array => {
      buffer.set(bytes(String(n).padStart(2, '0')), 1);
      return buffer;
    };
    const fresh = (_: unknown, n: number): Uint8Array => bytes(`k${String(n).padStart(2, '0')}=v`);
    const [again, anew] = [refill, fresh].map((make) =>
      runScenario(play({ load: txs({ perSecond: 1, count: 4, make }) }), { seed: 1 }),
    );
    expect(again?.holds).toBe(true);
    expect(again?.transactions.committed).toBeGreaterThan(1);
    expect(again?.digest).toBe(anew?.digest);
  });

  it('a workload makes the n-th transaction from the dice of the run', () => {
    const told: string[] = [];
    const make = (stream: { draw(bound: number): number }, n: number): Uint8Array => {
      const tx = `nr${n}=${stream.draw(1_000)}`;
      told.push(tx);
      return bytes(tx);
    };
    const mine = play({ load: txs({ perBlock: 2, make }) });
    const { holds, transactions, digest } = runScenario(mine, { seed: 1 });
    expect(holds).toBe(true);
    expect(transactions.submitted).toBe(told.length);
    expect(transactions.committed).toBeGreaterThan(3);
    const first = told.splice(0);
    expect(runScenario(mine, { seed: 1 }).digest).toBe(digest);
    expect(told).toEqual(first);
    expect(first.map((tx) => tx.split('=')[0])).toEqual(first.map((_, n) => `nr${n}`));
  });

  it('stays in what is shrunk: what is left breaks the same promise', () => {
    const noCrash: OracleMaker = (report) => ({
      name: 'no crash',
      effects: [],
      crashed: (at) => report('there it is', at, 1n),
    });
    const failing = play({
      oracles: [noCrash],
      act: [atTime('1s', pause('v2', '300ms')), atTime('2s', crash('v1', { restart: '500ms' }))],
    });
    const shrunk = shrink(failing, { seed: 1, promise: 'no crash', budget: 40_000 });
    expect(shrunk?.isMinimal).toBe(true);
    expect(shrunk?.scenario.act).toHaveLength(1);
    const [broken] = runScenario(shrunk?.scenario ?? play({}), { seed: shrunk?.seed ?? '1' }).violations;
    expect(broken?.oracle).toBe('no crash');
  });

  it('is shrunk to another promise than the first that broke with it', () => {
    const both: OracleMaker[] = ['one', 'two'].map((name) => (report) => ({
      name,
      published: (at, _, event) => {
        if (event.type === 'committed' && event.height === 2n) report(`by ${name}`, at, 2n);
      },
    }));
    const failing = play({ oracles: both, act: [atTime('1s', pause('v2', '300ms'))] });
    expect(runScenario(failing, { seed: 1 }).violations.map(({ promise }) => promise)).toEqual([
      'one',
      'two',
    ]);
    const shrunk = shrink(failing, { seed: 1, promise: 'two', budget: 20_000 });
    expect(shrunk).toMatchObject({ promise: 'two', what: 'by two', isMinimal: true });
    expect(() => shrink(failing, { seed: 1, promise: 'chain/agreemnt' })).toThrow(
      'shrink: nobody promises "chain/agreemnt"',
    );
  });

  it('is not shrunk where it does not break again', () => {
    let made = 0;
    const fickle: OracleMaker = (report) => {
      const isOdd = made++ % 2 === 0;
      return { name: 'fickle', ended: () => void (isOdd && report('as it likes', null, 1n)) };
    };
    expect(() => shrink(play({ oracles: [fickle] }), { seed: 1, promise: 'fickle' })).toThrow(
      'seed 1, made twice',
    );
    expect(() => shrink(play({ oracles: [fickle] }), { seed: 1 })).toThrow(
      'seed 1, made twice: it broke fickle (as it likes), and then held; a function of your own must give the same',
    );
  });

  it('an application whose hashes begin alike is shown where they differ', () => {
    let made = 0;
    class Counted extends KvStore {
      private readonly mine = made++;

      override answer(request: AbciRequest): AbciResponse {
        const answer = super.answer(request);
        if (answer.type !== 'finalize-block') return answer;
        return { ...answer, value: { ...answer.value, appHash: bytes(`count of ${this.mine}`) } };
      }
    }
    const [broken] = runScenario(play({ app: () => new Counted() }), { seed: 1 }).violations;
    const [, here, there] = /has (\S+) where others have (\S+)/.exec(broken?.what ?? '') ?? [];
    expect(here).toMatch(/^636f756e7420\.\.\.3/); // "count ", and then a digit
    expect(there).toMatch(/^636f756e7420\.\.\.3/);
    expect(here).not.toBe(there);
  });
});

it.each<[string, object, string]>([
  ['a liar', { liars: [liar('v3', silence, ['v0'])] }, 'liars[0].liar: a liar of one’s own has no JSON form'],
  ['an oracle', { oracles: [watches] }, 'oracles: an oracle of one’s own has no JSON form'],
  [
    'a workload',
    { load: txs({ make: () => bytes('x') }) },
    'load.make: a workload of one’s own has no JSON form',
  ],
])('%s has no JSON form, and the field is named', (_, more, because) => {
  expect(toJson(play(more))).toMatchObject({ refused: 'not-json', because });
  expect(typeof toJson(play({}))).toBe('string');
});

it.each<[string, object, string]>([
  [
    'a liar',
    { liars: [{ node: 'v3', liar: 7, to: [] }] },
    'liars[0].liar: expected the name of a liar, or a function',
  ],
  ['an oracle', { oracles: ['mine'] }, 'oracles[0]: expected a function that makes an oracle, not "mine"'],
  ['a workload', { load: { size: 1, perBlock: 1, make: 'x' } }, 'load.make: expected a function (stream, n)'],
  ['a part of a transaction', { load: { size: 1, perBlock: 0.1 } }, 'load.perBlock: expected a whole number'],
  [
    'a transaction',
    { load: txs({ perBlock: 1, make: () => 'x' as never }) },
    'load.make: expected the bytes of transaction 0',
  ],
])('%s that is none is named', (_, more, because) => {
  expect(() => runScenario(play(more), { seed: 1 })).toThrow(because);
});

describe('what is of one’s own and gives what it must not', () => {
  const at = (more: object, options: object = {}) =>
    runScenario(play(more), { seed: 1, ...options } as never);

  it.each<[unknown, string]>([
    [undefined, 'app: drainWrites(): expected a list, not nothing'],
    [[{}], 'app: drainWrites()[0].key: expected a Uint8Array, not nothing'],
    [['a'], 'app: drainWrites()[0]: expected an object, not "a"'],
    [{}, 'app: drainWrites(): expected a list, not {}'],
    [Promise.resolve([]), 'app: drainWrites() gives a promise; it must not be async'],
  ])('drainWrites: %s', (drained, says) => {
    const app = (): KvStore => Object.assign(new KvStore(), { drainWrites: () => drained });
    const [first] = at({ app }).violations;
    expect(first?.what).toContain(says);
  });

  it.each<[unknown[], string]>([
    [['a'], '"a"'],
    [[{ a: 1 }], '{"a":1}'],
    [[new Uint8Array(2)], '{"0":0,"1":0}'],
    [[null], 'null'],
  ])('a liar: %s', (said, says) => {
    const lie: Liar = () => () => said as never;
    expect(() => at({ liars: [liar('v3', lie, ['v0'])] })).toThrow(
      `liars[0].liar: payload 0: expected { channel, bytes }, a number and a Uint8Array, not ${says}`,
    );
  });

  it('a liar that forgets to sign, or to name its lie', () => {
    const unsigned: Liar = (kit) => aboutOwnVotes(kit, 'lie: unsigned', (vote) => [vote as never]);
    expect(() => at({ liars: [liar('v3', unsigned, ['v0'])] })).toThrow(
      'liars[0].liar: payload 0: this is a vote; wrap it in signedVote(kit, vote)',
    );
    const nameless: Liar = (kit) => aboutOwnVotes(kit, (() => []) as never, undefined as never);
    expect(() => at({ liars: [liar('v3', nameless, ['v0'])] })).toThrow(
      'aboutOwnVotes takes the kit, a name',
    );
  });

  it('an oracle, in the play and beside it', () => {
    const none: unknown = () => ({ name: 'mine', published: 3 });
    expect(() => at({ oracles: [none] })).toThrow('oracles[0]: mine: published: expected a function');
    const mute: OracleMaker = (report) => ({
      name: 'mine',
      published: () => (report as () => void)(),
    });
    expect(() => at({ oracles: [mute] })).toThrow('oracles[0]: report takes a text');
    expect(() => at({}, { oracles: [3] })).toThrow('oracles[0]: expected a function that makes an oracle');
  });

  const boom = (): never => {
    throw new Error('boom');
  };
  const oneThatThrows =
    (hook: string): OracleMaker =>
    () => ({ name: 'mine', [hook]: boom });
  let started = 0;
  const laterBoom = (): KvStore => (++started > 3 ? boom() : new KvStore());

  it.each<[string, object, string]>([
    ['an application', { app: boom }, 'app: what makes it threw: boom'],
    ['an oracle', { oracles: [boom] }, 'oracles[0]: what makes it threw: boom'],
    ['a started', { oracles: [oneThatThrows('started')] }, 'oracles[0]: mine: started() threw: boom'],
    ['a heard', { oracles: [oneThatThrows('heard')] }, 'oracles[0]: mine: heard() threw: boom'],
    ['a leaving', { oracles: [oneThatThrows('leaving')] }, 'oracles[0]: mine: leaving() threw: boom'],
    ['a published', { oracles: [oneThatThrows('published')] }, 'oracles[0]: mine: published() threw: boom'],
    ['an ended', { oracles: [oneThatThrows('ended')] }, 'oracles[0]: mine: ended() threw: boom'],
    ['a liar', { liars: [liar('v3', boom, ['v0'])] }, 'liars[0].liar: what makes its lies threw: boom'],
    ['a lie', { liars: [liar('v3', () => boom, ['v0'])] }, 'liars[0].liar: its lie threw: boom'],
    ['a workload', { load: txs({ perBlock: 1, make: boom }) }, 'load.make: it threw at transaction 0: boom'],
  ])('%s that throws is named, with what it threw as the cause', (_, more, says) => {
    let error: unknown;
    try {
      at(more);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ name: 'ScenarioError', message: says, cause: { message: 'boom' } });
  });

  it('an oracle that asks for a node by its name, or for what it has no hook for', () => {
    const byName: OracleMaker = (_, about) => ({
      name: 'mine',
      started: () => void about.isHonest('v0' as never),
    });
    expect(() => at({ oracles: [byName] })).toThrow(
      'oracles[0]: isHonest takes the node that a hook was given, not the text v0',
    );
    const mayHalt: OracleMaker = (_, about) => ({
      name: 'mine',
      started: () => void about.mayHalt(null as never, ''),
    });
    expect(() => at({ oracles: [mayHalt] })).toThrow(
      'oracles[0]: mayHalt takes the node that a hook was given, not null',
    );
    const deaf: OracleMaker = () => ({ name: 'mine', events: ['committed'], ended: () => {} });
    expect(() => at({ oracles: [deaf] })).toThrow(
      'oracles[0]: mine: events: there is no published() that would be told of them',
    );
    expect(() => at({ oracles: [silent('first')] }, { oracles: [watches] })).toThrow(
      'oracles[0] beside the play: mine hears nothing',
    );
  });

  it.each<[string, object, string]>([
    [
      'an oracle',
      { oracles: watches },
      'oracles: expected a list, not the function watches: write [watches]',
    ],
    [
      'a workload',
      { load: order },
      'load: expected an object, not the function order: write txs({ perBlock: 1, make: order })',
    ],
    [
      'a liar',
      { liars: [silence] },
      "liars[0]: expected an object, not the function silence: write liar('v3', silence, ['v0'])",
    ],
    ['a refusal', fromJson('{bad'), 'play: this is a refusal, and no play: the file is not JSON'],
  ])('%s in the place of what holds it', (_, more, says) => {
    const given = 'refused' in more ? (more as never) : { ...play({}), ...more };
    expect(() => runScenario(given, { seed: 1 })).toThrow(says);
  });

  it('beside a play: a refusal, and people of another genesis than the play speaks of', () => {
    const beside = (more: object) => () => at({}, more);
    expect(beside({ cast: castFromFiles('{}', []) })).toThrow('cast: this is a refusal: ');
    expect(beside({ recorded: decodeRecording(new Uint8Array(3)) })).toThrow('recorded: this is a refusal: ');
    const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
    const late = makeCast({ powers: [10n, 10n, 10n, 10n], initialHeight: 1000n });
    expect(beside({ cast: late })).toThrow(
      'cast: the play speaks of heights from 1 on, and the genesis of these people begins at 1000',
    );
    for (const [said, more] of Object.entries({
      blockBytes: { blockBytes: 20_000 },
      chainId: { chainId: 'mine' },
      evidence: { evidence: { maxAgeBlocks: 1 } },
      appHash: { appHash: 'aabb' },
    }))
      expect(() => at({ cast: validators(4, more) }, { cast })).toThrow(
        `cast: the play says cast.${said}, and the genesis of these people has another`,
      );
    expect(at({}, { cast }).holds).toBe(true);
  });

  it('a draw without a choice, what is no error, and an application at the start of a node', () => {
    const draws = (bound: number) => txs({ perBlock: 1, make: (dice) => bytes(String(dice.draw(bound))) });
    expect(() => at({ load: draws(0) })).toThrow(
      'load.make: it threw at transaction 0: a draw needs an integer bound in 1..2^31, not 0',
    );
    expect(at({ app: laterBoom }).violations[0]?.what).toContain('app: what makes it threw: boom');
    const throwsNull = (): never => {
      throw null;
    };
    expect(() => at({ app: throwsNull })).toThrow('app: what makes it threw: null');
  });

  it('an oracle that is of a class keeps itself', () => {
    class Mine {
      readonly name = 'mine';
      #seen = 0;
      published(): void {
        this.#seen++;
      }
      get seen(): number {
        return this.#seen;
      }
    }
    const mine = new Mine();
    expect(at({ oracles: [() => mine] }).holds).toBe(true);
    expect(mine.seen).toBeGreaterThan(10);
  });

  it('a picture leaves whoever looks behind the stage there', () => {
    let looks = 0;
    pictureOf(play({}), { seed: 1, watch: { backstage: () => void looks++ } });
    expect(looks).toBe(1);
  });

  it('options: none', () => {
    expect(() => pictureOf(play({}), undefined as never)).toThrow('seed: expected a whole number');
  });
});

describe('what an application of one’s own answers', () => {
  const answering = (change: (answer: AbciResponse) => unknown) =>
    class extends KvStore {
      override answer(request: AbciRequest): AbciResponse {
        return change(super.answer(request)) as AbciResponse;
      }
    };

  it.each<[string, (answer: AbciResponse) => unknown, string]>([
    [
      'a number where a bigint belongs',
      (answer) => (answer.type === 'commit' ? { ...answer, value: { retainHeight: 0 } } : answer),
      'app: its answer to commit: value.retainHeight: expected a bigint of 64 bits, not 0',
    ],
    [
      'a field inside a list that is missing',
      (answer) =>
        answer.type === 'finalize-block'
          ? { ...answer, value: { ...answer.value, validatorUpdates: [{ power: 1n }] } }
          : answer,
      'app: its answer to finalize-block: value.validatorUpdates[0].publicKey: expected an object, not nothing',
    ],
    [
      'another question’s answer',
      (answer) =>
        answer.type === 'process-proposal' ? { type: 'commit', value: { retainHeight: 0n } } : answer,
      'app: its answer to process-proposal: type: expected process-proposal, not commit',
    ],
    [
      'nothing',
      (answer) => (answer.type === 'check-tx' ? undefined : answer),
      'app: its answer to check-tx: the answer: expected an object, not nothing',
    ],
    [
      'a height that no 64 bits hold',
      (answer) => (answer.type === 'commit' ? { ...answer, value: { retainHeight: 1n << 63n } } : answer),
      'app: its answer to commit: value.retainHeight: expected a bigint of 64 bits, not 9223372036854775808',
    ],
    [
      'parameters of another kind',
      (answer) =>
        answer.type === 'finalize-block'
          ? { ...answer, value: { ...answer.value, consensusParamUpdates: { block: { maxBytes: 1 } } } }
          : answer,
      'value.consensusParamUpdates.block.maxBytes: expected a bigint of 64 bits, not 1',
    ],
    ...[
      [{ block: { maxBytes: 1n, maxGas: 1n << 63n } }, 'block.maxGas: expected a bigint of 64 bits'],
      [{ version: { app: -1n } }, 'version.app: expected a bigint of 64 bits, not negative'],
      [
        { abci: { voteExtensionsEnableHeight: 1n << 63n } },
        'abci.voteExtensionsEnableHeight: expected a bigint',
      ],
    ].map(([consensusParamUpdates, says]): [string, (answer: AbciResponse) => unknown, string] => [
      `parameters that no bytes hold: ${says}`,
      (answer) =>
        answer.type === 'finalize-block'
          ? { ...answer, value: { ...answer.value, consensusParamUpdates } }
          : answer,
      `value.consensusParamUpdates.${says}`,
    ]),
    [
      'no parameters, as nobody says it',
      (answer) =>
        answer.type === 'finalize-block'
          ? { ...answer, value: { ...answer.value, consensusParamUpdates: null } }
          : answer,
      'value.consensusParamUpdates: expected an object, not null',
    ],
    ['a promise', (answer) => Promise.resolve(answer), 'app: answer() gives a promise; it must not be async'],
  ])('%s is named', (_, change, says) => {
    const App = answering(change);
    const own = play({ app: () => new App(), load: txs({ perSecond: 2, count: 4 }) });
    const [first] = runScenario(own, { seed: 1 }).violations;
    expect(first?.oracle).toBe('hygiene');
    expect(first?.what).toContain(says);
  });
});

describe('what an application of one’s own makes of transactions', () => {
  /** Those of clients wait for each fourth height; each block begins with two of its own, one of them always the same. */
  class Choosy extends KvStore {
    override answer(request: AbciRequest): AbciResponse {
      if (request.type !== 'prepare-proposal') return super.answer(request);
      const { height, txs: given } = request.value;
      const own = ['tick=1', `h${height}=1`].map((text) => bytes(text));
      return { type: 'prepare-proposal', value: { txs: height % 4n === 0n ? [...own, ...given] : own } };
    }
  }
  it('may be to let them wait, and to add some', () => {
    const choosy = play({
      app: () => new Choosy(),
      liars: [liar('v3', 'proposal-equivocator', ['v0'])],
      load: txs({ perSecond: 2, count: 12 }),
      ends: everyone.decides(height(9), { within: '60s' }),
    });
    const { violations, transactions } = runScenario(choosy, { seed: 1 });
    expect(violations).toEqual([]);
    expect(transactions.committed).toBeGreaterThan(2 * 9);
  });

  it('is its alone: what nobody gave, and no application added, is found', () => {
    const forged = (): Transactions => {
      const given = new Transactions(100);
      given.submitted(bytes('a=1'));
      given.brings(bytes('b=1'));
      return given;
    };
    const wrongIn = (...texts: string[]) =>
      [...forged().take({ header: { height: 2n }, txs: texts.map(bytes) } as never, 1n)].map(
        ({ promise }) => promise,
      );
    expect(wrongIn('a=1', 'b=1', 'b=1')).toEqual([]);
    expect(wrongIn('a=1', 'c=1')).toEqual(['validity']);
    expect(wrongIn('a=1', 'a=1')).toEqual(['integrity']);
  });
});
