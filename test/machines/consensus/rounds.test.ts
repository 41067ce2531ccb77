import { describe, expect, it } from 'vitest';
import { Rounds, type VoteOutcome } from '../../../machines/consensus/rounds.ts';
import { PRECOMMIT, PREVOTE } from '../../../protocol/types.ts';
import { type Census, censusOf } from '../../../sim/census.ts';
import { setOf } from '../../protocol/rules/people.ts';
import { FOUR, proposalOf, voteOf } from './seat.ts';

const vote = (rounds: Rounds, index: number, round: number, peer: string, current = 0) =>
  rounds.tally(voteOf(PREVOTE, 'nil', round, index), 10n, peer, current).tally;

it('a peer keeps two rounds ahead of the next open, and the latest ones; open rounds take votes of all', () => {
  const rounds = new Rounds(1n, FOUR);
  expect(vote(rounds, 0, 1, 'p')).toBe('added'); // the next round is not ahead
  expect(vote(rounds, 0, 5, 'p')).toBe('added');
  expect(vote(rounds, 0, 9, 'p')).toBe('added');
  expect(vote(rounds, 0, 7, 'p')).toBe('added');
  expect(rounds.get(5)).toBeUndefined();
  expect(vote(rounds, 1, 9, 'q')).toBe('added');
  expect(vote(rounds, 1, 7, 'q')).toBe('added');
  expect(vote(rounds, 0, 1_000_000, 'r')).toBe('added');
  expect(vote(rounds, 0, 1_000_001, 'r')).toBe('too-far'); // nobody honest is there
  expect([...rounds.all()].map(({ round }) => round)).toEqual([1, 9, 7, 1_000_000]);
});

it('a round in which a third has spoken stays, whoever goes on to others', () => {
  const rounds = new Rounds(1n, FOUR);
  for (const [index, peer] of [
    [0, 'p'],
    [1, 'q'],
  ] as const)
    vote(rounds, index, 5, peer);
  for (let round = 10; round < 73; round++) expect(vote(rounds, 2, round, 'p')).toBe('added');
  expect(vote(rounds, 2, 73, 'p')).toBe('too-far'); // enough of a flood
  expect([...rounds.all()].map(({ round }) => round)).toEqual([5, 71, 72]);
  expect(rounds.skipTo(0)).toBe(5);
});

it('a round that we have come to stays, and the next, though the peer that opened it has gone on', () => {
  const rounds = new Rounds(1n, FOUR);
  for (const round of [5, 6]) vote(rounds, 1, round, 'p');
  for (const round of [8, 9]) expect(vote(rounds, 1, round, 'p', 5)).toBe('added');
  expect([...rounds.all()].map(({ round }) => round)).toEqual([5, 6, 8, 9]);
});

it('L55 counts who spoke, each once, with any kind of message', () => {
  const rounds = new Rounds(1n, FOUR);
  vote(rounds, 0, 3, 'p');
  rounds.tally(voteOf(PRECOMMIT, 'nil', 3, 0), 10n, 'p', 0);
  expect(rounds.skipTo(0)).toBe(-1);
  rounds.propose(proposalOf('B', 3), 1, 10n);
  expect(rounds.skipTo(0)).toBe(3);
  expect(rounds.skipTo(3)).toBe(-1);
});

it('L55 takes the furthest round, and needs strictly more than a third', () => {
  const set = setOf(10n, 10n, 10n);
  const rounds = new Rounds(1n, set);
  const say = (index: number, round: number) =>
    rounds.tally(voteOf(PREVOTE, 'nil', round, index, 1n, set), 10n, `p${index}${round}`, 0);
  say(0, 2);
  expect(rounds.skipTo(0)).toBe(-1); // exactly a third
  say(1, 2);
  say(1, 4);
  say(2, 4);
  expect(rounds.skipTo(0)).toBe(4);
});

it('a proposer has three proposals a round at most', () => {
  const rounds = new Rounds(1n, FOUR);
  expect(['A', 'B', 'A', 'C', 'D'].map((name) => rounds.propose(proposalOf(name, 0), 0, 10n))).toEqual([
    null,
    null,
    'known',
    null,
    'crowded',
  ]);
});

it('a proposal of the same hash and other parts is another: who was told the wrong one first takes the true one', () => {
  const rounds = new Rounds(1n, FOUR);
  const real = proposalOf('B', 0);
  const split = { ...real, blockId: { ...real.blockId, parts: proposalOf('C', 0).blockId.parts } };
  expect([split, real, split].map((each) => rounds.propose(each, 0, 10n))).toEqual([null, null, 'known']);
  expect(rounds.get(0)?.proposals).toEqual([split, real]);
});

