// The forger of proposals: with each vote of its own for a block it proposes that block again in the next round, whoever's turn that is; at each
// fourth height with a polka of that very round.

import { unreachable } from '../../protocol/refusal.ts';
import { proposalSignBytes } from '../../protocol/sign-bytes.ts';
import { PROPOSAL } from '../../protocol/types.ts';
import { isNilBlockId } from '../../protocol/validate.ts';
import { type Liar, proposalPayload } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

export const proposalForger: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a proposal of another', ({ height, round, blockId, timeNs }, payload) => {
    if (isNilBlockId(blockId)) return null;
    const unsigned = {
      type: PROPOSAL,
      height,
      round: round + 1,
      polRound: height % 4n === 0n ? round + 1 : -1,
      blockId,
      timeNs,
      signature: new Uint8Array(0),
    };
    const key = kit.machine.key ?? unreachable('a liar has a key');
    const signature = key.sign(proposalSignBytes(kit.chainId, unsigned));
    return [payload, proposalPayload({ ...unsigned, signature })];
  });
