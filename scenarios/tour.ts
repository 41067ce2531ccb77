// The tour: what `npm start` shows. Real keys, real transactions; the seed cuts wires, loses messages, kills
// and freezes nodes.

import type { Stream } from '../sim/choices.ts';
import { MILLISECOND, uniform } from '../sim/latency.ts';
import type { NodeName } from '../sim/scenario/play.ts';
import {
  after,
  calm,
  crash,
  cut,
  drawn,
  everyone,
  heal,
  height,
  links,
  partition,
  pause,
  scenario,
  txs,
  v0,
  validators,
  when,
} from '../sim/scenario/words.ts';

export const tour = drawn(
  'tour',
  'four validators with real keys live through what the seed does to them',
  (stream: Stream) => {
    const [a, b, c, d] = stream.shuffle<NodeName>(['v0', 'v1', 'v2', 'v3']) as [
      NodeName,
      NodeName,
      NodeName,
      NodeName,
    ];
    const lossy = {
      latency: uniform(2 * MILLISECOND, stream.between(20, 120) * MILLISECOND),
      lossPpm: stream.between(5_000, 40_000),
      duplicatePpm: stream.between(0, 20_000),
      reorderPpm: stream.between(0, 20_000),
    };
    return scenario('drawn', {
      cast: validators(4),
      crypto: 'ed25519',
      load: txs({ perSecond: 6, size: 48 }),
      act: [
        when(v0.decides(height(2)), links(lossy)),
        after(`${stream.between(1500, 4000)}ms`, cut([a], [b])),
        after(
          `${stream.between(3000, 6000)}ms`,
          crash(c, { how: 'drawn', restart: `${stream.between(2, 6)}s` }),
        ),
        when({ who: c, does: 'joins' }, heal()),
        after('2s', partition([a, d], [b, c])),
        after(`${stream.between(4, 9)}s`, heal()),
        after('3s', pause(b, `${stream.between(2, 5)}s`)),
        after('2s', crash(d, { how: 'lose', restart: '1s' })),
        when({ who: d, does: 'joins' }, calm()),
      ],
      ends: everyone.decides(height(20), { within: '600s', afterwards: 4 }),
    });
  },
);
