// The validator: hears peers, timers, the signer and the application; keeps the chain's state; takes part in consensus, or follows.

import { SETS_TO_RESTORE } from '../../machines/chain/history.ts';
import {
  COMMITTED_EVIDENCE,
  heightOfKey,
  identityOfKey,
  PENDING_EVIDENCE,
  STATE_KEY,
  STORE_RANGE_KEY,
  storeRange,
  VALIDATOR_SETS,
} from '../../machines/chain/keys.ts';
import { isNeeded } from '../../machines/chain/needed.ts';
import { consensusChart } from '../../machines/consensus/chart.ts';
import { PeerView } from '../../machines/consensus/peer-view.ts';
import { STEP_PROPOSE } from '../../machines/privval/last-sign.ts';
import { type AbciResponse, PROCESS_PROPOSAL_ACCEPT, PROCESS_PROPOSAL_REJECT } from '../../protocol/abci.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { isRefusal, must, unreachable } from '../../protocol/refusal.ts';
import { verifyCommit } from '../../protocol/rules/commit.ts';
import { blockBytesMax } from '../../protocol/rules/params.ts';
import { genesisState, heightAfter, validateBlockInState } from '../../protocol/rules/state.ts';
import type { BlockId } from '../../protocol/types.ts';
import {
  decodeBlock,
  decodeChainState,
  decodeCommit,
  decodeEvidence,
  decodeValidatorSet,
} from '../../protocol/wire/index.ts';
import { decodeWords } from '../../protocol/words.ts';
import { type ValidatorMail, validatorMail } from '../mail.ts';
import type { Boot, Effect, KeyValue, Logic, PeerId, Turn } from '../turn.ts';
import { keepAsking, onAskTick } from './asking.ts';
import type { ValidatorConfig } from './config.ts';
import { onAccusationRead } from './evidence.ts';
import { execute, heightStart, onCommitted, onFinalized, tellMempool } from './execute.ts';
import { gossipEvidence, greet, keepGossiping, onGossipTick, onReadForPeer } from './gossiping.ts';
import {
  afterApply,
  beginHandshake,
  onHandshakeAnswer,
  onHandshakeRead,
  onReplayCommitted,
  onReplayFinalized,
} from './handshake.ts';
import { hear, hearEarly, hearFuture } from './hear.ts';
import { encodeRecord } from './logbook.ts';
import { onPrepared, onReaped, onSignedProposal } from './propose.ts';
import { onForgettingRead, onPruningRead } from './pruning.ts';
import { onReadForEvidence, onValidatorsRead, recall } from './recall.ts';
import { joinConsensus, onTimeoutFired } from './recovery.ts';
import { NOTHING_UNTOLD, onRecentBlock, onRecentResults, remindMempool } from './remind.ts';
import { haltAtInvalid, onSignedBefore, onSignedVote, settle } from './speak.ts';
import { type Outcomes, ValidatorState } from './state.ts';
import { stepTimerOf } from './timer-id.ts';

const only = (key: Uint8Array) => ({ store: 'chain' as const, from: key, to: Uint8Array.of(...key, 0) });

export function validatorLogic(config: ValidatorConfig): Logic<ValidatorState, ValidatorMail> {
  return {
    name: 'validator',
    words: validatorMail,
    reads: {
      logs: ['consensus', 'privval'],
      stores: [
        only(STATE_KEY),
        only(STORE_RANGE_KEY),
        { store: 'chain', ...VALIDATOR_SETS, last: SETS_TO_RESTORE },
        { store: 'chain', ...PENDING_EVIDENCE },
        { store: 'chain', ...COMMITTED_EVIDENCE },
      ],
    },
    start: (boot, turn) => start(config, boot, turn),
    receive,
    config: consensusChart.config,
    look: (v) => v.consensus.step,
  };
}

// --- a life begins -----------------------------------------------------------------------------------------------------

