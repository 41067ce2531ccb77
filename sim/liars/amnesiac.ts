// The amnesiac: forgets its lock. In a round after the first it prevotes what is proposed, whatever it
// precommitted before.

import { equalBytes } from '../../protocol/bytes.ts';
import { PREVOTE } from '../../protocol/types.ts';
import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

export const amnesiac: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: forgotten lock', (vote) => {
    if (vote.type !== PREVOTE || vote.round === 0) return null;
    const proposed = kit.proposed(vote.height, vote.round).at(-1);
    if (!proposed || equalBytes(proposed.hash, vote.blockId.hash)) return null;
    return [signedVote(kit, { ...vote, blockId: proposed })];
  });
