// Heights whose locks split: one validator alone sees the polka of a round and locks, while the others go on to another block. Faults at random
// hardly ever do that, and every rule of the lock is about it.

import type { Stream } from '../sim/choices.ts';
import type { Action, Directive, NodeName } from '../sim/scenario/play.ts';
import {
  after,
  anyone,
  crash,
  delay,
  drawn,
  drop,
  everyone,
  heal,
  height,
  scenario,
  txs,
  validators,
  when,
} from '../sim/scenario/words.ts';

const FIRST = 3;
const SPLITS = 3;
/** A height between two splits: all are together again. */
const EVERY = 2;

/**
 * As many prevote the block as a polka needs, and the prevote of one of them reaches nobody, or late: that one
 * alone locks. With equal powers only.
 */
function split(stream: Stream, names: readonly NodeName[], at: { height: number; round: number }) {
  const needed = Math.floor((2 * names.length) / 3) + 1;
  const [locked, ...rest] = stream.shuffle([...names]);
  const to = rest.slice(0, names.length - needed);
  const own = { ...at, by: [locked as NodeName] };
  const isLate = stream.chance(1, 4);
  const rules: Action[] = [
    drop('proposals', { ...at, to }),
    drop('parts', { ...at, to }),
    isLate ? delay('prevotes', `${stream.between(3_000, 7_000)}ms`, own) : drop('prevotes', own),
  ];
  return { locked: locked as NodeName, rules };
}

function splitHeight(stream: Stream, names: readonly NodeName[], at: number): Directive[] {
  const first = split(stream, names, { height: at, round: 0 });
  const rules = [...first.rules];
  const next = stream.draw(4);
  // Then a round in which all prevote nil, or one in which another validator locks another block.
  if (next === 1) rules.push(drop('proposals', { height: at, round: 1 }));
  if (next >= 2) rules.push(...split(stream, names, { height: at, round: 1 }).rules);
  const act = [when(anyone.decides(height(at - 1)), ...rules)];
  if (stream.chance(1, 2)) {
    const restart = `${stream.between(0, 6_000)}ms` as const;
    act.push(after(`${stream.between(1_200, 9_000)}ms`, crash(first.locked, { restart })));
  }
  act.push(after(`${stream.between(4, 12)}s`, heal()));
  return act;
}

export const lockSplits = drawn(
  'lock-splits',
  'one validator locks, the others go on; it may die before they meet again',
  (stream) => {
    const size = stream.between(4, 7);
    const names = Array.from({ length: size }, (_, i): NodeName => `v${i}`);
    const act = Array.from({ length: SPLITS }, (_, i) => splitHeight(stream, names, FIRST + i * EVERY));
    return scenario('drawn', {
      cast: validators(size),
      load: txs({ perSecond: 5 }),
      act: act.flat(),
      ends: everyone.decides(height(FIRST + SPLITS * EVERY), { within: '400s', afterwards: 2 }),
    });
  },
);
