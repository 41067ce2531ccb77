// The flooder: behind each prevote of its own comes more than a peer may be asked to remember. Words for the next height, its own votes for one
// invented block after the other, or its proposals of rounds that nobody has reached: something else at each height. Behind each precommit come
// claims of two thirds, for one invented block after the other.

import { sha256, utf8Encode } from '#platform';
import type { Payload } from '../../actors/turn.ts';
import { CHANNEL_STATE } from '../../protocol/messages.ts';
import { type BlockId, NIL_BLOCK_ID, PREVOTE, type Vote } from '../../protocol/types.ts';
import { encodeConsensusMessage } from '../../protocol/wire/index.ts';
import { type Liar, type LiarKit, signedProposal, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

const EARLY_WORDS = 16_000;
const VOTES = 4_000;
const ROUNDS_AHEAD = 3_000;
const CLAIMS = 4_000;

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

const FLOODS: readonly Flood[] = [otherVotes, farProposals, earlyWords];
const floodAt = (height: bigint): Flood => FLOODS[Number(height % BigInt(FLOODS.length))] as Flood;

function claims(vote: Vote): Payload[] {
  const { height, round } = vote;
  return invented(vote, CLAIMS).map((blockId) => {
    const claim = { type: 'vote-set-maj23', height, round, voteType: PREVOTE, blockId } as const;
    return { channel: CHANNEL_STATE, bytes: encodeConsensusMessage(claim) };
  });
}

/** So many ids of blocks that nobody has. */
function invented({ height, round }: Pick<Vote, 'height' | 'round'>, count: number): BlockId[] {
  return Array.from({ length: count }, (_, i) => {
    const hash = sha256(utf8Encode(`${height}/${round}/${i}`));
    return { hash, parts: { total: 1, hash } };
  });
}
