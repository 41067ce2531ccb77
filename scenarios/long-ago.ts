// What happened before all that a node has in mind: more than 128 heights ago, and so to be read from its disk.

import { KvStore } from '../machines/apps/kvstore.ts';
import { DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import { EMPTY_BYTES } from '../protocol/types.ts';
import {
  at,
  crash,
  drop,
  empower,
  everyone,
  f0,
  heal,
  height,
  liar,
  node,
  powers,
  restart,
  scenario,
  txs,
  v0,
  v1,
  validators,
  when,
} from '../sim/scenario/words.ts';

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

/** Its hash is the chain's to know: at InitChain it names none. */
class Nameless extends Forgetful {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    return answer.type === 'init-chain'
      ? { ...answer, value: { ...answer.value, appHash: EMPTY_BYTES } }
      : answer;
  }
}

export const namelessBeginning = scenario(
  'an application that kept nothing, and names no hash for that, is given its chain again',
  {
    name: 'nameless-beginning',
    cast: validators(4),
    app: () => new Nameless(),
    load: txs({ perSecond: 3 }),
    act: [when(v0.decides(height(5)), crash('v1', { how: 'clean', restart: '1s' })), when(v1.joins())],
    ends: everyone.decides(height(12), { within: '60s' }),
  },
);

const f1 = node('f1');
const GOES_AT = 110;
const SHOWN_AT = 112;

/**
 * f0 alone has the evidence, proposes nothing, and is heard when it is long ago. f1 is gone by then; back from a restart it has in mind the 64
 * heights before it went, and block sync gives it the block that punishes.
 */
export const longAgoInBlockSync = scenario('what was done long ago is judged in block sync, too', {
  name: 'long-ago-in-block-sync',
  cast: validators(4, { fullNodes: 2 }),
  settings: quick,
  liars: [liar('v3', 'double-voter', ['f0'], { votes: 'prevotes', fromHeight: 38, toHeight: 42 })],
  act: [
    at('0s', drop('evidence', { from: ['f0'] })),
    when(f1.decides(height(GOES_AT)), crash('f1', { how: 'clean' })),
    when(f0.decides(height(SHOWN_AT)), heal(), crash('f0', { how: 'clean', restart: '1s' })),
    when(v1.punishes('v3')),
    when(v0.decides(height(SHOWN_AT + 34)), restart('f1')),
    when(f1.joins()),
  ],
  ends: everyone.decides(height(SHOWN_AT + 40), { within: '50s', afterwards: 2 }),
});

const BACK_AT = 140;

/**
 * f0 alone has the evidence of the first block, which others have to look up when they are told: it is long ago by then. Round 0 fails, for some
 * peers find each other after four seconds only.
 */
export const firstOfAllLongAgo = scenario('what was done as the chain began is judged long after', {
  name: 'first-of-all-long-ago',
  cast: validators(4, { fullNodes: 1 }),
  settings: quick,
  liars: [liar('v3', 'double-voter', ['f0'], { votes: 'prevotes', toHeight: 1, fromRound: 1 })],
  act: [
    at('0s', drop('proposals', { height: 1, round: 0 }), drop('evidence', { from: ['f0'] })),
    when(f0.decides(height(BACK_AT)), heal(), crash('f0', { how: 'clean', restart: '1s' })),
    when(everyone.punishes('v3')),
  ],
  ends: everyone.decides(height(BACK_AT + 20), { within: '60s', afterwards: 2 }),
});
