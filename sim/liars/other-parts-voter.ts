// The voter for other parts: its victims hear it vote for the true hash, of a block whose parts nobody has. A block is named by both: who compares
// hashes alone counts such a vote, and no commit with it in it holds.

import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** With `says: 'both'` the victims hear the true vote too, and can prove the lie at once. */
const partsVoter =
  (says: 'other' | 'both'): Liar =>
  (kit) =>
    aboutOwnVotes(kit, 'lie: a vote for other parts', (vote, payload) => {
      const { hash, parts } = vote.blockId;
      if (hash.length === 0) return null;
      const other = { ...parts, hash: parts.hash.map((byte) => byte ^ 1) };
      const lie = signedVote(kit, { ...vote, blockId: { hash, parts: other } });
      return says === 'both' ? [payload, lie] : [lie];
    });

export const otherPartsVoter = partsVoter('other');
export const bothPartsVoter = partsVoter('both');
