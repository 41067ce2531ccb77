// A set that becomes much smaller at once: the next block carries a commit of all who were there before (docs/decisions/0015).

import { expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse, ResponseFinalizeBlock } from '../../protocol/abci.ts';
import type { ConsensusParamsUpdate, ValidatorUpdate } from '../../protocol/types.ts';
import {
  after,
  anyone,
  crash,
  height,
  type NodeName,
  nobody,
  powers,
  runScenario,
  type Scenario,
  scenario,
  sometime,
  these,
  txs,
  when,
} from '../../sim/index.ts';

const LEAVE_AT = 4n;

/** All leave but one, after the same block; and what comes into force after the one behind it. */
class Leaving extends KvStore {
  private founders: readonly ValidatorUpdate[] = [];
  private readonly later: ConsensusParamsUpdate | null;

  constructor(later: ConsensusParamsUpdate | null = null) {
    super();
    this.later = later;
  }

  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'init-chain') this.founders = request.value.validators;
    const answer = super.answer(request);
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return answer;
    const leave = this.founders.slice(1).map(({ publicKey }) => ({ publicKey, power: 0n }));
    const more: Partial<ResponseFinalizeBlock> =
      request.value.height === LEAVE_AT
        ? { validatorUpdates: leave }
        : request.value.height === LEAVE_AT + 1n && this.later
          ? { consensusParamUpdates: this.later }
          : {};
    return { ...answer, value: { ...answer.value, ...more } };
  }
}

const names = (size: number): NodeName[] => Array.from({ length: size }, (_, i): NodeName => `v${i}`);

/** So many that a block has room for their commit by the set of its own height, and little more. */
const crowd = (size: number): Scenario['cast'] => ({
  ...powers(...Array.from({ length: size }, () => 1)),
  degree: 4,
  blockBytes: 4_000 + 3_358 * size,
});

it('full pools make no block longer than one may be', () => {
  const play = scenario('48 validators, then one', {
    cast: crowd(48),
    app: () => new Leaving(),
    load: txs({ perSecond: 600, size: 200, count: 1_100 }),
    ends: these('v0').decides(height(7), { within: '60s' }),
  });
  const { violations, transactions } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(transactions.committed).toBeGreaterThan(700); // so block 6 was full
});

it('an answer that leaves no room for the next commit is neither stored nor committed', () => {
  const little = {
    block: { maxBytes: 4_200n, maxGas: -1n },
    evidence: { maxAgeBlocks: 100n, maxAgeNs: 1_000_000_000n, maxBytes: 0n },
  };
  const because = 'block.max_bytes=4200 is too small for a commit of 60';
  const play = scenario('60 validators, then one, and small blocks', {
    cast: crowd(60),
    app: () => new Leaving(little),
    // An answer that a handshake finds again is gone on with: others may have taken it.
    act: [
      when(anyone.halts(because)),
      // Who had no commit of it yet learns of it in the second life, and halts there.
      after('1s', ...names(60).map((name) => crash(name, { restart: '1s' }))),
      after('5s', ...names(60).map((name) => crash(name, { restart: '1s' }))),
    ],
    holds: [
      sometime(anyone.halts(because)),
      sometime(anyone.halts('no block can be proposed: the least takes')),
    ],
    liveness: 'waived',
    ends: nobody.decidesBeyond(height(5), { for: '20s' }),
  });
  const { violations, nodes } = runScenario(play, { seed: 1 });
  expect(violations).toEqual([]);
  expect(nodes.every((node) => node.height <= 5n)).toBe(true);
});
