// What a state holds is counted by where it lies, whatever its shape.

import { expect, it } from 'vitest';
import { censusOf, entriesIn } from '../../sim/census.ts';

it('entries of lists, sets and maps by their place, those of all elements together', () => {
  const state = {
    queue: [1, 2, 3],
    peers: new Map([
      ['a', { has: new Set([1]), parts: [[1, 2], [3]] }],
      ['b', { has: new Set([1, 2]), parts: [] }],
    ]),
    bytes: new Uint8Array(9),
    nothing: null,
    height: 7n,
  };
  expect([...censusOf(state)].sort()).toEqual([
    ['.peers', 2],
    ['.peers[].has', 3],
    ['.peers[].parts', 2],
    ['.peers[].parts[]', 3],
    ['.queue', 3],
  ]);
});

it('what two lead to counts once, also what leads back to itself, and keys that are objects are looked into', () => {
  const shared = [1, 2, 3];
  const state: Record<string, unknown> = { one: { shared }, other: { shared } };
  state['self'] = state;
  state['byObject'] = new Map([[{ list: [1] }, 0]]);
  expect([...censusOf(state)]).toEqual([
    ['.one.shared', 3],
    ['.byObject', 1],
    ['.byObject.keys.list', 1],
  ]);
});

it('all entries together are the sum of a census, but for what lies behind names that are left out', () => {
  const shared = [[1], [2, 3]];
  const state: Record<string, unknown> = {
    one: { shared, txs: [1, 2, 3] },
    other: { shared, byObject: new Map([[{ list: [1] }, new Set([4, 5])]]) },
    txs: { of: [[1, 2]] },
  };
  state['self'] = state;
  let sum = 0;
  for (const count of censusOf(state).values()) sum += count;
  expect(sum).toBe(15);
  expect(entriesIn(state, new Set())).toBe(sum);
  expect(entriesIn(state, new Set(['txs']))).toBe(sum - 6);
  expect(entriesIn(null, new Set())).toBe(0);
});

it('a class of its own is an object like any other, and holes of a list count as room', () => {
  class Book {
    readonly pages = new Array<number>(5);
  }
  expect([...censusOf(new Book())]).toEqual([['.pages', 5]]);
});
