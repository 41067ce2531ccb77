// An application that answers what no chain can follow: each node stops before anything comes of it, says why, and goes on with one that is
// mended. So it does where an application comes back with another past than its chain has.

import type { Pair } from '../machines/apps/application.ts';
import { PLAIN_RESULT } from '../machines/apps/base.ts';
import { KvStore } from '../machines/apps/kvstore.ts';
import type {
  AbciRequest,
  AbciResponse,
  ResponseFinalizeBlock,
  ResponseInitChain,
} from '../protocol/abci.ts';
import { hexOf } from '../protocol/bytes.ts';
import {
  BLOCK_BYTES_MAX,
  type ConsensusParamsUpdate,
  VOTING_POWER_TOTAL_MAX as POWER_MAX,
  type PublicKey,
} from '../protocol/types.ts';
import type { Action, NodeName } from '../sim/scenario/play.ts';
import {
  after,
  anyone,
  at,
  backUp,
  crash,
  everyone,
  finally_,
  height,
  node,
  putBack,
  restart,
  scenario,
  sometime,
  these,
  txs,
  v1,
  validators,
  when,
} from '../sim/scenario/words.ts';

/** What it says instead of what it would have said. */
type Breaks = (
  answer: ResponseFinalizeBlock,
) => Pick<Partial<ResponseFinalizeBlock>, 'txResults' | 'validatorUpdates' | 'consensusParamUpdates'>;

const stranger: PublicKey = { type: 'ed25519', bytes: new Uint8Array(32).fill(7) };
const shortKey: PublicKey = { type: 'ed25519', bytes: new Uint8Array(31).fill(7) };
const otherKey: PublicKey = { type: 'secp256k1', bytes: new Uint8Array(33).fill(7) };

const powers =
  (publicKey: PublicKey, ...said: readonly bigint[]): Breaks =>
  () => ({ validatorUpdates: said.map((power) => ({ publicKey, power })) });

const founders = (publicKey: PublicKey, ...said: readonly bigint[]): Partial<ResponseInitChain> => ({
  validators: said.map((power) => ({ publicKey, power })),
});

const params =
  (consensusParamUpdates: ConsensusParamsUpdate): Breaks =>
  () => ({ consensusParamUpdates });

/** A key of a kind that is allowed from the next block on: this one is judged by the parameters before it. */
const tooSoon: Breaks = () => ({
  validatorUpdates: [{ publicKey: otherKey, power: 1n }],
  consensusParamUpdates: { validator: { publicKeyTypes: ['ed25519', 'secp256k1'] } },
});

/** Blocks with room for the commit of those who are there, and not for that of all who come. */
const crowd: Breaks = () => ({
  validatorUpdates: Array.from({ length: 10 }, (_, i) => ({
    publicKey: { type: 'ed25519', bytes: new Uint8Array(32).fill(i) },
    power: 1n,
  })),
  consensusParamUpdates: { block: { maxBytes: 20_000n, maxGas: -1n }, evidence: NONE },
});

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
  ['invalid size for a public key', powers(shortKey, 5n)],
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
  [
    'a code or gas that its bytes cannot hold',
    ({ txResults }) => ({ txResults: txResults.map((result) => ({ ...result, gasWanted: 2n ** 63n })) }),
  ],
  ['block.MaxBytes is too big', params({ block: { maxBytes: BLOCK_BYTES_MAX + 1n, maxGas: -1n } })],
  ['block.MaxBytes must be -1 or greater', params({ block: { maxBytes: -2n, maxGas: -1n } })],
  ['block.MaxGas must be greater', params({ block: { maxBytes: 1_000_000n, maxGas: -2n } })],
  ['evidence.MaxAgeNumBlocks must be', params({ evidence: { ...NONE, maxAgeBlocks: 0n } })],
  ['evidence.MaxAgeDuration must be', params({ evidence: { ...NONE, maxAgeNs: 0n } })],
  ['is greater than upper bound', params({ block: LITTLE, evidence: { ...NONE, maxBytes: 1_001n } })],
  ['evidence.MaxBytes must be', params({ evidence: { ...NONE, maxBytes: -1n } })],
  ['is an unknown pubkey type', params({ validator: { publicKeyTypes: ['ed25519', 'sr25519'] } })],
  ['unsupported for consensus', tooSoon],
  ['block.max_bytes=20000 is too small', crowd],
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

