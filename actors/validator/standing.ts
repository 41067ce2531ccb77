// Where a peer stands, as it says or shows: what is said of that is judged, and the mempool is told who is behind.

import type { PeerView } from '../../machines/consensus/peer-view.ts';
import { CHAIN_BEGINS_MAX, NOT_BEHIND } from '../../machines/mempool/gossip.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { heightAfter } from '../../protocol/rules/state.ts';
import type { ValidatorState } from './state.ts';

type RoundStep = Extract<ConsensusMessage, { type: 'new-round-step' }>;

export function hearRoundStep(v: ValidatorState, view: PeerView, message: RoundStep): void {
  const because = oddStep(message, v.config.genesis.initialHeight);
  if (because) return v.score(view.peer, because);
  view.onRoundStep(message.height, message.round);
  tellWhoIsBehind(v, view);
}

/** CometBFT NewRoundStepMessage.ValidateHeight: of another chain, or of nobody who stands there. */
function oddStep({ height, lastCommitRound }: RoundStep, initialHeight: bigint): string | null {
  if (height < initialHeight) return `stands at height ${height}, before the first, ${initialHeight}`;
  if (height === initialHeight && lastCommitRound !== -1)
    return `last_commit_round ${lastCommitRound} at height ${height}, the first`;
  if (height > initialHeight && lastCommitRound < 0)
    return `last_commit_round ${lastCommitRound} at height ${height}, and the first is ${initialHeight}`;
  return null;
}

/** The mempool waits for peers that are more than a height behind, or may be; it hears of each when that begins and when it ends. */
function tellWhoIsBehind(v: ValidatorState, view: PeerView): void {
  if (v.isReplaying) return; // that was in another life
  const ours = heightAfter(v.chain);
  const isBehind = view.height + 1n < ours;
  const before = v.laggards.get(view.peer);
  if (isBehind === before) return;
  v.laggards.set(view.peer, isBehind);
  if (before === undefined && !isBehind && ours <= CHAIN_BEGINS_MAX) return;
  v.tell('mempool', { type: 'peer-height', peer: view.peer, height: isBehind ? view.height : NOT_BEHIND });
}

/** Who speaks of a height above the one that we knew has come so far: its round step was lost, or an older one came after it. */
export function standsAt(v: ValidatorState, view: PeerView, height: bigint): void {
  if (height <= view.height) return;
  view.assumeHeight(height);
  tellWhoIsBehind(v, view);
}
