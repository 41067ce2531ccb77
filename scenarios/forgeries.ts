// Lies that carry their own disproof: a polka that nobody cast, parts at another place than their proof says, blocks without a commit,
// words that somebody else signed, blocks that the rules of the chain forbid.

import { type CommitSig, EMPTY_BYTES, FLAG_ABSENT, ZERO_TIME_NS } from '../protocol/types.ts';
import { SECOND } from '../sim/latency.ts';
import { withCommit, withOwnSignature } from '../sim/liars/invalid-proposer.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks, inHalves } from '../sim/liars/own-blocks.ts';
import {
  after,
  at,
  block,
  calm,
  crash,
  cut,
  delay,
  drop,
  everyone,
  heal,
  height,
  liar,
  links,
  never,
  nil,
  powers,
  restart,
  scenario,
  sometime,
  these,
  txs,
  v0,
  v1,
  v2,
  v3,
  v4,
  validators,
  when,
} from '../sim/scenario/words.ts';
import { loses } from './shared.ts';

const tenth = { height: 10 };
const sixth = { height: 6, round: 0 };
const first = { height: 7, round: 0 };
const second = { height: 7, round: 1 };
const third = { height: 7, round: 2 };

/**
 * With four equal validators v0, v3 and v2 propose the first rounds of height 7. v0 alone locks block 1,
 * round 1 has two thirds for nothing, and in round 2 v2 says it had, for its own block.
 */
