// Nothing goes wrong: what a healthy network looks like, and what speed is measured on.

import { everyone, height, scenario, txs, validators } from '../sim/scenario/words.ts';

export const calm = scenario('four validators, nothing goes wrong', {
  name: 'calm',
  cast: validators(4),
  load: txs({ perBlock: 1, size: 250 }),
  ends: everyone.decides(height(20), { within: '120s' }),
});
