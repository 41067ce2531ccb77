// The time liar: signs its votes with a time far from now, to move the time of the next block.

import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

const HOUR_NS = 3_600_000_000_000n;

/** Its even rounds are in the future, its odd ones in the past. */
export const timeLiar: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: another time', (vote) => {
    const timeNs = vote.timeNs + (vote.round % 2 === 0 ? HOUR_NS : -HOUR_NS);
    return [signedVote(kit, { ...vote, timeNs })];
  });
