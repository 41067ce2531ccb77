// A liar: prevotes as it should, but tells some that it precommits nothing.
import { NIL_BLOCK_ID, PRECOMMIT } from 'rehearsal/protocol';
import { aboutOwnVotes, type Liar, signedVote } from 'rehearsal/sim';

export const coldFeet: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: cold feet', (vote) => {
    const isForBlock = vote.type === PRECOMMIT && vote.blockId.hash.length > 0;
    return isForBlock ? [signedVote(kit, { ...vote, blockId: NIL_BLOCK_ID })] : null;
  });
