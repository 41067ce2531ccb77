// The handshake table of spec 5.8, row by row: every combination of the application's height A, the state's S and the block store's B and base.

import { beforeAll, describe, expect, it } from 'vitest';
import {
  blockKey,
  GENESIS_KEY,
  paramsKey,
  responseKey,
  STATE_KEY,
  STORE_RANGE_KEY,
  seenCommitKey,
  storeRange,
  validatorsKey,
} from '../../machines/chain/keys.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import { decodeBlock } from '../../protocol/wire/index.ts';
import { encodeWords } from '../../protocol/words.ts';
import { genesisOf, okay, person } from '../protocol/rules/people.ts';
import { copyDisk, type Disk, Home, newDisk } from './home.ts';

const HEIGHTS = 4n;

/** The disk of a network of one after each height; 0: before the first. */
function pastOf(initialHeight: bigint): Map<bigint, Disk> {
  const past = new Map<bigint, Disk>();
  const home = new Home({ genesis: genesisOf([10n], { initialHeight }), me: 0 });
  past.set(0n, copyDisk(home.disk));
  for (let height = initialHeight; height < initialHeight + HEIGHTS; height++) {
    home.fire('start');
    expect(home.state.chain.lastBlockHeight).toBe(height);
    past.set(height, copyDisk(home.disk));
  }
  return past;
}

/** A disk whose parts are of different heights. */
function diskOf(past: Map<bigint, Disk>, A: bigint, S: bigint, B: bigint, base: bigint): Disk {
  const last = [...past.values()].at(-1)!;
  const disk = newDisk();
  const store = (key: Uint8Array, value: Uint8Array) => disk.chain.set(hexOf(key), { key, value });
  for (const [name, pair] of past.get(S)!.chain) if (!/^(62|73|72)/.test(name)) disk.chain.set(name, pair);
  store(STATE_KEY, past.get(S)!.chain.get(hexOf(STATE_KEY))!.value);
  disk.chain.delete(hexOf(STORE_RANGE_KEY));
  if (B > 0n) {
    for (let height = base; height <= B; height++)
      for (const key of [blockKey(height), seenCommitKey(height), responseKey(height)])
        store(key, last.chain.get(hexOf(key))!.value);
    store(STORE_RANGE_KEY, encodeWords(storeRange, { base, height: B }));
  }
  disk.app = past.get(A)!.app.copy();
  return disk;
}

/** The table as the specification has it: words of the refusal, or the heights that the application executes. */
function row(A: bigint, S: bigint, B: bigint, b: bigint, initial: bigint): string | bigint[] {
  const stateAt = S === 0n ? initial - 1n : S;
  const appAt = A === 0n ? initial - 1n : A;
  // B = 0 comes first: an application with a past must stand where the chain begins. A state without its blocks goes no further.
  if (B === 0n && S === 0n) return A > 0n ? 'higher than core' : [];
  if (A === 0n && initial < b) return 'too low';
  if (A > 0n && A < b - 1n) return 'too far below';
  if (B < A) return 'higher than core';
  if (B < stateAt) return 'above the block store';
  if (B > stateAt + 1n) return 'more than one above';
  const executed: bigint[] = [];
  for (let height = appAt + 1n; height <= B; height++) executed.push(height);
  return executed;
}

