// What the oracles ask of a block, field by field: a true block of a run is right, and each thing changed in it is named.

import { describe, expect, test } from 'vitest';
import { concatBytes } from '../../../../protocol/bytes.ts';
import { headerHash } from '../../../../protocol/hashes.ts';
import { isRefusal } from '../../../../protocol/refusal.ts';
import type { Block, Header } from '../../../../protocol/types.ts';
import { decodeBlock, encodeBlock } from '../../../../protocol/wire/index.ts';
import { Agenda } from '../../../../sim/agenda.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { MachineClock } from '../../../../sim/clock.ts';
import {
  at,
  everyone,
  height,
  type OracleMaker,
  runScenario,
  scenario,
  txs,
  validators,
} from '../../../../sim/index.ts';
import { wrongTime, wrongWith } from '../../../../sim/oracles/chain/validity.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { Heights, type KnownHeight } from '../../../../sim/oracles/ghost/heights.ts';
import { Transactions, type Wrong } from '../../../../sim/oracles/ghost/transactions.ts';

const blocks = new Map<number, Block>();
const collects: OracleMaker = () => ({
  name: 'collects',
  effects: ['store'],
  leaving(_at, _actor, effect) {
    if (effect.type !== 'store' || effect.store !== 'chain') return;
    for (const { key, value } of effect.writes) {
      const block = key.length === 9 && key[0] === 'b'.charCodeAt(0) ? decodeBlock(value) : null;
      if (block && !isRefusal(block)) blocks.set(Number(block.header.height), block as Block);
    }
  },
});
runScenario(
  scenario('calm', {
    cast: validators(4),
    load: txs({ perBlock: 1 }),
    oracles: [collects],
    ends: everyone.decides(height(4), { within: '60s' }),
  }),
  { seed: 1 },
);
const first = blocks.get(2) as Block;
const block = blocks.get(3) as Block;
const after = (known: Block): KnownHeight => {
  const heights = new Heights();
  heights.add(known, encodeBlock(known), headerHash(known.header), 'v0');
  const before = heights.at(known.header.height) as KnownHeight;
  before.answeredAppHash = block.header.appHash;
  before.answeredResultsHash = block.header.lastResultsHash;
  return before;
};

const other = new Uint8Array(32).fill(7);
const withHeader = (change: Partial<Header>): Block => ({ ...block, header: { ...block.header, ...change } });

const ghost = new GhostChain(makeCast({ powers: [10n, 10n, 10n, 10n] }).genesis);
// The sets and parameters of later heights come with the application's answers, which change nothing here.
for (const at of [1n, 2n])
  ghost.finalized(at, { events: [], txResults: [], validatorUpdates: [], appHash: other } as never);
const wrong = (of: Block, before = after(first), bytes = encodeBlock(of)): string[] => [
  ...wrongWith(of, bytes, before, ghost),
];

