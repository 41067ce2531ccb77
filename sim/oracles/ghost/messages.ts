// What payloads of the consensus channels say, by the oracles' own decoding: once for each buffer, however many nodes it reaches, and once
// for each envelope, however many oracles look at it in turn.

import type { Payload } from '../../../actors/turn.ts';
import { CHANNEL_GREETING } from '../../../machines/peers/node-info.ts';
import type { BlocksyncMessage, ConsensusMessage } from '../../../protocol/messages.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import {
  decodeBlocksyncMessage,
  decodeConsensusMessage,
  decodeMempoolMessage,
} from '../../../protocol/wire/index.ts';
import {
  CHANNEL_BLOCKSYNC,
  CHANNEL_DATA,
  CHANNEL_EVIDENCE,
  CHANNEL_MEMPOOL,
  CHANNEL_OF,
  CHANNEL_STATE,
  CHANNEL_VOTE,
  CHANNEL_VOTE_SET_BITS,
  CONSENSUS_BYTES_MAX,
} from '../canonical/numbers.ts';

/** Where consensus speaks. */
export const isOfConsensus = (channel: number): boolean =>
  channel === CHANNEL_VOTE ||
  channel === CHANNEL_STATE ||
  channel === CHANNEL_DATA ||
  channel === CHANNEL_VOTE_SET_BITS;

/** In a large network a payload is relayed by many. What it says stays with it: a weak map costs the collector more than all the decoding. */
interface Read extends Payload {
  read?: ConsensusMessage | null;
}

/** Whether what is no word there ends the envelope for who hears it: not on channels that other actors read, nor evidence. */
export const endsEnvelope = (channel: number): boolean =>
  channel !== CHANNEL_MEMPOOL &&
  channel !== CHANNEL_EVIDENCE &&
  channel !== CHANNEL_BLOCKSYNC &&
  channel !== CHANNEL_GREETING;

/** A payload of the consensus channels; null when it does not decode (a corrupt or lying one), or not as a word of its channel. */
export function consensusMessage(payload: Payload): ConsensusMessage | null {
  const known = payload as Read;
  if (known.read === undefined) known.read = wordIn(payload);
  return known.read;
}

function wordIn({ channel, bytes }: Payload): ConsensusMessage | null {
  const message = bytes.length > CONSENSUS_BYTES_MAX ? null : decoded(bytes);
  return message && CHANNEL_OF[message.type] === channel ? message : null;
}

/** As `consensusMessage`, of bytes that nobody else looks at. */
export function decoded(bytes: Uint8Array): ConsensusMessage | null {
  const message = decodeConsensusMessage(bytes);
  return isRefusal(message) ? null : message;
}

/** Each word is of a height. */
export const heightOf = (message: ConsensusMessage): bigint =>
  message.type === 'vote'
    ? message.vote.height
    : message.type === 'proposal'
      ? message.proposal.height
      : message.height;

interface ReadTxs extends Payload {
  txs?: readonly Uint8Array[] | null;
}

/** The transactions in a payload of the mempool channel; null when it does not decode. */
export function txsIn(payload: Payload): readonly Uint8Array[] | null {
  const known = payload as ReadTxs;
  if (known.txs === undefined) {
    const message = decodeMempoolMessage(payload.bytes);
    known.txs = isRefusal(message) ? null : message.txs;
  }
  return known.txs;
}

interface ReadBlocksync extends Payload {
  blocksync?: BlocksyncMessage | null;
}

/** A payload of the block sync channel; null when it is of another, or does not decode. */
export function blocksyncMessage(payload: Payload): BlocksyncMessage | null {
  if (payload.channel !== CHANNEL_BLOCKSYNC) return null;
  const known = payload as ReadBlocksync;
  if (known.blocksync === undefined) {
    const message = decodeBlocksyncMessage(payload.bytes);
    known.blocksync = isRefusal(message) ? null : message;
  }
  return known.blocksync;
}

let asked: readonly Payload[] = [];
let answer: readonly (ConsensusMessage | null)[] = [];

/** What each payload of an envelope says, in their order; null: it does not decode, or is of another channel. */
export function messagesIn(payloads: readonly Payload[]): readonly (ConsensusMessage | null)[] {
  if (payloads === asked) return answer;
  const messages: (ConsensusMessage | null)[] = [];
  for (let i = 0; i < payloads.length; i++) {
    const payload = payloads[i] as Payload;
    messages.push(isOfConsensus(payload.channel) ? consensusMessage(payload) : null);
  }
  asked = payloads;
  answer = messages;
  return messages;
}
