// What payloads of the consensus channels say, by the oracles' own decoding: once for each buffer, however many nodes it reaches, and once
// for each envelope, however many oracles look at it in turn.

import type { Payload } from '../../actors/turn.ts';
import {
  CHANNEL_DATA,
  CHANNEL_STATE,
  CHANNEL_VOTE,
  CHANNEL_VOTE_SET_BITS,
  type ConsensusMessage,
} from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeConsensusMessage } from '../../protocol/wire/index.ts';

/** Where consensus speaks: what does not decode there ends the envelope. */
export const isOfConsensus = (channel: number): boolean =>
  channel === CHANNEL_VOTE ||
  channel === CHANNEL_STATE ||
  channel === CHANNEL_DATA ||
  channel === CHANNEL_VOTE_SET_BITS;

/** In a large network a payload is relayed by many. */
const decoded = new WeakMap<Uint8Array, ConsensusMessage | null>();

/** A payload of the consensus channels; null when it does not decode (a corrupt or lying one). */
export function consensusMessage(bytes: Uint8Array): ConsensusMessage | null {
  let message = decoded.get(bytes);
  if (message === undefined) {
    const fresh = decodeConsensusMessage(bytes);
    message = isRefusal(fresh) ? null : (fresh as ConsensusMessage);
    decoded.set(bytes, message);
  }
  return message;
}

let asked: readonly Payload[] = [];
let answer: readonly (ConsensusMessage | null)[] = [];

/** What each payload of an envelope says, in their order; null: it does not decode, or is of another channel. */
export function messagesIn(payloads: readonly Payload[]): readonly (ConsensusMessage | null)[] {
  if (payloads === asked) return answer;
  const messages: (ConsensusMessage | null)[] = [];
  for (let i = 0; i < payloads.length; i++) {
    const { channel, bytes } = payloads[i] as Payload;
    messages.push(isOfConsensus(channel) ? consensusMessage(bytes) : null);
  }
  asked = payloads;
  answer = messages;
  return messages;
}
