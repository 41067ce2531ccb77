// The spammer of future rounds: with each vote of its own come votes for rounds and heights that nobody has
// reached, all truly signed.

import { NIL_BLOCK_ID, PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** In the nearest it casts both votes, and is one voice all the same. */
const ROUNDS_WITH_BOTH = 4;
/** How far ahead in rounds; and of the height after this one too. */
const ROUNDS_AHEAD = [...Array.from({ length: 100 }, (_, i) => i + 1), 1_000, 0x7fff_fff0];

export const futureSpammer: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: the future', (vote, payload) => {
    const spam = ROUNDS_AHEAD.flatMap((ahead) =>
      [vote.height, vote.height + 1n].flatMap((height) => {
        const round = Math.min(vote.round + ahead, 0x7fff_ffff);
        return typesAt(ahead).map((type) =>
          signedVote(kit, { ...vote, type, height, round, blockId: NIL_BLOCK_ID }),
        );
      }),
    );
    return [payload, ...spam];
  });

function typesAt(ahead: number): readonly (typeof PREVOTE | typeof PRECOMMIT)[] {
  if (ahead <= ROUNDS_WITH_BOTH) return [PREVOTE, PRECOMMIT];
  return [ahead % 2 === 0 ? PREVOTE : PRECOMMIT];
}
