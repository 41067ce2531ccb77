// With which parameters a node of ours can go on: some are well formed, and nobody could make a block by them, or we cannot take part.

import { isRefusal, type Refusal, refuse } from '../../protocol/refusal.ts';
import { roomInBlock } from '../../protocol/rules/block-room.ts';
import { blockBytesMax, validateParams } from '../../protocol/rules/params.ts';
import { type ConsensusParams, VOTES_MAX } from '../../protocol/types.ts';

/**
 * Whoever has the turn could propose nothing. (CometBFT panics there.)
 * @param validators how many sign a commit.
 * @param signers how many signed the one that the next block carries.
 */
export function tooSmall(params: ConsensusParams, validators: number, signers = 0): Refusal | null {
  const room = roomInBlock(blockBytesMax(params), validators, signers);
  return isRefusal(room) ? room : null;
}

/** The largest set whose commit a block has room for, whoever signs. */
export function membersMax(params: ConsensusParams): number {
  let fits = 0;
  let tooMany = VOTES_MAX + 1;
  while (tooMany - fits > 1) {
    const members = (fits + tooMany) >>> 1;
    if (tooSmall(params, members, members)) tooMany = members;
    else fits = members;
  }
  return fits;
}

/** Of the parameters with which a chain begins, by its genesis file or by what the application makes of it. */
export const whyUnplayable = (params: ConsensusParams, validators: number): Refusal | null =>
  validateParams(params) ?? tooSmall(params, validators) ?? asksForMore(params);

/** Votes without extensions would be worth nothing to the other nodes of such a chain, and theirs nothing to us. */
export function asksForMore({ abci }: ConsensusParams): Refusal | null {
  const { voteExtensionsEnableHeight: from } = abci;
  if (from === 0n) return null;
  const field = 'abci.vote_extensions_enable_height';
  return refuse(
    'vote-extensions',
    `vote extensions, which this node does not have yet: ${field} is ${from}, and must be 0`,
  );
}
