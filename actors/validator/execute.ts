// A decided block becomes state: stored, executed by the application, committed; in the order that lets any crash be recovered (spec 5.5, 5.7, 5.8).

import { tallyOf } from '../../machines/chain/commits.ts';
import {
  blockKey,
  committedEvidenceKey,
  evidenceKey,
  paramsKey,
  responseKey,
  STATE_KEY,
  STORE_RANGE_KEY,
  seenCommitKey,
  storeRange,
  validatorsKey,
} from '../../machines/chain/keys.ts';
import { asksForMore, tooSmall } from '../../machines/chain/playable.ts';
import type { HeightStart } from '../../machines/consensus/said.ts';
import type { Pending } from '../../machines/evidence/pool.ts';
import type { CommitInfo, ExecTxResult, ResponseFinalizeBlock } from '../../protocol/abci.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { isRefusal, type Refusal, refuse, unreachable } from '../../protocol/refusal.ts';
import { maxDataBytes } from '../../protocol/rules/block-room.ts';
import { evidenceHeight } from '../../protocol/rules/evidence.ts';
import { blockBytesMax } from '../../protocol/rules/params.ts';
import { commitInfo, heightAfter } from '../../protocol/rules/state.ts';
import { type Block, type BlockId, type ChainState, type Commit, EMPTY_BYTES } from '../../protocol/types.ts';
import {
  encodeCommit,
  encodeConsensusParams,
  encodeEvidence,
  encodeResponseFinalizeBlock,
  encodeValidatorSet,
} from '../../protocol/wire/index.ts';
import { encodeWords } from '../../protocol/words.ts';
import { put, remove, type Write } from '../turn.ts';
import { gossipEvidence } from './gossiping.ts';
import { encodeRecord, endOf, hasEnded } from './logbook.ts';
import { prune } from './pruning.ts';
import { follow, requestsFor } from './shared.ts';
import type { Answer, Execution, Outcomes, ValidatorState } from './state.ts';

/** One value for all: its bytes are made once. */
export const COMMIT = { type: 'commit', value: {} } as const;

/** What the application is asked about a block, with who voted in its last commit (nobody at the initial height). */
export function requestsOf(v: ValidatorState, block: Block, id: BlockId): ReturnType<typeof requestsFor> {
  const lastCommit = block.lastCommit ?? unreachable('validated');
  const set =
    lastCommit.signatures.length === 0
      ? null
      : (v.history.validators(block.header.height - 1n) ?? unreachable('recent, or recalled'));
  const info = (): CommitInfo => (set === null ? { round: 0, votes: [] } : commitInfo(lastCommit, set));
  return requestsFor(id, block, set, info);
}

/** Stores the block (durable before its end is logged), logs the end of the height, and asks the application to execute it. */
export function execute(
  v: ValidatorState,
  entry: { readonly id: BlockId; readonly block: Block | null; readonly parts: { bytes(): Uint8Array } },
  round: number,
  commit: Commit,
  source: Execution['source'],
): void {
  const block = entry.block ?? unreachable('executable');
  const { height } = block.header;
  if (v.store.height < height) {
    v.store = { base: v.store.base === 0n ? height : v.store.base, height };
    v.does({
      type: 'store',
      store: 'chain',
      durable: true,
      writes: [
        put(blockKey(height), entry.parts.bytes()),
        put(seenCommitKey(height), encodeCommit(commit)),
        put(STORE_RANGE_KEY, encodeWords(storeRange, v.store)),
      ],
    });
  }
  // Executed again after a crash, the log may hold votes and locks of the next height behind this end already: they stay.
  if (source !== 'handshake' || !hasEnded(v.logTail, height)) {
    v.does({ type: 'append', log: 'consensus', record: endOf(height) });
    v.does({ type: 'sync', log: 'consensus' });
    v.does({ type: 'trim', log: 'consensus', keep: 1 });
  }
  v.commitNs = v.turn.monoNs;
  v.execution = { id: entry.id, block, round, commit, source, answer: null };
  finalize(v, block, entry.id);
}

/** FinalizeBlock for a block, whether new or executed again at a handshake. */
export function finalize(v: ValidatorState, block: Block, id: BlockId): void {
  v.ask({ for: 'finalize' }, { type: 'finalize-block', value: requestsOf(v, block, id).finalize });
}

