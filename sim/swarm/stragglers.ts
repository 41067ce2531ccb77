// Draws a node that is behind and needed when the core heals: long dead, or cut off from a height on. The others of
// the core may have started again by then, those outside it are dead, and somebody without power lies to it.

import type { Stream } from '../choices.ts';
import type { LiarName } from '../liars/index.ts';
import type { Action, Directive, LiarWords, NodeName } from '../scenario/play.ts';
import { anyone, crash, f0, height, isolate, whenOrAt } from '../scenario/words.ts';
import { coreAmong, type People, powersBy, spansOf } from './people.ts';

/** It dies within so long: the others decide some heights without it. */
const DIES_WITHIN_MS = 3_000;
/** Or it is cut off once this height is decided: the next one ends chaos. */
const CUT_OFF_AT = 4;
const CUT_OFF_LATEST = '100s';

/** Lies that only who is behind can be told, by somebody who is not found out at once. */
const SYNC_LIARS: readonly LiarName[] = ['sync-liar', 'block-forger'];

export interface Straggler {
  /** No more than it takes, with the straggler in it. */
  readonly core: readonly NodeName[];
  readonly act: readonly Directive[];
  /** What happens just before the core heals. */
  readonly last: readonly Action[];
  readonly fullNodes: number;
  readonly liars: readonly LiarWords[];
}

/** Null: the others could not go on without anybody, or not heal without liars. */
export function drawStraggler(stream: Stream, people: People): Straggler | null {
  const { names, liars, cast, changes } = people;
  const powerOf = powersBy(cast.powers);
  const total = cast.powers.reduce((sum, power) => sum + power, 0);
  const honest = stream.shuffle(names.filter((name) => !liars.includes(name)));
  const late = honest.find((name) => powerOf(name) > 0 && 3 * powerOf(name) < total);
  if (late === undefined || cast.degree !== undefined) return null;
  const order = [late, ...honest.filter((name) => name !== late)];
  const core = coreAmong(order, 0, spansOf(names, changes, powerOf));
  if (!core) return null;
  const outside = names.filter((name) => !core.includes(name));
  const again = stream.chance(1, 2) ? core.filter((name) => name !== late) : [];
  const isDead = stream.chance(2, 3);
  const isLiedTo = isDead && stream.chance(3, 4);
  return {
    core,
    act: isDead
      ? [{ atMs: stream.draw(DIES_WITHIN_MS), actions: [crash(late)] }]
      : [whenOrAt(anyone.decides(height(CUT_OFF_AT)), CUT_OFF_LATEST, isolate(late))],
    last: [...outside, ...again].map((name) => crash(name)),
    fullNodes: isLiedTo ? 1 : 0,
    liars: isLiedTo ? [{ node: f0.name, liar: stream.pick(SYNC_LIARS), to: [late] }] : [],
  };
}
