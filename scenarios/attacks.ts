// Attacks on light clients that nobody made, and true ones that name the wrong.

import {
  anyone,
  everyone,
  height,
  liar,
  powers,
  scenario,
  sometime,
  txs,
  validators,
} from '../sim/scenario/words.ts';
import { loses } from './promises.ts';

/** Every fourth block is v2's; beside its prevotes peers are told, too. */
export const inventedAttacks = scenario('an attack on light clients that nobody made punishes nobody', {
  name: 'invented-attacks',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'attack-inventor', ['v0', 'v1', 'v3'])],
  holds: loses(
    'v2',
    'insufficient voting power',
    'derived from the chain',
    'skipping verification of conflicting block failed: wrong signature',
    'invalid commit from conflicting block: wrong signature',
    'our header has the hash',
    'commit.block_id must be of the header',
    'double vote from',
  ),
  ends: everyone.decides(height(56), { within: '700s' }),
});

/** v0 has more than a third: headers that it signs alone would pass for the chain's, so what it invents of itself is true, but for whom it names. */
export const trueAttacks = scenario('who could deceive a light client alone is punished for having tried', {
  name: 'true-attacks',
  cast: powers(40, 20, 20, 20),
  load: txs({ perSecond: 2 }),
  liars: [liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { toHeight: 12 })],
  holds: [
    sometime(anyone.punishes('v0')),
    ...loses(
      'v0',
      "that is not its public key's",
      'unexpected byzantine validator address',
      'unexpected byzantine validator power',
      'total power of the evidence',
    ),
  ],
  ends: everyone.decides(height(20), { within: '600s' }),
});
