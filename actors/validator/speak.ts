// Carries out what consensus says: votes through the signer, our turn to propose, timers, and blocks to judge. Log, sync, and only then speak.

import { commitOf } from '../../machines/chain/commits.ts';
import { STEP_NUMBER } from '../../machines/consensus/chart.ts';
import { timeoutNs } from '../../machines/consensus/config.ts';
import type { Said } from '../../machines/consensus/said.ts';
import { unreachable } from '../../protocol/refusal.ts';
import { NS_PER_MS } from '../../protocol/time.ts';
import { type BlockId, EMPTY_BYTES, type Vote, type VoteType } from '../../protocol/types.ts';
import { restAsking } from './asking.ts';
import { execute, scheduleStart, startIfComplete } from './execute.ts';
import { pushOwn, restGossip, tellWhereWeBegin } from './gossiping.ts';
import { askApp, doubtAgain, judge, read } from './judge.ts';
import { ownRecord } from './logbook.ts';
import { propose } from './propose.ts';
import type { ValidatorState } from './state.ts';
import { payloadOf } from './words.ts';

/** Lets consensus look until it rests, and carries out all that follows. */
export function settle(v: ValidatorState): void {
  if (v.mode !== 'consensus') return;
  doubtAgain(v);
  for (;;) {
    for (const entry of v.consensus.blocks.takeUnread()) read(v, entry);
    const said = v.consensus.settle();
    if (v.consensus.decision && haltIfBad(v)) return;
    if (said.length === 0) return;
    let follows = false;
    for (const each of said) {
      if (carryOut(v, each)) follows = true;
      if ((v.mode as string) === 'halted') return;
    }
    if (!follows) return;
  }
}

/** More than a third lies, or we run other rules than the others: in both cases a person must look. */
function haltIfBad(v: ValidatorState): boolean {
  const bad = v.consensus.badDecision;
  if (!bad) return false;
  haltAtInvalid(v, v.consensus.height, bad.why?.because ?? 'its parts do not make a block of its id');
  return true;
}

export const haltAtInvalid = (v: ValidatorState, height: bigint, why: string): void =>
  v.halt(`CONSENSUS FAILURE: +2/3 committed an invalid block at height ${height}: ${why}`);

/** True: consensus learned something by it and must look again. */
function carryOut(v: ValidatorState, said: Said): boolean {
  const { consensus } = v;
  switch (said.say) {
    case 'step':
      v.publish({ type: 'step', height: consensus.height, round: said.round, step: STEP_NUMBER[said.step] });
      return false;
    case 'propose':
      propose(v, said);
      return false;
    case 'vote':
      if (v.isReplaying) v.unsaid.push({ type: said.vote, round: said.round, blockId: said.blockId });
      else requestVote(v, said.vote, said.round, said.blockId);
      return false;
    case 'wait': {
      const { height } = consensus;
      const after = timeoutNs(consensus.config, said.step, said.round);
      v.scheduleStep({ step: said.step, height, round: said.round }, after);
      return false;
    }
    case 'wait-for-txs': {
      const interval = consensus.config.createEmptyBlocksIntervalNs;
      if (interval > 0n) v.scheduleStep({ step: 'empty', height: consensus.height, round: 0 }, interval);
      return false;
    }
    case 'let-go':
      for (const view of v.views.values()) view.forgetParts(said.parts);
      return false;
    case 'judge':
      return judge(v, said.entry);
    case 'ask-app':
      askApp(v, said.entry);
      return false;
    case 'locked':
      v.publish({ type: 'locked', height: consensus.height, round: said.round, hash: said.blockId.hash });
      return false;
    case 'valid':
      v.publish({ type: 'valid', height: consensus.height, round: said.round, hash: said.blockId.hash });
      return false;
    case 'execute':
      for (const kind of ['propose', 'prevote', 'precommit', 'empty']) v.cancel(kind);
      execute(
        v,
        said.entry,
        said.round,
        commitOf(said.precommits, consensus.height, said.round, said.entry.id),
        'consensus',
      );
      return false;
    case 'height-begins':
      restGossip(v);
      restAsking(v);
      scheduleStart(v);
      tellWhereWeBegin(v);
      return true;
  }
}

// --- votes -----------------------------------------------------------------------------------------------------------

/** First turn of a vote: what justifies it is in the log; make that durable, then ask the signer. */
export function requestVote(v: ValidatorState, type: VoteType, round: number, blockId: BlockId): void {
  const { consensus } = v;
  const key = v.config.key ?? unreachable('only validators vote');
  const vote: Vote = {
    type,
    height: consensus.height,
    round,
    blockId,
    timeNs: voteTime(v),
    validatorAddress: key.address,
    validatorIndex: consensus.index,
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
  v.does({ type: 'sync', log: 'consensus' });
  v.tell('signer', { type: 'sign-vote', vote });
}

/**
 * max(now, time of the block we vote on + 1 ms), so that the median of the votes is after the block (spec 5.2). One that breaks the rules
 * or is not judged yet says nothing of the time: a liar's would carry votes for nil ahead of every honest clock (docs/decisions/0010).
 */
function voteTime(v: ValidatorState): bigint {
  const { consensus } = v;
  const now = v.turn.wallNs;
  const id = consensus.lockedId ?? consensus.rounds.get(consensus.round)?.proposals[0]?.blockId ?? null;
  const entry = id ? consensus.blocks.get(id) : null;
  if (!entry?.block || entry.rules !== 'good') return now;
  const least = entry.block.header.timeNs + NS_PER_MS;
  return now > least ? now : least;
}

/** Second turn: log it, make it durable, say it. */
export function onSignedVote(v: ValidatorState, vote: Vote): void {
  const { consensus } = v;
  const payload = payloadOf({ type: 'vote', vote });
  if (v.mode !== 'consensus') return;
  if (vote.height === consensus.height) {
    consensus.onVote(vote, '');
  } else if (vote.height === consensus.height - 1n) {
    if (consensus.onLateCommit(vote)) startIfComplete(v);
  } else return;
  v.does({ type: 'append', log: 'consensus', record: ownRecord(payload) });
  v.does({ type: 'sync', log: 'consensus' });
  pushOwn(v, vote, payload);
}

/** We asked for another one, and nobody can have that any more: this is what we say of this place, and what we locked by it. */
export function onSignedBefore(v: ValidatorState, vote: Vote): void {
  v.warn(
    `the signer has signed another vote at ${vote.height}/${vote.round} in a life before: it is said again`,
  );
  if (v.mode === 'consensus') v.consensus.onOwnVote(vote);
  onSignedVote(v, vote);
}
