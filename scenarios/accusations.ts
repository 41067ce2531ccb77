// Evidence that a node cannot judge at once, or must keep.

import { NS_PER_MS } from '../protocol/time.ts';
import {
  after,
  at,
  crash,
  drop,
  everyone,
  f0,
  heal,
  height,
  liar,
  scenario,
  sometime,
  these,
  v0,
  validators,
  when,
} from '../sim/scenario/words.ts';

const seven = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6'] as const;

/** f0 alone can prove what v5 and v6 did, and is not heard until nobody remembers those heights: each looks up one of the two, and is told of the other again. */
export const accusedTogether = scenario('of two accused of long ago together both are punished', {
  name: 'accused-together',
  cast: validators(7, { fullNodes: 1 }),
  settings: { consensus: { timeoutCommitNs: 300n * NS_PER_MS } },
  liars: [
    liar('v5', 'double-voter', ['f0'], { votes: 'prevotes', fromHeight: 8, toHeight: 8 }),
    liar('v6', 'double-voter', ['f0'], { votes: 'prevotes', fromHeight: 11, toHeight: 11 }),
  ],
  act: [
    at('0s', drop('evidence', { from: ['f0'] })),
    when(
      everyone.decides(height(80)),
      heal(),
      ...seven.map((name) => crash(name, { how: 'clean', restart: '1s' })),
    ),
  ],
  ends: everyone.decides(height(160), { within: '240s' }),
});

/** f0 alone can prove what v3 did, tells v0 alone, and is gone; v0 starts again before its turn. */
export const heardAndKept = scenario('who heard of evidence has it after a restart, too', {
  name: 'heard-and-kept',
  cast: validators(4, { fullNodes: 1 }),
  liars: [liar('v3', 'double-voter', ['f0'], { votes: 'prevotes', fromHeight: 5, toHeight: 5 })],
  act: [
    at('0s', drop('evidence', { to: ['v1', 'v2', 'v3'] })),
    when(f0.decides(height(5))),
    after('1800ms', crash('f0'), crash('v0', { how: 'clean', restart: '200ms' })),
    when(v0.joins(), heal()),
  ],
  holds: [sometime(v0.punishes('v3'))],
  ends: these('v0', 'v1', 'v2').decides(height(16), { within: '120s' }),
});
