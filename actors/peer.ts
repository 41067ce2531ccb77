// One connection: greets, judges the greeting that comes back, and tells the others when there is a peer to
// talk to.

import {
  CHANNEL_GREETING,
  decodeNodeInfo,
  encodeNodeInfo,
  judgeGreeting,
  type NodeInfo,
} from '../machines/peers/node-info.ts';
import { isRefusal, unreachable } from '../protocol/refusal.ts';
import { EMPTY_BYTES } from '../protocol/types.ts';
import { type PeerMail, peerMail } from './mail.ts';
import {
  type Effect,
  type Logic,
  NO_EFFECTS,
  NO_READS,
  type Payload,
  type PeerId,
  peerActorOf,
} from './turn.ts';

export interface PeerConfig {
  readonly peer: PeerId;
  /** Our own. */
  readonly info: NodeInfo;
  /** Links may lose the greeting: it is sent again, with a question, until theirs is here. */
  readonly greetAgainNs: bigint;
}

export const GREET_AGAIN_NS = 1_000_000_000n;

export interface PeerState {
  /** `refused` waits for the connection to go. */
  stands: 'idle' | 'greeting' | 'up' | 'refused';
}

const TIMER = 'greet';
const LISTENERS = ['validator', 'mempool', 'blocksync'] as const;
/**
 * Nothing on the greeting's channel: "I have not heard yours". The answer carries none, so that two who are
 * up fall silent.
 */
const QUESTION: Payload = { channel: CHANNEL_GREETING, bytes: EMPTY_BYTES };

export function peerLogic(config: PeerConfig): Logic<PeerState, PeerMail> {
  const greeting: Payload = { channel: CHANNEL_GREETING, bytes: encodeNodeInfo(config.info) };
  const greet = (...payloads: readonly Payload[]): Effect => ({ type: 'send', to: [config.peer], payloads });
  const greetAgain: Effect = { type: 'schedule', timer: TIMER, afterNs: config.greetAgainNs };
  return {
    name: peerActorOf(config.peer),
    words: peerMail,
    reads: NO_READS,
    start: () => ({ state: { stands: 'idle' }, effects: NO_EFFECTS }),
    receive: (state, message) => {
      switch (message.type) {
        case 'connected':
          state.stands = 'greeting';
          return [greet(greeting), greetAgain];
        case 'disconnected':
          return onDisconnected(config, state);
        case 'timer':
          return state.stands === 'greeting' ? [greet(greeting, QUESTION), greetAgain] : NO_EFFECTS;
        case 'heard': {
          const effects: Effect[] = [];
          let isAsked = false;
          for (const { channel, bytes } of message.payloads) {
            if (channel !== CHANNEL_GREETING) return unreachable(`peer owns no channel ${channel}`);
            if (bytes.length === 0) isAsked = true;
            else onGreeting(config, state, bytes, effects);
          }
          if (isAsked && state.stands !== 'idle' && state.stands !== 'refused') effects.push(greet(greeting));
          return effects;
        }
        default:
          return unreachable(`peer asked for no ${message.type}`);
      }
    },
    look: (state) => state.stands,
  };
}

/** The first greeting decides; what is repeated after it was heard already. */
function onGreeting(
  { peer, info }: PeerConfig,
  state: PeerState,
  bytes: Uint8Array,
  effects: Effect[],
): void {
  if (state.stands !== 'greeting') return;
  const theirs = decodeNodeInfo(bytes);
  const refusal = isRefusal(theirs) ? theirs : judgeGreeting(info, theirs, peer);
  effects.push({ type: 'cancel', timer: TIMER });
  if (refusal) {
    state.stands = 'refused';
    effects.push({ type: 'score', peer, because: `greeting: ${refusal.because}`, drop: true });
    return;
  }
  state.stands = 'up';
  for (const to of LISTENERS) effects.push({ type: 'tell', to, message: { type: 'peer-up', peer } });
  effects.push({ type: 'publish', event: { type: 'peer', peer, up: true } });
}

function onDisconnected({ peer }: PeerConfig, state: PeerState): readonly Effect[] {
  const { stands } = state;
  state.stands = 'idle';
  if (stands === 'idle') return NO_EFFECTS;
  const message = { type: 'peer-down', peer } as const;
  const effects: Effect[] = stands === 'greeting' ? [{ type: 'cancel', timer: TIMER }] : [];
  // The validator keeps what is said before a greeting: of this connection, for what a later one brings may be another life.
  if (stands !== 'up') return [...effects, { type: 'tell', to: 'validator', message }];
  for (const to of LISTENERS) effects.push({ type: 'tell', to, message });
  effects.push({ type: 'publish', event: { type: 'peer', peer, up: false } });
  return effects;
}
