// Attacks on light clients that nobody made, and true ones that name the wrong.

import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import {
  anyone,
  everyone,
  height,
  liar,
  never,
  powers,
  scenario,
  sometime,
  txs,
  validators,
  when,
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
      'header.validators_hash is not of the validator set',
    ),
  ],
  ends: everyone.decides(height(20), { within: '600s' }),
});

/** v0 alone makes commits. It signs another block in the place of height 3, in the same round, and one in that of height 4, a round later: for that it may have had a reason. */
export const amnesiaProvesNothing = scenario('who signs another block a round later is not punished for it', {
  name: 'amnesia-proves-nothing',
  cast: powers(70, 10, 10, 10),
  liars: [liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { fromHeight: 5, toHeight: 6 })],
  act: [when(everyone.punishes('v0'))],
  holds: loses('v0', 'from an amnesia light client attack'),
  ends: everyone.decides(height(16), { within: '600s', afterwards: 2 }),
});

/** A block has room for the proof of a double vote, and not for that of an attack. */
const EVIDENCE_BYTES = 700n;

class Sparing extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type !== 'init-chain') return answer;
    const evidence = { maxAgeBlocks: 1_000n, maxAgeNs: 3_600_000_000_000n, maxBytes: EVIDENCE_BYTES };
    return { ...answer, value: { ...answer.value, consensusParams: { evidence } } };
  }
}

/** All hold the attack of v0, which is older than what v3 does, and which no block can carry. */
export const tooMuchEvidence = scenario('evidence that no block has room for does not keep back other', {
  name: 'too-much-evidence',
  cast: powers(40, 25, 25, 10),
  app: () => new Sparing(),
  liars: [
    liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { fromHeight: 5, toHeight: 5 }),
    liar('v3', 'double-voter', ['v0', 'v1', 'v2'], { fromHeight: 7, toHeight: 9 }),
  ],
  act: [when(everyone.punishes('v3'))],
  holds: [never(anyone.punishes('v0'))],
  ends: everyone.decides(height(14), { within: '120s', afterwards: 2 }),
});