/**
 * The response is stored durably before the application may commit: afterwards it could not be had again. One that no chain can follow is neither
 * stored nor committed (CometBFT asks that before Commit, too), so that a mended application is given the block anew.
 */
export function onFinalized(v: ValidatorState, response: ResponseFinalizeBlock): void {
  const execution = v.execution ?? unreachable('nothing executes');
  const { header } = execution.block;
  const bytes = encodeResponseFinalizeBlock(response);
  const answer = withRoom(execution, answerOf(v, execution, response, bytes));
  if (isRefusal(answer)) {
    v.halt(
      `the application's answer for height ${header.height} breaks the chain: ${answer.because}. Fix it and restart this node`,
    );
    return;
  }
  execution.answer = answer;
  v.does({ type: 'store', store: 'chain', durable: true, writes: [put(responseKey(header.height), bytes)] });
  v.ask({ for: 'commit' }, COMMIT);
}

/** Refuses what leaves no room for the next block. After one that is synced, others found it; so they may have after one of a life before. */
function withRoom({ source }: Execution, answer: Answer | Refusal): Answer | Refusal {
  if (isRefusal(answer) || source !== 'consensus') return answer;
  const { consensusParams, lastValidators, validators, nextValidators } = answer.followed.state;
  const most = Math.max(validators.validators.length, nextValidators.validators.length);
  return tooSmall(consensusParams, most, lastValidators.validators.length) ?? answer;
}

/** A code is a uint32, gas an int64: what is beyond would be stored as another number, and hashed as that at the next start. */
const isOutOfRange = ({ code, gasWanted, gasUsed }: ExecTxResult): boolean =>
  code !== code >>> 0 || BigInt.asIntN(64, gasWanted) !== gasWanted || BigInt.asIntN(64, gasUsed) !== gasUsed;

/** @param bytes of the response. */
export function answerOf(
  v: ValidatorState,
  { id, block }: Pick<Execution, 'id' | 'block'>,
  response: ResponseFinalizeBlock,
  bytes: Uint8Array,
): Answer | Refusal {
  const [results, txs] = [response.txResults.length, block.txs.length];
  if (results !== txs) return refuse('results', `${results} results for ${txs} transactions`);
  const odd = response.txResults.findIndex(isOutOfRange);
  if (odd >= 0) return refuse('results', `result ${odd + 1} has a code or gas that its bytes cannot hold`);
  const followed = follow(v.chain, id, block, response, bytes);
  if (isRefusal(followed)) return followed;
  return asksForMore(followed.state.consensusParams) ?? { response, followed };
}

export function onCommitted(v: ValidatorState, retainHeight: bigint): void {
  const execution = v.execution ?? unreachable('nothing executes');
  const { response, followed } = execution.answer ?? unreachable('finalized');
  const { block } = execution;
  const before = v.chain;
  const { state: next, bytes: stateBytes, digest: stateDigest } = followed;
  v.chain = next;
  v.execution = null;
  v.txsWaiting = false;
  remember(v, block, next);
  const writes = [...stateWrites(before, next, stateBytes), ...evidenceWrites(v, block)];
  v.does({ type: 'store', store: 'chain', durable: false, writes });
  prune(v, retainHeight);
  tellOthers(v, execution, response, stateDigest);
}

/** The node's memory of its own past after a block. */
export function remember(v: ValidatorState, block: Block, next: ChainState): void {
  const { height } = block.header;
  v.history.addBlock(block);
  v.history.setFrom(height + 1n, next.validators);
  v.history.setFrom(height + 2n, next.nextValidators);
}

/** The state, and what changed in it under the key of the height from which on it is in force. */
function stateWrites(before: ChainState, next: ChainState, stateBytes: Uint8Array): Write[] {
  const writes = [put(STATE_KEY, stateBytes)];
  if (next.lastHeightValidatorsChanged !== before.lastHeightValidatorsChanged) {
    writes.push(
      put(validatorsKey(next.lastHeightValidatorsChanged), encodeValidatorSet(next.nextValidators)),
    );
  }
  if (next.lastHeightConsensusParamsChanged !== before.lastHeightConsensusParamsChanged) {
    writes.push(put(paramsKey(next.lastBlockHeight + 1n), encodeConsensusParams(next.consensusParams)));
  }
  return writes;
}