export const forgedPolka = scenario('a claimed polka that nobody saw opens no lock', {
  name: 'forged-polka',
  cast: validators(4),
  liars: [liar('v2', 'pol-forger', ['v0', 'v1', 'v3'], { fromHeight: 7, toHeight: 7 })],
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v1'] }),
      drop('parts', { ...first, to: ['v1'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
      drop('proposals', { ...second, to: ['v1'] }),
      drop('parts', { ...second, to: ['v1'] }),
    ),
    when(v2.proposes(block(3), third)),
    when(v0.prevotes(nil, third), heal()),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    never(v0.prevotes(block(3), third)),
    never(v3.prevotes(block(3), third)),
  ],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** With four equal validators v0 and v3 propose the first rounds of height 7. Round 0 has two thirds for nil, and v3 says they were for its block. */
export const polkaForNil = scenario('two thirds for nil are no polka for a block', {
  name: 'polka-for-nil',
  cast: validators(4),
  liars: [liar('v3', 'pol-forger', ['v0', 'v1', 'v2'], { fromHeight: 7, toHeight: 7 })],
  act: [
    at('0s', drop('proposals', { ...first, from: ['v0'] }), drop('parts', { ...first, from: ['v0'] })),
    when(v3.proposes(block(2), second)),
  ],
  holds: [v0, v1, v2].map((each) => never(each.prevotes(block(2), second))),
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** Blocks of two to four parts; what v2 spoils for v0 the others give it whole. */
export const mislabelledParts = scenario('parts under a wrong index are refused, and come from others', {
  name: 'mislabelled-parts',
  cast: validators(4),
  load: txs({ perBlock: 4, size: 40_000 }),
  liars: [liar('v2', 'part-mislabeler', ['v0'])],
  holds: loses('v2', 'part.index'),
  ends: everyone.decides(height(12), { within: '240s' }),
});

/** What f0 serves is not in the commit of the block after it, or has a commit that nobody signed. */
export const forgedBlocks = scenario('a node far behind takes no block that nobody decided', {
  name: 'forged-blocks',
  cast: validators(4, { fullNodes: 1 }),
  load: txs({ perSecond: 3 }),
  liars: [liar('f0', 'block-forger', ['v3'])],
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(v0.decides(height(30)), restart('v3')),
    when(v3.joins()),
    when(v3.precommits()),
  ],
  holds: loses('f0', 'block sync at height'),
  ends: everyone.decides(height(36), { within: '400s', afterwards: 2 }),
});

/** As `forged-blocks`, and what v3 hears comes so late, or later, that blocks of f0 still arrive when v3 has found two that do not go together. */
export const slowDispute = scenario('whoever of two lied is found out by blocks of one peer', {
  name: 'slow-dispute',
  cast: validators(4, { fullNodes: 1 }),
  load: txs({ perSecond: 3, count: 20 }),
  liars: [liar('f0', 'block-forger', ['v3'])],
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(
      v0.decides(height(8)),
      links({ latency: { kind: 'uniform', minNs: SECOND / 2, maxNs: 3 * SECOND } }, { to: ['v3'] }),
      restart('v3'),
    ),
    when(v3.joins(), calm()),
  ],
  ends: everyone.decides(height(12), { within: '240s', afterwards: 2 }),
});

/** Three of the strong ones are enough, and the wrong signature is that of the fourth: what proves a block is no last commit to build upon. */
export const forgedCommits = scenario('a node far behind takes no commit in which one signature is wrong', {
  name: 'forged-commits',
  cast: { ...powers(10, 10, 10, 10, 1), fullNodes: 1 },
  load: txs({ perSecond: 3 }),
  liars: [liar('f0', 'commit-forger', ['v4'])],
  act: [
    when(v0.decides(height(2)), crash('v4')),
    when(
      v0.decides(height(14)),
      cut(['v0', 'v1', 'v2'], ['v4']),
      cut(['v4'], ['v0', 'v1', 'v2']),
      restart('v4'),
    ),
    after('10s', heal()),
    when(v4.precommits()),
  ],
  holds: loses('f0', 'block sync at height'),
  ends: everyone.decides(height(28), { within: '400s', afterwards: 2 }),
});

/** Each of the others is told one false greeting after another, and hears nothing else of it, until the last of the lies is told. */
export const falseGreetings = scenario('who is of another network, or another than it proves, is no peer', {
  name: 'false-greetings',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  liars: [liar('v3', 'false-greeter', ['v0', 'v1', 'v2'], { times: 22 })],
  act: [when(v0.decides(height(6)))],
  holds: loses(
    'v3',
    'its network is',
    'its block protocol is',
    'it says its id is',
    'it has no channel in common',
    'it names a channel twice',
    'it has 17 channels',
    'moniker is not printable ASCII',
    'tx_index is perhaps',
    'version is not printable ASCII',
    'rpc_address is not printable ASCII',
    'the maximum is 10240',
  ),
  ends: everyone.decides(height(16), { within: '240s', afterwards: 1 }),
});

/** Round 0 of height 5 decides nothing, and who was away then is offered a block with what the others said there: nil. It waits for the others. */
export const nilIsNoCommit = scenario('precommits for nil prove no block', {
  name: 'nil-is-no-commit',
  cast: validators(4, { fullNodes: 1 }),
  load: txs({ perSecond: 3 }),
  liars: [liar('f0', 'block-forger', ['v3'], { fromHeight: 5, toHeight: 6 })],
  act: [
    at('0s', drop('proposals', { height: 5, round: 0 }), drop('parts', { height: 5, round: 0 })),
    when(v0.decides(height(2)), crash('v3')),
    when(
      v0.decides(height(9)),
      cut(['v0', 'v1', 'v2'], ['v3']),
      cut(['v3'], ['v0', 'v1', 'v2']),
      restart('v3'),
    ),
    after('20s', heal()),
    when(v3.joins()),
  ],
  holds: loses('f0', 'insufficient voting power'),
  ends: everyone.decides(height(14), { within: '400s', afterwards: 2 }),
});

/** v2 signs for all, with the only key it has. The three strong ones decide without it, and what it says then of v4 comes before v4's own. */
export const forgedVotes = scenario('a vote counts for whom its signature names', {
  name: 'forged-votes',
  cast: powers(10, 10, 2, 10, 2),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'vote-forger', ['v0', 'v1', 'v3'], { ppm: 300_000 })],
  act: [
    at('0s', delay('precommits', '200ms', { from: ['v2'] }), delay('precommits', '600ms', { from: ['v4'] })),
  ],
  holds: loses('v2', 'names another validator', 'has a wrong signature'),
  ends: everyone.decides(height(12), { within: '240s' }),
});

/**
 * Both are needed. v1 prevotes nil, and with each copy of that comes one of v0's prevote, which it never had, under a signature of its own: that
 * copy is of a vote which v0 knows.
 */
export const falseCopies = scenario('who sends a false copy of a vote does not have it', {
  name: 'false-copies',
  cast: powers(20, 10),
  liars: [liar('v1', 'vote-forger', ['v0'], { votes: 'prevotes', fromHeight: 6, toHeight: 6 })],
  act: [
    at('0s', drop('parts', { ...sixth, to: ['v1'] }), drop('prevotes', { ...sixth, from: ['v0'] })),
    when(v1.prevotes(nil, sixth)),
    after('10s', heal()),
  ],
  ends: everyone.decides(height(9), { within: '240s' }),
});

/** v2 has v3's precommits only from those to whom v3 lies now and then. */
export const extendedVotes = scenario('bytes that nobody signed are not passed on with a vote', {
  name: 'extended-votes',
  cast: validators(4),
  liars: [liar('v3', 'vote-extender', ['v0', 'v1'], { ppm: 500_000, votes: 'precommits' })],
  act: [at('0s', drop('precommits', { by: ['v3'], from: ['v3'], to: ['v2'] }))],
  holds: loses('v3', 'carries an extension'),
  ends: everyone.decides(height(12), { within: '240s' }),
});

/** The blocks of round 0 come in round 1, when v2 has proposed its own again there, in the name of the proposer, who is late. */
export const forgedProposals = scenario('a proposal is of the round’s proposer, or of nobody', {
  name: 'forged-proposals',
  cast: validators(4),
  liars: [liar('v2', 'proposal-forger', ['v0', 'v1', 'v3'])],
  act: [at('0s', delay('parts', '4s', { round: 0 }), delay('proposals', '2s', { round: 1 }))],
  holds: loses('v2', 'is not signed by its proposer', 'claims a POL of round'),
  ends: everyone.decides(height(10), { within: '240s' }),
});

/** Every fourth block is v2's, and wrong in another thing: twenty-six of them, so each comes up. */
export const invalidBlocks = scenario('what the rules of the chain forbid is not decided', {
  name: 'invalid-blocks',
  cast: validators(4, { blockBytes: 16_000 }),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'invalid-proposer', ['v0', 'v1', 'v3'])],
  holds: loses('v2', 'block.max_bytes allows'),
  ends: everyone.decides(height(108), { within: '2200s' }),
});

