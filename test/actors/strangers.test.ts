// What strangers leave with a validator once they are gone: as much as the first few did, however many they are.

import { expect, it } from 'vitest';
import { commitOf } from '../../machines/chain/commits.ts';
import { NIL_BLOCK_ID, PRECOMMIT, PREVOTE, type Vote } from '../../protocol/types.ts';
import { censusOf } from '../../sim/census.ts';
import { genesisOf, someBlockId } from '../protocol/rules/people.ts';
import { Home, nextBlock, notProposers, proposalOf, roundStepAt, signedVote } from './home.ts';

const FOUR = genesisOf([10n, 10n, 10n, 10n]);
/** Proposes first at height 4. */
const me = notProposers(new Home({ genesis: FOUR, me: 0 }), 0, 1, 2)[0]!;
const others = [0, 1, 2, 3].filter((i) => i !== me);
const FAR = 5;

const hearVotes = (home: Home, votes: readonly Vote[]): void =>
  home.hear('peer', ...votes.map((vote) => ({ type: 'vote', vote }) as const));

/** At height 4, with evidence of height 1 that waits for a block. */
function homeWithEvidence(): Home {
  const home = new Home({ genesis: FOUR, me });
  home.peerUp('peer');
  for (let height = 1n; height <= 3n; height++) {
    home.fire('start');
    const { lastCommit } = home.state.consensus;
    const { lastBlockId } = home.state.chain;
    const commit = lastCommit
      ? commitOf(lastCommit.precommits, height - 1n, lastCommit.round, lastBlockId)
      : undefined;
    const made = nextBlock(home, [], commit);
    home.hear('peer', ...proposalOf(home, made, 0));
    if (height === 1n) hearVotes(home, [signedVote(home, others[0]!, PREVOTE, 0, NIL_BLOCK_ID)]);
    for (const type of [PREVOTE, PRECOMMIT])
      hearVotes(
        home,
        others.map((who) => signedVote(home, who, type, 0, made.id)),
      );
  }
  expect([home.halted, home.state.consensus.height]).toEqual([null, 4n]);
  expect(home.state.evidencePool.inOrder().map(({ height }) => height)).toEqual([1n]);
  return home;
}

/** Comes too early, votes far ahead and for the next height, claims, falls behind, is told of evidence, and goes. */
function visit(home: Home, peer: string, votes: readonly Vote[]): void {
  home.hear(peer, roundStepAt(4n));
  home.tell({ type: 'peer-up', peer });
  home.hear(peer, ...votes.map((vote) => ({ type: 'vote', vote }) as const), {
    type: 'vote-set-maj23',
    height: 4n,
    round: FAR,
    voteType: PREVOTE,
    blockId: someBlockId('claimed'),
  });
  home.hear(peer, roundStepAt(2n));
  expect(home.state.laggards.get(peer)).toBe(true);
  home.tell({ type: 'timer', timer: 'evidence' });
  home.tell({ type: 'peer-down', peer });
}

it('a thousand of them leave no more than ten', () => {
  const home = homeWithEvidence();
  const votes = [
    signedVote(home, others[1]!, PREVOTE, FAR, null),
    signedVote(home, others[1]!, PREVOTE, 0, null, { height: 5n }),
  ];
  const visits = (from: number, to: number): Record<string, number> => {
    for (let i = from; i < to; i++) visit(home, `stranger ${i}`, votes);
    return Object.fromEntries(censusOf(home.state));
  };
  const afterTen = visits(0, 10);
  expect(visits(10, 1000)).toEqual(afterTen);
  expect(home.scored).toEqual([]);
});
