// Oracles read of an envelope what a node reads of it: a word on a channel that is not its own, one too long, and one on a channel of nobody
// are no words to either, and end it.

import { expect, it } from 'vitest';
import { ownerOf } from '../../../../actors/node.ts';
import type { Payload } from '../../../../actors/turn.ts';
import { messageOf } from '../../../../actors/validator/words.ts';
import { concatBytes } from '../../../../protocol/bytes.ts';
import {
  CHANNEL_EVIDENCE,
  CHANNEL_STATE,
  CHANNEL_VOTE,
  CONSENSUS_BYTES_MAX,
  type ConsensusMessage,
} from '../../../../protocol/messages.ts';
import { isRefusal } from '../../../../protocol/refusal.ts';
import { PREVOTE } from '../../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../../protocol/wire/index.ts';
import { encodeWith } from '../../../../protocol/wire/writer.ts';
import { consensusMessage, endsEnvelope, messagesIn } from '../../../../sim/oracles/ghost/messages.ts';

const hasVote: ConsensusMessage = { type: 'has-vote', height: 3n, round: 0, voteType: PREVOTE, index: 1 };
const bytes = encodeConsensusMessage(hasVote);
const CHANNELS = Array.from({ length: 256 }, (_, channel) => channel);

/** With a field behind it that nobody knows, so that all of it has this length. */
function ofLength(length: number): Uint8Array {
  const field = (size: number) =>
    encodeWith((writer, n: number) => writer.bytes(0x7a, new Uint8Array(n)), size);
  const rest = length - bytes.length;
  return concatBytes(bytes, field(rest - (field(rest).length - rest)));
}

const isWord = (payload: Payload): boolean => !isRefusal(messageOf({ ...payload }));

it('a word is one on its own channel only', () => {
  const words = CHANNELS.filter((channel) => consensusMessage({ channel, bytes }) !== null);
  expect(words).toEqual([CHANNEL_STATE]);
  expect(words).toEqual(CHANNELS.filter((channel) => isWord({ channel, bytes })));
});

it.each([0, 1])('a word may have so many bytes, and not one more (%i)', (more) => {
  const long = { channel: CHANNEL_STATE, bytes: ofLength(CONSENSUS_BYTES_MAX + more) };
  expect(long.bytes).toHaveLength(CONSENSUS_BYTES_MAX + more);
  expect(consensusMessage(long) !== null).toBe(more === 0);
  expect(isWord(long)).toBe(more === 0);
});

it('what the validator reads and is no evidence ends the envelope where it is no word', () => {
  const ending = CHANNELS.filter((channel) => ownerOf(channel, 'peer') === 'validator');
  expect(CHANNELS.filter(endsEnvelope)).toEqual(ending.filter((channel) => channel !== CHANNEL_EVIDENCE));
  expect(endsEnvelope(0x99)).toBe(true);
});

it('an envelope has a word or null for each payload', () => {
  const payloads = [CHANNEL_VOTE, CHANNEL_STATE, 0x99].map((channel) => ({ channel, bytes }));
  expect(messagesIn(payloads)).toEqual([null, hasVote, null]);
});
