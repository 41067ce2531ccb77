// Applications that take their time, as one behind a socket may: for what is proposed and decided, and for what their pools ask about.

import {
  after,
  anyone,
  application,
  at,
  block,
  crash,
  delay,
  drop,
  everyone,
  heal,
  height,
  never,
  nil,
  restart,
  scenario,
  sometime,
  submit,
  txs,
  v0,
  v1,
  v3,
  v6,
  validators,
  when,
} from '../sim/scenario/words.ts';

const all = ['v0', 'v1', 'v2', 'v3'] as const;

/** A block is prepared, judged by each, executed and committed: four answers, one after the other. */
export const slowApplications = scenario('all applications are slow, and no round is lost by it', {
  name: 'slow-applications',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [at('0s', ...all.map((name) => application(name, { blocks: '300ms', checks: '20ms' })))],
  holds: Array.from({ length: 14 }, (_, i) => never(anyone.enters('propose', { height: 3 + i, round: 1 }))),
  ends: everyone.decides(height(16), { within: '120s' }),
});

/** What v3's says is of the past already; the others do without it. When it is as quick as others v3 is there again. */
export const applicationTooSlow = scenario(
  'an application that is slower than the chain is missed while it is, and no longer',
  {
    name: 'application-too-slow',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [at('2s', application('v3', { blocks: '3s' })), when(v0.decides(height(12)), application('v3', {}))],
    holds: [
      never(v3.precommits(block(1), { height: 10 })),
      sometime(v3.precommits(block(1), { height: 17 })),
    ],
    ends: everyone.decides(height(18), { within: '120s', afterwards: 3 }),
  },
);

/** Three prevote, and nobody hears of a precommit: v3, whose application is not through, sees the polka and holds nothing for valid. */
export const polkaBeforeJudgement = scenario('nobody precommits what its own application has not judged', {
  name: 'polka-before-judgement',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(
      everyone.decides(height(4)),
      application('v3', { blocks: '6s' }),
      drop('precommits', { height: 5, round: 0 }),
    ),
    after('12s', application('v3', {}), heal()),
  ],
  holds: [sometime(v3.precommits(nil, { height: 5, round: 0 }))],
  ends: everyone.decides(height(8), { within: '60s', afterwards: 2 }),
});

/** More wait than there is room for in a block, and v0's application is not through with them when the next one comes. */
export const slowChecks = scenario('a slow application is asked about each transaction once at a time', {
  name: 'slow-checks',
  cast: validators(4, { blockBytes: 16_000 }),
  load: txs({ perSecond: 50, size: 100, count: 150 }),
  act: [at('1s', application('v0', { checks: '50ms' })), after('15s', application('v0', {}))],
  ends: everyone.decides(height(20), { within: '120s', afterwards: 2 }),
});

/** Three of seven hear of no proposal, and v6 has judged none in time: each round has another. */
export const twoJudgedAtOnce = scenario(
  'a slow application is asked about two blocks at a time, however many rounds fail meanwhile',
  {
    name: 'two-judged-at-once',
    cast: validators(7),
    load: txs({ perSecond: 3 }),
    act: [
      when(
        v6.decides(height(5)),
        application('v6', { blocks: '15s' }),
        ...[0, 1, 2, 3].map((round) => drop('proposals', { height: 6, round, to: ['v1', 'v2', 'v3'] })),
      ),
      // What its log says that it voted for it need not ask about again.
      when(v0.enters('propose', { height: 6, round: 4 }), crash('v0', { restart: '300ms' })),
      when(v1.decides(height(6)), application('v6', {})),
    ],
    holds: [sometime(v0.enters('propose', { height: 6, round: 4 }))],
    ends: everyone.decides(height(12), { within: '180s', afterwards: 2 }),
  },
);

const sixth = { height: 6, round: 0 };
const sixthAgain = { height: 6, round: 1 };

/**
 * With four equal validators v1, v0 and v3 propose the first rounds of height 6, and v0 the next height. v0, v1 and v2 lock block 1, and of the third
 * precommit v0 alone hears, when it has proposed the block again. While its application executes it the others decide it in round 1.
 */
export const decidedTwice = scenario('what is decided once more while it is executed is decided already', {
  name: 'decided-twice',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...sixth, to: ['v3'] }),
      drop('parts', { ...sixth, to: ['v3'] }),
      drop('precommits', { ...sixth, by: ['v0'], to: ['v2'] }),
      drop('precommits', { ...sixth, by: ['v2'], to: ['v1', 'v3'] }),
      delay('precommits', '5200ms', { ...sixth, by: ['v2'], to: ['v0'] }),
      delay('prevotes', '500ms', sixthAgain),
    ),
    when(v0.proposes(block(1), sixthAgain), application('v0', { blocks: '1s' })),
    when(v1.precommits(block(1), sixthAgain)),
    when(v0.decides(height(6)), application('v0', {})),
    when(v0.proposes(block(1), { height: 7, round: 0 })),
  ],
  holds: [never(v0.precommits({}, sixthAgain)), never(anyone.enters('propose', { height: 7, round: 1 }))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/**
 * v3's application keeps nothing: it takes seconds to execute a dozen blocks again, and all peers are connected before it has. A client gives it the
 * same twice meanwhile, and is answered twice.
 */
export const askedAfterALongHandshake = scenario(
  'who was there before the handshake ended is asked how far it is',
  {
    name: 'asked-after-a-long-handshake',
    cast: validators(4),
    app: 'noop',
    load: txs({ perSecond: 2 }),
    act: [
      when(v0.decides(height(6)), crash('v3')),
      when(v0.decides(height(12)), application('v3', { blocks: '500ms' }), restart('v3')),
      after('1s', submit('v3', 'twice=1'), submit('v3', 'twice=1')),
    ],
    ends: everyone.decides(height(20), { within: '120s' }),
  },
);
