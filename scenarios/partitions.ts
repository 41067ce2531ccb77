// Networks that are cut in two, or in one direction, or for good.

import {
  after,
  anyone,
  at,
  crash,
  cut,
  drop,
  everyone,
  heal,
  height,
  isolate,
  never,
  nobody,
  partition,
  powers,
  reset,
  restart,
  scenario,
  sometime,
  these,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

export const minorityPartition = scenario(
  'a minority is cut off, the majority goes on, the minority catches up',
  {
    name: 'minority-partition',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [
      when(v0.decides(height(3)), isolate('v3')),
      when(v0.decides(height(9)), heal()),
      when(v3.decides(height(9))),
    ],
    holds: [sometime(anyone.enters('propose', { round: 1 }))],
    ends: everyone.decides(height(14), { within: '180s' }),
  },
);

export const evenSplit = scenario('two halves decide nothing, and go on together once the split is over', {
  name: 'even-split',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [when(everyone.decides(height(3)), partition(['v0', 'v1'], ['v2', 'v3'])), after('40s', heal())],
  holds: [never(anyone.decides(height(4)), { while: v0.isCutOff })],
  ends: everyone.decides(height(12), { within: '300s' }),
});

/** Twelve minutes: whoever dials waits longer and longer, but no longer than it is told to. */
export const longOutage = scenario('however long two halves were apart, they soon find each other again', {
  name: 'long-outage',
  cast: validators(4),
  act: [
    when(
      everyone.decides(height(3)),
      partition(['v0', 'v1'], ['v2', 'v3']),
      ...(['v0', 'v1'] as const).flatMap((one) => [reset(one, 'v2'), reset(one, 'v3')]),
    ),
    after('740s', heal()),
  ],
  ends: everyone.decides(height(6), { within: '1200s' }),
});

/** v1 cannot say where it stands, so nobody knows what it lacks: it follows again when it is heard. */
export const asymmetricPartition = scenario('nobody hears v1, though v1 hears everybody', {
  name: 'asymmetric-partition',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(2)), cut(['v1'], ['v0', 'v2', 'v3'])),
    when(v0.decides(height(10)), heal()),
    when(v1.decides(height(10))),
  ],
  holds: [sometime(anyone.enters('propose', { round: 1 }))],
  ends: everyone.decides(height(14), { within: '240s' }),
});

export const permanentCut = scenario(
  'two validators never hear each other again, and all go on by way of the others',
  {
    name: 'permanent-cut',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [at('3s', cut(['v0'], ['v2'], 'for-ever'), cut(['v2'], ['v0'], 'for-ever')), after('20s', heal())],
    ends: everyone.decides(height(24), { within: '240s' }),
  },
);

export const oneThirdSilent = scenario('exactly a third falls silent: liveness is lost, safety is kept', {
  name: 'one-third-silent',
  cast: powers(10, 10, 10),
  act: [when(everyone.decides(height(10)), isolate('v2', 'for-ever'))],
  ends: nobody.decidesBeyond(height(11), { for: '120s' }),
});

export const lessThanOneThirdSilent = scenario('less than a third falls silent, and the others go on', {
  name: 'less-than-one-third-silent',
  cast: powers(10, 10, 10, 9),
  act: [when(everyone.decides(height(3)), isolate('v3', 'for-ever'))],
  ends: these('v0', 'v1', 'v2').decides(height(12), { within: '180s' }),
});

/** Together v0 and v1 have one more than two thirds; who counts in 53 bits asks for one more than that. */
export const greatPowers = scenario('where powers have sixteen digits one more than two thirds is enough', {
  name: 'great-powers',
  cast: powers(9_007_199_254_641_979, 9_007_199_254_302_738, 9_007_199_254_472_358),
  act: [when(everyone.decides(height(6)), isolate('v2', 'for-ever'))],
  ends: these('v0', 'v1').decides(height(14), { within: '240s' }),
});

/** v0 hears nothing of v3 as they meet, and v3 hears v0: one of them is up, and the other asks for what it did not hear. */
export const greetingLost = scenario('who is up greets again whoever has not heard it', {
  name: 'greeting-lost',
  cast: validators(4),
  act: [
    when(v0.decides(height(3)), crash('v3', { how: 'clean' })),
    when(v0.decides(height(4)), drop('everything', { from: ['v3'] }), restart('v3')),
    after('4500ms', heal()),
  ],
  ends: everyone.decides(height(14), { within: '200s', afterwards: 2 }),
});
