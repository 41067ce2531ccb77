// Large sets, and large blocks: some have more validators, or more parts, than a word of 64 bits has.

import {
  at,
  crash,
  drop,
  empower,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  node,
  scenario,
  submit,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const [c0, v65] = [node('c0'), node('v65')];

/** Most of them know four or five others. One dies, one comes, one becomes stronger, and one goes. */
export const manyValidators = scenario('sixty-six validators are as good as four', {
  name: 'many-validators',
  cast: validators(66, { candidates: 1, degree: 3 }),
  load: txs({ perSecond: 2 }),
  act: [
    when(v0.decides(height(2)), crash('v1', { restart: '1s' }), empower('c0', 10)),
    when(v0.decides(height(3)), empower('v3', 0)),
    when(v0.decides(height(4)), empower('v65', 20)),
    when(v1.decides(height(9))),
  ],
  holds: [finally_(c0.hasPower(10)), finally_(v65.hasPower(20)), finally_(v3.hasPower(0))],
  ends: everyone.decides(height(12), { within: '240s' }),
});

/**
 * Nobody fails, so nothing is worth a wait but what is far: most blocks take a round, and the height less than two seconds and a half. Who asks too seldom, or asks
 * always the same one, or answers too little, makes it three and a half at least.
 */
export const thinMesh = scenario('forty who know three others each are quick all the same', {
  name: 'thin-mesh',
  cast: validators(40, { degree: 3 }),
  load: txs({ perBlock: 1, size: 250 }),
  ends: everyone.decides(height(10), { within: '27s' }),
});

/** More than a hundred parts. v3 has none of them until the others are three heights further, and serve it from their stores. */
export const manyParts = scenario('a block of more parts than fit one offer', {
  name: 'many-parts',
  cast: validators(4),
  load: txs({ perSecond: 100, size: 900_000, count: 8 }),
  settings: { mempool: { batchBytesMax: 2_000_000 } },
  act: [at('0s', drop('parts', { to: ['v3'] })), when(v0.decides(height(4)), heal())],
  ends: everyone.decides(height(10), { within: '120s' }),
});

/** Three parts and a bit more than a half: of what waits at height 4 a block takes as much as it may. */
export const partOfAPart = scenario('a full block may end in a part that is not full', {
  name: 'part-of-a-part',
  cast: validators(4, { blockBytes: 236_608 }),
  act: [
    when(
      v0.decides(height(3)),
      ...Array.from({ length: 12 }, (_, i) => submit('v0', `large${i}=`.padEnd(20_000, 'v'))),
    ),
  ],
  ends: everyone.decides(height(11), { within: '120s' }),
});

/** Twenty kilobytes each, so that blocks have several parts, and leaves of their trees are large. */
export const largeBlocks = scenario('blocks of several parts', {
  name: 'large-blocks',
  cast: validators(4),
  load: txs({ perSecond: 6, size: 20_000 }),
  act: [when(v0.decides(height(3)), isolate('v3')), when(v0.decides(height(5)), heal())],
  ends: everyone.decides(height(8), { within: '120s', afterwards: 1 }),
});
