// What a pool that keeps everything in its cache may ask about again: what others may have pushed out of it.

import { expect, it } from 'vitest';
import { AskedOnce } from '../../../../sim/oracles/mempool/asked-once.ts';

const SIZE = 8;
let nowNs = 0;
const later = (): number => {
  nowNs += 2_000_000;
  return nowNs;
};
const comes = (once: AskedOnce, ...ids: readonly string[]): void => {
  for (const id of ids) once.comes(id, later());
};

it('is asked about once while half of the cache is not filled with others', () => {
  const once = new AskedOnce(SIZE);
  comes(once, 'a');
  expect(once.isAskedAgain('a')).toBe(false);
  comes(once, 'b', 'c', 'a');
  expect(once.isAskedAgain('a')).toBe(true);
});

it('counts what comes from where it came itself, though it is asked about later', () => {
  const once = new AskedOnce(SIZE);
  comes(once, 'a', 'b', 'c', 'd');
  expect(once.isAskedAgain('a')).toBe(false);
  comes(once, 'a');
  expect(once.isAskedAgain('a')).toBe(false);
});

it('counts what blocks take, twice', () => {
  const once = new AskedOnce(SIZE);
  comes(once, 'a');
  once.isAskedAgain('a');
  once.takes(2, later());
  expect(once.isAskedAgain('a')).toBe(false);
});

it('counts what a block takes behind what comes with it: its word of that is slower', () => {
  const once = new AskedOnce(SIZE);
  once.takes(2, later());
  once.comes('a', nowNs);
  expect(once.isAskedAgain('a')).toBe(false);
  comes(once, 'a');
  expect(once.isAskedAgain('a')).toBe(false);
});
