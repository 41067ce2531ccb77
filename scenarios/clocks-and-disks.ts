// Machines that are worse than others: clocks far apart, a disk or a signer that is slow, a disk that is full.

import type { ValidatorState } from '../actors/validator/state.ts';
import { commitOf } from '../machines/chain/commits.ts';
import { commitHash } from '../protocol/hashes.ts';
import { isRefusal } from '../protocol/refusal.ts';
import { medianTime } from '../protocol/rules/median-time.ts';
import { NS_PER_MS } from '../protocol/time.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  after,
  anyone,
  at,
  block,
  clock,
  crash,
  delay,
  disk,
  drop,
  everyone,
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
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** From height 3 on: at the very first one, nodes may wait for each other. */
const noRoundIsLost = Array.from({ length: 14 }, (_, i) =>
  never(anyone.enters('propose', { height: 3 + i, round: 1 })),
);

/**
 * The median of the votes' times is a time that an honest clock shows; no block waits for the slowest clock,
 * and no validator refuses what the fastest one says.
 */
export const clockSkew = scenario(
  'clocks are 30 s apart, then one is set right: all goes on, block time too',
  {
    name: 'clock-skew',
    cast: validators(4, {
      clocks: { v0: { skewMs: 15_000 }, v1: { skewMs: -15_000 }, v2: { skewMs: 5_000, driftPpm: 500 } },
    }),
    load: txs({ perSecond: 3 }),
    act: [when(v0.decides(height(8)), clock('v1', { step: '15s' }))],
    holds: noRoundIsLost,
    ends: everyone.decides(height(16), { within: '60s' }),
  },
);

/** Everything that v3 says waits for its disk, up to 0.2 s each time; nobody's timeout is that short. */
export const slowDisk = scenario('the disk of one validator is slow, and no round is lost by it', {
  name: 'slow-disk',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [at('2s', disk('v3', 'slow'))],
  holds: noRoundIsLost,
  ends: everyone.decides(height(16), { within: '60s' }),
});

/**
 * Two signatures of v3 take longer than a height of the others does, so it has to leave some out. It does not lose its turn; and while the
 * others wait for its block, it still says its precommit of the one before.
 */
export const slowSigner = scenario(
  'a signer needs most of a height for a signature, and its node keeps its turn',
  {
    name: 'slow-signer',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [at('2s', signer('v3', '800ms'))],
    holds: [
      ...noRoundIsLost,
      sometime(v3.precommits(block(1), { height: 15 })),
      sometime(v3.proposes({}, { height: 16 })),
    ],
    ends: everyone.decides(height(18), { within: '120s' }),
  },
);

/** What v3 says is of the past already; the others do without it. When its key is as quick as others it is there again. */
export const signerTooSlow = scenario(
  'a signer that is slower than the chain is missed while it is, and no longer',
  {
    name: 'signer-too-slow',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [at('2s', signer('v3', '3s')), when(v0.decides(height(12)), signer('v3', '0s'))],
    holds: [never(v3.precommits({}, { height: 10 })), sometime(v3.precommits(block(1), { height: 16 }))],
    ends: everyone.decides(height(18), { within: '120s', afterwards: 4 }),
  },
);

/** A proposal comes after half the time that others wait for it. */
export const allSignersSlow = scenario('all keys are far away, and no round is lost by it', {
  name: 'all-signers-slow',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [at('0s', ...(['v0', 'v1', 'v2', 'v3'] as const).map((name) => signer(name, '1500ms')))],
  holds: noRoundIsLost,
  ends: everyone.decides(height(16), { within: '180s' }),
});

/**
 * Round 0 of height 6 ends without a block. As v3's key has signed that, the others have decided in round 1, where v3 hears of no polka and says
 * nothing; it proposes round 1 of height 7. (With four equal validators v1, v0 propose height 6, and v0, v3 height 7.)
 */
export const lateAndOfAnotherRound = scenario('what a slow key signs of another round is of no commit', {
  name: 'late-and-of-another-round',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { height: 6, round: 0 }),
      drop('prevotes', { height: 6, round: 1, to: ['v3'] }),
      drop('proposals', { height: 7, round: 0 }),
    ),
    when(v3.prevotes({}, { height: 6, round: 0 }), signer('v3', '1500ms')),
    when(v3.decides(height(6)), signer('v3', '0s')),
  ],
  holds: [sometime(v3.proposes({}, { height: 7, round: 1 }))],
  ends: everyone.decides(height(12), { within: '120s' }),
});