const tooManyParts: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: too many parts', (block) => ({ block, parts: { total: 10, hash: ODD } }));
const ODD = new Uint8Array(32).fill(0xee);

export const morePartsThanABlock = scenario('who promises more parts than a block has is not waited for', {
  name: 'more-parts-than-a-block',
  cast: validators(4, { blockBytes: 16_000 }),
  liars: [liar('v2', tooManyParts, ['v0', 'v1', 'v3'], { fromHeight: 5, toHeight: 10 })],
  holds: loses('v2', 'proposal names 10 parts'),
  ends: everyone.decides(height(14), { within: '120s' }),
});

const committer: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: a commit of no block', (block) => withOwnSignature(block, kit));

/** v2 proposes the first block. */
export const nothingBeforeTheFirst = scenario('the first block holds no signatures of one before it', {
  name: 'nothing-before-the-first',
  cast: validators(4),
  liars: [liar('v2', committer, ['v0', 'v1', 'v3'], { toHeight: 1 })],
  ends: everyone.decides(height(11), { within: '120s' }),
});

const stranger: CommitSig = {
  flag: FLAG_ABSENT,
  validatorAddress: EMPTY_BYTES,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY_BYTES,
};

const lengthener: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: a place too many in a commit', (block) => {
    const { lastCommit } = block;
    if (!lastCommit) return null;
    return withCommit(block, { ...lastCommit, signatures: [...lastCommit.signatures, stranger] });
  });

