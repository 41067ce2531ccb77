// What happened before all that a node has in mind: more than 128 heights ago, and so to be read from its disk.

import { KvStore } from '../machines/apps/kvstore.ts';
import { DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import { crash, empower, everyone, height, powers, scenario, v0, v1, when } from '../sim/scenario/words.ts';

/** Ten heights a second. */
const quick = { consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 100_000_000n } };

class Forgetful extends KvStore {
  override restore(): void {}
}

const LONG = 150;

/** Another set at each height. v1's application has to be given all of them again, with what was true at each. */
export const longReplay = scenario('an application that kept nothing is given a long chain', {
  name: 'long-replay',
  cast: { ...powers(30, 30, 30, 30), candidates: 1 },
  app: () => new Forgetful(),
  settings: quick,
  act: [
    ...Array.from({ length: LONG }, (_, i) =>
      when(v0.decides(height(i + 2)), empower(`v${i % 4}` as 'v0', 31 + Math.floor(i / 4))),
    ),
    when(v0.decides(height(LONG + 5)), crash('v1', { how: 'clean', restart: '1s' })),
    when(v1.joins()),
  ],
  ends: everyone.decides(height(LONG + 12), { within: '90s' }),
});
