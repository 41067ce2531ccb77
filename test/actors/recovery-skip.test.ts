// Recovery where heights begin at once (skip_timeout_commit): no timer of theirs fires, and the log says all the same that they began.

import { expect, it } from 'vitest';
import { commitOf } from '../../machines/chain/commits.ts';
import { type BlockId, PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import { copyDisk, Home, nextBlock, notProposers, proposalOf, signedVote } from './home.ts';

const FOUR = genesisOf([10n, 10n, 10n, 10n]);

/** Validator `me`, in round 2 of height 2, locked on a block that another proposed there; null: it proposes there itself. */
function lockedLate(me: number, late: boolean): { home: Home; id: BlockId } | null {
  const home = new Home({ genesis: FOUR, me, consensus: { skipTimeoutCommit: true } });
  const others = [0, 1, 2, 3].filter((i) => i !== me);
  const vote = (who: readonly number[], type: number, round: number, id: BlockId | null): void =>
    home.hear(
      'peer',
      ...who.map((i) => ({ type: 'vote', vote: signedVote(home, i, type, round, id) }) as const),
    );
  home.peerUp('peer');
  home.fire('start');
  const { consensus } = home.state;
  if (notProposers(home, 0).includes(me)) home.hear('peer', ...proposalOf(home, nextBlock(home, []), 0));
  const first = consensus.rounds.get(0)!.proposals[0]!.blockId;
  vote(others, PREVOTE, 0, first);
  const lastOne = signedVote(home, others[2]!, PRECOMMIT, 0, first);
  vote(late ? others.slice(0, 2) : others, PRECOMMIT, 0, first);
  if (late) home.hear('peer', { type: 'vote', vote: lastOne });
  if (!notProposers(home, 0, 1, 2).includes(me)) return null;
  for (const round of [0, 1]) {
    home.fire('propose');
    vote(others, PREVOTE, round, null);
    vote(others, PRECOMMIT, round, null);
    if (consensus.round === round) home.fire('precommit');
  }
  const { precommits, round } = consensus.lastCommit!;
  const made = nextBlock(home, ['money'], commitOf(precommits, 1n, round, home.state.chain.lastBlockId));
  home.hear('peer', ...proposalOf(home, made, 2));
  vote(others, PREVOTE, 2, made.id);
  return { home, id: made.id };
}

it.each([false, true])('brings a lock of a late round back with its block; precommits late: %s', (late) => {
  let locked = 0;
  for (const me of [0, 1, 2, 3]) {
    const found = lockedLate(me, late);
    if (!found) continue;
    const { home, id } = found;
    expect([home.state.consensus.height, home.state.consensus.lockedRound]).toEqual([2n, 2]);
    const disk = copyDisk(home.disk);
    const { consensus } = new Home({ genesis: FOUR, me, disk, consensus: { skipTimeoutCommit: true } }).state;
    expect([consensus.height, consensus.round, consensus.lockedRound]).toEqual([2n, 2, 2]);
    expect(consensus.blocks.get(id)?.block?.txs).toHaveLength(1);
    locked++;
  }
  expect(locked).toBeGreaterThan(0);
});
