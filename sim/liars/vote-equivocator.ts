// The vote equivocator: tells its victims another vote than everybody else, for the same height, round and
// step.

import { type Liar, otherValue, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** With `says: 'both'` the victims hear the true vote too, and can prove the lie at once. */
const equivocator =
  (says: 'other' | 'both'): Liar =>
  (kit) =>
    aboutOwnVotes(kit, 'lie: another vote', (vote, payload) => {
      const blockId = otherValue(kit, vote);
      if (!blockId) return null;
      const lie = signedVote(kit, { ...vote, blockId });
      return says === 'both' ? [payload, lie] : [lie];
    });

export const voteEquivocator = equivocator('other');
export const doubleVoter = equivocator('both');
