// Who fetches block by block what it lacks: of whom, how much at once, and whatever a peer claims.

import { DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import { CHANNEL_BLOCKSYNC } from '../protocol/messages.ts';
import { NS_PER_MS } from '../protocol/time.ts';
import { encodeBlocksyncMessage } from '../protocol/wire/index.ts';
import { MILLISECOND } from '../sim/latency.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnVotes } from '../sim/liars/own-votes.ts';
import {
  after,
  anyone,
  application,
  at,
  calm,
  crash,
  cut,
  drop,
  everyone,
  heal,
  height,
  isolate,
  liar,
  links,
  never,
  pause,
  powers,
  reset,
  restart,
  scenario,
  sometime,
  these,
  txs,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const SLOW = { kind: 'uniform', minNs: 1_250 * MILLISECOND, maxNs: 2_500 * MILLISECOND } as const;
const NEAR = { kind: 'uniform', minNs: MILLISECOND, maxNs: 5 * MILLISECOND } as const;
const IN_ORDER = { kind: 'uniform', minNs: 500 * MILLISECOND, maxNs: 500 * MILLISECOND } as const;
const FAR = { kind: 'uniform', minNs: 900 * MILLISECOND, maxNs: 1_000 * MILLISECOND } as const;
const LONG_WAY = { kind: 'uniform', minNs: 700 * MILLISECOND, maxNs: 750 * MILLISECOND } as const;

/**
 * f0 claims a thousand heights more than there are, and never admits that it lacks a block. While the others
 * go on without v3 there is one more block to fetch, until f0 is found out; when they need it, it gives up waiting.
 */
export const lyingSyncPeer = scenario('a node far behind joins when it is needed, whatever a peer claims', {
  name: 'lying-sync-peer',
  cast: validators(4, { fullNodes: 1 }),
  load: txs({ perSecond: 3 }),
  liars: [liar('f0', 'sync-liar', ['v3'])],
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(v0.decides(height(30)), restart('v3')),
    when(v3.decides(height(32)), crash('v2')),
    when(v3.precommits(), restart('v2')),
  ],
  holds: [sometime(anyone.drops('f0', 'blocks asked for do not come'))],
  ends: everyone.decides(height(36), { within: '400s', afterwards: 2 }),
});

/** Without v2, which has a third, the chain stands: there is nothing to fetch, though f0 alone tells it what it has, a thousand heights too many. */
export const thirdIsNeeded = scenario(
  'who has exactly a third does not wait for blocks, for nothing goes on without it',
  {
    name: 'third-is-needed',
    cast: validators(3, { fullNodes: 1 }),
    liars: [liar('f0', 'sync-liar', ['v2'])],
    act: [
      when(
        v0.decides(height(5)),
        drop('block-sync', { from: ['v0', 'v1'], to: ['v2'] }),
        crash('v2', { restart: '5s' }),
      ),
      when(v2.starts()),
    ],
    ends: these('v0', 'v1', 'v2').decides(height(12), { within: '40s' }),
  },
);

/** Each answer takes seconds, so the next block is asked of a second peer, too; half a minute goes by until v3 has them all. */
export const slowSync = scenario('who is slow to answer and answers everything stays a peer', {
  name: 'slow-sync',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  settings: {
    consensus: {
      ...DEFAULT_CONSENSUS,
      timeoutCommitNs: 100n * NS_PER_MS,
      timeoutProposeNs: 300n * NS_PER_MS,
    },
  },
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(
      v0.decides(height(200)),
      links({ latency: SLOW }, { from: ['v0', 'v1', 'v2'], to: ['v3'] }),
      restart('v3'),
    ),
    when(v3.joins(), calm()),
  ],
  ends: everyone.decides(height(230), { within: '600s', afterwards: 1 }),
});

/** Two blocks on their way at once, or three, would be no more than v0 makes meanwhile. */
export const longLine = scenario('over a long line many blocks are on their way at once', {
  name: 'long-line',
  cast: powers(10, 1),
  settings: { consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 200n * NS_PER_MS } },
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(v0.decides(height(60)), links({ latency: LONG_WAY }, { from: ['v0'], to: ['v1'] }), restart('v1')),
    when(v1.joins(), calm()),
  ],
  holds: [never(v0.decides(height(90)), { while: v1.isSyncing })],
  ends: everyone.decides(height(95), { within: '240s', afterwards: 2 }),
});

