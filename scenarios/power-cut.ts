// A validator loses its power, its log, or goes on from an old copy: whatever it says again, it says the same, and what one of its stores lost
// the other, or its peers, give back.

import type { CrashPoint, Directive, Scenario } from '../sim/scenario/play.ts';
import {
  after,
  at,
  backUp,
  core,
  crash,
  delay,
  disk,
  drawn,
  drop,
  empower,
  everyone,
  heal,
  height,
  isolate,
  never,
  nobody,
  putBack,
  restart,
  scenario,
  these,
  txs,
  v0,
  validators,
  when,
  whenOrAt,
} from '../sim/scenario/words.ts';
import { QUICK } from '../sim/swarm/index.ts';

const CUTS = 4;
const FIRST = 3;

/**
 * With v3 away the other three need each other: the round stands still until v0 is back, and asks for its
 * vote again.
 */
export const voteOutlivesPowerCut = drawn(
  'vote-outlives-power-cut',
  'a validator loses its power as it votes, and does not vote twice',
  (stream) => {
    const act = Array.from({ length: CUTS }, (_, i): Directive[] => {
      const step = stream.pick(['propose', 'prevote', 'precommit'] as const);
      const point = { when: 'after', op: 'send', nth: 1 + stream.draw(4) } as const;
      const cut = crash('v0', { how: 'lose', restart: `${500 + stream.draw(3000)}ms`, point });
      return [when(v0.enters(step, height(FIRST + 2 * i)), cut), when(v0.crashes()), when(v0.joins())];
    });
    return scenario('drawn', {
      cast: validators(4),
      load: txs({ perSecond: 2 }),
      act: [
        when(v0.decides(height(1)), isolate('v3')),
        ...act.flat(),
        when(v0.decides(height(FIRST + 2 * CUTS)), heal()),
      ],
      ends: everyone.decides(height(FIRST + 2 * CUTS), { within: '400s', afterwards: 2 }),
    });
  },
);

/**
 * v0 loses its power just after the application's disk has a block and the chain's does not, then the other way round: whichever is behind
 * is given what the other has.
 */
export const powerCutBetweenStores = scenario('an application and its chain lose different blocks', {
  name: 'power-cut-between-stores',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: (['app', 'chain'] as const).flatMap((on, i): Directive[] => [
    when(
      v0.decides(height(3 + 4 * i)),
      crash('v0', { how: 'lose', restart: '1s', point: { when: 'after', op: 'flush', on, nth: 1 } }),
    ),
    when(v0.crashes()),
    when(v0.joins()),
  ]),
  ends: everyone.decides(height(12), { within: '240s', afterwards: 2 }),
});

/**
 * What v0 executed is not durable yet when it says its precommit of the next height, and loses its power: it executes that block again,
 * and still knows what it said, also when it dies once more before the height ends.
 */
export const lockOutlivesExecution = scenario(
  'who executes a block again keeps its lock of the next height',
  {
    name: 'lock-outlives-execution',
    cast: validators(4),
    load: txs({ perSecond: 2 }),
    act: [
      when(v0.decides(height(2)), isolate('v3'), disk('v0', 'slow')),
      ...[4, 7, 10].flatMap((at): Directive[] => [
        when(v0.precommits({}, { height: at }), crash('v0', { how: 'lose', restart: '1s' })),
        when(v0.starts()),
        after('2s', crash('v0', { how: 'lose', restart: '1s' })),
        when(v0.joins()),
      ]),
      after('1s', heal(), disk('v0', 'good')),
    ],
    ends: everyone.decides(height(13), { within: '400s', afterwards: 2 }),
  },
);

/**
 * The block comes to v0 just before it would give up on the proposal: the timer fires while the signer's disk takes the vote for it, and v0
 * dies before its log knows of that vote. Its log makes the next life vote nil; the signer has the vote, and v0 says it: without v3 nobody
 * goes on without it.
 */
