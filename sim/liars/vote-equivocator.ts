// The vote equivocator: tells its victims another vote than everybody else, for the same height, round and
// step.

import type { Payload } from '../../actors/turn.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { PREVOTE, type Vote } from '../../protocol/types.ts';
import { consensusMessage } from '../oracles/ghost.ts';
import { addressFor } from '../oracles/votes.ts';
import { isInItsHeights, type Liar, type LiarKit, otherValue, Remembered, signedVote } from './liar.ts';

/** With `says: 'both'` the victims hear the true vote too, and can prove the lie at once. */
const equivocator =
  (says: 'other' | 'both'): Liar =>
  (kit) => {
    const lies = new Remembered<Payload | null>();
    const lieFor = (vote: Vote): Payload | null =>
      lies.get(`${vote.height}/${vote.round}/${vote.type}/${vote.blockId.hash.join()}`, () =>
        makeLie(kit, vote),
      );
    return (to, payloads) => {
      if (!kit.victims.has(to)) return null;
      let isLie = false;
      const said = payloads.flatMap((payload) => {
        const vote = ownVote(kit, payload);
        const lie = vote && lieFor(vote);
        if (!lie) return [payload];
        isLie = true;
        return says === 'both' ? [payload, lie] : [lie];
      });
      return isLie ? said : null;
    };
  };

export const voteEquivocator = equivocator('other');
export const doubleVoter = equivocator('both');

export function ownVote(kit: LiarKit, { channel, bytes }: Payload): Vote | null {
  if (channel !== 0x22) return null;
  const message = consensusMessage(bytes);
  if (message?.type !== 'vote') return null;
  return equalBytes(message.vote.validatorAddress, addressFor(kit.machine)) ? message.vote : null;
}

function makeLie(kit: LiarKit, vote: Vote): Payload | null {
  const { votes } = kit.words;
  if (votes !== undefined && votes !== (vote.type === PREVOTE ? 'prevotes' : 'precommits')) return null;
  if (!isInItsHeights(kit.words, vote.height) || !kit.lies()) return null;
  const blockId = otherValue(kit, vote);
  if (!blockId) return null;
  kit.count('lie: another vote');
  return signedVote(kit, { ...vote, blockId });
}
