// What a play has in it and its run never met. A play that holds because nothing of it happened shows little, and a slip in a height
// or a name is seen here first.

import type { LiarWords } from './scenario/play.ts';
import type { Stage } from './scenario/stage.ts';
import { messagesText, pointText } from './story.ts';

export const unmetOf = ({ rules, unreached }: Stage, silent: readonly LiarWords[]): readonly string[] => [
  ...rules.unmet.map((rule) => `no message for the rule about ${messagesText(rule)}`),
  ...unreached.map((point) => `no crash of ${pointText(point)}: it did not come to that`),
  ...silent.map(
    ({ node, liar }) => `no lie of ${node} (${typeof liar === 'string' ? liar : 'its own liar'})`,
  ),
];
