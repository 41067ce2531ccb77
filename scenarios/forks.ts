// More than a third lies, and the chain forks: the one promise that is left is that the liars can be named.
// With four equal validators v2 proposes round 0 of height 13, and v1 round 1. Where more than two thirds lie nobody honest is left to fork from.

import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  at,
  block,
  chain,
  drop,
  finally_,
  height,
  isolate,
  liar,
  powers,
  scenario,
  sometime,
  these,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const FORK = 13;
const there = { fromHeight: FORK, toHeight: FORK };

/** v0 and v1 each hear a block and votes that make two thirds with their own. */
export const forkByTwoVotes = scenario('two of four vote twice, the chain forks, and both are named', {
  name: 'fork-by-two-votes',
  cast: validators(4),
  liars: [
    liar('v2', 'proposal-equivocator', ['v0'], there),
    liar('v2', 'vote-equivocator', ['v0'], there),
    liar('v3', 'vote-equivocator', ['v0'], there),
  ],
  ends: chain.forksAt(height(FORK), { guilty: ['v2', 'v3'], within: '60s' }),
});

const first = { height: FORK, round: 0 };
const second = { height: FORK, round: 1 };
const later = { ...there, fromRound: 1 };

/**
 * No key signs two votes for one round. v0 alone decides block 1 in round 0; in round 1 v2 and v3, who
 * precommitted it too, vote for block 2, though nobody has shown them two thirds for that.
 */
export const forkByAmnesia = scenario('two of four forget their lock, the chain forks, and both are named', {
  name: 'fork-by-amnesia',
  cast: validators(4),
  liars: [
    liar('v2', 'amnesiac', ['v0', 'v1', 'v3'], later),
    liar('v3', 'amnesiac', ['v0', 'v1', 'v2'], later),
  ],
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v1'] }),
      drop('parts', { ...first, to: ['v1'] }),
      drop('prevotes', { ...first, by: ['v0'], to: ['v1'] }),
      drop('precommits', { ...first, by: ['v0'] }),
    ),
    when(v0.decides(height(FORK)), isolate('v0')),
  ],
  holds: [sometime(v0.precommits(block(1), first)), sometime(v1.precommits(block(2), second))],
  ends: chain.forksAt(height(FORK), { guilty: ['v2', 'v3'], within: '60s' }),
});

const WRONG = new Uint8Array(32).fill(0xee);
const ofAnotherState: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: an invalid block', ({ header, ...block }) => ({
    block: { ...block, header: { ...header, appHash: WRONG } },
  }));
const INVALID = '+2/3 committed an invalid block';

/** v0 votes alone for what it proposes, and that decides. */
export const twoThirdsLie = scenario(
  'what the rules forbid is followed by nobody, though two thirds decide it',
  {
    name: 'two-thirds-lie',
    cast: powers(9, 1, 1, 1),
    liars: [
      liar('v0', ofAnotherState, ['v1', 'v2', 'v3'], { fromHeight: FORK }),
      liar('v0', 'vote-equivocator', ['v1', 'v2', 'v3'], { fromHeight: FORK }),
    ],
    holds: [v1, v2, v3].flatMap((each) => [sometime(each.halts(INVALID)), finally_(each.isHalted)]),
    ends: these().decides(height(FORK + 7), { within: '120s' }),
  },
);