function start(
  config: ValidatorConfig,
  boot: Boot,
  turn: Turn,
): { state: ValidatorState; effects: readonly Effect[] } {
  const genesis = genesisState(config.genesis);
  if (isRefusal(genesis)) return unreachable(`the genesis file was checked before: ${genesis.because}`);
  const [states, ranges, sets, pending, committed] = boot.stores;
  const stored = states?.[0] ? decodeChainState(states[0].value) : null;
  must(!isRefusal(stored), 'the stored state does not decode');
  const v = new ValidatorState(config, stored ?? genesis);
  v.begin(turn);
  const [heard, signed] = boot.logs;
  v.logTail = heard ?? [];
  v.signedTail = signed ?? [];
  v.commitNs = turn.monoNs;
  if (ranges?.[0])
    v.store = decodeWords(storeRange, ranges[0].value) ?? unreachable('the stored range does not decode');
  restoreHistory(v, sets ?? []);
  v.evidencePool.restore(
    (pending ?? []).map(({ value }) => {
      const evidence = decodeEvidence(value);
      return isRefusal(evidence) ? unreachable('stored evidence does not decode') : evidence;
    }),
    (committed ?? []).map(({ key }) => identityOfKey(key)),
  );
  beginHandshake(v, afterHandshake);
  v.publish({ type: 'mode', mode: 'handshake', height: v.chain.lastBlockHeight });
  return { state: v, effects: v.end() };
}

function restoreHistory(v: ValidatorState, sets: readonly KeyValue[]): void {
  const { chain } = v;
  for (const { key, value } of sets) {
    const set = decodeValidatorSet(value);
    v.history.setFrom(
      heightOfKey(key),
      isRefusal(set) ? unreachable('a stored validator set does not decode') : set,
    );
  }
  const first = heightAfter(chain);
  v.history.setFrom(first, chain.validators);
  v.history.setFrom(first + 1n, chain.nextValidators);
}

function afterHandshake(v: ValidatorState): void {
  if (v.store.height === 0n) begin(v, NOTHING_UNTOLD);
  else remindMempool(v);
}

/** The mempool, made with the limits of the genesis, learns of others and of what is committed: from now on it may be asked for a block. */
function begin(v: ValidatorState, untold: Outcomes): void {
  const { lastBlockHeight } = v.chain;
  if (lastBlockHeight > 0n || !hasLimitsOfGenesis(v)) tellMempool(v, lastBlockHeight, untold);
  v.tell('mempool', { type: 'opens' });
  const sync = v.config.blocksync && !isNeeded(v.chain.validators, v.config.key?.address ?? null);
  v.tell('blocksync', { type: 'sync-from', height: heightAfter(v.chain), base: v.store.base, sync });
  v.mode = 'sync';
  v.publish({ type: 'mode', mode: 'sync', height: v.chain.lastBlockHeight });
  if (!sync) joinConsensus(v);
}

/** The application may set others at InitChain, and with each block. */
function hasLimitsOfGenesis({ chain, config: { genesis } }: ValidatorState): boolean {
  const { block } = chain.consensusParams;
  const { block: first } = genesis.consensusParams;
  const isAsLarge = chain.validators.validators.length === genesis.validators.length;
  return isAsLarge && block.maxBytes === first.maxBytes && block.maxGas === first.maxGas;
}

// --- a turn ------------------------------------------------------------------------------------------------------------

function receive(v: ValidatorState, mail: ValidatorMail, turn: Turn): readonly Effect[] {
  v.begin(turn);
  if (v.mode === 'halted') return v.end();
  const before = v.consensus.height;
  dispatch(v, mail);
  settle(v);
  if (v.consensus.height !== before && v.mode === 'consensus') {
    hearFuture(v);
    settle(v);
  }
  keepGossiping(v);
  keepAsking(v);
  return v.end();
}

