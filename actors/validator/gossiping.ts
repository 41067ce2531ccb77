// When the validator talks to its peers: at once for its own words, on a tick for what others said, and when a peer that is behind speaks up.

import { blockKey, isBlockKey, seenCommitKey } from '../../machines/chain/keys.ts';
import {
  announce,
  askForParts,
  claims,
  offer,
  roundStep,
  serveStored,
} from '../../machines/consensus/gossip.ts';
import type { PeerView } from '../../machines/consensus/peer-view.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { voteOfCommit } from '../../protocol/rules/commit.ts';
import { NS_PER_S } from '../../protocol/time.ts';
import { FLAG_ABSENT, type Vote } from '../../protocol/types.ts';
import { decodeCommit } from '../../protocol/wire/index.ts';
import { ENVELOPE_PAYLOADS_MAX, type KeyValue, type Payload, type PeerId } from '../turn.ts';
import type { ValidatorState } from './state.ts';
import { evidencePayload, payloadOf } from './words.ts';

/** One envelope carries at most this many bytes of payload, so that a big block does not become one frame. */
const ENVELOPE_BYTES_MAX = 1_048_576;

const startedSeconds = (v: ValidatorState): bigint =>
  v.turn.monoNs > v.startedNs ? (v.turn.monoNs - v.startedNs) / NS_PER_S : 0n;

export function send(v: ValidatorState, to: readonly PeerId[], payloads: readonly Payload[]): void {
  if (to.length === 0 || payloads.length === 0) return;
  let envelope: Payload[] = [];
  let size = 0;
  for (const payload of payloads) {
    const isFull = envelope.length === ENVELOPE_PAYLOADS_MAX;
    if (isFull || (size > 0 && size + payload.bytes.length > ENVELOPE_BYTES_MAX)) {
      v.does({ type: 'send', to, payloads: envelope });
      envelope = [];
      size = 0;
    }
    envelope.push(payload);
    size += payload.bytes.length;
  }
  v.does({ type: 'send', to, payloads: envelope });
}

export function sendMessages(v: ValidatorState, view: PeerView, messages: readonly ConsensusMessage[]): void {
  if (messages.length === 0) return;
  const step = roundStep(v.consensus, view, startedSeconds(v));
  const all = step ? [step, ...messages] : messages;
  send(v, [view.peer], all.map(payloadOf));
}

/**
 * The same payloads to every peer at our height or one behind (it will be here soon, and keeps them until then). Who was not told
 * where we stand is told in the same envelope.
 */
export function broadcast(
  v: ValidatorState,
  payloads: readonly Payload[],
  mark: (view: PeerView) => void,
): void {
  const told: PeerId[] = [];
  const untold: PeerId[] = [];
  let step: ConsensusMessage | null = null;
  for (const view of v.views.values()) {
    if (view.height !== v.consensus.height && view.height !== v.consensus.height - 1n) continue;
    const mine = roundStep(v.consensus, view, startedSeconds(v));
    if (mine) {
      step = mine;
      untold.push(view.peer);
    } else told.push(view.peer);
    mark(view);
  }
  send(v, told, payloads);
  if (step) send(v, untold, [payloadOf(step), ...payloads]);
}

export function pushOwn(v: ValidatorState, vote: Vote, payload: Payload): void {
  const size = v.consensus.validators.validators.length;
  broadcast(v, [payload], (view) => view.sentVote(vote, size));
}

/** The first word to a peer: where we stand. */
export function greet(v: ValidatorState, view: PeerView): void {
  view.told = '';
  const step = roundStep(v.consensus, view, startedSeconds(v));
  if (step) send(v, [view.peer], [payloadOf(step)]);
}

// --- ticks -----------------------------------------------------------------------------------------------------------

/**
 * Ticks run while a height is undecided; between heights a node is quiet. Who waits for transactions (without empty blocks) may have missed
 * a height that peers decided meanwhile, so it says where it stands at the slow pace.
 */
export function keepGossiping(v: ValidatorState): void {
  if (v.mode !== 'consensus' || v.views.size === 0) return;
  const { step, config } = v.consensus;
  if (step === 'newHeight') return;
  if (step === 'newRound') {
    if (v.ticking.slows()) scheduleTick(v, config.reofferNs, config.reofferNs);
    return;
  }
  const periods = v.ticking.next(v.turn.monoNs, config.gossipNs, periodsPerOffer(v));
  if (periods !== null) scheduleTick(v, BigInt(periods) * config.gossipNs, config.gossipNs);
}

