// Proposers that are down, and validators that say two things at once.

import { evidenceListHash } from '../protocol/hashes.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  after,
  anyone,
  at,
  block,
  crash,
  delay,
  drop,
  empower,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  liar,
  never,
  powers,
  restart,
  scenario,
  signer,
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
import { ChoosesEvidence } from './shared.ts';

export const proposerDown = scenario('a proposer is down: its rounds are lost, its heights are not', {
  name: 'proposer-down',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(v0.decides(height(9)), restart('v1')),
    when(v1.decides(height(9))),
  ],
  holds: [sometime(anyone.enters('propose', { round: 1 }))],
  ends: everyone.decides(height(14), { within: '240s' }),
});

/** One for a long time; of the other its peers learn when it is back. */
export const unnoticedDeaths = scenario('nobody sees that two machines lost their power: the others go on', {
  name: 'unnoticed-deaths',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(2)), crash('v1', { unnoticed: true })),
    when(v0.decides(height(9)), restart('v1')),
    when(v1.decides(height(10)), crash('v3', { restart: '1s', unnoticed: true })),
  ],
  holds: [sometime(anyone.enters('propose', { round: 1 }))],
  ends: everyone.decides(height(14), { within: '240s' }),
});

export const equivocatingProposer = scenario('a proposer shows one block to some and another to others', {
  name: 'equivocating-proposer',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  liars: [liar('v2', 'proposal-equivocator', ['v0'])],
  holds: [sometime(anyone.prevotes(block(1))), sometime(anyone.prevotes(block(2)))],
  ends: everyone.decides(height(12), { within: '240s' }),
});

export const equivocatorPunished = scenario('who signs two votes is named in a block and loses power', {
  name: 'equivocator-punished',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  liars: [liar('v3', 'double-voter', ['v0', 'v1', 'v2'], { votes: 'prevotes', fromHeight: 3, toHeight: 8 })],
  act: [when(everyone.punishes('v3'))],
  holds: [finally_(v3.isWeakerThan(10))],
  ends: everyone.decides(height(12), { within: '240s' }),
});

export const everyVoteTwice = scenario('who prevotes and precommits twice is named for both', {
  name: 'every-vote-twice',
  cast: powers(30, 30, 30, 20),
  load: txs({ perSecond: 3 }),
  liars: [liar('v3', 'double-voter', ['v0', 'v1', 'v2'], { fromHeight: 3, toHeight: 5 })],
  act: [when(everyone.punishes('v3'))],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/** In one height, and the same vote. */
export const bothPunished = scenario('two who vote twice in one height are both named', {
  name: 'both-punished',
  cast: validators(7),
  liars: (['v5', 'v6'] as const).map((name) =>
    liar(name, 'double-voter', ['v0', 'v1', 'v2', 'v3', 'v4'], {
      votes: 'prevotes',
      fromHeight: 6,
      toHeight: 6,
    }),
  ),
  holds: [sometime(v0.punishes('v5')), sometime(v0.punishes('v6'))],
  ends: these('v0', 'v1', 'v2', 'v3', 'v4').decides(height(14), { within: '60s' }),
});

/** Everything twice that its blocks hold against anybody. */
const repeatsEvidence: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: evidence twice', (block) => {
    if (block.evidence.length === 0) return null;
    const evidence = [...block.evidence, ...block.evidence];
    const header = { ...block.header, evidenceHash: evidenceListHash(evidence) };
    return { block: { ...block, evidence, header } };
  });

/**
 * With four equal validators v0 proposes round 0 of height 7, v3 that of height 8. There it accuses itself of what it said to v1 and v2 in height
 * 6. They have told it since, and v0 knows nothing.
 */
export const namedOnce = scenario('nobody is named twice for one crime in one block', {
  name: 'named-once',
  cast: validators(4),
  liars: [
    liar('v3', 'double-voter', ['v1', 'v2'], { votes: 'prevotes', fromHeight: 6, toHeight: 6 }),
    liar('v3', repeatsEvidence, ['v0', 'v1', 'v2'], { fromHeight: 8, toHeight: 8 }),
  ],
  act: [
    at('0s', drop('evidence', { to: ['v0'] }), drop('prevotes', { height: 6, by: ['v3'], to: ['v0'] })),
    when(v3.proposes({}, { height: 8 }), heal()),
  ],
  holds: [v0, v1, v2].map((each) => never(each.prevotes(block(1), { height: 8, round: 0 }))),
  ends: everyone.decides(height(12), { within: '120s' }),
});

