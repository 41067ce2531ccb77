import fc from 'fast-check';
import { expect, it } from 'vitest';
import { History, SETS_TO_RESTORE } from '../../../machines/chain/history.ts';
import { blockKey, evidenceKey, heightOfKey, validatorsKey } from '../../../machines/chain/keys.ts';
import { isNeeded } from '../../../machines/chain/needed.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { incrementPriority } from '../../../protocol/rules/validator-set.ts';
import type { Block, Header, ValidatorSet } from '../../../protocol/types.ts';
import { decodeBlock, encodeBlock } from '../../../protocol/wire/index.ts';
import { chainOf, person, setOf } from '../../protocol/rules/people.ts';

it('knows the members of every height, and keeps few sets for it', () => {
  // At which heights the set changes, to how many members.
  const changes = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 4 })), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(changes, (list) => {
      const history = new History();
      const model = new Map<bigint, ValidatorSet>();
      let set = setOf(10n);
      for (let height = 1n; height <= 60n; height++) {
        const change = list.find(([at]) => BigInt(at) === height);
        set = change ? setOf(...new Array<bigint>(change[1]).fill(10n)) : incrementPriority(set, 1);
        // As a node does after each block: the sets of the next height and of the one after it.
        history.setFrom(height, set);
        const next = incrementPriority(set, 1);
        history.setFrom(height + 1n, next);
        model.set(height, set);
        expect(history.validators(height)).toBe(set);
        expect(history.validators(height + 1n)).toBe(next);
        if (height > 1n)
          expect(history.validators(height - 1n)?.powerTotal).toBe(model.get(height - 1n)?.powerTotal);
      }
      for (const [height, each] of model)
        expect(history.validators(height)?.powerTotal).toBe(each.powerTotal);
      const { sets } = history as unknown as { sets: unknown[] };
      expect(sets.length).toBeLessThanOrEqual(6 + list.length);
    }),
    { numRuns: 100 },
  );
});

it('headers, and the commit that the next block carried', () => {
  const history = new History();
  const links = chainOf([10n], 3);
  for (const { block } of links) history.addBlock(block);
  expect(history.header(2n)).toBe(links[1]!.block.header);
  expect(history.commit(2n)).toBe(links[2]!.block.lastCommit);
  expect(history.commit(3n)).toBeNull();
});

const pastBlock = (header: Header, height: bigint): Block => ({
  header: { ...header, height },
  txs: [],
  evidence: [],
  lastCommit: null,
});

it('a large block does not stay in memory for its header and its commit', () => {
  const [, { block }] = chainOf([10n], 2) as [unknown, { block: Block }];
  for (const size of [100, 70_000]) {
    const bytes = encodeBlock({ ...block, txs: [new Uint8Array(size)] });
    const history = new History();
    history.addBlock(decodeBlock(bytes) as Block);
    const [header, commit] = [history.header(2n), history.commit(1n)];
    expect(header).toEqual(block.header);
    expect(commit).toEqual(block.lastCommit);
    const isKept = size === 100; // of a small one a copy would cost more than it saves
    expect(header?.dataHash.buffer === bytes.buffer).toBe(isKept);
    expect(commit?.signatures[0]?.signature.buffer === bytes.buffer).toBe(isKept);
  }
});

it('the last 128 headers; an older block that was recalled stays until the chain moves on', () => {
  const history = new History();
  const past = (height: bigint): Block => pastBlock(chainOf([10n], 1)[0]!.block.header, height);
  for (let height = 1n; height <= 200n; height++) history.addBlock(past(height));
  expect([72n, 73n].map((height) => history.header(height)?.height)).toEqual([undefined, 73n]);
  history.recall(past(5n));
  expect(history.header(5n)?.height).toBe(5n);
  history.addBlock(past(201n));
  expect(history.header(5n)).toBeNull();
});

it('the sets of the last 128 heights, however often they change; an older one that was recalled stays until the chain moves on', () => {
  const history = new History();
  const past = (height: bigint): Block => pastBlock(chainOf([10n], 1)[0]!.block.header, height);
  for (let height = 1n; height <= 200n; height++) {
    history.setFrom(height + 1n, setOf(height));
    history.setFrom(height + 2n, setOf(height + 1n));
    history.addBlock(past(height));
  }
  expect([71n, 72n, 73n, 202n].map((height) => history.validators(height)?.powerTotal)).toEqual([
    undefined,
    71n,
    72n,
    201n,
  ]);
  expect((history as unknown as { sets: unknown[] }).sets.length).toBeLessThanOrEqual(SETS_TO_RESTORE);
  expect([5n, 72n].map((height) => history.isSetRecalled(height))).toEqual([false, true]);
  history.recallSet(5n, setOf(4n));
  history.recallSet(6n, null);
  expect([5n, 6n].map((height) => history.isSetRecalled(height))).toEqual([true, true]);
  expect([5n, 6n].map((height) => history.validators(height)?.powerTotal)).toEqual([4n, undefined]);
  history.addBlock(past(201n));
  expect(history.validators(5n)).toBeNull();
  expect(history.isSetRecalled(6n)).toBe(false);
});

it('keys are in the order of heights', () => {
  const heights = [0n, 1n, 255n, 256n, 2n ** 40n];
  const keys = heights.map((height) => hexOf(blockKey(height)));
  expect([...keys].sort()).toEqual(keys);
  expect(heights.map((height) => heightOfKey(validatorsKey(height)))).toEqual(heights);
  expect(heightOfKey(evidenceKey(7n, new Uint8Array(32)))).toBe(7n);
});

it('needed is who holds a third of the power or more', () => {
  expect(isNeeded(setOf(10n), person(0).address)).toBe(true);
  expect(isNeeded(setOf(10n), person(1).address)).toBe(false);
  expect(isNeeded(setOf(10n), null)).toBe(false);
  expect(isNeeded(setOf(10n, 10n, 10n), person(0).address)).toBe(true);
  expect(isNeeded(setOf(10n, 10n, 11n), person(0).address)).toBe(false);
});
