// The spammer of future rounds: with each vote of its own come votes for rounds and heights that nobody has
// reached, all truly signed.

import { NIL_BLOCK_ID, PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** How far ahead in rounds; and of the height after this one too. */
const ROUNDS_AHEAD = [...Array.from({ length: 100 }, (_, i) => i + 1), 1_000, 0x7fff_fff0];

export const futureSpammer: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: the future', (vote, payload) => {
    const spam = ROUNDS_AHEAD.flatMap((ahead) =>
      [vote.height, vote.height + 1n].map((height) => {
        const round = Math.min(vote.round + ahead, 0x7fff_ffff);
        const type = ahead % 2 === 0 ? PREVOTE : PRECOMMIT;
        return signedVote(kit, { ...vote, type, height, round, blockId: NIL_BLOCK_ID });
      }),
    );
    return [payload, ...spam];
  });