export const signedAndNotLogged = scenario('who dies between its signature and its log says what it signed', {
  name: 'signed-and-not-logged',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  act: [
    when(v0.decides(height(2)), isolate('v3'), disk('v0', 'slow')),
    ...[5, 6, 9, 10].flatMap((at, i): Directive[] => {
      const place = { height: at, round: 0 };
      const point = { when: 'after', op: 'flush', on: 'privval', nth: 1 } as const;
      const latest = `${60 * (i + 1)}s` as const;
      return [
        whenOrAt(v0.decides(height(at - 1)), latest, delay('parts', '2.9s', { ...place, to: ['v0'] })),
        whenOrAt(v0.enters('propose', place), latest, crash('v0', { how: 'clean', restart: '2s', point })),
      ];
    }),
    after('9s', core('v0', 'v1', 'v2')),
  ],
  ends: these('v0', 'v1', 'v2').decides(height(12), { within: '400s' }),
});

/** With the longest name that a chain may have, what is signed is longer than one byte can say. */
const LONGEST_NAME = 'n'.repeat(50);

/** Alone, and without transactions, v0 makes the same block again, and another time of it: its signer has signed that, and was not heard. */
export const sameProposalAgain = scenario('who dies as its proposal is signed proposes it when it is back', {
  name: 'same-proposal-again',
  cast: validators(1, { chainId: LONGEST_NAME }),
  act: [4, 7].flatMap((at) => [
    when(
      v0.enters('propose', { height: at, round: 0 }),
      crash('v0', {
        how: 'clean',
        restart: '200ms',
        point: { when: 'after', op: 'flush', on: 'privval', nth: 1 },
      }),
    ),
    when(v0.joins()),
  ]),
  holds: [4, 7].map((at) => never(v0.enters('propose', { height: at, round: 1 }))),
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** v0, all alone, loses its power as its own block is in its log, later as its prevote is, or its precommit: nobody else could give it any of them. */
export const ownBlockOutlivesCrash = scenario('who dies with its own block in its log votes on with it', {
  name: 'own-block-outlives-crash',
  cast: validators(1),
  act: [
    { at: 4, nth: 2 },
    { at: 7, nth: 3 },
    { at: 9, nth: 4 },
  ].flatMap(({ at, nth }) => [
    when(
      v0.enters('propose', { height: at, round: 0 }),
      crash('v0', {
        how: 'lose',
        restart: '200ms',
        point: { when: 'after', op: 'flush', on: 'consensus', nth },
      }),
    ),
    when(v0.joins()),
  ]),
  holds: [4, 7, 9].map((at) => never(v0.enters('propose', { height: at, round: 1 }))),
  ends: everyone.decides(height(12), { within: '120s' }),
});

/**
 * v0's application is put back to an older day, then all of v0 but what its signer remembers: it is given the blocks again, each with the
 * power that its validators had.
 */
export const oldCopy = scenario('a validator goes on from an old copy of its disk', {
  name: 'old-copy',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(3)), backUp('v0')),
    when(v0.decides(height(4)), empower('v1', 20)),
    ...([['app'], ['app', 'chain', 'consensus']] as const).flatMap((media, i) => [
      when(
        v0.decides(height(8 + 5 * i)),
        crash('v0', { how: 'clean' }),
        putBack('v0', ...media),
        restart('v0'),
      ),
      when(v0.joins()),
    ]),
  ],
  ends: everyone.decides(height(18), { within: '240s', afterwards: 2 }),
});

/** A height old: the block that decided it lies in the log of the copy, and v0 says so. */
export const youngCopy = scenario('a validator goes on from a copy that is a height old', {
  name: 'young-copy',
  cast: validators(12, { degree: 4 }),
  load: txs({ perSecond: 3 }),
  settings: { blocksync: false },
  act: [
    when(v0.enters('prevote', { height: 8 }), backUp('v0')),
    when(v0.decides(height(8))),
    after(
      '300ms',
      crash('v0', { how: 'clean' }),
      putBack('v0', 'app', 'chain', 'consensus'),
      drop('precommits', { to: ['v0'], height: 8 }),
      drop('parts', { to: ['v0'], height: 8 }),
      restart('v0'),
    ),
    after('6s', heal()),
  ],
  ends: everyone.decides(height(12), { within: '120s' }),
});

const THREE = ['v1', 'v2', 'v3'] as const;

