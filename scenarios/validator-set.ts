// Validators come and go by transactions; what a block of height H decides is in force at H + 2.

import {
  after,
  c0,
  empower,
  everyone,
  finally_,
  height,
  scenario,
  sometime,
  txs,
  v0,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

export const validatorJoinsAndLeaves = scenario(
  'a fifth validator joins, another leaves, two heights after the block that says so',
  {
    name: 'validator-joins-and-leaves',
    cast: validators(4, { candidates: 1 }),
    load: txs({ perSecond: 3 }),
    act: [
      when(v0.decides(height(2)), empower('c0', 10)),
      when(c0.precommits()),
      when(c0.proposes()),
      when(v0.decides(height(9)), empower('v3', 0)),
      when(v0.decides(height(13)), empower('c0', 7)),
      after('8s'), // time for that transaction to be decided, too
    ],
    holds: [sometime(v3.proposes()), finally_(v3.hasPower(0)), finally_(c0.hasPower(7))],
    ends: everyone.decides(height(20), { within: '240s' }),
  },
);
