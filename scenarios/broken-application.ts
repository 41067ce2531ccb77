// An application that answers what no chain can follow: each node stops before anything comes of it, says why, and goes on with one that is mended.

import { PLAIN_RESULT } from '../machines/apps/base.ts';
import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse, ResponseFinalizeBlock } from '../protocol/abci.ts';
import {
  BLOCK_BYTES_MAX,
  type ConsensusParamsUpdate,
  VOTING_POWER_TOTAL_MAX as POWER_MAX,
  type PublicKey,
} from '../protocol/types.ts';
import {
  after,
  anyone,
  at,
  backUp,
  crash,
  drawn,
  everyone,
  finally_,
  height,
  putBack,
  restart,
  scenario,
  sometime,
  these,
  txs,
  v0,
  v3,
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

const params =
  (consensusParamUpdates: ConsensusParamsUpdate): Breaks =>
  () => ({ consensusParamUpdates });

const LITTLE = { maxBytes: 1_000n, maxGas: -1n };
const FOR_EVER = { maxAgeBlocks: 1_000n, maxAgeNs: 10n ** 20n, maxBytes: 1_000n };
const NONE = { maxAgeBlocks: 1_000n, maxAgeNs: 3_600_000_000_000n, maxBytes: 0n };

/** With what nodes say of it, as CometBFT does (validateValidatorUpdates, processChanges, ConsensusParams.ValidateBasic, applyBlock); vote extensions are ours to refuse. */
const BREAKS: readonly (readonly [string, Breaks])[] = [
  ['duplicate entry', powers(stranger, 5n, 6n)],
  ["can't be negative: -1", powers(stranger, -1n)],
  ["can't be higher than", powers(stranger, POWER_MAX + 1n)],
  ['resulting valset exceeds max', powers(stranger, POWER_MAX)],
  ['failed to find validator', powers(stranger, 0n)],
  ['unsupported for consensus', powers(otherKey, 5n)],
  ['invalid size for a public key', powers({ type: 'ed25519', bytes: new Uint8Array(31).fill(7) }, 5n)],
  ['evidence.MaxAgeDuration is too big', params({ evidence: FOR_EVER })],
  ['block.MaxBytes cannot be 0', params({ block: { maxBytes: 0n, maxGas: -1n } })],
  ['block.max_bytes=1000 is too small', params({ block: LITTLE, evidence: NONE })],
  ['must be greater than 0', params({ validator: { publicKeyTypes: [] } })],
  ['vote extensions', params({ abci: { voteExtensionsEnableHeight: 1_000n } })],
  ['results for', ({ txResults }) => ({ txResults: [...txResults, PLAIN_RESULT] })],
  [
    'results for',
    ({ txResults }) => ({ txResults: txResults.length > 0 ? txResults.slice(1) : [PLAIN_RESULT] }),
  ],
  [
    'a code or gas that its bytes cannot hold',
    ({ txResults }) => ({ txResults: txResults.map((result) => ({ ...result, gasUsed: 2n ** 63n })) }),
  ],
  ['block.MaxBytes is too big', params({ block: { maxBytes: BLOCK_BYTES_MAX + 1n, maxGas: -1n } })],
  ['block.MaxBytes must be -1 or greater', params({ block: { maxBytes: -2n, maxGas: -1n } })],
  ['block.MaxGas must be greater', params({ block: { maxBytes: 1_000_000n, maxGas: -2n } })],
  ['evidence.MaxAgeNumBlocks must be', params({ evidence: { ...NONE, maxAgeBlocks: 0n } })],
  ['evidence.MaxAgeDuration must be', params({ evidence: { ...NONE, maxAgeNs: 0n } })],
  ['is greater than upper bound', params({ block: LITTLE, evidence: { ...NONE, maxBytes: 1_001n } })],
  ['evidence.MaxBytes must be', params({ evidence: { ...NONE, maxBytes: -1n } })],
  ['is an unknown pubkey type', params({ validator: { publicKeyTypes: ['ed25519', 'sr25519'] } })],
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
    ends: everyone.decides(height(FIRST + EVERY * BREAKS.length), { within: '300s', afterwards: 2 }),
  },
);

