// The forger of votes: with each vote of its own come those of all others, for another value, signed with the only key it has. And before
// them its own, under an address that nobody has.

import type { Vote } from '../../protocol/types.ts';
import { type Liar, otherValue, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

export const voteForger: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: votes of others', (vote, payload) => {
    const blockId = otherValue(kit, vote) ?? vote.blockId;
    const of = (address: Uint8Array, index: number): Vote => ({
      ...vote,
      blockId,
      validatorAddress: address,
      validatorIndex: index,
    });
    const forged = kit
      .validators(vote.height)
      .flatMap(({ address }, index) =>
        index === vote.validatorIndex ? [] : [signedVote(kit, of(address, index))],
      );
    const misaddressed = signedVote(kit, {
      ...vote,
      validatorAddress: new Uint8Array(vote.validatorAddress.length).fill(7),
    });
    return [misaddressed, payload, ...forged];
  });
