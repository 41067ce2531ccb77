// The flooder: behind each prevote of its own comes more than a peer may be asked to remember. Words for the next height, its own votes for one
// invented block after the other, its proposals of rounds that nobody has reached, or what it has: votes of as many rounds, parts of as many
// blocks. Something else at each height. Behind each precommit come claims of two thirds, for one invented block after the other.

import { sha256, utf8Encode } from '#platform';
import type { Payload } from '../../actors/turn.ts';
import { CHANNEL_STATE, type ConsensusMessage } from '../../protocol/messages.ts';
import { type BlockId, NIL_BLOCK_ID, PREVOTE, type Vote } from '../../protocol/types.ts';
import { encodeConsensusMessage } from '../../protocol/wire/index.ts';
import { type Liar, type LiarKit, signedProposal, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

const EARLY_WORDS = 16_000;
const VOTES = 4_000;
const ROUNDS_AHEAD = 3_000;
const CLAIMS = 4_000;
const MARKS = 16_000;

export const flooder: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a flood', (vote, payload) => [
    payload,
    ...(vote.type === PREVOTE ? floodAt(vote.height)(kit, vote) : claims(vote)),
  ]);

type Flood = (kit: LiarKit, vote: Vote) => Payload[];

const earlyWords: Flood = (kit, vote) => {
  const early = signedVote(kit, { ...vote, height: vote.height + 1n, round: 0, blockId: NIL_BLOCK_ID });
  return Array(EARLY_WORDS).fill(early);
};

const otherVotes: Flood = (kit, vote) =>
  invented(vote, VOTES).map((blockId) => signedVote(kit, { ...vote, blockId }));

const farProposals: Flood = (kit, { height, round, timeNs }) => {
  const [blockId = NIL_BLOCK_ID] = invented({ height, round }, 1);
  const rounds = Array.from({ length: ROUNDS_AHEAD }, (_, i) => round + 2 + i);
  return rounds
    .filter((each) => kit.hasTurn(height, each))
    .map((each) => signedProposal(kit, { height, round: each, polRound: -1, blockId, timeNs }));
};

const votesOfFarRounds: Flood = (_kit, { height, round, validatorIndex: index }) =>
  Array.from({ length: MARKS }, (_, i) =>
    said({ type: 'has-vote', height, round: round + i, voteType: PREVOTE, index }),
  );

const partsOfOtherBlocks: Flood = (_kit, vote) => {
  const { height, round } = vote;
  const have = { bits: 1, elems: [1n] };
  return invented(vote, MARKS).map(({ parts }) =>
    said({ type: 'new-valid-block', height, round, parts, have, isCommit: false }),
  );
};

const FLOODS: readonly Flood[] = [votesOfFarRounds, partsOfOtherBlocks, earlyWords, otherVotes, farProposals];
const floodAt = (height: bigint): Flood => FLOODS[Number(height % BigInt(FLOODS.length))] as Flood;

function claims(vote: Vote): Payload[] {
  const { height, round } = vote;
  return invented(vote, CLAIMS).map((blockId) =>
    said({ type: 'vote-set-maj23', height, round, voteType: PREVOTE, blockId }),
  );
}

const said = (message: ConsensusMessage): Payload => ({
  channel: CHANNEL_STATE,
  bytes: encodeConsensusMessage(message),
});

/** So many ids of blocks that nobody has. */
export function invented({ height, round }: Pick<Vote, 'height' | 'round'>, count: number): BlockId[] {
  return Array.from({ length: count }, (_, i) => {
    const hash = sha256(utf8Encode(`${height}/${round}/${i}`));
    return { hash, parts: { total: 1, hash } };
  });
}
