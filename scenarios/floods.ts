// A peer says more than anybody can use: what it may make others keep is bounded, whatever it is that it says.

import { PREVOTE } from '../protocol/types.ts';
import { invented } from '../sim/liars/flooder.ts';
import { type Liar, signedProposal } from '../sim/liars/liar.ts';
import { aboutOwnVotes } from '../sim/liars/own-votes.ts';
import { everyone, height, liar, scenario, these, txs, validators } from '../sim/scenario/words.ts';
import { loses } from './shared.ts';

/** It is cut off for its second claim, and comes back. */
export const flood = scenario('a peer cannot make others keep more than its share', {
  name: 'flood',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  liars: [liar('v3', 'flooder', ['v0', 'v1', 'v2'], { fromHeight: 2 })],
  holds: loses('v3', 'claims two thirds for two blocks'),
  ends: these('v0', 'v1', 'v2').decides(height(7), { within: '120s' }),
});

const PROPOSALS = 1_000;

/** Behind its prevote for what it proposed come proposals of that round, each for another block that nobody has. */
const lavish: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a flood of proposals', (vote, payload) => {
    const { type, height, round, timeNs } = vote;
    if (type !== PREVOTE || !kit.hasTurn(height, round)) return null;
    const others = invented(vote, PROPOSALS).map((blockId) =>
      signedProposal(kit, { height, round, polRound: -1, blockId, timeNs }),
    );
    return [payload, ...others];
  });

export const proposalsWithoutEnd = scenario('who may propose makes nobody keep all that it proposes', {
  name: 'proposals-without-end',
  cast: validators(4),
  liars: [liar('v3', lavish, ['v0', 'v1', 'v2'])],
  ends: everyone.decides(height(10), { within: '60s' }),
});