describe.each([1n, 5n, 2n ** 53n - 2n, 2n ** 63n - 20n])('initial height %s', (initial) => {
  let past: Map<bigint, Disk>;
  beforeAll(() => {
    past = pastOf(initial);
  });
  const heights = [0n, initial, initial + 1n, initial + 2n, initial + 3n];
  const rows = heights.flatMap((A) =>
    heights.flatMap((S) =>
      heights.flatMap((B) =>
        [initial, initial + 2n].filter((b) => b <= B || b === initial).map((b) => [A, S, B, b]),
      ),
    ),
  ) as [bigint, bigint, bigint, bigint][];

  it.each(rows)('app %s, state %s, blocks %s from %s', (A, S, B, b) => {
    const expected = row(A, S, B, b, initial);
    const home = new Home({
      genesis: genesisOf([10n], { initialHeight: initial }),
      me: 0,
      disk: diskOf(past, A, S, B, b),
    });
    const { app } = home.disk;
    if (typeof expected === 'string') {
      expect(home.halted).toContain(expected);
      expect(app.asked.filter((each) => each.startsWith('finalize'))).toEqual([]);
      return;
    }
    expect(home.halted).toBeNull();
    expect(app.asked.filter((each) => each.startsWith('finalize'))).toEqual(
      expected.map((height) => `finalize-block ${height}`),
    );
    expect(app.asked.includes('init-chain')).toBe(A === 0n);
    const { chain } = home.state;
    expect(chain.lastBlockHeight).toBe(B);
    expect(hexOf(chain.appHash)).toBe(hexOf(past.get(B)!.app.hash));
    // And the chain goes on from there, as it would have.
    home.fire('start');
    const next = B === 0n ? initial : B + 1n;
    expect(home.state.chain.lastBlockHeight).toBe(next);
    if (next < initial + HEIGHTS) expect(hexOf(app.hash)).toBe(hexOf(past.get(next)!.app.hash));
  });
});

