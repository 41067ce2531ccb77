// Recovery of a life that ended: the log of the height under way is heard again, what it would have said is held back, and then consensus goes on.

import type { TimeoutStep } from '../../machines/consensus/config.ts';
import { PeerView } from '../../machines/consensus/peer-view.ts';
import { blockIdOfSignBytes } from '../../machines/privval/canonical.ts';
import { STEP_PRECOMMIT, signedAt } from '../../machines/privval/last-sign.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { type Commit, FLAG_COMMIT, PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { heightStart, scheduleStart } from './execute.ts';
import { gossipEvidence, greet } from './gossiping.ts';
import { hearMessage } from './hear.ts';
import { endOf, hasEnded, type LogRecord, recordsOf } from './logbook.ts';
import { propose } from './propose.ts';
import { requestVote, settle } from './speak.ts';
import type { ValidatorState } from './state.ts';
import { messageOf } from './words.ts';

/** Takes part from the height after the state: replays the log of that height first, then speaks. */
export function joinConsensus(v: ValidatorState): void {
  const { consensus, chain } = v;
  v.mode = 'consensus';
  v.publish({ type: 'mode', mode: 'consensus', height: chain.lastBlockHeight });
  const commit: Commit | null = v.handshake?.lastCommit ?? null;
  consensus.begin(heightStart(v, commit));
  if (commit) v.commitNs = committedNs(v, commit);
  v.startedNs = v.commitNs + consensus.config.timeoutCommitNs;
  const records = v.synced ? null : recordsOf(v.logTail, consensus.height, chain.initialHeight);
  if (records) replayLog(v, records);
  else if (!v.synced) beginLog(v);
  v.logTail = [];
  lockAsSigned(v);
  if (v.txsWaiting) consensus.onTxsAvailable();
  if (consensus.step === 'newHeight') scheduleStart(v);
  settle(v);
  for (const { type, round, blockId } of v.unsaid) {
    const tally =
      type === PREVOTE ? consensus.rounds.get(round)?.prevotes : consensus.rounds.get(round)?.precommits;
    if (round === consensus.round && tally && !tally.has(consensus.index))
      requestVote(v, type, round, blockId);
  }
  v.unsaid = [];
  const isOurTurn = v.unproposed === consensus.round && consensus.step === 'propose';
  v.unproposed = null;
  // Our lock may come behind our turn in the log.
  if (isOurTurn && noProposal(v)) propose(v, consensus.proposal);
  for (const view of v.views.values()) greet(v, view);
  if (v.evidencePool.hasPending) gossipEvidence(v);
}

/**
 * When the last block was decided, on our clock, as the newest of its precommits tells: so the next height begins for us when it does for our
 * peers, and not timeout_commit after we came. Clocks differ, and one may lie: at most timeout_commit too early, and never later than if it
 * were now.
 */
function committedNs({ consensus, turn }: ValidatorState, { signatures }: Commit): bigint {
  const { timeoutCommitNs } = consensus.config;
  let agoNs = timeoutCommitNs;
  for (const { flag, timeNs } of signatures)
    if (flag === FLAG_COMMIT && turn.wallNs - timeNs < agoNs) agoNs = turn.wallNs - timeNs;
  return turn.monoNs - (agoNs > 0n ? agoNs : 0n);
}

const noProposal = ({ consensus }: ValidatorState): boolean => consensus.current.proposals.length === 0;

/**
 * Of a log that was lost, or is of an older day: what this height puts into it would not be found by the life after this one, which looks
 * behind the end of the height before (CometBFT's `catchupReplay` does not find it).
 */
function beginLog(v: ValidatorState): void {
  const { height } = v.consensus;
  if (hasEnded(v.logTail, height)) return;
  v.does({ type: 'append', log: 'consensus', record: endOf(height - 1n) });
}

/**
 * What we precommitted we are locked on, whatever our log knows of it: it may be lost, or was cut where it is damaged. The signer has it on a disk
 * log of its own, and would not keep us from another block in a later round.
 */
function lockAsSigned(v: ValidatorState): void {
  const { consensus } = v;
  const { height } = consensus;
  for (const signed of signedAt(v.signedTail, height)) {
    const blockId = signed.step === STEP_PRECOMMIT ? blockIdOfSignBytes(signed.signBytes) : null;
    if (blockId) consensus.onOwnVote({ height, round: signed.round, type: PRECOMMIT, blockId });
  }
  v.signedTail = [];
}

/** Recovery: the log's messages through the same doors, with everything that we would say held back (spec 5.7). */
function replayLog(v: ValidatorState, records: readonly LogRecord[]): void {
  const { consensus } = v;
  v.isReplaying = true;
  consensus.asksApp = false;
  for (const record of records) {
    if (record.type === 'timeout') onTimeoutFired(v, record.step, record.height, record.round);
    else if (record.type === 'heard' || record.type === 'own') replayMessage(v, record);
    settle(v);
    if (consensus.decision !== null && v.execution) break;
  }
  v.isReplaying = false;
  consensus.asksApp = true;
}

function replayMessage(v: ValidatorState, record: Extract<LogRecord, { type: 'heard' | 'own' }>): void {
  const { consensus } = v;
  const message = messageOf(record);
  if (isRefusal(message)) return unreachable('the log holds only messages that decoded');
  if (record.type === 'heard') {
    const view = v.views.get(record.peer) ?? new PeerView(record.peer);
    return hearMessage(v, view, record, message);
  }
  if (message.type === 'vote' && message.vote.height === consensus.height) {
    consensus.onOwnVote(message.vote);
    consensus.onVote(message.vote, '');
  } else if (message.type === 'proposal' && message.proposal.height === consensus.height) {
    consensus.onProposal(message.proposal);
  } else if (message.type === 'block-part' && message.height === consensus.height) {
    consensus.onPart(message.part);
  }
}

export function onTimeoutFired(v: ValidatorState, step: string, height: bigint, round: number): void {
  if (step === 'start') v.consensus.onStartDue(height);
  else if (step === 'empty') v.consensus.onEmptyBlockDue(height);
  else v.consensus.onTimeout(step as TimeoutStep, height, round);
}