/** What the application of a chain that begins may not say: parameters by which no block can be made, validators that no set can hold, another state than the genesis names. */
const UNPLAYABLE: readonly (readonly [NodeName, string, Partial<ResponseInitChain>])[] = [
  ['f0', 'block.MaxBytes cannot be 0', { consensusParams: { block: { maxBytes: 0n, maxGas: -1n } } }],
  ['f1', 'block.max_bytes=1000 is too small', { consensusParams: { block: LITTLE, evidence: NONE } }],
  ['f2', 'vote extensions', { consensusParams: { abci: { voteExtensionsEnableHeight: 1n } } }],
  ['f3', 'invalid size for a public key', founders(shortKey, 5n)],
  ['f4', 'voting power 0', founders(stranger, 0n)],
  ['f5', 'duplicate entry', founders(stranger, 5n, 6n)],
  ['f6', "can't be negative", founders(stranger, -1n)],
  ['f7', "can't be higher than", founders(stranger, POWER_MAX + 1n)],
  ['f8', 'app_hash of the genesis file', { appHash: new Uint8Array(8).fill(1) }],
];

/** What a KvStore hashes to before it has executed anything. */
const NOTHING_EXECUTED = new Uint8Array(8);

/** Who has been away has lost its chain, and wants another one than there is, whatever the genesis says: which one, the height says at which it went. */
class Beginning extends KvStore {
  private said: Partial<ResponseInitChain> = {};

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type === 'info' && answer.value.lastBlockHeight > 0n) {
      const [, , said = {}] = UNPLAYABLE[Number(answer.value.lastBlockHeight) - FIRST] ?? [];
      this.said = said;
      return { ...answer, value: { ...answer.value, lastBlockHeight: 0n } };
    }
    if (answer.type !== 'init-chain') return answer;
    return { ...answer, value: { ...answer.value, appHash: NOTHING_EXECUTED, ...this.said } };
  }
}

export const unplayableBeginning = scenario(
  'no node begins a chain that nobody can go on with, or another one than the genesis says',
  {
    name: 'unplayable-beginning',
    cast: validators(4, { fullNodes: UNPLAYABLE.length, appHash: hexOf(NOTHING_EXECUTED) }),
    app: () => new Beginning(),
    load: txs({ perSecond: 3 }),
    act: [
      at('0s', ...UNPLAYABLE.map(([name]) => backUp(name))),
      ...UNPLAYABLE.map(([name], i) =>
        when(
          node(name).decides(height(FIRST + i)),
          crash(name, { how: 'clean' }),
          putBack(name, 'chain', 'consensus'),
          restart(name),
        ),
      ),
    ],
    holds: UNPLAYABLE.flatMap(([name, because]) => [
      sometime(node(name).halts(because)),
      finally_(node(name).isHalted),
    ]),
    ends: these('v0', 'v1', 'v2', 'v3').decides(height(FIRST + UNPLAYABLE.length), {
      within: '60s',
      afterwards: 2,
    }),
  },
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

// --- another past ----------------------------------------------------------------------------------------------------

/** Whoever has a past to speak of has another one than it had. */
class Changed extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type !== 'info' || answer.value.lastBlockHeight === 0n) return answer;
    const lastBlockAppHash = answer.value.lastBlockAppHash.map((byte) => byte ^ 1);
    return { ...answer, value: { ...answer.value, lastBlockAppHash } };
  }
}

/** v1 dies, and its application comes back with another past than the others have. */
const comesBackChanged = (name: string, dies: Action) => ({
  name,
  cast: validators(4),
  app: () => new Changed(),
  load: txs({ perSecond: 3 }),
  act: [when(v1.decides(height(4)), dies)],
  holds: [finally_(v1.isHalted)],
  ends: these('v0', 'v2', 'v3').decides(height(10), { within: '60s' }),
});