function dispatch(v: ValidatorState, mail: ValidatorMail): void {
  if (mail.type === 'heard') return hear(v, mail.peer, mail.payloads);
  if (mail.type === 'timer') return onTimer(v, mail.timer);
  v.ticking.stir();
  switch (mail.type) {
    case 'signed-vote':
      return onSignedVote(v, mail.vote);
    case 'signed-before':
      return onSignedBefore(v, mail.vote);
    case 'signed-proposal':
      return onSignedProposal(v, mail.proposal);
    case 'sign-refused':
      if (mail.height === v.consensus.height && mail.step === STEP_PROPOSE)
        v.consensus.blocks.endSigning(mail.round);
      return v.warn(`the signer refuses ${mail.height}/${mail.round}/${mail.step}: ${mail.because}`);
    case 'answer':
      return onAnswer(v, mail.tag, mail.response);
    case 'reaped':
      return onReaped(v, mail.txs);
    case 'txs-available':
      v.txsWaiting = v.mode !== 'consensus';
      return v.consensus.onTxsAvailable();
    case 'peer-up':
      return onPeerUp(v, mail.peer);
    case 'peer-down':
      v.views.delete(mail.peer);
      v.early.delete(mail.peer);
      v.laggards.delete(mail.peer);
      v.evidenceTold.peerDown(mail.peer);
      if (v.futureOf.delete(mail.peer)) v.future = v.future.filter(({ peer }) => peer !== mail.peer);
      if (v.mode === 'consensus') v.consensus.rounds.peerDown(mail.peer, v.consensus.round);
      return;
    case 'loaded':
      return onLoaded(v, mail.tag, mail.found);
    case 'block-fetched':
      return onBlockFetched(v, mail.height, mail.block, mail.commit);
    case 'caught-up':
      if (v.mode === 'sync' && !v.execution) joinConsensus(v);
      return;
    case 'signature':
      unreachable('the validator signs through the signer');
  }
}

function onTimer(v: ValidatorState, timer: string): void {
  if (timer === 'gossip') return onGossipTick(v);
  if (timer === 'ask') return onAskTick(v);
  v.ticking.stir();
  if (timer === 'evidence') {
    v.fired('evidence');
    return gossipEvidence(v);
  }
  const at = stepTimerOf(timer) ?? unreachable(`no timer ${timer} was set`);
  v.fired(at.step);
  if (v.mode !== 'consensus') return;
  if (at.height !== v.consensus.height) return;
  v.does({ type: 'append', log: 'consensus', record: encodeRecord({ type: 'timeout', ...at }) });
  onTimeoutFired(v, at.step, at.height, at.round);
}

function onAnswer(v: ValidatorState, tag: number, response: AbciResponse): void {
  const ask = v.answered(tag);
  if (!ask) return unreachable('an answer to nothing');
  if (response.type === 'exception') {
    return v.halt(
      `the application failed (${ask.for}): ${response.value.error}. Fix it and restart this node`,
    );
  }
  switch (ask.for) {
    case 'handshake':
      return onHandshakeAnswer(v, response);
    case 'prepare':
      if (response.type === 'prepare-proposal' && ask.height === v.consensus.height)
        onPrepared(v, ask.round, response.value);
      return;
    case 'process': {
      if (response.type !== 'process-proposal' || ask.height !== v.consensus.height) return;
      const { status } = response.value;
      if (status !== PROCESS_PROPOSAL_ACCEPT && status !== PROCESS_PROPOSAL_REJECT)
        return v.halt('ProcessProposal answered UNKNOWN. Fix the application');
      const entry = v.consensus.blocks.get(ask.blockId);
      // A vote of our own from a life before may have answered meanwhile.
      if (entry?.app === 'asked') entry.app = status === PROCESS_PROPOSAL_ACCEPT ? 'accepted' : 'rejected';
      return;
    }
    case 'finalize':
      if (response.type !== 'finalize-block') return unreachable('FinalizeBlock was asked');
      if (v.execution) onFinalized(v, response.value);
      else onReplayFinalized(v, response.value);
      return;
    case 'commit':
      if (response.type !== 'commit') return unreachable('Commit was asked');
      return onCommitAnswer(v, response.value.retainHeight);
  }
}

