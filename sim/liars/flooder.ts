// The flooder: behind each prevote of its own come more words for the next height than a peer may be asked to remember, behind each
// precommit claims of two thirds, for one invented block after the other.

import { sha256, utf8Encode } from '#platform';
import { CHANNEL_STATE } from '../../protocol/messages.ts';
import { NIL_BLOCK_ID, PREVOTE } from '../../protocol/types.ts';
import { encodeConsensusMessage } from '../../protocol/wire/index.ts';
import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

const EARLY_WORDS = 16_000;
const CLAIMS = 4_000;

export const flooder: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a flood', (vote, payload) => {
    const { height, round, type } = vote;
    if (type === PREVOTE) {
      const early = signedVote(kit, { ...vote, height: height + 1n, round: 0, blockId: NIL_BLOCK_ID });
      return [payload, ...Array(EARLY_WORDS).fill(early)];
    }
    const claims = Array.from({ length: CLAIMS }, (_, i) => {
      const hash = sha256(utf8Encode(`${height}/${round}/${i}`));
      const blockId = { hash, parts: { total: 1, hash } };
      const claim = { type: 'vote-set-maj23', height, round, voteType: PREVOTE, blockId } as const;
      return { channel: CHANNEL_STATE, bytes: encodeConsensusMessage(claim) };
    });
    return [payload, ...claims];
  });
