// Changes of the validators that lead to no set: a node halts at an answer that asks for one, and all nodes with it. The application lets none
// of them through, at the door or as the block is executed.

import {
  after,
  c0,
  c1,
  crash,
  empower,
  everyone,
  finally_,
  height,
  powers,
  scenario,
  submit,
  txs,
  v0,
  v2,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** c0 never came. The application refuses both transactions. */
export const strangerLeaves = scenario('who is no validator cannot leave', {
  name: 'stranger-leaves',
  cast: validators(4, { candidates: 1 }),
  act: [when(v0.decides(height(3)), empower('c0', 0))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

export const lastLeaves = scenario('the last validator cannot leave', {
  name: 'last-leaves',
  cast: validators(1),
  act: [when(v0.decides(height(3)), empower('v0', 0))],
  holds: [finally_(v0.hasPower(10))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** All are in one block: there is never a set of nobody, and of two words about c0 the last counts. */
export const allLeaveAtOnce = scenario('all may leave in a block in which others come', {
  name: 'all-leave-at-once',
  cast: { ...powers(10), candidates: 1 },
  act: [when(v0.decides(height(3)), empower('c0', 9), empower('c0', 7), empower('v0', 0))],
  holds: [finally_(v0.hasPower(0)), finally_(c0.hasPower(7))],
  ends: everyone.decides(height(12), { within: '120s' }),
});

/** A block has room for the commit of four. */
export const noRoomForAnother = scenario('a set does not outgrow the blocks that carry its commits', {
  name: 'no-room-for-another',
  cast: validators(4, { candidates: 1, blockBytes: 15_000 }),
  load: txs({ perSecond: 3 }),
  act: [when(v0.decides(height(3)), empower('c0', 10)), when(v0.decides(height(6)), empower('c0', 10))],
  holds: [finally_(c0.hasPower(0))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** A block has room for the commit of four, and both would come with one. */
export const oneLastPlace = scenario('of two who come for the last place one comes', {
  name: 'one-last-place',
  cast: validators(3, { candidates: 2, blockBytes: 15_000 }),
  load: txs({ perSecond: 3 }),
  act: [when(v0.decides(height(3)), empower('c0', 10), empower('c1', 10))],
  holds: [finally_(c0.hasPower(10)), finally_(c1.hasPower(0))],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** v2's application has its validators from its store. */
export const noRoomAfterRestart = scenario(
  'an application knows in its next life how many validators blocks carry',
  {
    name: 'no-room-after-restart',
    cast: validators(4, { candidates: 1, blockBytes: 15_000 }),
    load: txs({ perSecond: 3 }),
    act: [
      when(v0.decides(height(3)), crash('v2', { restart: '500ms' })),
      when(v2.joins(), empower('c0', 10)),
    ],
    holds: [finally_(c0.hasPower(0))],
    ends: everyone.decides(height(10), { within: '120s' }),
  },
);

const KEY = 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=';
const KEY_OF_ANOTHER_KIND = 'AgcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH';
/** As much as all of a set may have. */
const POWER_MOST = '1152921504606846975';

/** Their keys are as long as keys are: all else is wrong with them. */
export const impossibleUpdates = scenario('no update of the validators asks for what no set has', {
  name: 'impossible-updates',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    `val=${KEY}!1`,
    `val=!${KEY}!many`,
    `val=!${KEY}!-1`,
    `val=!${KEY}!${POWER_MOST}`,
    `val=!${KEY}!${POWER_MOST}0`,
    `val=secp256k1!${KEY_OF_ANOTHER_KIND}!1`,
    `val=bls12381!${KEY}!1`,
  ].map((tx) => after('700ms', submit('v0', tx))),
  ends: everyone.decides(height(10), { within: '120s', afterwards: 1 }),
});
