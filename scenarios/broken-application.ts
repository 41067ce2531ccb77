// An application that answers what no chain can follow: each node stops before anything comes of it, says why, and goes on with one that is mended.

import { PLAIN_RESULT } from '../machines/apps/base.ts';
import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse, ResponseFinalizeBlock } from '../protocol/abci.ts';
import { VOTING_POWER_TOTAL_MAX as POWER_MAX, type PublicKey } from '../protocol/types.ts';
import {
  after,
  anyone,
  crash,
  everyone,
  height,
  scenario,
  sometime,
  txs,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** What it says instead of what it would have said. */
type Breaks = (
  answer: ResponseFinalizeBlock,
) => Pick<Partial<ResponseFinalizeBlock>, 'txResults' | 'validatorUpdates' | 'consensusParamUpdates'>;

const stranger: PublicKey = { type: 'ed25519', bytes: new Uint8Array(32).fill(7) };
const otherKey: PublicKey = { type: 'secp256k1', bytes: new Uint8Array(33).fill(7) };

const powers =
  (publicKey: PublicKey, ...said: readonly bigint[]): Breaks =>
  () => ({ validatorUpdates: said.map((power) => ({ publicKey, power })) });

const LITTLE = { maxBytes: 1_000n, maxGas: -1n };
const NONE = { maxAgeBlocks: 1_000n, maxAgeNs: 3_600_000_000_000n, maxBytes: 0n };

/** With what nodes say of it, as CometBFT does (validateValidatorUpdates, processChanges, ConsensusParams.ValidateBasic, applyBlock); vote extensions are ours to refuse. */
const BREAKS: readonly (readonly [string, Breaks])[] = [
  ['duplicate entry', powers(stranger, 5n, 6n)],
  ["can't be negative: -1", powers(stranger, -1n)],
  ["can't be higher than", powers(stranger, POWER_MAX + 1n)],
  ['resulting valset exceeds max', powers(stranger, POWER_MAX)],
  ['failed to find validator', powers(stranger, 0n)],
  ['unsupported for consensus', powers(otherKey, 5n)],
  ['block.MaxBytes cannot be 0', () => ({ consensusParamUpdates: { block: { maxBytes: 0n, maxGas: -1n } } })],
  ['block.max_bytes=1000 is too small', () => ({ consensusParamUpdates: { block: LITTLE, evidence: NONE } })],
  ['must be greater than 0', () => ({ consensusParamUpdates: { validator: { publicKeyTypes: [] } } })],
  ['vote extensions', () => ({ consensusParamUpdates: { abci: { voteExtensionsEnableHeight: 1_000n } } })],
  ['results for', ({ txResults }) => ({ txResults: [...txResults, PLAIN_RESULT] })],
];

/** It breaks every other block from here on, each in another way. */
const FIRST = 3;
const EVERY = 2;

/** Who has executed the block before, in this life, breaks this one: it is mended as its node starts again. */
class Broken extends KvStore {
  private executed = 0n;

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return answer;
    const at = request.value.height;
    const isBefore = this.executed === at - 1n;
    this.executed = at;
    const [, breaks] = BREAKS[(Number(at) - FIRST) / EVERY] ?? [];
    return isBefore && breaks ? { ...answer, value: { ...answer.value, ...breaks(answer.value) } } : answer;
  }
}

/** Who has halted gives nobody the votes that decided: the last may be waiting for them when all start again. */
const names = ['v0', 'v1', 'v2', 'v3'] as const;

export const brokenApplication = scenario(
  'no chain follows a broken application, and all follow when it is mended',
  {
    name: 'broken-application',
    cast: validators(4),
    app: () => new Broken(),
    load: txs({ perSecond: 3 }),
    act: BREAKS.flatMap(() => [
      when(anyone.halts()),
      after('2s', ...names.map((name) => crash(name, { restart: '1s' }))),
    ]),
    holds: BREAKS.map(([because]) => sometime(anyone.halts(because))),
    ends: everyone.decides(height(FIRST + EVERY * BREAKS.length), { within: '240s', afterwards: 2 }),
  },
);
