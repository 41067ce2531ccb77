// Consensus messages as the bytes that travel: encoded once however many peers they go to, decoded once however many nodes share the buffer.

import { equalBytes } from '../../protocol/bytes.ts';
import { Lately, LatelyAt, placeOfVote, remembered, remembers } from '../../protocol/lately.ts';
import {
  CHANNEL_DATA,
  CHANNEL_EVIDENCE,
  CHANNEL_OF,
  CONSENSUS_BYTES_MAX,
  type ConsensusMessage,
} from '../../protocol/messages.ts';
import { isRefusal, type Refusal, refuse } from '../../protocol/refusal.ts';
import type { Block, Evidence, Proposal, Vote } from '../../protocol/types.ts';
import {
  decodeBlock,
  decodeConsensusMessage,
  encodeBlock,
  encodeConsensusMessage,
  encodeEvidenceList,
} from '../../protocol/wire/index.ts';
import type { Payload } from '../turn.ts';

/**
 * What the bytes say, once somebody has decoded them: nodes of a process that share a payload share the value, and who encoded it knows
 * it. No part of the payload's own bytes.
 */
interface Understood extends Payload {
  said?: ConsensusMessage | Refusal;
}

const make = (message: ConsensusMessage): Understood => ({
  channel: CHANNEL_OF[message.type],
  bytes: encodeConsensusMessage(message),
  said: message,
});

/** Places for payloads: those of some heights of a hundred validators. */
const PLACES = 1024;
const ofVote = new LatelyAt<Vote, Payload>(PLACES);
const ofProposal = new Lately<Proposal, Payload>(16);

/** Votes and proposals are relayed to many: their payload is made once per value. */
export function payloadOf(message: ConsensusMessage): Payload {
  if (message.type === 'vote') {
    const { vote } = message;
    const place = placeOfVote(vote);
    let payload = ofVote.get(place, vote);
    if (!payload) {
      payload = make(message);
      ofVote.set(place, vote, payload);
    }
    return payload;
  }
  if (message.type !== 'proposal') return make(message); // a part's payload also names a round
  const { proposal } = message;
  let payload = ofProposal.get(proposal);
  if (!payload) {
    payload = make(message);
    ofProposal.set(proposal, payload);
  }
  return payload;
}

export const evidencePayload = (evidence: readonly Evidence[]): Payload => ({
  channel: CHANNEL_EVIDENCE,
  bytes: encodeEvidenceList(evidence),
});

export function messageOf(payload: Payload): ConsensusMessage | Refusal {
  if (!remembers()) return understand(payload);
  const understood = payload as Understood;
  understood.said ??= understand(payload);
  return understood.said;
}

/** A channel that nobody owns ends here, too: no message is of it. */
function understand({ channel, bytes }: Payload): ConsensusMessage | Refusal {
  const { length } = bytes;
  if (length > CONSENSUS_BYTES_MAX)
    return refuse(
      'long-message',
      `${length} bytes on a consensus channel; a message may have ${CONSENSUS_BYTES_MAX}`,
    );
  const message = decodeConsensusMessage(bytes);
  if (isRefusal(message) || channel === CHANNEL_OF[message.type]) return message;
  return refuse('wrong-channel', `${message.type} does not belong on channel 0x${channel.toString(16)}`);
}

/** Longer than any honest word: a part of a block is 64 KiB, and its proof some more; a vote has some hundred bytes. */
const LONG_BYTES = 4 * 1024;
const LONG_DATA_BYTES = 72 * 1024;

/**
 * A message without its unknown fields: no signature covers them, so anybody could pass on a true vote with a mebibyte behind it, and fill our log
 * and our memory. What is long by itself stays.
 */
export function unpadded(payload: Payload): Payload {
  const { channel, bytes } = payload;
  if (bytes.length <= LONG_BYTES || channel === CHANNEL_EVIDENCE) return payload;
  if (channel === CHANNEL_DATA && bytes.length <= LONG_DATA_BYTES) return payload;
  const message = messageOf(payload);
  if (isRefusal(message)) return payload;
  const plain = encodeConsensusMessage(message);
  return 2 * plain.length < bytes.length ? { channel, bytes: plain } : payload;
}

/** What the bytes of a block say. */
interface Read {
  readonly block: Block | Refusal;
  /** Protobuf lets more than one text say the same; these are the bytes that `encodeBlock` makes of it, and so everybody who stores or syncs it. */
  readonly isCanonical: boolean;
}

/** Blocks of the last few heights of a process, by the buffer of their bytes; the stores keep those buffers, so a weak map would keep every block. */
const BLOCKS_AT_HAND = 16;
const blocks: { readonly bytes: Uint8Array; readonly read: Read }[] = [];
let oldest = 0;
remembered({
  clear: () => {
    blocks.length = 0;
    oldest = 0;
  },
});

/** These bytes are what this block encodes to. */
export const rememberBlock = (bytes: Uint8Array, block: Block): void =>
  remember(bytes, { block, isCanonical: true });

function remember(bytes: Uint8Array, read: Read): void {
  if (!remembers()) return;
  blocks[oldest] = { bytes, read };
  oldest = (oldest + 1) % BLOCKS_AT_HAND;
}

function readBlock(bytes: Uint8Array): Read {
  const block = decodeBlock(bytes);
  return { block, isCanonical: !isRefusal(block) && equalBytes(encodeBlock(block), bytes) };
}

/** A block by its bytes; nodes that share the buffer of its one part share the block, and so every hash of it. */
export function blockOf(bytes: Uint8Array): Read {
  const known = blocks.find((each) => each.bytes === bytes);
  if (known) return known.read;
  const read = readBlock(bytes);
  remember(bytes, read);
  return read;
}