describe('what else a handshake refuses', () => {
  const past = pastOf(1n);
  const halted = (disk: Disk): string | null => new Home({ genesis: genesisOf([10n]), me: 0, disk }).halted;

  it.each([
    [3n, 3n],
    [2n, 3n],
    [3n, 2n], // it has executed what the state lacks, and to another end than the saved answer
  ])('an application (at %s of 3, state %s) with another hash', (A, S) => {
    const disk = diskOf(past, A, S, 3n, 1n);
    disk.app.hash = new Uint8Array(32);
    expect(halted(disk)).toContain('does not match AppHash after replay');
  });

  it.each([
    [1n, 4n, 4n],
    [1n, 2n, 3n], // the state is behind, too
  ])(
    'an application (at %s of %s, with blocks to %s) that comes out elsewhere at the next height',
    (A, S, B) => {
      const disk = diskOf(past, A, S, B, 1n);
      disk.app.finalize = (height) => (height === 2n ? { appHash: new Uint8Array(32) } : {});
      const before = copyDisk(disk);
      expect(halted(disk)).toMatch(/AppHash after replay. Got 0{64}, expected [0-9A-F]{64} at height 2\./);
      expect(disk.app.asked.filter((each) => each.startsWith('finalize'))).toEqual(['finalize-block 2']);
      expect(disk.chain).toEqual(before.chain);
    },
  );

  it('a stored block that InitChain contradicts', () => {
    const disk = diskOf(past, 0n, 0n, 1n, 1n);
    disk.app.answers['init-chain'] = () => ({
      type: 'init-chain',
      value: { validators: [{ publicKey: person(1).publicKey, power: 10n }], appHash: EMPTY_BYTES },
    });
    expect(halted(disk)).toMatch(/^block 1 in the store does not follow from the state: .*ValidatorsHash/);
    expect(disk.app.asked).toEqual(['info', 'init-chain']);
    expect(disk.chain.has(hexOf(STATE_KEY))).toBe(true);
  });

  it('an application that gives other results than there are transactions as it catches up', () => {
    const disk = diskOf(past, 1n, 4n, 4n, 1n);
    const result = { code: 0, data: EMPTY_BYTES, log: '', info: '', gasWanted: 0n, gasUsed: 0n };
    const txResults = [{ ...result, events: [], codespace: '' }];
    disk.app.finalize = (height) => (height === 2n ? { txResults } : {});
    expect(halted(disk)).toContain('the application gives 1 results for 0 transactions');
    expect(disk.app.asked.filter((each) => each.startsWith('finalize'))).toEqual(['finalize-block 2']);
  });

  it('a fresh application of another chain', () => {
    const disk = newDisk();
    disk.app.hash = new Uint8Array(32).fill(1);
    disk.app.answers['init-chain'] = () => ({
      type: 'init-chain',
      value: { validators: [], appHash: new Uint8Array(3) },
    });
    expect(
      new Home({ genesis: genesisOf([10n], { appHash: new Uint8Array(2) }), me: 0, disk }).halted,
    ).toContain('app_hash');
  });

  it('a negative height, a block that is missing, an answer that is missing', () => {
    const negative = newDisk();
    negative.app.height = -1n;
    expect(halted(negative)).toContain('below 0');
    const noBlock = diskOf(past, 1n, 3n, 3n, 1n);
    noBlock.chain.delete(hexOf(blockKey(2n)));
    expect(halted(noBlock)).toContain('block 2 or its commit is missing');
    const noAnswer = diskOf(past, 3n, 2n, 3n, 1n);
    noAnswer.chain.delete(hexOf(responseKey(3n)));
    expect(halted(noAnswer)).toContain('answer for height 3 is missing');
    const swapped = diskOf(past, 1n, 3n, 3n, 1n);
    swapped.chain.set(hexOf(blockKey(2n)), {
      key: blockKey(2n),
      value: past.get(4n)!.chain.get(hexOf(blockKey(3n)))!.value,
    });
    expect(halted(swapped)).toContain('does not hash to its commit');
  });

  it.each([
    ['no block', { block: { maxBytes: 0n, maxGas: -1n } }, 'block.MaxBytes cannot be 0'],
    ['more than a block may have', { block: { maxBytes: 1_000_000_000n, maxGas: -1n } }, 'is too big'],
    ['less gas than none', { block: { maxBytes: 1_048_576n, maxGas: -7n } }, 'block.MaxGas'],
    [
      'blocks without room for a commit',
      {
        block: { maxBytes: 1_000n, maxGas: -1n },
        evidence: { maxAgeBlocks: 10n, maxAgeNs: 1_000_000_000n, maxBytes: 100n },
      },
      'block.max_bytes=1000 is too small',
    ],
    [
      'vote extensions',
      { abci: { voteExtensionsEnableHeight: 1n } },
      'abci.vote_extensions_enable_height is 1',
    ],
  ] as const)('an application that begins the chain with %s', (_, consensusParams, because) => {
    const disk = newDisk();
    disk.app.answers['init-chain'] = () => ({
      type: 'init-chain',
      value: { validators: [], appHash: EMPTY_BYTES, consensusParams },
    });
    expect(halted(disk)).toContain('InitChain: consensus parameters:');
    expect(halted(disk)).toContain(because);
    expect(disk.chain.size).toBe(0);
  });

  it('an application that fails', () => {
    const disk = newDisk();
    disk.app.answers.info = () => ({ type: 'exception', value: { error: 'no disk' } });
    expect(halted(disk)).toContain('no disk');
  });
});

it('a chain may begin with an application that has a past: it is not asked to begin, and goes on from there', () => {
  const disk = newDisk();
  const hash = new Uint8Array(32).fill(5);
  Object.assign(disk.app, { height: 99n, hash });
  const genesis = genesisOf([10n], { initialHeight: 100n, appHash: hash });
  const life = () => new Home({ genesis, me: 0, disk });
  expect(life().halted).toBeNull(); // and dies before its first block
  const home = life();
  home.fire('start');
  expect(home.state.chain.lastBlockHeight).toBe(100n);
  expect(disk.app.asked).not.toContain('init-chain');
  const again = life();
  expect(again.halted).toBeNull();
  again.fire('start');
  expect(again.state.chain.lastBlockHeight).toBe(101n);
  expect(disk.app.asked.filter((each) => each.startsWith('finalize'))).toEqual([
    'finalize-block 100',
    'finalize-block 101',
  ]);
});

