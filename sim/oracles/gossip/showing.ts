// What a peer shows that it has by what it says, of the height that a node is at and of those beyond.

import { indexesOf } from '../../../protocol/bit-array.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import { type Peer, partOf, polkaOf, proposalOf, SOME_SET, thingOf, voteIn } from '../ghost/holdings.ts';
import { setOfPart, setOfParts } from '../ghost/seen.ts';

export function shows(peer: Peer, height: bigint, message: ConsensusMessage): void {
  if (message.type === 'vote') {
    if (message.vote.height >= height) peer.shows(message.vote.height, thingOf(message.vote));
  } else if (message.type === 'proposal') {
    const { proposal } = message;
    if (proposal.height >= height) peer.shows(proposal.height, proposalOf(proposal.round));
  } else if (message.height < height) return;
  else if (message.type === 'has-vote')
    peer.shows(message.height, voteIn(message.round, message.voteType, message.index));
  else if (message.type === 'vote-set-maj23') {
    if (message.voteType === PREVOTE) peer.shows(message.height, polkaOf(message.round));
  } else if (message.type === 'vote-set-bits')
    for (const index of indexesOf(message.votes))
      peer.shows(message.height, voteIn(message.round, message.voteType, index));
  else if (message.type === 'block-part') {
    const { part } = message;
    peer.shows(message.height, partOf(setOfPart(part) ?? SOME_SET, part.index));
  } else if (message.type === 'new-valid-block' && message.have) {
    const set = setOfParts(message.parts);
    for (const index of indexesOf(message.have)) peer.shows(message.height, partOf(set, index));
  }
}
