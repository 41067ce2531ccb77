// What a node surely keeps of what comes a height too early, and of whom; and who may be told of evidence once more.

import { expect, it } from 'vitest';
import { DEFAULT_MEMPOOL } from '../../../../machines/mempool/config.ts';
import { CHANNEL_EVIDENCE } from '../../../../protocol/messages.ts';
import type { Vote } from '../../../../protocol/types.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Choices } from '../../../../sim/choices.ts';
import { Retold } from '../../../../sim/oracles/evidence/retold.ts';
import { EarlyWords } from '../../../../sim/oracles/ghost/early-words.ts';
import { Counted } from '../../../../sim/oracles/mempool/counted.ts';
import { World } from '../../../../sim/world.ts';

const word = (from: string, round = 0) => ({
  from,
  message: { type: 'vote', vote: { height: 2n, round } as Vote } as const,
  atNs: 5,
});

it('of each peer the first words, of the first two rounds, are kept, in order', () => {
  const early = new EarlyWords(2n);
  early.comes(word('a'), 100);
  early.comes(word('b', 1), 100);
  early.comes(word('a', 2), 100); // beyond the next round it may fall
  expect(early.words.map(({ from }) => from)).toEqual(['a', 'b']);
  for (let i = 0; i < 300; i++) early.comes(word('c'), 100);
  expect(early.words.filter(({ from }) => from === 'c')).toHaveLength(256);
  early.comes(word('d'), 5 * 1024 * 1024); // of so many bytes nobody knows
  expect(early.words.some(({ from }) => from === 'd')).toBe(false);
});

it('of a peer whose words may have filled its share nothing more is surely kept', () => {
  const early = new EarlyWords(2n);
  early.comes(word('a'), 100);
  early.isUnsureOf('a');
  early.comes(word('a'), 100);
  expect(early.words).toHaveLength(1);
});

it('what leaves as a peer comes back may be meant for the connection before, and is not counted', () => {
  const choices = new Choices({ seed: 1 });
  const world = new World({ cast: makeCast({ powers: [1n, 1n] }), choices, crypto: 'sim' });
  const [v0] = world.machines as [World['machines'][number]];
  const payload = [{ channel: CHANNEL_EVIDENCE, bytes: Uint8Array.of(1, 2, 3) }];
  const tells = (retold: Retold, ...atNs: number[]) =>
    atNs.map((ns) => retold.tells(v0, ['p'], payload, ns)).at(-1);
  const retold = new Retold();
  retold.greets(v0, 'p', 1e9);
  expect(tells(retold, 1e9 + 1_000, 2e9, 3e9)).toBeNull();
  expect(tells(retold, 4e9)).toBe('p');
});

it('a pool may have no room until it has read what its application answers', () => {
  const pool = new Counted({ ...DEFAULT_MEMPOOL, txsMax: 8, bytesMax: 1_000 });
  pool.asks(1, Uint8Array.of(1), 0, 1e12);
  pool.answers(1, true, 0n, { count: 2e12, atNs: 2e12 });
  expect(pool.mayBeFull(1, 2e12 + 10_000)).toBe(true);
  expect(pool.mayBeFull(1, 2e12 + 2e6)).toBe(false);
});
