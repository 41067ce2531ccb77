// A peer says more than anybody can use: what it may make others keep is bounded, whatever it is that it says.

import { utf8Encode } from '#platform';
import { CHANNEL_MEMPOOL } from '../protocol/messages.ts';
import { PREVOTE } from '../protocol/types.ts';
import { encodeMempoolMessage } from '../protocol/wire/index.ts';
import { invented } from '../sim/liars/flooder.ts';
import { type Liar, signedProposal } from '../sim/liars/liar.ts';
import { aboutOwnVotes } from '../sim/liars/own-votes.ts';
import { voteForger } from '../sim/liars/vote-forger.ts';
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

/** Between two words there is one for another actor. */
const mixer: Liar = (kit) => {
  const forger = voteForger(kit);
  const tx = utf8Encode('between=words');
  kit.submitted(tx);
  const between = { channel: CHANNEL_MEMPOOL, bytes: encodeMempoolMessage({ type: 'txs', txs: [tx] }) };
  return (to, payloads) => forger(to, payloads)?.flatMap((payload) => [payload, between]) ?? null;
};

/** Behind each vote of v3 come those of thirteen others, under no key of theirs. */
export const forgedByTheDozen = scenario(
  'of what a peer says at once nobody finds more wrong than a bad line explains',
  {
    name: 'forged-by-the-dozen',
    cast: validators(14),
    liars: [liar('v3', 'vote-forger', ['v0']), liar('v3', mixer, ['v1'])],
    holds: loses('v3', 'has a wrong signature'),
    ends: everyone.decides(height(6), { within: '120s' }),
  },
);
