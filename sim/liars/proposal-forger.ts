// The forger of proposals: with each vote of its own for a block it proposes that block again in the next round, whoever's turn that is; at each
// fourth height with a polka of that very round.

import { isNilBlockId } from '../../protocol/validate.ts';
import { type Liar, signedProposal } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

export const proposalForger: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a proposal of another', ({ height, round, blockId, timeNs }, payload) => {
    if (isNilBlockId(blockId)) return null;
    const polRound = height % 4n === 0n ? round + 1 : -1;
    return [payload, signedProposal(kit, { height, round: round + 1, polRound, blockId, timeNs })];
  });