describe('a block', () => {
  test('of a calm run is right', () => {
    expect(block.txs.length).toBeGreaterThan(0);
    expect(wrong(block)).toEqual([]);
  });

  test('has no bytes beside those that CometBFT makes of it', () => {
    const bytes = concatBytes(encodeBlock(block), Uint8Array.of(0x2a, 0));
    expect(wrong(block, undefined, bytes)).toEqual(['has other bytes than CometBFT makes of it']);
  });

  test('is of the protocol of CometBFT from the first on', () => {
    const begins = blocks.get(1) as Block;
    const later = { ...begins, header: { ...begins.header, version: { block: 12n, app: 1n } } };
    const said = (of: Block): string[] => [...wrongWith(of, encodeBlock(of), undefined, ghost)];
    expect(said(begins)).toEqual([]);
    expect(said(later)).toEqual(['is the first, and of block protocol 12, not 11']);
  });

  test.each<[string, Block, string]>([
    ['another chain', withHeader({ chainId: 'elsewhere' }), 'is of chain elsewhere'],
    [
      'other parameters',
      withHeader({ consensusHash: other }),
      'has another consensus hash than the parameters in force',
    ],
    [
      'another block before it',
      withHeader({ lastBlockId: { ...block.header.lastBlockId, hash: other } }),
      'does not follow the block before it',
    ],
    [
      'another version',
      withHeader({ version: { ...block.header.version, app: 9n } }),
      'is of version 11/9, and should be of 11/1',
    ],
    ['another transaction', { ...block, txs: [other] }, 'has another data hash than its transactions'],
    [
      'a wrong hash of its last commit',
      withHeader({ lastCommitHash: other }),
      'has a wrong last commit hash',
    ],
    ['a wrong hash of its evidence', withHeader({ evidenceHash: other }), 'has a wrong evidence hash'],
    [
      'another app hash',
      withHeader({ appHash: other }),
      'carries another app hash than the application gave',
    ],
    [
      'other results',
      withHeader({ lastResultsHash: other }),
      'carries another hash of results than those that the application gave',
    ],
    [
      'a stranger for its proposer',
      withHeader({ proposerAddress: other.subarray(0, 20) }),
      `was proposed by ${'07'.repeat(20)}, no validator`,
    ],
  ])('with %s is wrong', (_, changed, what) => {
    expect(wrong(changed)).toContain(what);
  });

  test('is as large as the parameters say at most', () => {
    const large = { ...block, txs: [new Uint8Array(Number(ghost.genesis.consensusParams.block.maxBytes))] };
    expect(wrong(large)).toContainEqual(expect.stringMatching(/^has \d+ bytes; block\.max_bytes is \d+$/));
  });

  test('has the median time of its last commit, later than the one before, and no later than every clock', () => {
    const about = {
      machines: [{ clock: { wallLatestNs: () => block.header.timeNs } }],
      isHonest: () => true,
    } as never;
    const times = (timeNs: bigint): string[] => [
      ...wrongTime(withHeader({ timeNs }), after(first), ghost, about),
    ];
    expect(times(block.header.timeNs)).toEqual([]);
    expect(times(block.header.timeNs + 5n)).toEqual([
      'is not of the median time of its last commit',
      'is 5 ns ahead of every honest clock',
    ]);
    expect(times(first.header.timeNs)).toContain('is not later than the block before it');
  });
});

describe('clocks that are set back', () => {
  const back = { do: 'clock', stepMs: -5_000 } as const;
  test.each([1, 4])('leave what they dated before as it is: %i validators', (count) => {
    const names = ['v0', 'v1', 'v2', 'v3'] as const;
    const play = scenario('all clocks go back', {
      cast: validators(count),
      act: [at('3300ms', ...names.slice(0, count).map((node) => ({ ...back, node })))],
      ends: everyone.decides(height(10), { within: '120s' }),
    });
    expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
  });

  test('excuse no time that none of them ever showed', () => {
    const clock = new MachineClock(new Agenda(), { epochNs: 100n, skewNs: 0n, driftPpm: 0 });
    clock.stepWall(7n);
    clock.stepWall(-30n);
    clock.stepWall(10n);
    expect(clock.wallNs()).toBe(87n);
    expect(clock.wallLatestNs()).toBe(107n);
    clock.stepWall(40n);
    expect(clock.wallLatestNs()).toBe(127n);
  });
});

