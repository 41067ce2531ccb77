// Who missed something, or lost it, gets what it needs; and who leaves something out is found out.

import { DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import { commitHash } from '../protocol/hashes.ts';
import { FLAG_ABSENT, FLAG_COMMIT, ZERO_TIME_NS } from '../protocol/types.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  after,
  anyone,
  application,
  at,
  core,
  crash,
  cut,
  delay,
  drop,
  everyone,
  heal,
  height,
  isolate,
  liar,
  links,
  never,
  powers,
  removeLog,
  reset,
  restart,
  scenario,
  sometime,
  submit,
  these,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const fifth = { height: 5 };

/**
 * v1 to v3 lock in round 1, from which v6 is away; v4 and v5 die as round 2 begins. Without v6 there are four of seven, and v6 goes from
 * round 0 to the one in which the block is proposed again: it needs a polka of a round that it never was in.
 */
export const polkaOfASkippedRound = scenario('who was away in the round of a polka is given it', {
  name: 'polka-of-a-skipped-round',
  cast: validators(7),
  load: txs({ perSecond: 2 }),
  act: [
    when(
      v0.decides(height(4)),
      isolate('v6'),
      drop('proposals', { ...fifth, round: 0 }),
      drop('parts', { ...fifth, round: 0 }),
      drop('parts', { ...fifth, round: 1, to: ['v0'] }),
      drop('prevotes', { ...fifth, round: 1, by: ['v1'], to: ['v4', 'v5'] }),
    ),
    when(v1.enters('propose', { ...fifth, round: 2 }), crash('v4'), crash('v5')),
    after('500ms', heal(), core('v0', 'v1', 'v2', 'v3', 'v6')),
  ],
  ends: these('v0', 'v1', 'v2', 'v3', 'v6').decides(height(10), { within: '300s' }),
});

const sixth = { height: 6, round: 0 };
/** v3 has nothing of the block, and of what is proposed in round 1 nobody hears. */
const NO_BLOCK_FOR_V3 = [
  drop('proposals', { ...sixth, to: ['v3'] }),
  drop('parts', { height: 6, to: ['v3'] }),
  drop('proposals', { height: 6, round: 1 }),
];

/** v0, v1 and v2 lock a block, and each misses a precommit of another; v3 has that of v2 from v2 alone. */
const LOCKED_APART = [
  drop('precommits', { ...sixth, by: ['v0'], to: ['v2'] }),
  drop('precommits', { ...sixth, by: ['v1'], to: ['v0'] }),
  drop('precommits', { ...sixth, by: ['v2'], to: ['v1'] }),
  drop('precommits', { ...sixth, by: ['v2'], from: ['v0', 'v1'], to: ['v3'] }),
];
const LAST_FOR_V3 = { ...sixth, by: ['v2'], from: ['v2'], to: ['v3'] } as const;
/** Rounds long enough for what comes late. */
const PATIENT = { consensus: { ...DEFAULT_CONSENSUS, timeoutProposeDeltaNs: 7_000_000_000n } };

/**
 * v0, v1 and v2 lock a block, and each misses one of their precommits. v3 misses the last of them until round 1 has begun: it knows then what is
 * decided, they have what that is, and nobody else tells them.
 */
export const decidedInARoundBefore = scenario(
  'who knows what an earlier round decided tells those who left it',
  {
    name: 'decided-in-a-round-before',
    cast: validators(4),
    settings: PATIENT,
    act: [
      at('0s', ...NO_BLOCK_FOR_V3, ...LOCKED_APART, delay('precommits', '7s', LAST_FOR_V3)),
      when(
        v3.enters('commit', { height: 6, round: 1 }),
        heal(),
        ...NO_BLOCK_FOR_V3,
        drop('precommits', { ...sixth, from: ['v0', 'v1'] }),
        drop('precommits', { ...sixth, to: ['v2'] }),
      ),
      when(v0.decides(height(6)), heal()),
    ],
    holds: [never(anyone.enters('propose', { height: 6, round: 2 }))],
    ends: everyone.decides(height(9), { within: '120s' }),
  },
);

/** The same, and v3 hears it in round 2. */
export const decidedTwoRoundsBefore = scenario('what was decided two rounds ago is decided', {
  name: 'decided-two-rounds-before',
  cast: validators(4),
  settings: PATIENT,
  act: [
    at(
      '0s',
      ...NO_BLOCK_FOR_V3,
      drop('proposals', { height: 6, round: 2 }),
      ...LOCKED_APART,
      delay('precommits', '20s', LAST_FOR_V3),
    ),
    when(v3.enters('commit', { height: 6, round: 2 }), heal()),
  ],
  holds: [never(anyone.enters('propose', { height: 6, round: 3 }))],
  ends: everyone.decides(height(9), { within: '120s' }),
});

/** v2, which proposes round 0, is gone, and all others are needed. v3 does not hear that round 0 is over; of round 1 it hears v1's proposal and v0's prevote. */
export const proposalIsAVoice = scenario('who proposes has spoken in its round', {
  name: 'proposal-is-a-voice',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('precommits', { ...fifth, round: 0, to: ['v3'] }),
      delay('prevotes', '1500ms', { ...fifth, round: 1, by: ['v1'], to: ['v3'] }),
    ),
    when(v0.decides(height(4)), crash('v2')),
    when(v3.decides(height(5)), heal(), restart('v2')),
  ],
  holds: [sometime(v1.proposes({}, { ...fifth, round: 1 }))],
  ends: everyone.decides(height(8), { within: '120s', afterwards: 2 }),
});

