// A block is named by its hash and its parts: lies that keep the one and change the other.

import { PartSet } from '../protocol/part-set.ts';
import { encodeBlock } from '../protocol/wire/index.ts';
import { type Liar, signedVote } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import { aboutOwnVotes } from '../sim/liars/own-votes.ts';
import {
  crash,
  everyone,
  f0,
  height,
  liar,
  powers,
  restart,
  scenario,
  txs,
  v0,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** Of nearly a third of the power, and the application punishes nobody. v2 alone hears the truth, and has the others hear of both. */
export const otherParts = scenario('a vote for the hash of a block and other parts is no vote for it', {
  name: 'other-parts',
  cast: powers(10, 10, 10, 14),
  app: 'noop',
  liars: [liar('v3', 'other-parts-voter', ['v0', 'v1'])],
  ends: everyone.decides(height(10), { within: '60s' }),
});

export const otherPartsPunished = scenario('who votes for two sets of parts of one block is punished', {
  name: 'other-parts-punished',
  cast: validators(4),
  liars: [liar('v3', 'both-parts-voter', ['v0', 'v1', 'v2'], { fromHeight: 3, toHeight: 5 })],
  act: [when(everyone.punishes('v3'))],
  ends: everyone.decides(height(14), { within: '120s' }),
});

const numberVoter: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a vote for another number of parts', (vote) => {
    const { hash, parts } = vote.blockId;
    if (hash.length === 0) return null;
    const other = { ...parts, total: parts.total + 1 };
    return [signedVote(kit, { ...vote, blockId: { hash, parts: other } })];
  });

/** As `other-parts`, and the lie has the true hash and the true root: the number alone is another one. */
export const otherNumberOfParts = scenario(
  'a vote for another number of the same parts is no vote for them',
  {
    name: 'other-number-of-parts',
    cast: powers(10, 10, 10, 14),
    app: 'noop',
    liars: [liar('v3', numberVoter, ['v0', 'v1'])],
    ends: everyone.decides(height(10), { within: '60s' }),
  },
);

const numberProposer: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: another number of parts', (block) => {
    const { total, hash } = PartSet.whole(encodeBlock(block)).header;
    return { block, parts: { total: total + 1, hash } };
  });

/** The others decide v2's block in round 0, and v0 alone was told first that it has one part more, which nobody will ever have. */
export const onePartMore = scenario(
  'who is told that a block has a part more still gets it from the others',
  {
    name: 'one-part-more',
    cast: validators(4),
    load: txs({ perSecond: 2 }),
    liars: [liar('v2', numberProposer, ['v0'])],
    ends: everyone.decides(height(12), { within: '60s' }),
  },
);

const hashProposer: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: another hash of the same parts', (block) => ({
    block,
    hash: new Uint8Array(32).fill(7),
  }));

/** The others decide v2's block in round 0. When v0 hears by what hash, it has all its parts, under another. */
export const sameParts = scenario('who has the parts of a block under a false hash has the block', {
  name: 'same-parts',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', hashProposer, ['v0'])],
  ends: everyone.decides(height(12), { within: '60s' }),
});

/** f0 comes back to a chain that has grown: block sync gives it blocks, not the bytes that were decided. */
export const stretchedBlocks = scenario('a block whose bytes nobody else would make of it is not decided', {
  name: 'stretched-blocks',
  cast: validators(4, { fullNodes: 1 }),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'byte-stretcher', ['v0', 'v1', 'v3'])],
  act: [
    when(v0.decides(height(2)), crash('f0')),
    when(v0.decides(height(24)), restart('f0')),
    when(f0.joins()),
  ],
  ends: everyone.decides(height(28), { within: '400s', afterwards: 2 }),
});
