// Parts find their block by what proves them: two blocks of one height may have equal parts at one index. And blocks of failed rounds go.

import { expect, test } from 'vitest';
import { type BlockEntry, Blocks } from '../../machines/consensus/blocks.ts';
import { PartSet, splitIntoParts } from '../../protocol/part-set.ts';
import { BLOCK_PART_BYTES, type Block, type BlockId } from '../../protocol/types.ts';

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
  blocks.want(one.id, 0);
  for (const part of one.parts.slice(0, known)) blocks.addPart(part);
  const entry = blocks.want(two.id, 0);
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
  const misnamed = blocks.want({ ...id, hash: new Uint8Array(32).fill(0xee) }, 0);
  for (const part of parts.slice(0, known))
    expect(blocks.addPart(part)).toEqual({ entry: misnamed, isNew: true });
  const entry = blocks.want(id, 0);
  for (const part of parts.slice(known)) blocks.addPart(part);
  expect(entry.parts.isComplete).toBe(true);
  expect(misnamed.parts.isComplete).toBe(true);
  expect(blocks.takeUnread()).toEqual([misnamed, entry]);
  expect(blocks.takeUnread()).toEqual([]);
});

test('of rounds before one all blocks go but those that are kept or being judged', () => {
  const blocks = new Blocks();
  const named = [0, 1, 2, 3, 4, 5].map((round) => blocks.want(blockOf(round).id, round));
  const [, kept, asked, read] = named as [BlockEntry, BlockEntry, BlockEntry, BlockEntry];
  asked.app = 'asked';
  read.rules = 'reading';
  // Who had the parts of what is kept may have let go of them.
  expect(blocks.letGoBefore(5, [kept.id, null])).toEqual([0, 1, 4].map((i) => named[i]?.id.parts));
  expect([...blocks.all()]).toEqual([kept, asked, read, named[5]]);
  asked.app = 'accepted';
  read.rules = 'good';
  blocks.letGoBefore(5, [kept.id, null]);
  expect([...blocks.all()]).toEqual([kept, named[5]]);
});

test('a block of ours stays until its proposal is signed, and counts as of the last round that it was made for', () => {
  const blocks = new Blocks();
  const { id, parts } = blockOf(1);
  const whole = new PartSet(id.parts);
  for (const part of parts) whole.add(part);
  const block = {} as Block;
  const entry = blocks.put(id, whole, block, 3);
  expect(blocks.letGoBefore(9, [])).toEqual([]);
  blocks.endSigning(2);
  expect(blocks.letGoBefore(9, [])).toEqual([]);
  blocks.endSigning(3);
  // The same again, in its next turn; and a quorum of a later round may have named it before.
  expect(blocks.put(id, whole, block, 5)).toBe(entry);
  expect(blocks.put(id, whole, block, 4)).toBe(entry);
  blocks.endSigning(4);
  expect(blocks.letGoBefore(5, [])).toEqual([]);
  expect(blocks.letGoBefore(6, [])).toEqual([id.parts]);
  expect(blocks.get(id)).toBeUndefined();
});

test('a block counts as of the last round that named it', () => {
  const blocks = new Blocks();
  const { id } = blockOf(1);
  const entry = blocks.want(id, 3);
  blocks.want(id, 1);
  blocks.letGoBefore(3, []);
  expect(blocks.get(id)).toBe(entry);
  blocks.want(id, 7);
  blocks.letGoBefore(7, []);
  expect(blocks.get(id)).toBe(entry);
  entry.app = 'rejected';
  blocks.letGoBefore(8, []);
  expect(blocks.get(id)).toBeUndefined();
  // Whoever names it again brings its parts again; the application is not asked again.
  expect(blocks.want(id, 9)).toMatchObject({ block: null, rules: 'unknown', app: 'rejected' });
});