/**
 * Three times what v0 answers is lost just before v1 asks how far it is, so that its report overtakes blocks that it owes; each report in between
 * clears it. On links where nothing else overtakes anything.
 */
export const lossNowAndThen = scenario('who owes a lost block now and then is asked for more', {
  name: 'loss-now-and-then',
  cast: powers(10, 1),
  settings: {
    consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 200n * NS_PER_MS },
    sync: { statusNs: 3_000n * NS_PER_MS, retryNs: 2_000n * NS_PER_MS, requestsPerPeerMax: 5 },
  },
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(v0.decides(height(70)), links({ latency: IN_ORDER }), restart('v1')),
    after('4900ms', drop('block-sync', { from: ['v0'], to: ['v1'] })),
    after('800ms', heal()),
    after('5200ms', drop('block-sync', { from: ['v0'], to: ['v1'] })),
    after('800ms', heal()),
    after('5200ms', drop('block-sync', { from: ['v0'], to: ['v1'] })),
    after('800ms', heal()),
    when(v1.joins(), calm()),
  ],
  holds: [never(v0.decides(height(180)), { while: v1.isSyncing })],
  ends: everyone.decides(height(185), { within: '240s', afterwards: 2 }),
});

/** v2 falls silent, and a moment later its line breaks. Till then nobody else was asked for what it owed. */
export const owedByWhoWent = scenario('what a peer owed that went is asked of another one, at once', {
  name: 'owed-by-who-went',
  cast: powers(10, 1, 1),
  settings: {
    consensus: {
      ...DEFAULT_CONSENSUS,
      timeoutCommitNs: 200n * NS_PER_MS,
      timeoutProposeNs: 500n * NS_PER_MS,
    },
    sync: { waitNs: 1_000n * NS_PER_MS, secondSourceAfterNs: 5_000n * NS_PER_MS, requestsPerPeerMax: 5 },
  },
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(
      v0.decides(height(60)),
      links({ latency: LONG_WAY }, { from: ['v0', 'v2'], to: ['v1'] }),
      restart('v1'),
    ),
    after('3s', drop('block-sync', { from: ['v2'], to: ['v1'] })),
    after('3s', reset('v1', 'v2')),
    when(v1.joins(), heal(), calm()),
  ],
  ends: everyone.decides(height(90), { within: '240s', afterwards: 2 }),
});

/** v1 has little power and is away for a hundred and fifty blocks; there is nobody else to ask. */
export const longWayBack = scenario('one peer gives a whole chain to who asks for it', {
  name: 'long-way-back',
  cast: powers(10, 1),
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(v0.decides(height(150)), restart('v1')),
    when(v1.joins()),
  ],
  ends: everyone.decides(height(156), { within: '600s', afterwards: 2 }),
});

/** The room that f0 and f1, who have nothing, leave in the window of v1 is not filled with more questions to v0 than it answers at once. */
export const oneHasAll = scenario('of one who has all no more is asked at once than it answers', {
  name: 'one-has-all',
  cast: { ...powers(10, 1), fullNodes: 2 },
  settings: { consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 100n * NS_PER_MS } },
  act: [
    at(
      '0s',
      drop('block-sync', { from: ['v0', 'v1'], to: ['f0', 'f1'] }),
      drop('parts', { to: ['f0', 'f1'] }),
    ),
    when(v0.decides(height(2)), crash('v1')),
    when(v0.decides(height(120)), restart('v1')),
    when(v1.joins()),
  ],
  ends: these('v0', 'v1').decides(height(126), { within: '300s', afterwards: 2 }),
});

/** What v3 may hold of blocks at once is a tenth of what it lacks, and block by block the way would be long. */
export const smallBuffer = scenario('who may hold few blocks at once catches up with many', {
  name: 'small-buffer',
  cast: validators(4),
  load: txs({ perBlock: 2, size: 400 }),
  settings: { sync: { bufferBytesMax: 8_000, requestsPerPeerMax: 8 } },
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(
      v0.decides(height(32)),
      links({ latency: LONG_WAY }, { from: ['v0', 'v1', 'v2'], to: ['v3'] }),
      restart('v3'),
    ),
    when(v3.joins(), calm()),
  ],
  holds: [never(v0.decides(height(40)), { while: v3.isSyncing })],
  ends: everyone.decides(height(50), { within: '240s' }),
});