function scheduleTick(v: ValidatorState, afterNs: bigint, periodNs: bigint): void {
  const jitter = BigInt(v.turn.draw(1024)) * (periodNs / 4096n);
  v.does({ type: 'schedule', timer: 'gossip', afterNs: afterNs + jitter });
}

const periodsPerOffer = ({ consensus: { config } }: ValidatorState): number =>
  Number(config.reofferNs / config.gossipNs) || 1;

/** The height is decided: nobody needs what it was made of, but who asks. */
export function restGossip(v: ValidatorState): void {
  const runs = v.ticking.runs !== 'no';
  v.ticking.rest();
  if (!runs) return;
  v.does({ type: 'cancel', timer: 'gossip' });
}

export function onGossipTick(v: ValidatorState): void {
  const period = v.ticking.fired();
  if (v.mode !== 'consensus') return;
  if (v.consensus.step === 'newRound') sayWhereWeStand(v);
  else v.ticking.told(gossip(v, period));
  keepGossiping(v);
}

function sayWhereWeStand(v: ValidatorState): void {
  for (const view of v.views.values()) {
    view.told = '';
    sayTo(v, view);
  }
}

/** Where we stand, if this peer was not told. */
function sayTo(v: ValidatorState, view: PeerView): void {
  const step = roundStep(v.consensus, view, startedSeconds(v));
  if (step) send(v, [view.peer], [payloadOf(step)]);
}

/** Fewer peers than other validators: some of them we hear of through others only. */
export function isFarFromSome({ consensus, views }: ValidatorState): boolean {
  const others = consensus.validators.validators.length - (consensus.isValidator ? 1 : 0);
  return views.size > 0 && views.size < others;
}

/** Two thirds precommitted a block that is not here: peers may have left the height, and serve who says where it stands. */
const isBlockMissing = ({ consensus: { decision, blocks } }: ValidatorState): boolean =>
  decision !== null && !blocks.get(decision.id)?.parts.isComplete;

/** The tick that ends a period of this height. True: somebody was told something new. */
function gossip(v: ValidatorState, period: number): boolean {
  const again = period % periodsPerOffer(v) === 0 || isBlockMissing(v);
  const asks = isFarFromSome(v);
  let told = false;
  for (const view of v.views.values()) {
    if (again) view.forgetUnconfirmed();
    // Who asks says so what it has.
    const messages = asks ? [] : announce(v.consensus, view);
    if (again) messages.push(...askForParts(v.consensus), ...claim(v, view));
    // A vote is relayed a tick after it was announced: by then the peer has said if it has it. Who asks need not be offered anything.
    const isOffered = period % 2 === 0 && !view.asks(v.consensus.height);
    if (isOffered || again) messages.push(...offer(v.consensus, v.finished, view));
    if (messages.length > 0) sendMessages(v, view, messages);
    else if (again || view.height > v.consensus.height) sayTo(v, view);
    // What is offered again was new long ago.
    told ||= !again && messages.length > 0;
  }
  return told;
}

function claim(v: ValidatorState, view: PeerView): ConsensusMessage[] {
  const claimed = claims(v.consensus);
  if (claimed.length > 0) view.claimedHeight = v.consensus.height;
  return claimed;
}

/**
 * A height begins: who is there already, or beyond, hears so at once and gives us what it has, without waiting for our next tick. Where nobody
 * is, we have caught up, and who knows us further back hears that: else nothing of this height would be said to us before our next offer.
 */
export function tellWhereWeBegin(v: ValidatorState): void {
  const { height } = v.consensus;
  const views = [...v.views.values()];
  const isBehind = views.some((view) => view.height > height);
  for (const view of views)
    if (view.height >= height || (!isBehind && view.toldHeight < height - 1n)) sayTo(v, view);
}

/** Right now, whatever this peer lacks (it just said where it stands), after what it asked for by name. */
export function offerTo(v: ValidatorState, view: PeerView, asked: readonly ConsensusMessage[] = []): void {
  if (v.mode !== 'consensus') return;
  sendMessages(v, view, [...asked, ...offer(v.consensus, v.finished, view)]);
}