/**
 * v2, which proposes round 0, is gone, and all others are needed. v3 does not hear that round 0 is over, nor anything of round 1, in which v0 and v1
 * wait for it for many seconds: then it hears what they offer again and again.
 */
export const roundsBehind = scenario('who is a round behind is offered what is said in the next', {
  name: 'rounds-behind',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('precommits', { ...fifth, round: 0, to: ['v3'] }),
      drop('proposals', { ...fifth, round: 1, to: ['v3'] }),
      drop('prevotes', { ...fifth, round: 1, to: ['v3'] }),
    ),
    when(v0.decides(height(4)), crash('v2')),
    when(v1.prevotes({}, { ...fifth, round: 1 })),
    after('12s', heal()),
    when(v3.decides(height(5)), restart('v2')),
  ],
  holds: [sometime(v3.enters('propose', { ...fifth, round: 1 }))],
  ends: everyone.decides(height(8), { within: '120s', afterwards: 2 }),
});

/** v1 and v2 come back six heights behind, and v1 hears nothing of v0 at first: v2, which is no further, is one of two that it waits for. */
export const halfIsNotMost = scenario('who comes back waits for word of more than half of its peers', {
  name: 'half-is-not-most',
  cast: powers(30, 1, 1),
  load: txs({ perSecond: 2 }),
  act: [
    when(v1.decides(height(5)), crash('v1'), crash('v2')),
    when(v0.decides(height(12)), restart('v2'), cut(['v0'], ['v1'])),
    after('200ms', restart('v1')),
    after('3s', heal()),
  ],
  ends: everyone.decides(height(20), { within: '120s' }),
});

/** All three are needed. v2 decides when the others have begun the next height, and as it begins that, all that they said of it is there. */
export const aMomentBehind = scenario('who is a moment behind keeps what is said of the next height', {
  name: 'a-moment-behind',
  cast: validators(3),
  settings: { consensus: { timeoutCommitNs: 100_000_000n } },
  load: txs({ perSecond: 3 }),
  act: [at('1s', delay('precommits', '400ms', { to: ['v2'] }))],
  ends: everyone.decides(height(14), { within: '60s', afterwards: 1 }),
});

/** Without transactions nobody begins a height; v2 hears of none, and without v3 it is needed. */
export const joinsWithoutTransaction = scenario(
  'who has no transaction joins a round that others have begun',
  {
    name: 'joins-without-transaction',
    cast: validators(4),
    settings: { consensus: { createEmptyBlocks: false } },
    act: [
      at('0s', drop('transactions', { to: ['v2'] })),
      after('5s', isolate('v3')),
      ...[1, 2, 3, 4, 5, 6].map((i) => after('5s', submit('v0', `k${i}=v`))),
    ],
    ends: these('v0', 'v1', 'v2').decides(height(10), { within: '120s' }),
  },
);