it.each([
  ['of another state', 99n, 6, 'does not match AppHash'],
  [
    'that is the chain itself: its blocks are gone',
    100n,
    5,
    'app block height (100) is higher than core (0)',
  ],
])('but not with a past %s', (_, height, byte, because) => {
  const disk = newDisk();
  Object.assign(disk.app, { height, hash: new Uint8Array(32).fill(byte) });
  const genesis = genesisOf([10n], { initialHeight: 100n, appHash: new Uint8Array(32).fill(5) });
  expect(new Home({ genesis, me: 0, disk }).halted).toContain(because);
  expect(disk.app.asked).toEqual(['info']);
});

describe('the version of the application in headers', () => {
  const versionAt = (disk: Disk, height: bigint): bigint =>
    okay(decodeBlock(disk.chain.get(hexOf(blockKey(height)))!.value)).header.version.app;
  /** Its Info names version 3. */
  const third = (disk: Disk): Disk => {
    const { app } = disk;
    app.answers.info = () => ({
      type: 'info',
      value: {
        data: '',
        version: '',
        appVersion: 3n,
        lastBlockHeight: app.height,
        lastBlockAppHash: app.hash,
      },
    });
    return disk;
  };

  it('is that of InitChain also after a crash between Commit and the state of the first block', () => {
    const disk = third(newDisk());
    disk.app.answers['init-chain'] = () => ({
      type: 'init-chain',
      value: { validators: [], appHash: EMPTY_BYTES, consensusParams: { version: { app: 7n } } },
    });
    const genesis = genesisOf([10n]);
    const isState = (key: Uint8Array) => hexOf(key) === hexOf(STATE_KEY);
    const first = new Home({
      genesis,
      me: 0,
      disk,
      crash: (effect, { disk: { app } }) =>
        effect.type === 'store' && app.height === 1n && effect.writes.some(({ key }) => isState(key)),
    });
    first.fire('start');
    expect([first.isDown, disk.app.height]).toEqual([true, 1n]);
    const again = new Home({ genesis, me: 0, disk });
    expect([again.halted, again.state.chain.lastBlockHeight]).toEqual([null, 1n]);
    again.fire('start');
    expect([versionAt(disk, 1n), versionAt(disk, 2n)]).toEqual([7n, 7n]);
  });

  it('is that of Info where the application has a past; what the chain begins with is stored', () => {
    const disk = third(newDisk());
    const hash = new Uint8Array(32).fill(5);
    Object.assign(disk.app, { height: 99n, hash });
    const genesis = genesisOf([10n], { initialHeight: 100n, appHash: hash });
    const home = new Home({ genesis, me: 0, disk });
    expect([home.halted, disk.app.asked]).toEqual([null, ['info']]);
    for (const key of [GENESIS_KEY, STATE_KEY, validatorsKey(100n), paramsKey(100n)])
      expect(disk.chain.has(hexOf(key))).toBe(true);
    home.fire('start');
    expect(versionAt(disk, 100n)).toBe(3n);
  });
});

it('InitChain is told the validators of the genesis file, also after its own answer replaced them', () => {
  const genesis = genesisOf([10n, 20n]);
  const disk = newDisk();
  const asked: string[][] = [];
  disk.app.answers['init-chain'] = (request) => {
    if (request.type === 'init-chain')
      asked.push(
        request.value.validators.map(({ publicKey, power }) => `${hexOf(publicKey.bytes)} ${power}`),
      );
    const validators = [{ publicKey: person(2).publicKey, power: 5n }];
    return { type: 'init-chain', value: { validators, appHash: new Uint8Array(0) } };
  };
  for (let life = 0; life < 2; life++) {
    const home = new Home({ genesis, me: 2, disk });
    expect(home.halted).toBeNull();
    expect(home.state.chain.validators.validators.map(({ power }) => power)).toEqual([5n]);
    expect(home.state.consensus.isValidator).toBe(true);
  }
  expect(asked[0]).toEqual([
    `${hexOf(person(1).publicKey.bytes)} 20`,
    `${hexOf(person(0).publicKey.bytes)} 10`,
  ]);
  expect(asked[1]).toEqual(asked[0]);
});