/** v4 alone hears both votes, and proposes height 9 and then none for forty: it passes on what it makes of the votes, and not them. */
export const evidenceTravels = scenario('evidence that one node has is punished by another', {
  name: 'evidence-travels',
  cast: powers(30, 30, 30, 30, 3),
  liars: [liar('v3', 'double-voter', ['v4'], { votes: 'prevotes', fromHeight: 10, toHeight: 14 })],
  act: [at('0s', drop('prevotes', { by: ['v3'], from: ['v4'] })), when(everyone.punishes('v3'))],
  ends: everyone.decides(height(24), { within: '240s' }),
});

/** What v3 says to v0 comes when v0 has decided without it. Only there the two precommits meet. */
export const lateDoubleVote = scenario('who votes twice, and late, is named in a block', {
  name: 'late-double-vote',
  cast: validators(4),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'precommits', fromHeight: 3, toHeight: 6 })],
  act: [at('0s', delay('precommits', '400ms', { by: ['v3'], to: ['v0'] })), when(everyone.punishes('v3'))],
  ends: everyone.decides(height(20), { within: '240s' }),
});

/** As `evidence-travels`, and v4 starts again before it may pass on anything. Powers change with every height. */
export const evidenceOutlivesRestart = scenario('evidence that one node has outlives its restart', {
  name: 'evidence-outlives-restart',
  cast: powers(30, 30, 30, 30, 3),
  liars: [liar('v3', 'double-voter', ['v4'], { votes: 'prevotes', fromHeight: 10, toHeight: 11 })],
  act: [
    at('0s', drop('prevotes', { by: ['v3'], from: ['v4'] }), drop('evidence')),
    ...[6, 7, 8, 9, 10].map((each) => when(v0.decides(height(each)), empower('v1', 24 + each))),
    when(v4.decides(height(12)), crash('v4', { how: 'clean', restart: '1s' })),
    when(v4.joins(), heal()),
    when(everyone.punishes('v3')),
  ],
  ends: everyone.decides(height(24), { within: '240s' }),
});

/**
 * v0 alone has it, and proposes three heights later: by then it is too old in time, and in blocks it is not. (With four equal
 * validators v2, v1 and v0 propose the first rounds of heights 5, 6 and 7.)
 */
export const lateEvidence = scenario('evidence counts until it is too old in blocks and in time', {
  name: 'late-evidence',
  cast: validators(4, { evidence: { maxAgeMs: 1 } }),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 4 })],
  act: [at('0s', drop('evidence'))],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/** As `late-evidence`, and by then it is exactly as old in blocks as it may be. */
export const evidenceOnItsLastDay = scenario('evidence counts to the last block in which it may', {
  name: 'evidence-on-its-last-day',
  cast: validators(4, { evidence: { maxAgeBlocks: 2, maxAgeMs: 1 } }),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 4 })],
  act: [at('0s', drop('evidence'))],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/** v0 alone has it, and proposes when the application has let v3 go already. */
export const punishedWhenGone = scenario('who lied and left is named, and does not come back by that', {
  name: 'punished-when-gone',
  cast: validators(4),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 4 })],
  act: [
    at('0s', drop('evidence')),
    when(v0.decides(height(3)), empower('v3', 0)),
    when(everyone.punishes('v3')),
  ],
  holds: [finally_(v3.hasPower(0))],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/** v0 alone has it and does not propose before it is too old in both: then it lets go of it, and its blocks are good. */
export const evidenceTooOld = scenario('evidence that is too old leaves the pool', {
  name: 'evidence-too-old',
  cast: validators(4, { evidence: { maxAgeBlocks: 1, maxAgeMs: 100 } }),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 8 })],
  act: [at('0s', drop('evidence'))],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/** As `evidence-too-old`: the application says so at InitChain, and the genesis does not. */
export const tooOldForTheApplication = scenario('evidence grows old as the application says', {
  name: 'too-old-for-the-application',
  cast: validators(4),
  app: () => new ChoosesEvidence({ maxAgeBlocks: 1n, maxAgeNs: 100_000_000n, maxBytes: 10_000n }),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 8 })],
  act: [at('0s', drop('evidence'))],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/** v0 sees what v3 does at height 7, and hears later from v1 what it did at height 4. No block has room for either. */