/** A block leaves with the commit in the next one: of two there is one too many always. */
export const noRoomForABlock = scenario('who may not hold one block at once fetches two', {
  name: 'no-room-for-a-block',
  cast: validators(4),
  load: txs({ perBlock: 2, size: 400 }),
  settings: { sync: { bufferBytesMax: 200, requestsPerPeerMax: 8 } },
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(v0.decides(height(32)), restart('v3')),
    when(v3.joins()),
  ],
  holds: [never(v0.decides(height(40)), { while: v3.isSyncing })],
  ends: everyone.decides(height(50), { within: '240s' }),
});

/** v3 reaches v0 alone, and of what v0 gives it in block sync the first second is lost. */
export const lostRequests = scenario('what one peer alone has, and was lost, is asked of it again', {
  name: 'lost-requests',
  cast: validators(4),
  settings: { sync: { requestsPerPeerMax: 1 } },
  act: [
    at('0s', cut(['v3'], ['v1', 'v2'], 'for-ever'), cut(['v1', 'v2'], ['v3'], 'for-ever')),
    when(v0.decides(height(3)), crash('v3')),
    when(v0.decides(height(20)), restart('v3')),
    when(v3.decides(height(8)), drop('block-sync', { from: ['v0'], to: ['v3'] })),
    after('1s', heal()),
    when(v3.joins()),
  ],
  holds: [never(v0.decides(height(28)), { while: v3.isSyncing })],
  ends: everyone.decides(height(40), { within: '240s' }),
});

/** For a quarter of a minute v0 always owes v1 blocks, and gives them one after the other: it is slow, and not quiet. */
export const narrowLine = scenario('who gives blocks all the time is not quiet', {
  name: 'narrow-line',
  cast: powers(10, 1),
  settings: { sync: { peerTimeoutNs: 4_000n * NS_PER_MS } },
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(
      v0.decides(height(150)),
      links({ latency: NEAR, bytesPerSecond: 6_000 }, { from: ['v0'], to: ['v1'] }),
      restart('v1'),
    ),
    when(v1.joins(), calm()),
  ],
  holds: [never(v1.drops('v0'))],
  ends: everyone.decides(height(156), { within: '600s', afterwards: 2 }),
});

/**
 * v1 gains on v0 all the time, and has far to go: for longer than it would wait without a gain, and with more questions of how far v0 is than one who is
 * mute may leave open.
 */
export const longAndSteady = scenario('who gains on the chain goes on fetching, of who answers', {
  name: 'long-and-steady',
  cast: powers(10, 1),
  settings: {
    consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 2_000n * NS_PER_MS },
    sync: { statusNs: 2_000n * NS_PER_MS, peerTimeoutNs: 4_000n * NS_PER_MS, stallNs: 6_000n * NS_PER_MS },
  },
  act: [
    when(v0.decides(height(2)), crash('v1')),
    when(
      v0.decides(height(150)),
      links({ latency: NEAR, bytesPerSecond: 6_000 }, { from: ['v0'], to: ['v1'] }),
      restart('v1'),
    ),
    when(v1.decides(height(145)), calm()),
    when(v1.joins()),
  ],
  holds: [never(v1.drops('v0'))],
  ends: everyone.decides(height(160), { within: '500s', afterwards: 2 }),
});

/** v3 asks one at a time, and executes for nine seconds: each peer has been asked for nothing for a quarter of a minute when it is asked again. */
export const askedAfterAPause = scenario('who was asked for nothing was not quiet meanwhile', {
  name: 'asked-after-a-pause',
  cast: validators(4),
  settings: { sync: { requestsPerPeerMax: 1 } },
  act: [
    when(v0.decides(height(2)), crash('v3')),
    when(
      v0.decides(height(12)),
      links({ latency: LONG_WAY }, { from: ['v0', 'v1', 'v2'], to: ['v3'] }),
      application('v3', { blocks: '9s' }),
      restart('v3'),
    ),
    when(v3.joins(), calm(), application('v3', {})),
  ],
  ends: everyone.decides(height(25), { within: '400s', afterwards: 2 }),
});