/** v3 is minutes behind. The others do without it. What it proposes itself, height 4, is of the time that others gave. */
export const doubtfulClock = scenario('whose clock is minutes behind doubts what is proposed', {
  name: 'doubtful-clock',
  cast: validators(4, { clocks: { v3: { skewMs: -200_000 } } }),
  load: txs({ perSecond: 3 }),
  holds: [
    never(v3.prevotes(block(1), { height: 5, round: 0 })),
    sometime(v3.prevotes(block(1), { height: 4, round: 0 })),
  ],
  ends: everyone.decides(height(8), { within: '120s' }),
});

const EARLY = { skewMs: -100_000 };

/** The first block is of the genesis time, a hundred seconds ahead of all clocks: each is doubted until that is no more than sixty, and proposed again, the same, as there are no transactions. */
export const earlyStart = scenario('who starts before the genesis time begins when it comes', {
  name: 'early-start',
  cast: validators(4, { clocks: { v0: EARLY, v1: EARLY, v2: EARLY, v3: EARLY } }),
  holds: [sometime(anyone.enters('propose', { height: 1, round: 3 }))],
  ends: everyone.decides(height(3), { within: '300s', afterwards: 2 }),
});

/** v3's precommits are of the future, v1 is cut off, and v0, which is back, is needed: it does not wait until v3's time has come. */
export const precommitOfTheFuture = scenario('who comes back does not wait for a time that is not yet', {
  name: 'precommit-of-the-future',
  cast: validators(4, { clocks: { v3: { skewMs: 600_000 } } }),
  act: [
    when(v0.decides(height(4)), isolate('v1')),
    when(v0.decides(height(6)), crash('v0', { restart: '1s' })),
    when(v0.starts()),
    when(v0.decides(height(10)), heal()),
  ],
  ends: everyone.decides(height(14), { within: '120s' }),
});

/** v2 alone locks in round 0, as the prevotes of others come late, and is gone. What has a polka v3 follows, whatever its clock says: it is needed. */
export const noDoubtOfAPolka = scenario('whose clock is minutes behind does not doubt a polka', {
  name: 'no-doubt-of-a-polka',
  cast: validators(4, { clocks: { v3: { skewMs: -200_000 } } }),
  load: txs({ perSecond: 3 }),
  act: [
    at('0s', delay('prevotes', '1.5s', { height: 3, round: 0, by: ['v0', 'v1'], to: ['v0', 'v1', 'v3'] })),
    when(v2.precommits(block(1), { height: 3, round: 0 }), crash('v2')),
  ],
  ends: these('v0', 'v1', 'v3').decides(height(3), { within: '120s' }),
});

/** With four equal validators v0, v3 and v2 propose height 3. Its first two rounds have two prevotes for the block and two for nil: each waits for more prevotes, then for more precommits. */
export const ownTimeouts = scenario('each step waits as long as it was told to', {
  name: 'own-timeouts',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  settings: {
    consensus: {
      timeoutProposeNs: 1_500n * NS_PER_MS,
      timeoutProposeDeltaNs: 400n * NS_PER_MS,
      timeoutPrevoteNs: 700n * NS_PER_MS,
      timeoutPrevoteDeltaNs: 200n * NS_PER_MS,
      timeoutPrecommitNs: 300n * NS_PER_MS,
      timeoutPrecommitDeltaNs: 100n * NS_PER_MS,
      timeoutCommitNs: 500n * NS_PER_MS,
    },
  },
  act: [
    when(
      v0.decides(height(2)),
      drop('proposals', { height: 3, round: 0, to: ['v2', 'v3'] }),
      drop('proposals', { height: 3, round: 1, to: ['v0', 'v1'] }),
    ),
  ],
  holds: [sometime(v2.proposes({}, { height: 3, round: 2 }))],
  ends: everyone.decides(height(6), { within: '120s' }),
});

/** A node that cannot write does not go on: it stops, and what is durable is where it comes back from. */
export const fullDisk = scenario(
  'a validator stops when its disk is full, and comes back when there is room',
  {
    name: 'full-disk',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [
      when(v3.decides(height(3)), disk('v3', 'full')),
      when(v3.crashes()),
      after('5s', restart('v3')),
      when(v3.crashes()),
      when(v0.decides(height(9)), disk('v3', 'good'), restart('v3')),
      when(v3.joins()),
      when(v3.precommits()),
    ],
    ends: everyone.decides(height(14), { within: '240s', afterwards: 2 }),
  },
);

