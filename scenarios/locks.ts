// What a lock is for: plays in which a height needs a second round, and the lock or the valid value decides
// what happens there.
// With four equal validators v2 proposes round 0 of height 5, v1 round 1, and v0 round 2.

import {
  anyone,
  at,
  block,
  crash,
  delay,
  drop,
  everyone,
  heal,
  height,
  liar,
  never,
  nil,
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
import { QUICK } from '../sim/swarm/index.ts';

const first = { height: 5, round: 0 };
const second = { height: 5, round: 1 };
const third = { height: 5, round: 2 };
const sixth = { height: 5, round: 5 };

/** v0 alone sees two thirds for block 1 and locks; the others go on without it, to block 2. */
export const lockHolds = scenario('a locked validator does not prevote another block', {
  name: 'lock-holds',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { height: 5, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
    ),
    when(v3.prevotes(nil, first)),
    when(v1.proposes(block(2), second), heal()),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    sometime(v0.prevotes(nil, second)),
    never(v0.prevotes(block(2)), { while: v0.lockedOn(block(1)) }),
    never(v0.prevotes(block(2), second)),
  ],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** v0, v1 and v2 lock block 1, and nobody sees two thirds of precommits; v3 hears nothing of it. */
const THREE_LOCK = [
  drop('proposals', { ...first, to: ['v3'] }),
  drop('parts', { height: 5, to: ['v3'] }),
  drop('precommits', { ...first, by: ['v0'], to: ['v1', 'v3'] }),
  drop('precommits', { ...first, by: ['v1'], to: ['v2', 'v3'] }),
  drop('precommits', { ...first, by: ['v2'], to: ['v0', 'v3'] }),
];

/** The proposer of the next round must bring block 1 again. */
export const validValueReproposed = scenario('a block with a polka is proposed again in the next round', {
  name: 'valid-value-reproposed',
  cast: validators(4),
  act: [at('0s', ...THREE_LOCK), when(v3.prevotes(nil, first)), when(v1.proposes(block(1), second), heal())],
  holds: [
    sometime(v0.locks(block(1), first)),
    sometime(v1.locks(block(1), first)),
    sometime(v2.locks(block(1), first)),
    never(anyone.prevotes(block(2), { height: 5 })),
    never(anyone.proposes(block(2), { height: 5 })),
  ],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** As before, and v1 brings block 1 in bytes that say something beside: the polka is for other parts, and v0 brings the true ones in round 2. */
export const valueInOtherBytes = scenario('a polka lets nobody vote for other parts of its block', {
  name: 'value-in-other-bytes',
  cast: validators(4),
  liars: [liar('v1', 'byte-stretcher', ['v0', 'v2', 'v3'], { fromHeight: 5, toHeight: 5, fromRound: 1 })],
  act: [
    at('0s', ...THREE_LOCK),
    when(v3.prevotes(nil, first)),
    when(v1.proposes(block(1), second)),
    when(v0.proposes(block(1), third), heal()),
  ],
  holds: [
    ...[v0, v2, v3].map((each) => never(each.prevotes(block(1), second))),
    sometime(v3.prevotes(block(1), third)),
    never(anyone.prevotes(block(2), { height: 5 })),
  ],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/**
 * As in `valid-value-reproposed`, and nothing of round 1 is proposed to anybody. There v0 dies; back from its log it is the proposer of round 2 and
 * brings block 1 with its polka.
 */
export const valueOutlivesCrash = scenario('what was valid before a crash is proposed after it', {
  name: 'value-outlives-crash',
  cast: validators(4),
  act: [
    at('0s', ...THREE_LOCK, drop('proposals', second), drop('parts', second)),
    when(v0.enters('prevote', second), crash('v0', { how: 'lose', restart: '10ms' })),
    when(v0.proposes(block(1), third), heal()),
  ],
  holds: [sometime(v0.locks(block(1), first)), never(v0.proposes(block(2), { height: 5 }))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/**
 * v0 alone locks block 1 in round 0, v3 alone block 2 in round 1. In round 2 v0 brings block 1 with its polka: those
 * without a lock prevote it, and v3 refuses it at once, for it knows of a later polka.
 */
export const olderPolkaRefused = scenario('a polka older than the lock opens nothing', {
  name: 'older-polka-refused',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { ...first, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
      drop('proposals', { ...second, to: ['v0'] }),
      drop('parts', { ...second, to: ['v0'] }),
      drop('prevotes', { ...second, by: ['v3'] }),
    ),
    // The others may not decide before it has spoken.
    when(anyone.enters('propose', third), heal(), drop('prevotes', { ...third, by: ['v1', 'v2'] })),
    when(v3.prevotes(nil, third), heal()),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    sometime(v3.locks(block(2), second)),
    sometime(v0.proposes(block(1), third)),
    sometime(v3.prevotes(nil, third)),
    never(v3.prevotes(block(1), third)),
  ],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/**
 * v3 alone locks block 1 in round 0. Of round 1, in which the others lock block 2 and nobody sees two thirds of precommits, it hears when
 * round 2 has begun: v0 brings block 2 with that polka, and v3 is free to prevote it.
 */
export const laterPolkaUnlocks = scenario('a polka later than the lock frees from it', {
  name: 'later-polka-unlocks',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v0'] }),
      drop('parts', { ...first, to: ['v0'] }),
      drop('prevotes', { ...first, by: ['v3'] }),
      drop('prevotes', { ...second, by: ['v2'], to: ['v3'] }),
      drop('precommits', { ...second, by: ['v0'], to: ['v1'] }),
      drop('precommits', { ...second, by: ['v1'], to: ['v2'] }),
      drop('precommits', { ...second, by: ['v2'], to: ['v0', 'v3'] }),
    ),
    // Nobody may decide before it has spoken.
    when(
      v0.proposes(block(2), third),
      heal(),
      drop('precommits', second),
      drop('prevotes', { ...third, by: ['v1', 'v2'] }),
    ),
    when(v3.prevotes({}, third), heal()),
  ],
  holds: [
    sometime(v3.locks(block(1), first)),
    sometime(v3.prevotes(nil, second)),
    never(v3.locks(block(2), second)),
    sometime(v3.prevotes(block(2), third)),
    never(v3.prevotes(nil, third)),
  ],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/**
 * v0's prevote makes two thirds for block 1 and comes when all others have precommitted nil (v3 has waited 3 s for a proposal, and all a
 * second more). It is too late to vote for it, and not to hold it for valid: v1, who proposes next, proposes it.
 */
export const latePolkaIsValid = scenario('two thirds that come after the vote make a value valid', {
  name: 'late-polka-is-valid',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { ...first, to: ['v3'] }),
      delay('prevotes', '4500ms', { ...first, by: ['v0'] }),
      delay('precommits', '4s', first),
    ),
    when(v1.precommits(nil, first)),
    when(v1.enters('propose', second), heal()),
  ],
  holds: [sometime(v1.values(block(1), first)), sometime(v1.proposes(block(1), second))],
  ends: everyone.decides(height(8), { within: '120s' }),
});

/**
 * v0 alone locks block 1 in round 0. In round 1 the prevote of v3 makes two thirds for block 2, and comes when all others have
 * precommitted nil: v0, who proposes next, is locked on block 1 and proposes block 2.
 */
export const laterPolkaReplacesValue = scenario('of two values with a polka the later is proposed', {
  name: 'later-polka-replaces-value',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { ...first, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
      delay('prevotes', '4500ms', { ...second, by: ['v3'] }),
      delay('precommits', '4s', second),
    ),
    when(v0.enters('propose', third), heal()),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    sometime(v3.locks(block(2), second)),
    sometime(v0.values(block(2), second)),
    sometime(v0.proposes(block(2), third)),
  ],
  ends: everyone.decides(height(8), { within: '120s' }),
});

const fifth = { height: 5, round: 4 };

/**
 * As before, but of the polka of round 1 only v0 and v3 hear. What these two propose nobody else sees. In round 4 v2, who knows of no polka, makes
 * block 1 again: v0 is locked on it, whatever it holds for valid since.
 */
export const lockOutlastsValue = scenario('a locked validator prevotes its lock, and not its valid value', {
  name: 'lock-outlasts-value',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { ...first, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
      drop('prevotes', { ...second, by: ['v3'], to: ['v1', 'v2'] }),
      delay('prevotes', '4500ms', { ...second, by: ['v3'], to: ['v0'] }),
      delay('precommits', '4s', second),
      drop('proposals', third),
      drop('proposals', { height: 5, round: 3 }),
    ),
    when(v2.proposes(block(1), fifth)),
    when(v0.prevotes({}, fifth), heal()),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    sometime(v3.locks(block(2), second)),
    sometime(v0.values(block(2), second)),
    sometime(v0.prevotes(block(1), fifth)),
  ],
  ends: everyone.decides(height(8), { within: '120s' }),
});

const V3_HEARS_NO_BLOCK = [
  drop('proposals', { height: 5, to: ['v3'] }),
  drop('parts', { height: 5, to: ['v3'] }),
];

/**
 * v0, v1 and v2 prevote block 1 in both rounds, and v3 hears of no block. Of the polka of round 0 v0 and v1 know; of that of round 1 v2
 * alone, which is locked by it. In round 2 v0 brings the block with the older polka: it is the one that v2 is locked on.
 */
export const ownLockWithOlderPolka = scenario(
  'a locked validator prevotes its own block, however old the polka',
  {
    name: 'own-lock-with-older-polka',
    cast: validators(4),
    act: [
      at('0s', ...V3_HEARS_NO_BLOCK, drop('prevotes', { ...first, by: ['v1'], to: ['v2', 'v3'] })),
      when(
        v1.proposes(block(1), second),
        heal(),
        ...V3_HEARS_NO_BLOCK,
        drop('prevotes', { ...second, by: ['v2'] }),
        drop('precommits', { ...second, by: ['v2'] }),
      ),
      when(v0.proposes(block(1), third)),
      when(v2.prevotes({}, third), heal()),
    ],
    holds: [
      sometime(v2.prevotes(block(1), second)),
      sometime(v2.locks(block(1), second)),
      never(v0.locks(block(1), second)),
      sometime(v2.prevotes(block(1), third)),
      never(v2.prevotes(nil, third)),
    ],
    ends: everyone.decides(height(8), { within: '120s' }),
  },
);

/**
 * v0 alone locks block 1 in round 0, v1 alone block 2 in round 1, and in round 2 v0 alone locks block 1 once more. In round 5 v1 brings block
 * 2 with its polka of round 1: v0 refuses it, for its lock is of round 2 now, and the others take it.
 */
export const lockRenewed = scenario('a lock on the same block is as new as its last polka', {
  name: 'lock-renewed',
  cast: validators(4),
  load: txs({ perSecond: 3 }), // else v2 makes the same block again in round 4
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { ...first, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v1'], to: ['v2', 'v3'] }),
      drop('prevotes', { ...first, by: ['v2'], to: ['v1', 'v3'] }),
      drop('prevotes', { ...second, by: ['v2'], to: ['v3'] }),
      drop('prevotes', { ...second, by: ['v3'], to: ['v0', 'v2'] }),
    ),
    when(
      v0.proposes(block(1), third),
      heal(),
      drop('prevotes', { ...second, by: ['v2'], to: ['v3'] }),
      drop('prevotes', { ...second, by: ['v3'], to: ['v0', 'v2'] }),
      drop('prevotes', { ...third, by: ['v2'], to: ['v1', 'v3'] }),
      drop('prevotes', { ...third, by: ['v3'], to: ['v1', 'v2'] }),
    ),
    // Who is late to see the polka of round 1 would follow the decision before it votes.
    when(v1.proposes(block(2), sixth), heal(), delay('precommits', '7s', sixth)),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    sometime(v1.locks(block(2), second)),
    sometime(v0.locks(block(1), third)),
    sometime(v0.prevotes(nil, sixth)),
    never(v0.prevotes(block(2), { height: 5 })),
  ],
  ends: everyone.decides(height(8), { within: '240s' }),
});

const fourth = { height: 4, round: 0 };

/**
 * v3 tells v0 another prevote than the others, and is gone. They lock; v0 has the block, and not the polka that it is proposed with again: it
 * gets the other vote of v3 because who has the polka says so.
 */
export const misledAboutAPolka = scenario(
  'who was told another prevote is given the one that made the polka',
  {
    name: 'misled-about-a-polka',
    cast: validators(4),
    liars: [
      liar('v3', 'vote-equivocator', ['v0'], { votes: 'prevotes', fromHeight: 4, toHeight: 4, toRound: 0 }),
    ],
    // Rounds are over before what was lost is offered again.
    settings: { consensus: { ...QUICK, timeoutCommitNs: 1_000_000_000n } },
    act: [
      at(
        '0s',
        drop('proposals', { ...fourth, to: ['v0'] }),
        drop('parts', { ...fourth, to: ['v0'] }),
        drop('precommits', { height: 4, by: ['v3'] }),
      ),
      when(v0.precommits(nil, fourth), crash('v3', { how: 'clean' }), heal()),
    ],
    ends: these('v0', 'v1', 'v2').decides(height(7), { within: '200s' }),
  },
);

/**
 * v1 is gone, and v3 tells v0 another prevote than v2: v2 sees a polka, and v0, which waits for more votes for many seconds, gets the other vote of
 * v3, which it is said to have, because v2 claims that polka. All three decide in that round.
 */
export const polkaIsClaimed = scenario(
  'who was told another prevote is given the right one in that very round',
  {
    name: 'polka-is-claimed',
    cast: validators(4),
    liars: [
      liar('v3', 'vote-equivocator', ['v0'], { votes: 'prevotes', fromHeight: 5, toHeight: 5, toRound: 0 }),
    ],
    settings: { consensus: { timeoutPrevoteNs: 20_000_000_000n } },
    act: [
      at('0s', delay('prevotes', '300ms', { ...first, by: ['v3'], to: ['v2'] })),
      when(v0.decides(height(4)), crash('v1', { unnoticed: true })),
      when(v0.decides(height(5)), restart('v1')),
    ],
    holds: [sometime(v0.precommits(block(1), first)), never(anyone.precommits(nil, { height: 5 }))],
    ends: everyone.decides(height(8), { within: '200s', afterwards: 2 }),
  },
);
