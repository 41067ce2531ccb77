// A hidden lock: one validator alone is locked, the others need it, and do not know what it is locked on.

import {
  anyone,
  at,
  block,
  crash,
  drop,
  everyone,
  heal,
  height,
  never,
  nil,
  restart,
  scenario,
  sometime,
  v0,
  v1,
  validators,
  when,
} from '../sim/scenario/words.ts';

const first = { height: 5, round: 0 };
const second = { height: 5, round: 1 };

/**
 * As in `lock-holds`, but v3 dies: without v0 there are no two thirds, and v0 refuses what others bring. It
 * ends when v0 proposes its block, with the polka of round 0 to prove it.
 */
export const hiddenLock = scenario('the only locked validator is needed: its own turn ends the height', {
  name: 'hidden-lock',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v3'] }),
      drop('parts', { height: 5, to: ['v3'] }),
      drop('prevotes', { ...first, by: ['v0'] }),
    ),
    when(v1.precommits(nil, first), crash('v3')),
    when(v1.proposes(block(2), second), heal()),
    when(v0.proposes(block(1), { height: 5 })),
    when(v0.decides(height(6)), restart('v3')),
  ],
  holds: [
    sometime(v0.locks(block(1), first)),
    never(v1.locks(block(1), first)),
    sometime(v0.prevotes(nil, second)),
    sometime(v1.prevotes(block(2), second)),
    never(anyone.precommits(block(2), { height: 5 })),
    sometime(v1.precommits(block(1), { height: 5 })),
  ],
  ends: everyone.decides(height(10), { within: '180s' }),
});
