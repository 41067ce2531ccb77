// Parts find their block by what proves them: two blocks of one height may have equal parts at one index.

import { expect, test } from 'vitest';
import { Blocks } from '../../machines/consensus/blocks.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import { BLOCK_PART_BYTES, type BlockId } from '../../protocol/types.ts';

/** Three parts; the middle one is the same in each, the first differs by `first`. */
function blockOf(first: number): { id: BlockId; parts: ReturnType<typeof splitIntoParts>['parts'] } {
  const bytes = new Uint8Array(2 * BLOCK_PART_BYTES + 100).fill(7);
  bytes[0] = first;
  const { header, parts } = splitIntoParts(bytes);
  return { id: { hash: new Uint8Array(32).fill(first), parts: header }, parts };
}

test.each([
  ['complete', 3],
  ['in the making', 2],
])('a part equal to one of another block, %s, still completes its own', (_, known) => {
  const blocks = new Blocks();
  const one = blockOf(1);
  const two = blockOf(2);
  expect(one.parts[1]!.bytes).toEqual(two.parts[1]!.bytes);
  blocks.want(one.id);
  for (const part of one.parts.slice(0, known)) blocks.addPart(part);
  const entry = blocks.want(two.id);
  for (const part of two.parts) expect(blocks.addPart(part)).toEqual({ entry, isNew: true });
  expect(entry.parts.isComplete).toBe(true);
  expect(blocks.addPart(two.parts[1]!)).toEqual({ entry, isNew: false });
});

test.each([
  ['before', 0],
  ['between', 2],
  ['after', 3],
])('parts that two ids name are for both: the second is named %s they come', (_, known) => {
  const blocks = new Blocks();
  const { id, parts } = blockOf(1);
  const misnamed = blocks.want({ ...id, hash: new Uint8Array(32).fill(0xee) });
  for (const part of parts.slice(0, known))
    expect(blocks.addPart(part)).toEqual({ entry: misnamed, isNew: true });
  const entry = blocks.want(id);
  for (const part of parts.slice(known)) blocks.addPart(part);
  expect(entry.parts.isComplete).toBe(true);
  expect(misnamed.parts.isComplete).toBe(true);
  expect(blocks.takeUnread()).toEqual([misnamed, entry]);
  expect(blocks.takeUnread()).toEqual([]);
});
