// A block is named by its hash and its parts: lies that keep the one and change the other.

import {
  crash,
  everyone,
  f0,
  height,
  liar,
  powers,
  restart,
  scenario,
  txs,
  v0,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** Of nearly a third of the power, and the application punishes nobody. v2 alone hears the truth, and has the others hear of both. */
export const otherParts = scenario('a vote for the hash of a block and other parts is no vote for it', {
  name: 'other-parts',
  cast: powers(10, 10, 10, 14),
  app: 'noop',
  liars: [liar('v3', 'other-parts-voter', ['v0', 'v1'])],
  ends: everyone.decides(height(10), { within: '60s' }),
});

export const otherPartsPunished = scenario('who votes for two sets of parts of one block is punished', {
  name: 'other-parts-punished',
  cast: validators(4),
  liars: [liar('v3', 'both-parts-voter', ['v0', 'v1', 'v2'], { fromHeight: 3, toHeight: 5 })],
  act: [when(everyone.punishes('v3'))],
  ends: everyone.decides(height(14), { within: '120s' }),
});

/** f0 comes back to a chain that has grown: block sync gives it blocks, not the bytes that were decided. */
export const stretchedBlocks = scenario('a block whose bytes nobody else would make of it is not decided', {
  name: 'stretched-blocks',
  cast: validators(4, { fullNodes: 1 }),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'byte-stretcher', ['v0', 'v1', 'v3'])],
  act: [
    when(v0.decides(height(2)), crash('f0')),
    when(v0.decides(height(24)), restart('f0')),
    when(f0.joins()),
  ],
  ends: everyone.decides(height(28), { within: '400s', afterwards: 2 }),
});