export const slowGossip = scenario('what is lost is offered again where gossip is slower than offers', {
  name: 'slow-gossip',
  cast: validators(4),
  load: txs({ perSecond: 1 }),
  settings: { consensus: { gossipNs: 1_500_000_000n, reofferNs: 1_000_000_000n } },
  act: [at('0s', links({ lossPpm: 150_000 }))],
  ends: everyone.decides(height(12), { within: '400s' }),
});

/** Its log is gone, with its own proposal in it; its signer remembers. */
export const proposalOutlivesLog = scenario('who proposed and lost its log does not propose another block', {
  name: 'proposal-outlives-log',
  cast: validators(4),
  load: txs({ perSecond: 10 }),
  act: [
    when(v0.proposes({}, { height: 7, round: 0 }), crash('v0'), removeLog('v0')),
    after('300ms', restart('v0')),
  ],
  ends: everyone.decides(height(11), { within: '120s' }),
});

/**
 * Both liars claim a thousand heights more than there are, and each loses its connection before it can be found out in one. Nobody who only
 * waits for so long gives up in the time of the play.
 */
export const liarsComeAgain = scenario(
  'who claims blocks it has not is found out, however often it comes anew',
  {
    name: 'liars-come-again',
    cast: validators(4, { fullNodes: 2 }),
    load: txs({ perSecond: 3 }),
    liars: [liar('f0', 'sync-liar', ['v3']), liar('f1', 'sync-liar', ['v3'])],
    settings: { sync: { stallNs: 600_000_000_000n } },
    act: [
      when(v0.decides(height(2)), crash('v3')),
      when(v0.decides(height(20)), restart('v3')),
      ...[1, 2, 3, 4].flatMap(() => [after('6s', reset('v3', 'f0')), after('6s', reset('v3', 'f1'))]),
    ],
    holds: [never(v0.decides(height(46)), { while: v3.isSyncing })],
    ends: everyone.decides(height(40), { within: '150s', afterwards: 2 }),
  },
);

/** Nobody is asked twice how far it is, so liars are not found out by that; and each block of the chain is one more that v3 fetches. */
export const keepsPace = scenario(
  'who only keeps pace with the chain stops fetching blocks, and takes part',
  {
    name: 'keeps-pace',
    cast: validators(4, { fullNodes: 2 }),
    load: txs({ perSecond: 3 }),
    liars: [liar('f0', 'sync-liar', ['v3']), liar('f1', 'sync-liar', ['v3'])],
    settings: { sync: { statusNs: 600_000_000_000n } },
    act: [
      when(v0.decides(height(2)), crash('v3')),
      when(v0.decides(height(20)), restart('v3')),
      when(v3.joins()),
    ],
    ends: everyone.decides(height(40), { within: '150s', afterwards: 2 }),
  },
);

const NEEDED = 4;

/** Of six equal ones: of its last commit it leaves all signatures out but four, and dates the block by those. */
const shortening: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: a commit of two thirds', ({ lastCommit, ...block }) => {
    const whole = lastCommit?.signatures.every(({ flag }) => flag === FLAG_COMMIT) ? lastCommit : null;
    if (!whole) return null;
    const signatures = whole.signatures.map((each, i) =>
      i < NEEDED ? each : { ...each, ...NOTHING, flag: FLAG_ABSENT },
    );
    const times = whole.signatures.slice(0, NEEDED).map(({ timeNs }) => timeNs);
    const [, timeNs = ZERO_TIME_NS] = times.sort((a, b) => (a < b ? -1 : 1));
    const commit = { ...whole, signatures };
    const header = { ...block.header, timeNs, lastCommitHash: commitHash(commit) };
    return { block: { ...block, header, lastCommit: commit } };
  });

const NOTHING = { validatorAddress: new Uint8Array(0), timeNs: ZERO_TIME_NS, signature: new Uint8Array(0) };

export const shortCommit = scenario('a commit of exactly two thirds is none', {
  name: 'short-commit',
  cast: validators(6),
  liars: [liar('v5', shortening, ['v0', 'v1', 'v2', 'v3', 'v4'])],
  load: txs({ perSecond: 2 }),
  ends: these('v0', 'v1', 'v2', 'v3', 'v4').decides(height(14), { within: '200s' }),
});