// --- peers that are behind -------------------------------------------------------------------------------------------

/**
 * A peer said where it stands, and stood at `before`. `isAll`: and nothing else, so it has just come there, or it misses something.
 */
export function answerStep(v: ValidatorState, view: PeerView, before: bigint, isAll: boolean): void {
  if (v.mode !== 'consensus') return;
  const { height } = v.consensus;
  if (view.height < height) serve(v, view);
  else if (view.height > height) {
    // At its first word it has heard ours.
    if (view.height > before && before > 0n) sayThatWeAreBehind(v, view);
  } else if (isAll) welcome(v, view);
}

/**
 * It may not know that we are behind, and serves us when we say so: on the next tick, for we may be about to get there by ourselves; at once
 * where none runs.
 */
function sayThatWeAreBehind(v: ValidatorState, view: PeerView): void {
  view.told = '';
  const { step } = v.consensus;
  if (step === 'newHeight' || step === 'newRound') sayTo(v, view);
}

/** It is given what there is of this height, once: when it is decided ticks end, and the next height is a while off. */
function welcome(v: ValidatorState, view: PeerView): void {
  if (view.servedHeight >= view.height) return;
  view.servedHeight = view.height;
  offerTo(v, view);
}

/** A peer stands below us: give it the next commit and block, from memory or from the store. */
function serve(v: ValidatorState, view: PeerView): void {
  const { consensus } = v;
  if (v.mode !== 'consensus' || view.height === 0n || view.height >= consensus.height) return;
  // One read at a time: when it ends the peer is served where it stands by then.
  if (view.reading > 0n && view.reading !== view.height) return;
  const pace = consensus.config.gossipNs;
  // A peer that has moved on is served at once; one that asks for the same height again waits.
  const isNext = view.height > view.servedHeight;
  if (!isNext && view.servedNs >= 0n && v.turn.monoNs - view.servedNs < pace) return;
  view.servedNs = v.turn.monoNs;
  view.servedHeight = view.height;
  if (isNext) view.forgetUnconfirmed();
  else view.forgetAllButParts();
  if (v.finished && view.height === v.finished.height) return offerTo(v, view);
  if (view.height < v.store.base || view.height > v.store.height || view.reading === view.height) return;
  view.reading = view.height;
  v.load(
    { for: 'peer', peer: view.peer, height: view.height },
    blockKey(view.height),
    blockKey(view.height + 1n),
    1,
  );
  const next = view.height + 1n;
  v.load(
    { for: 'peer', peer: view.peer, height: view.height },
    seenCommitKey(view.height),
    seenCommitKey(next),
    1,
  );
}

/** The two reads of `serve`, one after the other: the block is kept until its commit is here. */
export function onReadForPeer(
  v: ValidatorState,
  peer: PeerId,
  height: bigint,
  found: readonly KeyValue[],
): void {
  const view = v.views.get(peer);
  const value = found[0];
  if (!view) return;
  if (value && isBlockKey(value.key)) {
    view.readBlock = value.value;
    return;
  }
  if (!value || view.height !== height) {
    view.readBlock = null;
    view.reading = 0n;
    if (view.height > height) serve(v, view);
    return;
  }
  const block = view.readBlock;
  view.readBlock = null;
  view.reading = 0n;
  const commit = decodeCommit(value.value);
  if (!block || isRefusal(commit)) return;
  const votes = commit.signatures.map((signature, i) =>
    signature.flag === FLAG_ABSENT ? undefined : voteOfCommit(commit, i),
  );
  const { parts } = splitIntoParts(block);
  sendMessages(v, view, serveStored(height, commit.round, votes, parts, commit.blockId, view));
}

// --- evidence --------------------------------------------------------------------------------------------------------

/** Evidence goes to everybody when it is new, and again every ten seconds while it waits for a block (spec 5.10). */
export function gossipEvidence(v: ValidatorState): void {
  const pending = v.evidencePool.inOrder();
  if (pending.length === 0) return;
  const { tellings, afterNs } = v.evidenceTold.next(pending, [...v.views.values()], v.turn.monoNs);
  for (const { peers, evidence } of tellings)
    send(
      v,
      peers,
      evidence.map((each) => evidencePayload([each.evidence])),
    );
  v.schedule('evidence', 'evidence', afterNs);
}
