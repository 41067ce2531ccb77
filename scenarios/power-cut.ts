// A validator that the others wait for loses its power just as it has spoken: whatever it says again, it
// says the same.

import type { Directive } from '../sim/scenario/play.ts';
import {
  crash,
  drawn,
  everyone,
  heal,
  height,
  isolate,
  scenario,
  txs,
  v0,
  validators,
  when,
} from '../sim/scenario/words.ts';

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
