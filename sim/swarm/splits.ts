// Draws heights whose locks split: a few validators alone see the polka of a round and lock, while the others go
// on to another block. Faults at random hardly ever do that, and every rule of the lock is about it.

import type { Stream } from '../choices.ts';
import type { Action, Directive, NodeName } from '../scenario/play.ts';
import { delay, drop, heal } from '../scenario/words.ts';
import type { People } from './people.ts';

const HEIGHTS_SPLIT = [2, 3, 4, 5];
const SPLITS_MAX = 4;
/**
 * So many thousandths of a first round with its three timeouts: just after all the others precommitted nil, or in
 * one of the next rounds.
 */
const LATE = [830, 900, 960, 1_500, 2_000, 2_800, 3_600];

/** Who sees the polka of this round, and what must not reach whom for that. */
interface Split {
  readonly lockers: readonly NodeName[];
  readonly rules: readonly Action[];
}

interface Place {
  readonly height: number;
  readonly round: number;
}

/**
 * Rules stand from the beginning: they name their heights and rounds. `roundMs` is how long a first round lasts
 * whose timeouts all pass.
 */
export function drawSplits(stream: Stream, people: People, roundMs: number): Directive[] {
  const heights = stream.shuffle([...HEIGHTS_SPLIT]).slice(0, stream.between(1, SPLITS_MAX));
  // What is late comes by itself; a heal would end it too soon.
  const lateOf = stream.chance(3, 4) ? roundMs : null;
  return heights.flatMap((height) => splitHeight(stream, people, height, lateOf));
}

function splitHeight(stream: Stream, people: People, height: number, lateOf: number | null): Directive[] {
  const first = split(stream, people, { height, round: 0 }, lateOf, []);
  if (!first) return [];
  const rules = [...first.rules];
  const next = stream.draw(5);
  // Then a round in which all prevote nil, or one in which others lock another block: who is locked already is
  // among those who do not hear of it.
  if (next === 1) rules.push(drop('proposals', { height, round: 1 }));
  if (next >= 2)
    rules.push(...(split(stream, people, { height, round: 1 }, lateOf, first.lockers)?.rules ?? []));
  const act: Directive[] = [{ atMs: 0, actions: rules }];
  // Until then those who locked have spoken to themselves; now they are heard, if chaos goes on.
  if (lateOf === null && stream.chance(2, 3))
    act.push({ atMs: stream.between(3_000, 25_000), actions: [heal()] });
  if (stream.chance(1, 2)) {
    const node = stream.pick(first.lockers);
    const restartMs = stream.draw(6_000);
    act.push({
      atMs: stream.between(1_000, 20_000),
      actions: [{ do: 'crash', node, how: 'drawn', restartMs }],
    });
  }
  return act;
}

/**
 * Some hear no proposal; of the others so many prevote it as a polka needs, and the prevotes of a few of these
 * reach only each other, or all too late. Null: too few to split.
 */
function split(
  stream: Stream,
  { cast: { powers } }: People,
  at: Place,
  lateOf: number | null,
  deafFirst: readonly NodeName[],
): Split | null {
  const shuffled = stream.shuffle(powers.map((_, i) => i));
  const isFirst = (index: number): boolean => deafFirst.includes(`v${index}`);
  const order = [...shuffled.filter(isFirst), ...shuffled.filter((index) => !isFirst(index))];
  const total = powers.reduce((sum, power) => sum + power, 0);
  const isMost = (power: number): boolean => 3 * power > 2 * total;
  const deaf: number[] = [];
  let hearing = total;
  for (const index of order) {
    const rest = hearing - (powers[index] ?? 0);
    if (!isMost(rest)) continue;
    deaf.push(index);
    hearing = rest;
  }
  const lockers: number[] = [];
  let known = hearing;
  for (const index of order.filter((each) => !deaf.includes(each))) {
    if (!isMost(known)) break;
    lockers.push(index);
    known -= powers[index] ?? 0;
  }
  const nameOf = (index: number): NodeName => `v${index}`;
  const others = order.filter((index) => !lockers.includes(index)).map(nameOf);
  if (others.length === 0) return null;
  const by = lockers.map(nameOf);
  const words = { ...at, by, to: others };
  const rules = [
    ...(deaf.length > 0
      ? [drop('proposals', { ...at, to: deaf.map(nameOf) }), drop('parts', { ...at, to: deaf.map(nameOf) })]
      : []),
    lateOf === null
      ? drop('prevotes', words)
      : delay('prevotes', `${Math.round((stream.pick(LATE) * lateOf) / 1_000)}ms`, words),
  ];
  return { lockers: by, rules };
}