function evidenceWrites(v: ValidatorState, block: Block): Write[] {
  if (!v.evidencePool.hasPending && block.evidence.length === 0) return [];
  const { header } = block;
  const { committed, removed } = v.evidencePool.onBlock(
    block.evidence,
    header.height,
    header.timeNs,
    v.chain.consensusParams,
  );
  return [
    ...committed.map(({ height, identity }) => put(committedEvidenceKey(height, identity), EMPTY_BYTES)),
    ...removed.map(({ height, identity }) => remove(evidenceKey(height, identity))),
  ];
}

export function storeEvidence(v: ValidatorState, { evidence, identity, height }: Pending): void {
  const write = put(evidenceKey(height, identity), encodeEvidence(evidence));
  v.does({ type: 'store', store: 'chain', durable: false, writes: [write] });
  const validator = evidence.kind === 'duplicate-vote' ? evidence.voteA.validatorAddress : EMPTY_BYTES;
  v.publish({ type: 'evidence', hash: identity, validator, height: evidenceHeight(evidence) });
}

// --- afterwards ------------------------------------------------------------------------------------------------------

function tellOthers(
  v: ValidatorState,
  execution: Execution,
  response: ResponseFinalizeBlock,
  stateDigest: Uint8Array,
): void {
  const { block, id, round, source } = execution;
  const { height } = block.header;
  const { chain } = v;
  const { txs } = block;
  const codes = response.txResults.map((result) => result.code);
  tellMempool(v, height, { txs, codes });
  const { appHash } = chain;
  v.publish({ type: 'committed', height, round, hash: id.hash, appHash, txs: txs.length, stateDigest });
  const { made, replaced } = v.evidencePool.onCommitted(v.facts());
  if (replaced.length > 0) {
    const writes = replaced.map((each) => remove(evidenceKey(each.height, each.identity)));
    v.does({ type: 'store', store: 'chain', durable: false, writes });
  }
  for (const each of made) storeEvidence(v, each);
  if (made.length > 0) gossipEvidence(v);
  if (source === 'sync') v.tell('blocksync', { type: 'block-applied', height });
}

/** What blocks took leaves the pool, and what the next have room for is its limit. */
export function tellMempool(v: ValidatorState, height: bigint, { txs, codes }: Outcomes): void {
  const { chain } = v;
  const room = maxDataBytes(blockBytesMax(chain.consensusParams), 0n, chain.validators.validators.length);
  v.tell('mempool', {
    type: 'committed',
    height,
    txs,
    codes,
    blockTxBytesMax: isRefusal(room) ? 0n : room,
    gasMax: chain.consensusParams.block.maxGas,
  });
}

/** Where consensus begins after the current state; `lastCommit` is what decided the last block. */
export function heightStart(v: ValidatorState, commit: Commit | null): HeightStart {
  const { chain } = v;
  const isInitial = chain.lastBlockHeight === 0n;
  const height = heightAfter(chain);
  const last = v.history.header(chain.lastBlockHeight);
  const live = v.consensus.decision;
  const liveRound =
    live && v.consensus.height === chain.lastBlockHeight ? v.consensus.rounds.get(live.round) : undefined;
  return {
    height,
    validators: chain.validators,
    lastCommit:
      isInitial || commit === null
        ? null
        : { round: commit.round, precommits: liveRound?.precommits ?? tallyOf(commit, chain.lastValidators) },
    proofBlockDue: isInitial || last === null || !equalBytes(last.appHash, chain.appHash),
  };
}

/** The wait before a height: timeout_commit after the last commit, so that late precommits still count (spec 5.2). */
export function scheduleStart(v: ValidatorState): void {
  const { consensus, turn } = v;
  const { config, height } = consensus;
  v.startedNs = v.commitNs + config.timeoutCommitNs;
  if (startIfComplete(v)) return;
  const wait = v.startedNs > turn.monoNs ? v.startedNs - turn.monoNs : 0n;
  v.scheduleStep({ step: 'start', height, round: 0 }, wait);
}

/**
 * With skip_timeout_commit, once all precommits are here. In the log it is as if the timer had fired: recovery must not hear a height that has
 * not begun, for then what is said of its later rounds falls on deaf ears.
 */
export function startIfComplete(v: ValidatorState): boolean {
  const { consensus } = v;
  const { config, height, lastCommit } = consensus;
  if (!config.skipTimeoutCommit || !lastCommit?.precommits.hasAll) return false;
  const record = encodeRecord({ type: 'timeout', step: 'start', height, round: 0 });
  v.does({ type: 'append', log: 'consensus', record });
  consensus.onStartDue(height);
  return true;
}