/** v2 knows of v1 that it stood at height 8, and of v0 that it is further: until it executes block 7. */
export const claimGoesMeanwhile = scenario('who claims most may go while a block is executed', {
  name: 'claim-goes-meanwhile',
  cast: powers(10, 1, 1),
  settings: { sync: { statusNs: 600_000n * NS_PER_MS } },
  act: [
    when(v0.decides(height(2)), crash('v2')),
    when(
      v1.decides(height(8)),
      cut(['v0'], ['v1', 'v2']),
      application('v2', { blocks: '1s' }),
      restart('v2'),
    ),
    when(v2.decides(height(3)), heal(), cut(['v0'], ['v1'])),
    when(v2.decides(height(6)), cut(['v0'], ['v2']), reset('v0', 'v2')),
    when(v2.joins(), application('v2', {}), heal()),
  ],
  ends: everyone.decides(height(50), { within: '240s', afterwards: 2 }),
});

const QUESTIONS = 4_000;
const asksWithoutEnd: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: questions without end', (vote, payload) => {
    const ask = (height: bigint) => encodeBlocksyncMessage({ type: 'block-request', height });
    const asked = Array.from({ length: QUESTIONS }, (_, i) => ask(1n + (BigInt(i) % vote.height)));
    return [payload, ...asked.map((bytes) => ({ channel: CHANNEL_BLOCKSYNC, bytes }))];
  });

export const questionsWithoutEnd = scenario('who asks for blocks without end is not read for without end', {
  name: 'questions-without-end',
  cast: validators(4),
  liars: [liar('v3', asksWithoutEnd, ['v0', 'v1', 'v2'], { fromHeight: 5, toHeight: 7 })],
  ends: everyone.decides(height(12), { within: '120s' }),
});

/** v0 freezes with the questions of v1 before it, and wakes when v1 has died and come back: the answers would be for who is gone. */
export const askedByWhoDied = scenario('who comes back is not given what it asked for in another life', {
  name: 'asked-by-who-died',
  cast: powers(10, 1),
  act: [
    when(v0.decides(height(3)), crash('v1')),
    when(v0.decides(height(40)), restart('v1')),
    when(v1.decides(height(10)), pause('v0', '4s')),
    after('500ms', crash('v1', { restart: '500ms' })),
    when(v1.joins()),
  ],
  holds: [never(v1.drops('v0'))],
  ends: everyone.decides(height(46), { within: '600s' }),
});

/** v3 starts where nobody hears it, and is alone for more than a minute: whoever has a peer and gains nothing for so long joins without more ado. */
export const longAlone = scenario('who was alone for long fetches what it lacks when it meets others', {
  name: 'long-alone',
  cast: validators(4),
  settings: { consensus: { timeoutCommitNs: 2_000n * NS_PER_MS } },
  act: [
    when(v0.decides(height(2)), crash('v3')),
    after('1s', isolate('v3'), restart('v3')),
    after('75s', heal(), links({ latency: SLOW }, { from: ['v0', 'v1', 'v2'], to: ['v3'] })),
    when(v3.joins(), calm()),
  ],
  holds: [never(v3.enters('propose', { height: 10 }))],
  ends: everyone.decides(height(34), { within: '240s', afterwards: 2 }),
});

/** v3 fetches three blocks a second, is alone for a minute, and goes on: it gains on the chain, though it is further behind than it was. */
export const aloneInBetween = scenario('who was alone in the middle of block sync need not gain that again', {
  name: 'alone-in-between',
  cast: validators(4),
  settings: { sync: { statusNs: 1_000n * NS_PER_MS, requestsPerPeerMax: 1, stallNs: 10_000n * NS_PER_MS } },
  act: [
    when(v0.decides(height(3)), crash('v3')),
    when(v0.decides(height(60)), restart('v3'), links({ latency: FAR }, { to: ['v3'] })),
    when(v3.decides(height(12)), isolate('v3')),
    after('60s', heal()),
    when(v3.decides(height(100))),
    when(v3.joins(), calm()),
  ],
  ends: everyone.decides(height(190), { within: '400s', afterwards: 2 }),
});
