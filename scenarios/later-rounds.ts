// Who is carried to a later round by what others say in it.

import {
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
  scenario,
  signer,
  sometime,
  these,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const first = { height: 5, round: 0 };
const second = { height: 5, round: 1 };
const third = { height: 5, round: 2 };
const away = [
  drop('proposals', { ...second, to: ['v2', 'v3'] }),
  drop('parts', { height: 5, to: ['v2', 'v3'] }),
];

/** While v3 waits for the precommits of round 0 it hears that others are in round 1, and v1, whose precommit it lacks there, dies. */
export const waitsAgain = scenario(
  'who is carried to a round waits for its precommits, whatever it waited for',
  {
    name: 'waits-again',
    cast: validators(4),
    act: [
      at(
        '0s',
        drop('proposals', first),
        drop('parts', { height: 5, to: ['v0', 'v1', 'v3'] }),
        delay('precommits', '400ms', { ...first, to: ['v2', 'v3'] }),
        drop('proposals', { ...second, to: ['v2', 'v3'] }),
      ),
      when(v1.proposes({}, second), heal(), ...away),
      when(v1.precommits(nil, second), crash('v1'), heal()),
    ],
    ends: these('v0', 'v2', 'v3').decides(height(8), { within: '120s' }),
  },
);

/** Rounds 0 and 1 fail. Of round 1 v3 hears the precommits alone, while it lacks those of round 0. */
export const precommitsCarry = scenario('precommits alone carry to a later round', {
  name: 'precommits-carry',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', first),
      drop('parts', first),
      drop('proposals', second),
      drop('parts', second),
      drop('precommits', { ...first, to: ['v3'] }),
      drop('prevotes', { ...second, to: ['v3'] }),
    ),
    when(v0.enters('propose', third), heal()),
  ],
  holds: [sometime(v3.enters('propose', second))],
  ends: everyone.decides(height(9), { within: '120s' }),
});

/**
 * v0 alone sees the polka for block 1, after it has precommitted nil: it is not locked. Nobody gets what v1 proposes then; two rounds after it has seen
 * it v0 brings block 1 with its polka.
 */
export const validRoundsAgo = scenario('what was found valid is proposed, however many rounds ago that was', {
  name: 'valid-rounds-ago',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { ...first, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
      delay('prevotes', '4500ms', { ...first, by: ['v2'], to: ['v0'] }),
      drop('proposals', second),
      drop('parts', second),
    ),
    when(v0.proposes({}, third), heal()),
  ],
  holds: [never(v0.locks(block(1), first)), sometime(v0.proposes(block(1), third))],
  ends: everyone.decides(height(9), { within: '120s' }),
});

const noneProposed = [1, 2, 3, 4, 5].flatMap((round) => [
  drop('proposals', { height: 5, round }),
  drop('parts', { height: 5, round }),
]);

/**
 * v0 alone locks block 1, which it has not prevoted, for it came late; and its signer is slow: when its precommit is on its disk rounds 1 and 2 have
 * failed already. It dies, and back from its log it is the proposer of round 6.
 */
export const lockedBeforeItIsSigned = scenario(
  'who was locked before later rounds began can show its block after a crash',
  {
    name: 'locked-before-it-is-signed',
    cast: validators(4),
    act: [
      at(
        '0s',
        delay('parts', '3500ms', { ...first, to: ['v0'] }),
        drop('prevotes', { ...first, by: ['v1'], to: ['v2'] }),
        drop('prevotes', { ...first, by: ['v2'], to: ['v3'] }),
        drop('prevotes', { ...first, by: ['v3'], to: ['v1'] }),
        ...noneProposed,
      ),
      when(v0.prevotes(nil, first), signer('v0', '9s')),
      when(v0.precommits(block(1), first), signer('v0', '0s'), crash('v0', { restart: '100ms' })),
      when(v0.proposes({}, { height: 5, round: 6 }), heal()),
    ],
    holds: [sometime(v0.locks(block(1), first)), sometime(v0.proposes(block(1), { height: 5, round: 6 }))],
    ends: everyone.decides(height(9), { within: '240s' }),
  },
);

/** As large blocks on slow lines: they are here when their round has failed, until rounds last long enough. */
export const manyRounds = scenario('of a height of many rounds nobody keeps all the blocks', {
  name: 'many-rounds',
  cast: validators(4),
  load: txs({ perSecond: 0.2 }),
  act: [at('0s', delay('parts', '18s', { height: 6 })), when(v0.decides(height(6)), heal())],
  holds: [sometime(v0.enters('propose', { height: 6, round: 28 }))],
  ends: everyone.decides(height(9), { within: '900s' }),
});