const BEHIND = { skewMs: -20_000 };

/**
 * v2 and v3 do not get the block and say so by clocks that are 20 s behind; so does v1, but it tells some that it is for the block. With
 * the three the median of the times is before the block, and no proposal would ever be valid again (docs/decisions/0010).
 */
export const timeGoesOn = scenario('a liar and two clocks that are behind do not hold the chain back', {
  name: 'time-goes-on',
  cast: { ...powers(1, 1, 1, 1, 1, 1, 1), clocks: { v1: BEHIND, v2: BEHIND, v3: BEHIND } },
  liars: [liar('v1', 'double-voter', ['v0', 'v4', 'v5', 'v6'])],
  act: [
    when(v0.decides(height(2)), drop('parts', { height: 3, round: 0, to: ['v1', 'v2', 'v3'] })),
    when(v0.decides(height(3)), heal()),
  ],
  ends: these('v0', 'v2', 'v3', 'v4', 'v5', 'v6').decides(height(6), { within: '120s' }),
});

/** In what it proposes each precommit of the height before counts that it knows of, also those by clocks that are behind. */
const datesBack: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: a time of before', (block) => {
    const validator = kit.machine.node?.peek<ValidatorState>('validator');
    const precommits = validator?.consensus.lastCommit?.precommits;
    if (!validator || !precommits || !block.lastCommit) return null;
    const { height, round, blockId } = block.lastCommit;
    const lastCommit = commitOf(precommits, height, round, blockId);
    const timeNs = medianTime(lastCommit, validator.chain.lastValidators);
    if (isRefusal(timeNs) || timeNs >= block.header.timeNs) return null;
    const header = { ...block.header, timeNs, lastCommitHash: commitHash(lastCommit) };
    return { block: { ...block, header, lastCommit } };
  });

/**
 * As `time-goes-on`, at several heights, with v1, v2 and v3 more than half of the power: v1 proposes after one of them, with all of their precommits,
 * and nobody accepts that.
 */
export const timeDoesNotGoBack = scenario('no block is of a time before the one that it follows', {
  name: 'time-does-not-go-back',
  cast: { ...powers(100, 300, 150, 150, 100, 100, 100), clocks: { v1: BEHIND, v2: BEHIND, v3: BEHIND } },
  liars: [
    liar('v1', 'double-voter', ['v0', 'v4', 'v5', 'v6'], { fromHeight: 3, toHeight: 9 }),
    liar('v1', datesBack, ['v0', 'v2', 'v3', 'v4', 'v5', 'v6'], { toHeight: 10 }),
  ],
  act: [
    ...[3, 4, 5, 6, 7, 8, 9].map((at) =>
      when(
        v0.decides(height(at - 1)),
        heal(),
        drop('parts', { height: at, round: 0, to: ['v1', 'v2', 'v3'] }),
      ),
    ),
    when(v0.decides(height(9)), heal()),
  ],
  ends: these('v0', 'v2', 'v3', 'v4', 'v5', 'v6').decides(height(14), { within: '240s' }),
});

/**
 * v3, whose clock is behind, hears of no proposal, precommits the block of a polka, and does so in the time of that block, not of its clock.
 * Its precommit is one of the three that decide, for v2 is gone: with a time before the block's they could date no block after it.
 */
export const datedByTheLock = scenario('a precommit is later than the block that it is for, by any clock', {
  name: 'dated-by-the-lock',
  // Of three votes of power one the median is the earliest: it rounds down.
  cast: powers(1, 1, 1, 1),
  act: [
    when(
      v0.decides(height(2)),
      clock('v3', { step: '-40s' }),
      drop('proposals', { height: 3, round: 0, to: ['v3'] }),
    ),
    when(v2.precommits(block(1), { height: 3, round: 0 }), crash('v2')),
  ],
  ends: these('v0', 'v1', 'v3').decides(height(6), { within: '280s' }),
});

/** Its prevote is still being signed when its precommit is asked for. */
export const slowKeySignsBoth = scenario('a slow key signs both votes of a round', {
  name: 'slow-key-signs-both',
  cast: validators(4),
  act: [when(v0.decides(height(4)), signer('v3', '600ms')), when(v0.decides(height(14)), signer('v3', '0s'))],
  holds: [5, 6, 7, 8, 9, 10, 11, 12].map((each) => sometime(v3.prevotes({}, { height: each, round: 0 }))),
  ends: everyone.decides(height(16), { within: '120s' }),
});