describe('one validator votes in rounds that nobody has reached, by strangers who come and go', () => {
  const flooded = (strangers: number) => {
    const rounds = new Rounds(1n, FOUR);
    let outcome: VoteOutcome | null = null;
    for (let i = 0; i < strangers; i++) {
      const say = (round: number) => rounds.tally(voteOf(PREVOTE, 'nil', round, 0), 10n, `p${i}`, 0);
      say(2 + 2 * i);
      outcome = say(3 + 2 * i);
      rounds.peerDown(`p${i}`, 0);
    }
    return { rounds, outcome };
  };

  it('a few of them are kept', () => {
    const { rounds, outcome } = flooded(100);
    expect(outcome?.tally).toBe('added');
    expect([...rounds.all()].map(({ round }) => round)).toEqual(
      Array.from({ length: 16 }, (_, i) => 186 + i),
    );
    expect(rounds.tally(voteOf(PREVOTE, 'nil', 201, 1), 10n, 'q', 0).tally).toBe('added');
    expect(rounds.skipTo(0)).toBe(201); // with what was kept of the one that went
  });

  it('and after 256 no more is heard of it, and of others still', () => {
    const { rounds, outcome } = flooded(129);
    expect(outcome).toEqual({ tally: 'too-far', round: 259 });
    expect(rounds.tally(voteOf(PREVOTE, 'nil', 300, 1), 10n, 'q', 0).tally).toBe('added');
    expect(rounds.tally(voteOf(PREVOTE, 'nil', 1, 0), 10n, 'q', 0).tally).toBe('added'); // the next round is not ahead
  });

  it('but in rounds that it had opened before, it is still heard', () => {
    const { rounds } = flooded(129);
    expect(rounds.tally(voteOf(PRECOMMIT, 'nil', 257, 0), 10n, 'q', 0).tally).toBe('added');
    expect(rounds.tally(voteOf(PRECOMMIT, 'nil', 2, 0), 10n, 'r', 0).tally).toBe('added'); // though it was let go
    expect(rounds.tally(voteOf(PRECOMMIT, 'nil', 260, 0), 10n, 's', 0).tally).toBe('too-far');
  });
});

it('true votes that strangers pass on again and again cost their validators nothing', () => {
  const rounds = new Rounds(1n, FOUR);
  for (const index of [0, 1, 2]) {
    const theirs = [2 + index, 5 + index, 8 + index];
    for (let stranger = 0; stranger < 5; stranger++) {
      for (let i = 0; i < 70; i++) vote(rounds, index, theirs[i % 3]!, `${index}/${stranger}`);
      rounds.peerDown(`${index}/${stranger}`, 0);
    }
  }
  for (const index of [0, 1, 2]) expect(vote(rounds, index, 11, 'honest')).toBe('added');
  expect(rounds.skipTo(0)).toBe(11);
});

it('a peer whose line breaks again and again brings the same round for nothing', () => {
  const rounds = new Rounds(1n, FOUR);
  for (let life = 0; life < 100; life++) {
    vote(rounds, 0, 5, 'p');
    rounds.peerDown('p', 0);
  }
  expect(vote(rounds, 1, 9, 'p')).toBe('added');
});

it('of strangers who only passed on what opened a round before nothing stays', () => {
  const rounds = new Rounds(1n, FOUR);
  vote(rounds, 0, 5, 'p');
  const before = censusOf(rounds);
  for (let stranger = 0; stranger < 100; stranger++) {
    vote(rounds, 0, 5, `stranger-${stranger}`);
    rounds.peerDown(`stranger-${stranger}`, 0);
  }
  const entries = (census: Census): number => [...census.values()].reduce((sum, count) => sum + count, 0);
  expect(entries(censusOf(rounds)) - entries(before)).toBeLessThan(10);
});

it('claims of a peer go with it, in every round', () => {
  const rounds = new Rounds(1n, FOUR);
  const claimed = proposalOf('B', 0).blockId;
  const tallies = [0, 1].flatMap((round) => [rounds.at(round).prevotes, rounds.at(round).precommits]);
  for (const tally of tallies) tally.claim('p', claimed);
  rounds.peerDown('p', 0);
  for (const tally of tallies) expect(tally.votesFor(claimed)).toBeUndefined();
});
