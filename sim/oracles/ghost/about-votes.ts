// What a vote is about: its block by name, its place in a height, and whose it is.

import type { Payload } from '../../../actors/turn.ts';
import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import type { BlockId, Vote } from '../../../protocol/types.ts';
import { addressFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import { CHANNEL_VOTE, PREVOTE } from '../canonical/numbers.ts';
import { consensusMessage } from './messages.ts';

export const nameOfId = (hash: Uint8Array): string =>
  hash.length === 0 ? 'nil' : hexOf(hash.subarray(0, 6));
export const nameOf = ({ blockId }: Vote): string => nameOfId(blockId.hash);
/** Of one block that has other parts than another of that name its parts, too. */
export const nameBeside = ({ hash, parts }: BlockId, other: BlockId): string =>
  hash.length > 0 && equalBytes(hash, other.hash)
    ? `${nameOfId(hash)} of parts ${nameOfId(parts.hash)}`
    : nameOfId(hash);

/** Whether it is a vote of this machine: gossip passes on those of others. */
export const isOwn = (at: Machine, vote: Vote): boolean => equalBytes(vote.validatorAddress, addressFor(at));

/** The vote in a payload, when the machine that sends it signed it; null for all else. */
export function ownVote(at: Machine, payload: Payload): Vote | null {
  const message = payload.channel === CHANNEL_VOTE ? consensusMessage(payload) : null;
  return message?.type === 'vote' && isOwn(at, message.vote) ? message.vote : null;
}

/** Round and step as one number. */
export const slotOf = ({ type, round }: Pick<Vote, 'type' | 'round'>): number =>
  round * 2 + (type === PREVOTE ? 0 : 1);