export const olderAfterYounger = scenario('evidence leaves by its age, not as it came', {
  name: 'older-after-younger',
  cast: validators(4),
  app: () => new ChoosesEvidence({ maxAgeBlocks: 8n, maxAgeNs: 100_000_000n, maxBytes: 100n }),
  liars: [
    liar('v3', 'double-voter', ['v1'], { votes: 'prevotes', fromHeight: 4, toHeight: 4 }),
    liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 7, toHeight: 7 }),
  ],
  act: [at('0s', delay('evidence', '3500ms', { to: ['v0'] }))],
  ends: everyone.decides(height(20), { within: '120s' }),
});

/** One pair of votes a height: more than a node keeps of one voter at once. */
export const punishedAgainAndAgain = scenario('who was punished often is accused still', {
  name: 'punished-again-and-again',
  cast: powers(200, 200, 200, 190),
  liars: [liar('v3', 'double-voter', ['v0', 'v1', 'v2'], { fromHeight: 3, toHeight: 60 })],
  ends: everyone.decides(height(66), { within: '400s' }),
});

/** As `evidence-outlives-restart`, and who lies took the place of another with the same power some heights before; it is judged when more have passed. */
export const newcomerPunished = scenario('who lies soon after it took the place of another is punished', {
  name: 'newcomer-punished',
  cast: { ...powers(30, 30, 30, 30, 3), candidates: 1 },
  liars: [liar('c0', 'double-voter', ['v4'], { votes: 'prevotes', fromHeight: 14, toHeight: 14 })],
  act: [
    at('0s', drop('evidence')),
    when(v0.decides(height(9)), empower('c0', 30), empower('v3', 0)),
    when(v4.decides(height(18)), crash('v4', { how: 'clean', restart: '1s' })),
    when(v4.joins(), heal()),
    when(everyone.punishes('c0')),
  ],
  ends: everyone.decides(height(30), { within: '240s' }),
});

/** v0 is cut off as it votes at height 4, and has its evidence when it is back: for itself it is fresh then, and for the others too old. */
export const staleOffer = scenario(
  'who is behind offers what is too old for others, and is not blamed for it',
  {
    name: 'stale-offer',
    cast: validators(4, { evidence: { maxAgeBlocks: 1, maxAgeMs: 100 } }),
    liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 4 })],
    act: [
      at('0s', delay('precommits', '500ms', { height: 4 })),
      when(v0.precommits({}, { height: 4 }), isolate('v0')),
      when(v1.decides(height(8)), heal()),
      when(v0.decides(height(10))),
    ],
    ends: everyone.decides(height(12), { within: '240s', afterwards: 2 }),
  },
);

/** As `evidence-travels`, over lines that lose it for five seconds; heights take so long that it is offered again before it must be punished. */
export const lostEvidence = scenario('evidence that was lost on its way is offered again', {
  name: 'lost-evidence',
  cast: powers(30, 30, 30, 30, 3),
  liars: [liar('v3', 'double-voter', ['v4'], { votes: 'prevotes', fromHeight: 10, toHeight: 10 })],
  settings: { consensus: { timeoutCommitNs: 3_000_000_000n } },
  act: [
    at('0s', drop('prevotes', { by: ['v3'], from: ['v4'] }), drop('evidence')),
    when(v4.decides(height(10))),
    after('5s', heal()),
    when(everyone.punishes('v3')),
  ],
  ends: everyone.decides(height(18), { within: '240s' }),
});

/**
 * Where all precommits are waited for, and no longer: those of v6 come last, and those of v5 late. While v2 is away the whole time must pass.
 * Who dies in such a height, in a later round or soon after its beginning, comes back to it; whose key is slow has its own precommit last.
 */
export const allPrecommitsAreHere = scenario('a height begins when every precommit of the last one is here', {
  name: 'all-precommits-are-here',
  cast: validators(7),
  settings: { consensus: { skipTimeoutCommit: true } },
  load: txs({ perSecond: 3 }),
  act: [
    at('0s', delay('precommits', '300ms', { by: ['v6'] }), delay('precommits', '100ms', { by: ['v5'] })),
    when(v0.decides(height(6)), crash('v2', { restart: '6s' })),
    when(v0.decides(height(14)), heal(), drop('proposals', { height: 16, round: 0 })),
    when(v1.enters('prevote', { height: 16, round: 1 }), crash('v1', { restart: '1s' })),
    when(v3.precommits({}, { height: 20 }), crash('v3', { restart: '1s' })),
    when(v0.decides(height(22)), signer('v4', '300ms')),
  ],
  ends: everyone.decides(height(32), { within: '120s' }),
});
