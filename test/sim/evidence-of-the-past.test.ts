// A block that accuses of things at every height of the chain: it takes long to find out that it is wrong, and until then it is no block to go by.

import { expect, it } from 'vitest';
import { type Evidence, NIL_BLOCK_ID, PREVOTE, type Vote } from '../../protocol/types.ts';
import type { Liar } from '../../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../../sim/liars/own-blocks.ts';
import { runScenario } from '../../sim/run.ts';
import { at, delay, height, liar, scenario, these, validators } from '../../sim/scenario/words.ts';

const FROM = 700;
/** So many heights back are known without the store. */
const AT_HAND = 130n;
const NOTHING = new Uint8Array(0);
const YEAR_9999_NS = 253_402_300_799_999_999_999n;

/** Of nobody, and for nothing. */
const emptyVote = (ofHeight: bigint): Vote => ({
  type: PREVOTE,
  height: ofHeight,
  round: 0,
  blockId: NIL_BLOCK_ID,
  timeNs: 0n,
  validatorAddress: NOTHING,
  validatorIndex: 0,
  signature: NOTHING,
  extension: NOTHING,
  extensionSignature: NOTHING,
});

const accuserOfAll: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: evidence of the past', (block) => {
    const evidence: Evidence[] = [];
    for (let past = 1n; past < block.header.height - AT_HAND; past++) {
      const vote = emptyVote(past);
      evidence.push({
        kind: 'duplicate-vote',
        voteA: vote,
        voteB: vote,
        powerTotal: 0n,
        validatorPower: 0n,
        timeNs: 0n,
      });
    }
    return { block: { ...block, evidence, header: { ...block.header, timeNs: YEAR_9999_NS } } };
  });

it('a block that is not found good yet dates no vote, so that time goes on', () => {
  const heights = [0, 1, 2, 3].map((more) => FROM + more);
  const play = scenario('evidence of the past', {
    cast: validators(4),
    settings: { consensus: { timeoutCommitNs: 5_000_000n, timeoutProposeNs: 3_000_000_000n } },
    liars: [liar('v3', accuserOfAll, ['v0', 'v1', 'v2'], { fromHeight: FROM, toHeight: FROM + 3 })],
    // It comes just before the propose timeout: the vote is nil, and cast while the block is under judgement.
    act: [at('0s', ...heights.map((h) => delay('parts', '2994ms', { height: h, from: ['v3'] })))],
    ends: these('v0', 'v1', 'v2').decides(height(FROM + 6), { within: '600s' }),
  });
  const { violations, faults } = runScenario(play, { seed: '1', memo: false });
  expect(violations).toEqual([]);
  expect(faults['lie: evidence of the past']).toBeGreaterThan(0);
});
