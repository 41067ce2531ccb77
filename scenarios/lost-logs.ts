// Validators that come back in the middle of a height, with their log, without it, or with one that begins there: what they signed they know from
// their signer, what they are locked on from there, too, and what they only prevoted binds them to nothing.

import type { Directive } from '../sim/scenario/play.ts';
import {
  after,
  block,
  crash,
  delay,
  drawn,
  drop,
  everyone,
  heal,
  height,
  isolate,
  nil,
  removeLog,
  restart,
  scenario,
  sometime,
  txs,
  v0,
  v1,
  validators,
  when,
} from '../sim/scenario/words.ts';

/**
 * v0 hears no proposal, and dies when it has signed nil. Its log is gone, so that it begins the height anew, where the proposal of a round
 * that it voted in reaches it: the signer remembers, and does not sign for it. v3 is away, so the others wait for v0: until v3 is back, when
 * what v0 signed reached nobody.
 */
export const voteOutlivesLostLog = drawn(
  'vote-outlives-lost-log',
  'a validator loses the log of a height in which it has voted, and does not vote twice',
  (stream) => {
    const act = [4, 9, 16].flatMap((at): Directive[] => {
      const round = stream.draw(2);
      const deaf = { height: at, to: ['v0' as const] };
      const late = { ...deaf, round };
      const says = stream.chance(1, 2) ? v0.prevotes : v0.precommits;
      return [
        when(v0.decides(height(at - 1)), isolate('v3'), drop('proposals', deaf), drop('parts', deaf)),
        when(v0.enters('propose', { height: at, round })),
        when(says(nil, { height: at }), crash('v0', { how: 'lose' }), removeLog('v0'), heal(), isolate('v3')),
        after('500ms', delay('prevotes', '6s', late), delay('precommits', '6s', late), restart('v0')),
        after('12s', heal()),
      ];
    });
    return scenario('drawn', {
      cast: validators(4),
      load: txs({ perSecond: 2 }),
      act,
      ends: everyone.decides(height(17), { within: '400s', afterwards: 2 }),
    });
  },
);

/** v0 alone has a polka in round 0 of this height, precommits, dies, and somebody removes its log. */
const locksAloneAndForgets = (at: number, ...meanwhile: Directive[]): Directive[] => {
  const there = { height: at, round: 0 };
  return [
    when(
      v0.decides(height(at - 1)),
      drop('proposals', { ...there, to: ['v3'] }),
      drop('parts', { ...there, to: ['v3'] }),
      drop('prevotes', { ...there, by: ['v0'] }),
      delay('precommits', '3s', { ...there, by: ['v1', 'v2', 'v3'] }),
    ),
    when(v0.precommits(block(1), there), crash('v0'), removeLog('v0')),
    after('300ms', restart('v0')),
    ...meanwhile,
    when(v1.decides(height(at)), heal()),
  ];
};

/**
 * With four equal validators v2, then v1 propose height 5. Without its own prevote, which its signer does not sign a second time, v0 sees no polka any more
 * and would precommit nil, but its signer knows better: it is locked as before, and refuses what v1 proposes.
 */
export const signedIsLocked = scenario('who finds out what it has precommitted is locked on it', {
  name: 'signed-is-locked',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: locksAloneAndForgets(5),
  holds: [
    sometime(v0.prevotes(nil, { height: 5, round: 1 })),
    sometime(v1.proposes(block(2), { height: 5, round: 1 })),
  ],
  ends: everyone.decides(height(8), { within: '120s' }),
});

/** v0 alone has a polka of block 1, dies, loses its log, and is back when all are in round 1: nobody asks it for its vote of round 0 again. */
export const lockOutlivesLostLog = scenario(
  'who comes back in a later round is locked on what it has precommitted',
  {
    name: 'lock-outlives-lost-log',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [
      when(
        v0.decides(height(4)),
        drop('proposals', { height: 5, round: 0, to: ['v3'] }),
        drop('parts', { height: 5, round: 0, to: ['v3'] }),
        drop('prevotes', { height: 5, round: 0, by: ['v0'] }),
        delay('proposals', '2s', { height: 5, round: 1 }),
      ),
      when(v0.precommits(block(1), { height: 5, round: 0 }), crash('v0'), removeLog('v0')),
      when(v1.enters('propose', { height: 5, round: 1 }), restart('v0'), isolate('v3')),
      when(v0.prevotes(nil, { height: 5, round: 1 }), heal()),
    ],
    holds: [sometime(v1.proposes(block(2), { height: 5, round: 1 }))],
    ends: everyone.decides(height(10), { within: '120s' }),
  },
);

/** What v0 logs after its log was lost, it finds: in round 1 it refuses what v1 proposes, and dies; in round 2 it proposes what it is locked on. */
export const newLogOutlivesCrash = scenario(
  'a log that begins in the middle of a height is read at the next start',
  {
    name: 'new-log-outlives-crash',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: locksAloneAndForgets(
      5,
      after('0s', drop('prevotes', { height: 5, round: 1, by: ['v3'] })),
      when(v0.prevotes(nil, { height: 5, round: 1 }), crash('v0', { how: 'clean', restart: '300ms' })),
      when(v0.proposes(block(1), { height: 5, round: 2 }), heal()),
    ),
    ends: everyone.decides(height(8), { within: '120s' }),
  },
);

/** v0's log is lost again when its signer has signed nil for round 1: what it precommitted before that, it is still locked on. */
export const lockOutlivesLostLogs = scenario(
  'who loses its log twice is locked on what it has precommitted',
  {
    name: 'lock-outlives-lost-logs',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: locksAloneAndForgets(
      5,
      after('0s', drop('prevotes', { height: 5, round: 1, by: ['v3'] })),
      when(v0.prevotes(nil, { height: 5, round: 1 }), crash('v0'), removeLog('v0')),
      after('300ms', restart('v0')),
      when(v0.proposes(block(1), { height: 5, round: 2 }), heal()),
    ),
    ends: everyone.decides(height(8), { within: '120s' }),
  },
);

/** v1, then v0 propose height 6: who is locked proposes that, though it knows nothing of it but its signature. */
export const signedIsProposed = scenario('who finds out what it has precommitted proposes that', {
  name: 'signed-is-proposed',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: locksAloneAndForgets(6),
  holds: [sometime(v0.proposes(block(1), { height: 6, round: 1 }))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** v0 prevotes block 1 of height 6 and dies; two heard nothing of it. It is its turn in round 1, and nothing binds it. */
export const prevotedIsNotLocked = scenario('who starts again is not locked on what it prevoted', {
  name: 'prevoted-is-not-locked',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(
      v0.decides(height(5)),
      drop('proposals', { height: 6, round: 0, to: ['v2', 'v3'] }),
      drop('parts', { height: 6, round: 0, to: ['v2', 'v3'] }),
    ),
    when(v0.prevotes(block(1), { height: 6, round: 0 }), crash('v0', { how: 'clean', restart: '300ms' })),
  ],
  holds: [sometime(v0.proposes(block(2), { height: 6, round: 1 }))],
  ends: everyone.decides(height(10), { within: '120s' }),
});