/** v3 has no block of those that it missed when its connections end. */
export const behindAndReset = scenario('who comes back and is behind is offered no transaction', {
  name: 'behind-and-reset',
  cast: validators(4),
  load: txs({ perSecond: 5 }),
  act: [
    when(v0.decides(height(3)), isolate('v3')),
    when(v0.decides(height(8)), heal(), drop('parts', { to: ['v3'] })),
    after('8s', reset('v0', 'v3'), reset('v1', 'v3'), reset('v2', 'v3')),
    after('14s', heal()),
    when(v3.decides(height(10))),
  ],
  ends: everyone.decides(height(22), { within: '240s', afterwards: 2 }),
});

/** v2 lacks the block of height 5, and v0 heard of v3 first that it is for nil; v1, which knows better, dies, and v3 is gone. */
export const oneBehindAndALiar = scenario('who is one behind is given the vote of a liar that decided', {
  name: 'one-behind-and-a-liar',
  cast: powers(6, 1, 3, 3),
  liars: [liar('v3', 'vote-equivocator', ['v0'], { votes: 'precommits', fromHeight: 5, toHeight: 5 })],
  act: [
    at(
      '0s',
      ...(['proposals', 'parts', 'precommits'] as const).map((what) => drop(what, { height: 5, to: ['v2'] })),
    ),
    when(v0.decides(height(5)), heal(), crash('v1'), isolate('v3', 'for-ever')),
  ],
  ends: these('v0', 'v2').decides(height(8), { within: '120s' }),
});

/** v0 has a vote of v3 for nil and says so; it is cut off until the others, who needed v3 to decide, are further. */
export const farBehindAndALiar = scenario(
  'who is some heights behind is given the vote of a liar that decided',
  {
    name: 'far-behind-and-a-liar',
    cast: powers(3, 3, 3, 3),
    liars: [liar('v3', 'vote-equivocator', ['v0'], { votes: 'precommits', fromHeight: 5, toHeight: 5 })],
    act: [
      at(
        '0s',
        drop('prevotes', { height: 5, to: ['v0'] }),
        drop('precommits', { height: 5, from: ['v1', 'v2'], to: ['v0'] }),
        delay('precommits', '1500ms', { height: 5, by: ['v1'], to: ['v2', 'v3'] }),
        delay('precommits', '1500ms', { height: 5, by: ['v2'], to: ['v1', 'v3'] }),
      ),
      when(v1.decides(height(5)), drop('everything', { to: ['v0'] }), drop('everything', { from: ['v0'] })),
      when(v1.decides(height(6)), heal(), isolate('v3', 'for-ever')),
    ],
    ends: these('v0', 'v1', 'v2').decides(height(13), { within: '120s' }),
  },
);

/** Served one after the other, as soon as it says that it begins each, forty heights take v3 a few seconds. */
export const noPauseBetweenHeights = scenario(
  'who is far behind is given height after height without a pause',
  {
    name: 'no-pause-between-heights',
    cast: validators(4),
    act: [
      when(v0.decides(height(3)), isolate('v3')),
      when(v0.decides(height(43)), heal()),
      when(v3.decides(height(43))),
    ],
    ends: everyone.decides(height(50), { within: '105s' }),
  },
);

/** v3 hears v0 alone. What v0 answers first comes after a later and higher word, while v3's slow application is still at the blocks between. */
export const olderReport = scenario('who says less right behind more has said it before', {
  name: 'older-report',
  cast: validators(4),
  load: txs({ perSecond: 1 }),
  act: [
    at('0s', cut(['v3'], ['v1', 'v2'], 'for-ever'), cut(['v1', 'v2'], ['v3'], 'for-ever')),
    when(v0.decides(height(3)), crash('v3')),
    when(
      v0.decides(height(25)),
      application('v3', { blocks: '400ms' }),
      delay('block-sync', '12s', { from: ['v0'], to: ['v3'] }),
      restart('v3'),
    ),
    after('2s', heal()),
    when(v3.joins(), application('v3', {})),
  ],
  ends: everyone.decides(height(60), { within: '135s', afterwards: 1 }),
});
