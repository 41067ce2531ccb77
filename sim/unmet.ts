// What a play has in it and its run never met. A play that holds because nothing of it happened shows little, and a slip in a height
// or a name is seen here first.

import type { LiarWords, Scenario } from './scenario/play.ts';
import type { Script } from './scenario/script.ts';
import type { Stage } from './scenario/stage.ts';
import { countsHeights } from './scenario/under.ts';
import { actionText, messagesText, pointText } from './story.ts';

export interface Course {
  readonly stage: Stage;
  /** Liars that told no lie. */
  readonly silent: readonly LiarWords[];
  readonly play: Scenario;
  readonly script: Script;
  /** Transactions in blocks. */
  readonly committed: number;
  readonly names: readonly string[];
  /** The furthest height that anybody committed. */
  readonly heightMax: bigint;
  /** What was asked for beside the play; undefined: nothing. */
  readonly heights: number | undefined;
}

/** Where pools may take any, and none of what was submitted came into a block. */
function refusedLoad({ stage, play, committed }: Course): readonly string[] {
  const { counts, transactions } = stage;
  const isMeant = play.load === undefined || play.settings?.mempool?.kind === 'nop';
  if (isMeant || committed > 0 || !counts.has('refused')) return [];
  return [
    `no transaction of the load in a block: ${transactions} were submitted, and the application or the pool refuses them`,
  ];
}

/** One height may have been under way. */
const ROOM = 1n;

export function unmetOf(course: Course): readonly string[] {
  const { stage, silent, play, script, names, heightMax, heights } = course;
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
    ...refusedLoad(course),
    ...(heights !== undefined && heightMax < BigInt(heights) && !countsHeights(ends)
      ? [`no ${heights} heights, which were asked for: the play does not end at a height`]
      : []),
    ...(ends.who === 'nobody' && heightMax + ROOM < BigInt(ends.decides)
      ? [`no block of height ${ends.decides}, beyond which nobody was to get: the furthest is ${heightMax}`]
      : []),
  ];
}