describe('transactions', () => {
  const wrong = (promise: Wrong['promise'], what: RegExp) => ({ promise, what: expect.stringMatching(what) });

  test('are in one block, and somebody gave them', () => {
    const all = new Transactions(100);
    for (const tx of block.txs) all.submitted(tx);
    expect([...all.take(block, 3n)]).toEqual([]);
    expect([...all.take({ ...block, header: { ...block.header, height: 9n } }, 9n)]).toEqual(
      block.txs.map(() => wrong('integrity', /^transaction [0-9a-f]{12} is in blocks 3 and 9$/)),
    );
    expect([...all.take({ ...block, txs: [other] }, 3n)]).toEqual([
      wrong('validity', /^block 3 holds transaction [0-9a-f]{12}, which nobody submitted$/),
    ]);
  });

  test('may come again when as many others came after it as a cache forgets', () => {
    const all = new Transactions(4);
    const [first] = block.txs as [Uint8Array];
    const again = (): Wrong[] => [...all.take({ ...block, txs: [first] }, 3n)];
    all.submitted(first);
    expect(again()).toEqual([]);
    for (const more of [1, 2]) all.submitted(Uint8Array.of(more));
    all.submitted(first);
    expect(again()).toHaveLength(1);
    const more = [3, 4, 5].map((each) => Uint8Array.of(each));
    for (const tx of more) all.submitted(tx);
    all.submitted(first);
    expect(again()).toEqual([]);
    // And as long as as many others wait: each may be offered again.
    expect(again()).toEqual([]);
    const alone = (height: bigint, tx: Uint8Array): Wrong[] => [
      ...all.take({ ...block, header: { ...block.header, height }, txs: [tx] }, height),
    ];
    for (const tx of [Uint8Array.of(1), Uint8Array.of(2), ...more]) expect(alone(4n, tx)).toEqual([]);
    expect(alone(5n, first)).toEqual([]);
    expect(alone(6n, first)).toHaveLength(1);
  });

  test('may come again when those of its block, which a node behind offers again, come after it', () => {
    const all = new Transactions(8);
    const txs = Array.from({ length: 7 }, (_, i) => Uint8Array.of(i));
    for (const tx of txs) all.submitted(tx);
    const taken = (height: bigint, ...those: Uint8Array[]): Wrong[] => [
      ...all.take({ ...block, header: { ...block.header, height }, txs: those }, height),
    ];
    const [a, b, c, first, ...more] = txs as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    expect(taken(3n, a, b, c, first)).toEqual([]);
    for (const tx of more) expect(taken(4n, tx)).toEqual([]);
    expect(taken(5n, first)).toEqual([]);
    expect(taken(6n, first)).toHaveLength(1);
  });

  test.each([
    [1n, 1],
    [3n, 0],
  ])(
    'may come again, each of them, when a node %d heights behind offers more than a cache holds',
    (lag, wrong) => {
      const all = new Transactions(4);
      const txs = Array.from({ length: 4 }, (_, i) => Uint8Array.of(i));
      for (const tx of txs) all.submitted(tx);
      const taken = (height: bigint, ...held: Uint8Array[]) => [
        ...all.take({ ...block, header: { ...block.header, height }, txs: held }, height - lag),
      ];
      const [a, b, c, d] = txs as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
      expect([...taken(3n, a, b), ...taken(4n, c, d), ...taken(5n, c)]).toHaveLength(wrong);
    },
  );

  test('may come again when a node begins another life more than 64 blocks later', () => {
    const [first, second] = block.txs.length > 1 ? block.txs : [...block.txs, other];
    const taken = (height: bigint, tx = first as Uint8Array) => [
      ...all.take({ ...block, header: { ...block.header, height }, txs: [tx] }, height),
    ];
    const all = new Transactions(100);
    all.submitted(first as Uint8Array);
    all.submitted(second as Uint8Array);
    expect([...taken(6n), ...taken(7n, second)]).toEqual([]);
    all.startsBehind(70n, 1n, 5n);
    expect(taken(71n)).toEqual([]);
    expect(taken(72n, second)).toHaveLength(1);
    // Nobody is so far behind that it may hold it still.
    all.startsBehind(200n, 1n, 100n);
    expect(taken(201n)).toHaveLength(1);
    // The blocks before have gone: nobody is reminded of them.
    all.startsBehind(202n, 202n, 100n);
    expect(taken(203n)).toEqual([]);
  });

  test('that the application refused may come again', () => {
    const all = new Transactions(100);
    for (const tx of block.txs) all.submitted(tx);
    expect([...all.take(block, 3n)]).toEqual([]);
    all.forgive(
      block.txs,
      block.txs.map(() => ({ code: 1 })),
    );
    expect([...all.take({ ...block, header: { ...block.header, height: 9n } }, 9n)]).toEqual([]);
  });
});