/** With which no node can propose a block, or take part. */
const UNPLAYABLE: readonly (readonly [string, ConsensusParamsUpdate])[] = [
  ['block.MaxBytes cannot be 0', { block: { maxBytes: 0n, maxGas: -1n } }],
  ['block.max_bytes=1000 is too small', { block: LITTLE, evidence: NONE }],
  ['vote extensions', { abci: { voteExtensionsEnableHeight: 1n } }],
];

/** Who has been away has lost its chain, and wants another one than there is, whatever the genesis says. */
class Beginning extends KvStore {
  private readonly consensusParams: ConsensusParamsUpdate;
  private isBack = false;

  constructor(consensusParams: ConsensusParamsUpdate) {
    super();
    this.consensusParams = consensusParams;
  }

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type === 'info' && answer.value.lastBlockHeight > 0n) {
      this.isBack = true;
      return { ...answer, value: { ...answer.value, lastBlockHeight: 0n } };
    }
    if (answer.type !== 'init-chain' || !this.isBack) return answer;
    return { ...answer, value: { ...answer.value, consensusParams: this.consensusParams } };
  }
}

const unplayable = (because: string, params: ConsensusParamsUpdate) =>
  scenario('drawn', {
    cast: validators(4),
    app: () => new Beginning(params),
    load: txs({ perSecond: 3 }),
    act: [
      at('0s', backUp('v3')),
      when(
        v0.decides(height(4)),
        crash('v3', { how: 'clean' }),
        putBack('v3', 'chain', 'consensus'),
        restart('v3'),
      ),
    ],
    holds: [sometime(v3.halts(because)), finally_(v3.isHalted)],
    ends: these('v0', 'v1', 'v2').decides(height(10), { within: '60s' }),
  });

export const unplayableBeginning = drawn(
  'unplayable-beginning',
  'no node begins with parameters that no block can be made by',
  (stream) => unplayable(...(UNPLAYABLE[stream.draw(UNPLAYABLE.length)] ?? UNPLAYABLE[0]!)),
);

const LARGE_AT = 5n;
const UNKNOWN_AT = 8n;
/** A tag and the length, around a transaction of less than two megabytes. */
const FRAME_BYTES = 4;

/** Whoever has executed the block before in this life prepares one byte more than there is room for at one height, and at another does not say whether it accepts. */
class Unsure extends KvStore {
  private executed = 0n;

  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'finalize-block') this.executed = request.value.height;
    const isAfter = (height: bigint): boolean => this.executed === height - 1n;
    if (request.type === 'prepare-proposal' && request.value.height === LARGE_AT && isAfter(LARGE_AT)) {
      const tx = new Uint8Array(Number(request.value.maxTxBytes) + 1 - FRAME_BYTES);
      return { type: 'prepare-proposal', value: { txs: [tx] } };
    }
    if (request.type === 'process-proposal' && request.value.height === UNKNOWN_AT && isAfter(UNKNOWN_AT))
      return { type: 'process-proposal', value: { status: 0 } };
    return super.answer(request);
  }
}

const UNSURE = ['max_tx_bytes was', 'ProcessProposal answered UNKNOWN'];

export const brokenProposals = scenario(
  'nobody proposes what an application must not prepare, nor votes where it says nothing',
  {
    name: 'broken-proposals',
    cast: validators(4, { blockBytes: 200_000 }),
    app: () => new Unsure(),
    load: txs({ perSecond: 3 }),
    act: UNSURE.flatMap((because) => [
      when(anyone.halts(because)),
      after('2s', ...names.map((name) => crash(name, { restart: '1s' }))),
    ]),
    holds: UNSURE.map((because) => sometime(anyone.halts(because))),
    ends: everyone.decides(height(12), { within: '120s', afterwards: 2 }),
  },
);