/** The three die at that point of height 5, and v0, who has its block, does not come back: what they said is in their logs. */
const powerCutAt = (point: Omit<CrashPoint, 'node'>): Pick<Scenario, 'cast' | 'load' | 'act' | 'ends'> => ({
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(
      v0.precommits({}, height(5)),
      ...THREE.map((name) => crash(name, { how: 'lose', restart: '3s', point })),
    ),
    when(v0.decides(height(5)), isolate('v0', 'for-ever')),
    after('4s'),
  ],
  ends: these(...THREE).decides(height(12), { within: '900s' }),
});

export const powerCutAsOneDecides = scenario(
  'three validators lose their power as they decide, and decide the same again',
  {
    name: 'power-cut-as-one-decides',
    ...powerCutAt({ when: 'before', op: 'write', on: 'chain', nth: 1 }),
  },
);

/** Nothing says that the height is over before its block is on the disk. */
export const powerCutAsBlockIsStored = scenario(
  'three validators lose their power as a block reaches their disks, and decide it again',
  {
    name: 'power-cut-as-block-is-stored',
    ...powerCutAt({ when: 'inside', op: 'flush', on: 'chain', nth: 1 }),
  },
);

/**
 * The block of height 5 is on their disks and its state is not, and their applications go on from a copy that is two heights older: they are
 * given every block that they lack, the last one too.
 */
export const powerCutWithOldApplications = scenario(
  'three validators lose their power between block and state, and their applications are older still',
  {
    name: 'power-cut-with-old-applications',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [
      when(everyone.decides(height(3)), ...THREE.map((name) => backUp(name))),
      when(
        everyone.decides(height(4)),
        ...THREE.map((name) =>
          crash(name, { how: 'lose', point: { when: 'inside', op: 'flush', on: 'chain', nth: 3 } }),
        ),
      ),
      when(v0.decides(height(5)), isolate('v0', 'for-ever')),
      after('1s', ...THREE.map((name) => putBack(name, 'app')), ...THREE.map((name) => restart(name))),
    ],
    ends: these(...THREE).decides(height(10), { within: '900s' }),
  },
);

const ALL = ['v0', 'v1', 'v2', 'v3'] as const;

/** Nobody has a block that all have signed for: the chain stands still until somebody brings it, and nobody votes a second time. */
export const oldCopiesOfAll = scenario('all validators go on from old copies, and sign no height twice', {
  name: 'old-copies-of-all',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  liveness: 'waived',
  act: [
    when(v0.decides(height(9)), ...ALL.map(backUp)),
    when(
      v0.decides(height(12)),
      ...ALL.map((name) => crash(name, { how: 'clean' })),
      ...ALL.map((name) => putBack(name, 'app', 'chain', 'consensus')),
      ...ALL.map((name) => restart(name)),
    ),
  ],
  ends: nobody.decidesBeyond(height(12), { for: '60s' }),
});

/** After 1,024 signatures the signer lets its oldest go. The node dies at that moment, and goes on with what is left. */
export const signerForgetsTheOldest = scenario('what a signer lets go is not what it signed last', {
  name: 'signer-forgets-the-oldest',
  cast: validators(1),
  act: [
    at(
      '0s',
      crash('v0', {
        how: 'lose',
        restart: '1s',
        point: { when: 'after', op: 'trim', on: 'privval', nth: 1 },
      }),
    ),
    when(v0.crashes()),
  ],
  ends: everyone.decides(height(340), { within: '900s', afterwards: 2 }),
});

/** No proposal of height 401 is heard for some rounds, in which each signer has its 1,024th signature: of that height it is to keep them all. */
export const signerKeepsItsHeight = scenario('a signer lets nothing go of the height under way', {
  name: 'signer-keeps-its-height',
  cast: validators(2),
  settings: { consensus: { ...QUICK, timeoutProposeNs: 50_000_000n, timeoutCommitNs: 10_000_000n } },
  act: [
    when(v0.decides(height(400)), drop('proposals')),
    when(v0.enters('propose', { height: 401, round: 12 }), heal()),
  ],
  ends: everyone.decides(height(403), { within: '400s' }),
});
