// Whether what a node sends goes where it belongs: on another channel it is no word, and another implementation ends the connection.

import type { ActorName, Payload } from '../../../actors/turn.ts';
import { CHANNEL_GREETING } from '../../../machines/peers/node-info.ts';
import { CHANNELS_OF_ACTOR } from '../canonical/numbers.ts';
import { isOfConsensus, messagesIn } from '../ghost/messages.ts';

const nameOf = (channel: number): string => `0x${channel.toString(16)}`;

/** Of an envelope that an actor sends: what is wrong with it, as the end of a sentence about its node; null: nothing. */
export function misplaced(actor: ActorName, payloads: readonly Payload[]): string | null {
  const channels = CHANNELS_OF_ACTOR[actor] ?? [CHANNEL_GREETING];
  for (let i = 0; i < payloads.length; i++) {
    const { channel } = payloads[i] as Payload;
    if (!channels.includes(channel))
      return `speaks on channel ${nameOf(channel)}, where its ${actor} has nothing to say`;
    if (isOfConsensus(channel) && messagesIn(payloads)[i] === null)
      return `says on channel ${nameOf(channel)} what is no word there`;
  }
  return null;
}