function onCommitAnswer(v: ValidatorState, retainHeight: bigint): void {
  const { execution } = v;
  if (!execution) return onReplayCommitted(v);
  onCommitted(v, retainHeight);
  if (execution.source === 'handshake') return afterApply(v);
  if (execution.source === 'sync') {
    if (v.handshake) v.handshake.lastCommit = execution.commit;
    return;
  }
  const entry = v.consensus.blocks.get(execution.id);
  if (entry) v.finished = { height: execution.block.header.height, entry, round: execution.round };
  v.consensus.onExecuted(heightStart(v, execution.commit));
}

// --- peers -------------------------------------------------------------------------------------------------------------

function onPeerUp(v: ValidatorState, peer: PeerId): void {
  const view = new PeerView(peer);
  v.views.set(peer, view);
  if (v.mode === 'consensus') greet(v, view);
  hearEarly(v, peer);
}

function onLoaded(v: ValidatorState, tag: number, found: readonly KeyValue[]): void {
  const reading = v.loaded(tag);
  if (!reading) return unreachable('nothing was read');
  if (reading.for === 'handshake') return onHandshakeRead(v, found);
  if (reading.for === 'recent-block') return onRecentBlock(v, reading, found, begin);
  if (reading.for === 'recent-results') return onRecentResults(v, reading, found);
  if (reading.for === 'peer') return onReadForPeer(v, reading.peer, reading.height, found);
  if (reading.for === 'pruning') return onPruningRead(v, reading.left, found);
  if (reading.for === 'forgetting') return onForgettingRead(v, found);
  if (reading.for === 'evidence') onReadForEvidence(v, reading, found);
  else onValidatorsRead(v, reading.height, found);
  onAccusationRead(v, { what: reading.for === 'evidence' ? 'block' : 'validators', height: reading.height });
  if (v.fetched) onBlockFetched(v, v.fetched.height, v.fetched.block, v.fetched.commit);
}

// --- block sync --------------------------------------------------------------------------------------------------------

/** A block from block sync: the next block's last commit must prove it before it is executed (spec 5.12). */
function onBlockFetched(
  v: ValidatorState,
  height: bigint,
  blockBytes: Uint8Array,
  commitBytes: Uint8Array,
): void {
  v.fetched = null;
  if (v.mode !== 'sync' || height !== heightAfter(v.chain) || v.execution) return;
  const block = decodeBlock(blockBytes);
  const commit = decodeCommit(commitBytes);
  const refuse = (because: string): void => v.tell('blocksync', { type: 'block-refused', height, because });
  if (isRefusal(block)) return refuse(block.because);
  if (isRefusal(commit)) return refuse(commit.because);
  const parts = PartSet.whole(blockBytes);
  const id: BlockId = { hash: headerHash(block.header), parts: parts.header };
  // Every signature counts: this commit may become the last commit of a block of ours.
  const unproven = verifyCommit(v.chain.chainId, v.chain.validators, id, height, commit, v.config.verify);
  if (unproven) return refuse(unproven.because);
  if (recall(v, block.evidence)) {
    v.fetched = { height, block: blockBytes, commit: commitBytes };
    return;
  }
  // Its commit is true, so whoever gave it did not lie: it is as if we had decided it.
  const bytesMax = blockBytesMax(v.chain.consensusParams);
  if (BigInt(blockBytes.length) > bytesMax)
    return haltAtInvalid(v, height, `${blockBytes.length} bytes; block.max_bytes allows ${bytesMax}`);
  const refusal = validateBlockInState(v.chain, block, {
    verify: v.config.verify,
    verifyEvidence: (list) => v.evidencePool.check(list, v.facts(), v.config.verify),
  });
  if (refusal) return haltAtInvalid(v, height, refusal.because);
  v.synced = true;
  execute(v, { id, block, parts }, commit.round, commit, 'sync');
}
