// What a cluster's run came to, ending by ending.

import { expect, test } from 'vitest';
import { type End, type EndedNode, summaryOf } from '../../../runtime/cli/cluster/summary.ts';

const node = (name: string, hashes: readonly string[], more: Partial<EndedNode> = {}): EndedNode => ({
  name,
  height: BigInt(hashes.length),
  appHashes: new Map(hashes.map((hash, i) => [BigInt(i + 1), hash])),
  cpuMs: 1_234,
  rssBytesMax: 90_000_000,
  fatal: null,
  failedToStop: false,
  wasRefused: false,
  ...more,
});
const end = (more: Partial<End> = {}): End => ({
  why: 'blocks',
  blocks: 2n,
  pace: { heights: 2, text: '2 heights in this run, 1.00 a second' },
  transactions: { sent: 7, committed: 6 },
  ...more,
});
const still = { pace: { heights: 0, text: '0 heights in this run' } };
const before = { height: 5n };

test('a line a node, at the lowest height of all', () => {
  const { lines } = summaryOf([node('node0', ['aa', 'bb', 'cc']), node('node1', ['aa', 'bb'])], end());
  expect(lines).toEqual([
    '',
    'node0  height 3, app hash at height 2: bb, 1.2 s of processor, 90 MB',
    'node1  height 2, app hash at height 2: bb, 1.2 s of processor, 90 MB',
    '2 heights in this run, 1.00 a second',
    'transactions: 7 sent, 6 committed',
    'equal app hashes',
  ]);
});

test.each<[string, readonly EndedNode[], Partial<End>, string, number]>([
  ['all hold the same', [node('a', ['x', 'y']), node('b', ['x', 'y'])], {}, 'equal app hashes', 0],
  ['two differ', [node('a', ['x', 'y']), node('b', ['x', 'z'])], {}, 'the app hashes at height 2 differ', 1],
  [
    'a process died',
    [node('a', ['x', 'y']), node('b', [], { fatal: 'its disk is full' })],
    { why: 'death' },
    'b ended by itself: its disk is full',
    1,
  ],
  [
    'a process that was asked to stop could not do that in order',
    [node('a', ['x', 'y']), node('b', ['x', 'y'], { fatal: 'its disk is full', failedToStop: true })],
    {},
    'b did not stop in order: its disk is full',
    1,
  ],
  [
    'no process could begin',
    [node('a', [], { fatal: 'its port is taken', wasRefused: true })],
    { why: 'death', ...still },
    'a ended by itself: its port is taken',
    2,
  ],
  [
    'it was interrupted too early',
    [node('a', ['x']), node('b', ['x'])],
    { why: 'signal' },
    'interrupted before height 2',
    1,
  ],
  [
    'it was interrupted, and nobody had asked for a height',
    [node('a', ['x']), node('b', ['x'])],
    { why: 'signal', blocks: null },
    'equal app hashes',
    0,
  ],
  [
    'one has told nothing of a height',
    [node('a', ['x', 'y']), node('b', ['x', 'y'], { appHashes: new Map() })],
    {},
    'not every node told its app hash of height 2',
    1,
  ],
  [
    'all were there before',
    [node('a', [], before), node('b', [], before)],
    still,
    '--blocks 2: all were there before this run, so nothing was compared; ask for more',
    2,
  ],
  [
    'one caught up on what the others had before',
    [node('a', [], { height: 2n }), node('b', ['x', 'y'])],
    still,
    'not every node told its app hash of height 2',
    1,
  ],
  [
    'a process went and said nothing',
    [node('a', [], before), node('b', [], before)],
    { why: 'death', ...still },
    'no height was decided in this run, so no app hashes were compared',
    1,
  ],
])('%s', (_, nodes, more, line, exit) => {
  const summary = summaryOf(nodes, end(more));
  expect(summary.lines.at(-1)).toBe(line);
  expect(summary.exit).toBe(exit);
});
