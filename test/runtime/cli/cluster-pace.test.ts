// How many heights a cluster says that it decided.

import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { Pace } from '../../../runtime/cli/cluster/pace.ts';

type Word = { readonly type: 'up' | 'committed'; readonly height: bigint };
function paceOf(...words: readonly (readonly [Word['type'], bigint])[]): Pace {
  const events = new Subject<Word>();
  const pace = new Pace(events);
  for (const [type, height] of words) events.next({ type, height });
  return pace;
}

test('each height counts once, whoever comes first', () => {
  const pace = paceOf(['up', 0n], ['up', 0n], ['committed', 1n], ['committed', 1n], ['committed', 2n]);
  expect(pace.heights).toBe(2);
  expect(pace.text).toMatch(/^2 heights in this run, \S+ a second$/);
});

test('what some node had when the run began is not of this run, also for one that catches up on it', () => {
  const behind = [2n, 3n, 4n, 5n].map((height) => ['committed', height] as const);
  expect(paceOf(['up', 5n], ['up', 1n], ...behind).text).toBe('0 heights in this run');
  expect(paceOf(['up', 1n], ...behind.slice(0, 2), ['up', 5n], ...behind.slice(2)).heights).toBe(0);
  expect(paceOf(['up', 1n], ['up', 5n], ...behind, ['committed', 6n]).text).toBe('1 height in this run');
});
