// What nodes of one process share is bounded by count and by bytes.

import { expect, it } from 'vitest';
import { follow, requestsFor } from '../../actors/validator/shared.ts';
import { PLAIN_RESULT } from '../../machines/apps/base.ts';
import type { ResponseFinalizeBlock } from '../../protocol/abci.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { genesisState, makeBlock } from '../../protocol/rules/state.ts';
import type { Block, BlockId } from '../../protocol/types.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import { EMPTY_COMMIT, genesisOf, okay } from '../protocol/rules/people.ts';

const MIB = 1024 * 1024;
const state = okay(genesisState(genesisOf([10n])));
const { address } = state.validators.validators[0]!;

/** The `n`th block, of one transaction. */
function made(n: number, bytes: number): { block: Block; id: BlockId } {
  const block = makeBlock(state, 1n, [new Uint8Array(bytes).fill(n, 0, 1)], EMPTY_COMMIT, [], address);
  const hash = headerHash(block.header);
  return { block, id: { hash, parts: { total: 1, hash } } };
}

/** Of so many blocks, those that are still known once all were. */
function knownOf(count: number, once: (n: number) => unknown): number[] {
  const all = Array.from({ length: count }, (_, n) => n);
  const first = all.map(once);
  return all.reverse().filter((n) => once(n) === first[n]);
}

it('requests: those of the last 128 blocks, or of 64 MiB', () => {
  const request = (bytes: number) => {
    const blocks = new Map<number, ReturnType<typeof made>>();
    return (n: number) => {
      const { block, id } = blocks.get(n) ?? blocks.set(n, made(n, bytes)).get(n)!;
      return requestsFor(id, block, null, () => ({ round: 0, votes: [] }));
    };
  };
  expect(knownOf(130, request(10))).toHaveLength(128);
  expect(knownOf(5, request(20 * MIB))).toEqual([4, 3, 2]);
  expect(knownOf(1, request(65 * MIB))).toEqual([]);
});

it('states: by what the application answered', () => {
  const response: ResponseFinalizeBlock = {
    events: [],
    txResults: [PLAIN_RESULT],
    validatorUpdates: [],
    appHash: EMPTY_BYTES,
  };
  const answers = new Map<number, { block: Block; id: BlockId; bytes: Uint8Array }>();
  const once = (n: number) => {
    const known = answers.get(n) ?? { ...made(n, 10), bytes: new Uint8Array(20 * MIB) };
    answers.set(n, known);
    return follow(state, known.id, known.block, response, known.bytes);
  };
  expect(knownOf(5, once)).toEqual([4, 3, 2]);
});