/** Closed in good order, so that its application has executed all that the chain has. */
export const anotherPast = scenario(
  'an application that comes back with another past takes no part',
  comesBackChanged('another-past', crash('v1', { how: 'clean', restart: '1s' })),
);

/** It dies as its application is to write block 5, and so comes back with one that lacks this block alone: its header says what came out of those before. */
export const anotherPastBehind = scenario(
  'an application that is behind, with another past, takes no part',
  comesBackChanged(
    'another-past-behind',
    crash('v1', { how: 'lose', restart: '1s', point: { when: 'before', op: 'write', on: 'app', nth: 1 } }),
  ),
);

/** It dies as its application has written block 5 and the state after it is not written: the saved answer says what came out of it. */
export const anotherPastAhead = scenario(
  'an application that is ahead, with another past, takes no part',
  comesBackChanged(
    'another-past-ahead',
    crash('v1', { how: 'clean', restart: '1s', point: { when: 'before', op: 'write', on: 'chain', nth: 3 } }),
  ),
);

/** Without transactions its hash is that of the chain's beginning, whatever it has executed. */
export const chainIsGone = scenario(
  'an application executes no chain a second time: its node takes no part',
  {
    name: 'chain-is-gone',
    cast: validators(4),
    act: [
      at('500ms', backUp('v1')),
      when(v1.decides(height(4)), crash('v1', { how: 'clean' }), putBack('v1', 'chain', 'consensus')),
      after('1s', restart('v1')),
    ],
    holds: [finally_(v1.isHalted)],
    ends: these('v0', 'v2', 'v3').decides(height(10), { within: '60s' }),
  },
);

/** Whoever has executed a block comes back in its next version, which cannot read what the one before wrote. */
class NextVersion extends KvStore {
  private isNext = false;

  override restore(pairs: readonly Pair[]): void {
    this.isNext = pairs.length > 0;
  }

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type !== 'info' || !this.isNext) return answer;
    return { ...answer, value: { ...answer.value, appVersion: answer.value.appVersion + 1n } };
  }
}

/** It dies as its chain has stored the first block, and is to write the state after it: the chain of its next life begins in another version. */
export const anotherBeginning = scenario('a first block that another chain began with is not executed', {
  name: 'another-beginning',
  cast: validators(4),
  app: () => new NextVersion(),
  load: txs({ perSecond: 3 }),
  act: [
    when(
      v1.enters('propose', height(1)),
      crash('v1', {
        how: 'clean',
        restart: '1s',
        point: { when: 'before', op: 'write', on: 'chain', nth: 3 },
      }),
    ),
  ],
  holds: [sometime(v1.halts('does not follow from the state')), finally_(v1.isHalted)],
  ends: these('v0', 'v2', 'v3').decides(height(8), { within: '60s' }),
});

const AGAIN_AT = 6;

/** What it executes at a start, before its node takes part, comes out otherwise at one height. */
class Unfaithful extends KvStore {
  private isAtStart = false;

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type === 'info') this.isAtStart = true;
    if (request.type === 'process-proposal') this.isAtStart = false;
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return answer;
    if (!this.isAtStart || request.value.height !== BigInt(AGAIN_AT)) return answer;
    const appHash = answer.value.appHash.map((byte) => byte ^ 1);
    return { ...answer, value: { ...answer.value, appHash } };
  }
}

/** v1's application is an old copy, and its chain is not: all that it lacks it executes again, and the last of it comes out otherwise than the state says. */
export const anotherOutcome = scenario(
  'an application that executes a block again with another outcome halts',
  {
    name: 'another-outcome',
    cast: validators(4),
    app: () => new Unfaithful(),
    load: txs({ perSecond: 3 }),
    act: [
      when(v1.decides(height(3)), backUp('v1')),
      when(v1.decides(height(AGAIN_AT))),
      after('300ms', crash('v1', { how: 'clean' }), putBack('v1', 'app'), restart('v1')),
    ],
    holds: [sometime(v1.halts('does not match AppHash')), finally_(v1.isHalted)],
    ends: these('v0', 'v2', 'v3').decides(height(12), { within: '60s' }),
  },
);
