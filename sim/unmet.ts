// What a play has in it and its run never met. A play that holds because nothing of it happened shows little, and a slip in a height
// or a name is seen here first.

import type { Loader } from './scenario/load.ts';
import type { LiarWords, Scenario } from './scenario/play.ts';
import type { Script } from './scenario/script.ts';
import type { Stage } from './scenario/stage.ts';
import { countsHeights, lastOf } from './scenario/under.ts';
import { actionText, messagesText, pointText } from './story.ts';

export interface Course {
  readonly stage: Stage;
  /** Liars that told no lie. */
  readonly silent: readonly LiarWords[];
  readonly play: Scenario;
  readonly script: Script;
  /** How many transactions of the play's load were given to nodes, and whether any came into a block; null: it has none. */
  readonly load: Pick<Loader, 'made' | 'isTaken'> | null;
  /** A promise broke, and the run ended there. */
  readonly isBroken: boolean;
  /** Liars hold back the time of the chain, and the run ended there: nothing that was to come is judged. */
  readonly isHopeless: boolean;
  readonly names: readonly string[];
  /** The furthest height that anybody committed. */
  readonly heightMax: bigint;
  /** What was asked for beside the play; undefined: nothing. */
  readonly heights: number | undefined;
}

/** Where pools may take any. */
function lostLoad({ stage, play, load, isBroken }: Course): readonly string[] {
  const isMeant = load === null || load.made === 0 || play.settings?.mempool?.kind === 'nop';
  if (isMeant || load.isTaken || isBroken) return [];
  const why = stage.counts.has('refused') ? ', and the application or the pool refuses some' : '';
  return [`no transaction of the load in a block as it was given: ${load.made} were submitted${why}`];
}

/** Fewer heights than were asked for. */
function isShort({ play, heights, heightMax }: Course): boolean {
  const last = lastOf(play, heights);
  return last !== undefined && heightMax < BigInt(last);
}

/** One height may have been under way. */
const ROOM = 1n;

export function unmetOf(course: Course): readonly string[] {
  const { stage, silent, play, script, names, heightMax, heights, isHopeless } = course;
  const { ends } = play;
  return [
    ...stage.rules.unmet.map((rule) => `no message for the rule about ${messagesText(rule)}`),
    ...[...stage.points.unreached].map(
      (point) => `no crash of ${point.node} ${pointText(point)}: it did not come to that`,
    ),
    ...silent.map(
      ({ node, liar }) => `no lie of ${node} (${typeof liar === 'string' ? liar : 'its own liar'})`,
    ),
    ...[...stage.idle].map((action) => `no effect of "${actionText(action, names)}"`),
    ...script.idle(heightMax),
    ...lostLoad(course),
    ...(isHopeless
      ? [
          `no end of the play: liars hold back the time of the chain at height ${heightMax}, for longer than anybody waits`,
        ]
      : []),
    ...(isShort(course) && !countsHeights(ends)
      ? [`no ${heights} heights, which were asked for: the play does not end at a height`]
      : []),
    ...(ends.who === 'nobody' && heightMax + ROOM < BigInt(ends.decides)
      ? [`no block of height ${ends.decides}, beyond which nobody was to get: the furthest is ${heightMax}`]
      : []),
  ];
}