/** It adds no power and takes none away: the commit would prove the block as well as before. */
export const placeTooMany = scenario('a commit has no place for who is no validator', {
  name: 'place-too-many',
  cast: validators(4),
  liars: [liar('v2', lengthener, ['v0', 'v1', 'v3'], { fromHeight: 5, toHeight: 10 })],
  ends: everyone.decides(height(14), { within: '120s' }),
});

const halver: Liar = (kit) => aboutOwnBlocks(kit, 'lie: a block in halves', inHalves);

export const blocksInHalves = scenario('a true block that is cut otherwise is another one, and refused', {
  name: 'blocks-in-halves',
  cast: validators(4),
  liars: [liar('v2', halver, ['v0', 'v1', 'v3'], { fromHeight: 5, toHeight: 10 })],
  holds: loses('v2', 'in all parts but the last'),
  ends: everyone.decides(height(14), { within: '120s' }),
});

/** v4 is away, and nobody needs it; every fourth block is v2's. */
export const wordsOfTheAbsent = scenario('who is absent in a commit says nothing in it', {
  name: 'words-of-the-absent',
  cast: powers(10, 10, 10, 10, 1),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'absence-filler', ['v0', 'v1', 'v3'])],
  act: [at('0s', crash('v4'))],
  ends: these('v0', 'v1', 'v3').decides(height(18), { within: '400s' }),
});

/** v0 alone is told them: the others decide the true block meanwhile, of which some have the parts, under another name. */
export const invalidBlocksForOne = scenario('who alone is told invalid blocks goes on with the others', {
  name: 'invalid-blocks-for-one',
  cast: validators(4, { blockBytes: 16_000 }),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'invalid-proposer', ['v0'])],
  ends: everyone.decides(height(108), { within: '2200s' }),
});

/** Against others and against itself, in its blocks and beside its votes; it is dropped for it, and comes back. What was proved is not forgotten. */
export const falseEvidence = scenario(
  'evidence that proves nothing punishes nobody, and what it proves is proved once',
  {
    name: 'false-evidence',
    cast: validators(4, { blockBytes: 16_000 }),
    app: 'noop',
    liars: [liar('v2', 'false-accuser', ['v0', 'v1', 'v3'])],
    act: (['v0', 'v1', 'v3'] as const).map((name, i) =>
      when(v0.decides(height(24 + 3 * i)), crash(name, { how: 'clean', restart: '1s' })),
    ),
    holds: loses(
      'v2',
      'is not signed by the validator',
      "the evidence's time",
      'validator power of the evidence',
      'total power of the evidence',
      'height, round or type of the two votes',
      'must differ and stand in the order',
      'does not stand at index',
      'carries an extension',
    ),
    ends: everyone.decides(height(90), { within: '900s' }),
  },
);

/**
 * v0 hears of no block at height 10 and precommits nil. v3 tells it nil, too, and the others the block, which they decide with that vote: v0
 * has one of its votes, and needs the other.
 */
export const bothVotesOfALiar = scenario('who was lied to is given the vote that decided', {
  name: 'both-votes-of-a-liar',
  cast: validators(4),
  liars: [liar('v3', 'vote-equivocator', ['v0'], { votes: 'precommits', fromHeight: 10, toHeight: 10 })],
  act: [
    at(
      '0s',
      drop('proposals', { ...tenth, to: ['v0'] }),
      drop('parts', { ...tenth, to: ['v0'] }),
      delay('precommits', '6s', { ...tenth, by: ['v1', 'v2'] }),
    ),
    when(v2.decides(height(10)), heal()),
    when(v0.decides(height(10))),
  ],
  holds: [sometime(v0.precommits(nil, { ...tenth, round: 0 }))],
  ends: everyone.decides(height(14), { within: '120s' }),
});

/** v3, a third exactly, casts both votes in rounds that nobody has reached: that is one voice in each, and it takes more than a third. */
export const oneVoice = scenario('who speaks twice in a later round is one voice there', {
  name: 'one-voice',
  cast: powers(2, 2, 2, 3),
  liars: [liar('v3', 'future-spammer', ['v0', 'v1', 'v2'])],
  ends: everyone.decides(height(10), { within: '120s' }),
});
