// The nil-voter: whatever it thinks of a proposal, it votes nil.

import { NIL_BLOCK_ID } from '../../protocol/types.ts';
import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

export const nilVoter: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: nil', (vote) =>
    vote.blockId.hash.length === 0 ? null : [signedVote(kit, { ...vote, blockId: NIL_BLOCK_ID })],
  );
