// Evidence of heights that memory does not hold: a block full of it, which it takes long to find wrong, and what a peer offers.

import { expect, it } from 'vitest';
import { compareBlockIdKeys } from '../../protocol/block-id.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import {
  type BlockId,
  type DuplicateVoteEvidence,
  type Evidence,
  NIL_BLOCK_ID,
  PREVOTE,
  type Vote,
} from '../../protocol/types.ts';
import { encodeEvidenceList } from '../../protocol/wire/index.ts';
import { type Liar, signedAs } from '../../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../../sim/liars/own-blocks.ts';
import { aboutOwnVotes } from '../../sim/liars/own-votes.ts';
import { runScenario } from '../../sim/run.ts';
import {
  anyone,
  at,
  delay,
  height,
  liar,
  scenario,
  these,
  validators,
  when,
} from '../../sim/scenario/words.ts';

const FROM = 700;
/** So many heights back are known without the store. */
const AT_HAND = 130n;
const NOTHING = new Uint8Array(0);
const ID = new Uint8Array(32).fill(7);
const BLOCK: BlockId = { hash: ID, parts: { total: 1, hash: ID } };
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

/** Keeps a double vote of its own, and shows it to v0 alone when memory does not reach back so far. */
const lateConfessor =
  (changed: Partial<Vote>): Liar =>
  (kit) => {
    let evidence: DuplicateVoteEvidence | null = null;
    return aboutOwnVotes(kit, 'lie: a double vote of the past', (vote, payload) => {
      const past = vote.height - 1n;
      const timeNs = kit.decided(past)?.header.timeNs;
      if (timeNs !== undefined) {
        const votes = [NIL_BLOCK_ID, BLOCK].map((blockId) =>
          signedAs(kit, { ...vote, height: past, blockId }),
        );
        const [voteA, voteB] = votes.sort((a, b) => compareBlockIdKeys(a.blockId, b.blockId)) as [Vote, Vote];
        const powers = kit.validators(past).map(({ power }) => power);
        evidence ??= {
          kind: 'duplicate-vote',
          voteA: { ...voteA, ...changed },
          voteB,
          powerTotal: powers.reduce((sum, power) => sum + power),
          validatorPower: powers[vote.validatorIndex] ?? 0n,
          timeNs,
        };
      }
      if (!evidence || vote.height < evidence.voteA.height + AT_HAND) return null;
      return [payload, { channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList([evidence]) }];
    });
  };

function past(changed: Partial<Vote>) {
  return runScenario(
    scenario('evidence of the past from a peer', {
      cast: validators(4),
      settings: { consensus: { timeoutCommitNs: 5_000_000n } },
      liars: [liar('v3', lateConfessor(changed), ['v0'])],
      act: Object.keys(changed).length > 0 ? [] : [when(anyone.punishes('v3'))],
      ends: these('v0', 'v1', 'v2').decides(height(Number(AT_HAND) + 30), { within: '600s' }),
    }),
    { seed: '1', memo: false },
  );
}

it('what a peer offers of it is looked up in the store, and committed', () => {
  const { violations, faults } = past({});
  expect(violations).toEqual([]);
  expect(faults['lie: a double vote of the past']).toBeGreaterThan(0);
});

it('and who offers what is false is not heard again', () => {
  const { violations, faults } = past({ signature: new Uint8Array(64) });
  expect(violations).toEqual([]);
  expect(faults['connections closed']).toBeGreaterThan(0);
});
