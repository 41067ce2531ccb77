// Who cannot hear every validator itself asks its peers for what it lacks, one after another, while a height is undecided (decision 0008).

import { ask } from '../../machines/consensus/gossip.ts';
import type { PeerView } from '../../machines/consensus/peer-view.ts';
import { isFarFromSome, sendMessages } from './gossiping.ts';
import type { ValidatorState } from './state.ts';

/** Votes and parts go on from node to node while a round runs; where nobody may propose yet, nothing does. */
const lacksSome = ({ mode, consensus: { step, decision, blocks } }: ValidatorState): boolean =>
  mode === 'consensus' &&
  step !== 'newHeight' &&
  step !== 'newRound' &&
  !(decision && blocks.get(decision.id)?.parts.isComplete);

export function keepAsking(v: ValidatorState): void {
  const { asking, consensus } = v;
  if (asking.runs || !lacksSome(v) || !isFarFromSome(v)) return;
  asking.runs = true;
  const { gossipNs, reofferNs } = consensus.config;
  const wait = asking.waitNs(gossipNs, reofferNs);
  const jitter = BigInt(v.turn.draw(1024)) * (wait / 4096n);
  v.does({ type: 'schedule', timer: 'ask', afterNs: wait + jitter });
}

export function onAskTick(v: ValidatorState): void {
  const { asking, consensus } = v;
  asking.runs = false;
  if (!lacksSome(v)) return;
  const mayKnow: PeerView[] = [];
  for (const view of v.views.values()) if (view.height >= consensus.height) mayKnow.push(view);
  const view = asking.whom(mayKnow);
  if (view) sendMessages(v, view, ask(consensus));
}

/** The height is decided. */
export function restAsking(v: ValidatorState): void {
  if (!v.asking.runs) return;
  v.asking.runs = false;
  v.does({ type: 'cancel', timer: 'ask' });
}
