import { expect, it } from 'vitest';
import { serveStored } from '../../../machines/consensus/gossip.ts';
import { PeerView } from '../../../machines/consensus/peer-view.ts';
import { bitArrayOf } from '../../../protocol/bit-array.ts';
import { splitIntoParts } from '../../../protocol/part-set.ts';
import { type Part, PRECOMMIT, PREVOTE } from '../../../protocol/types.ts';
import { idOf, voteOf } from './seat.ts';

const at = (height: bigint): PeerView => {
  const view = new PeerView('p');
  view.onRoundStep(height, 0);
  return view;
};
const votes = [0, 1, 2, 3].map((index) => voteOf(PREVOTE, 'B', 0, index));
const indexes = (list: readonly { validatorIndex: number }[]): number[] =>
  list.map(({ validatorIndex }) => validatorIndex);

it('a vote is sent once, and again when it may be lost; not to who has it', () => {
  const view = at(1n);
  view.markVote(1n, 0, PREVOTE, 2, 4);
  expect(indexes(view.takeMissing(1n, 0, PREVOTE, votes, 2))).toEqual([0, 1]);
  expect(indexes(view.takeMissing(1n, 0, PREVOTE, votes, 9))).toEqual([3]);
  expect(view.takeMissing(1n, 0, PREVOTE, votes, 9)).toEqual([]);
  view.forgetUnconfirmed();
  view.markVote(1n, 0, PREVOTE, 0, 4);
  expect(indexes(view.takeMissing(1n, 0, PREVOTE, votes, 9))).toEqual([1, 3]);
});

it('what we have is announced once, to who has neither it nor our word of it', () => {
  const view = at(1n);
  view.markVote(1n, 0, PREVOTE, 2, 4);
  view.sentVote(votes[0]!, 4);
  expect(view.takeUntold(1n, 0, PREVOTE, votes)).toEqual([1, 3]);
  expect(view.takeUntold(1n, 0, PREVOTE, votes)).toEqual([]);
});

it('marks are of the height of the peer; rounds, types and sets of another size have their own', () => {
  const view = at(1n);
  view.sentVote(votes[0]!, 4);
  expect(indexes(view.takeMissing(1n, 1, PREVOTE, votes, 9))).toEqual([0, 1, 2, 3]);
  expect(indexes(view.takeMissing(1n, 0, PRECOMMIT, votes, 9))).toEqual([0, 1, 2, 3]);
  expect(view.takeMissing(2n, 0, PREVOTE, votes, 9)).toEqual([]);
  view.onRoundStep(1n, 1);
  expect(indexes(view.takeMissing(1n, 0, PREVOTE, votes, 9))).toEqual([1, 2, 3]);
  view.assumeHeight(1n);
  expect(view.round).toBe(1);
  view.assumeHeight(2n);
  expect([view.height, view.round]).toEqual([2n, 0]);
  expect(indexes(view.takeMissing(2n, 0, PREVOTE, votes, 9))).toEqual([0, 1, 2, 3]); // what it had was of another height
  view.assumeHeight(1n);
  expect(view.height).toBe(2n);
});

it('marks made for a set of another size are none: its members stand at other places', () => {
  const view = at(1n);
  view.markVote(1n, 0, PRECOMMIT, 0, 3);
  const four = [0, 1, 2, 3].map((index) => voteOf(PRECOMMIT, 'B', 0, index));
  expect(indexes(view.takeMissing(1n, 0, PRECOMMIT, four, 9))).toEqual([0, 1, 2, 3]);
  expect(view.takeMissing(1n, 0, PRECOMMIT, four, 9)).toEqual([]);
});

it('a proposal is sent once, and again when it may be lost', () => {
  const view = at(1n);
  expect([view.takeProposal(0, idOf('B')), view.takeProposal(0, idOf('B'))]).toEqual([true, false]);
  expect(view.takeProposal(0, idOf('C'))).toBe(true);
  view.markProposal(0, idOf('C'));
  view.forgetUnconfirmed();
  expect([view.takeProposal(0, idOf('B')), view.takeProposal(0, idOf('C'))]).toEqual([true, false]);
});

it('a block of many parts reaches a peer that is behind, a part of it at a time', () => {
  const { header, parts } = splitIntoParts(new Uint8Array(150 * 65_536));
  const view = at(3n);
  const blockId = { hash: header.hash, parts: header };
  const has = new Set<number>();
  for (let turn = 1; turn <= 3; turn++) {
    const served = serveStored(3n, 0, [], parts, blockId, view);
    const sent = served.flatMap((message) => (message.type === 'block-part' ? [message.part.index] : []));
    expect(sent.length).toBe(Math.min(64, 150 - has.size));
    for (const index of sent) {
      expect(has.has(index)).toBe(false);
      has.add(index);
    }
    // It says what it has; only that is not sent again.
    view.markParts(header, bitArrayOf(150, [...has]));
    view.forgetUnconfirmed();
  }
  expect(has.size).toBe(150);
  expect(serveStored(3n, 0, [], parts, blockId, view).map(({ type }) => type)).toEqual(['vote-set-maj23']);
});

it('a commit of many votes reaches a peer that is behind whole, and again when it asks again', () => {
  const { header, parts } = splitIntoParts(new Uint8Array(1));
  const blockId = { hash: header.hash, parts: header };
  const many = Array.from({ length: 400 }, (_, validatorIndex) => ({
    ...votes[0]!,
    type: PRECOMMIT,
    validatorIndex,
  }));
  const view = at(3n);
  for (let turn = 1; turn <= 2; turn++) {
    const served = serveStored(3n, 0, many, parts, blockId, view);
    expect(served.filter(({ type }) => type === 'vote')).toHaveLength(400);
    view.forgetHeight();
  }
});

it('votes of a large set are offered a part at a time, each once', () => {
  const many = Array.from({ length: 400 }, (_, validatorIndex) => ({ ...votes[0]!, validatorIndex }));
  const view = at(1n);
  const taken = [1, 2, 3].map(() => indexes(view.takeMissing(1n, 0, PREVOTE, many, 256)));
  expect(taken.map(({ length }) => length)).toEqual([256, 144, 0]);
  expect(taken.flat()).toEqual(many.map(({ validatorIndex }) => validatorIndex));
});

it('the same question in one envelope is one question', () => {
  const view = at(1n);
  const asks = (round: number, id: string): boolean => view.asksFirst(1n, round, PREVOTE, idOf(id));
  expect([asks(0, 'B'), asks(0, 'B'), asks(1, 'B'), asks(0, 'C'), asks(0, 'C')]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
});

it('memory does not follow what a peer claims; the newest marks stay', () => {
  const view = at(1n);
  for (let round = 0; round < 1_000; round++) {
    view.markVote(1n, round, PREVOTE, 0, 4);
    view.markProposal(round, idOf('B'));
  }
  const { votes: kept, proposals } = view as unknown as Record<'votes' | 'proposals', Map<string, unknown>>;
  expect([kept.size, proposals.size]).toEqual([64, 64]);
  expect(view.takeProposal(999, idOf('B'))).toBe(false);
  expect(view.takeProposal(0, idOf('B'))).toBe(true);
});

it('long answers are given a few times a period', () => {
  const view = at(1n);
  const answers = (nowNs: bigint): number =>
    Array.from({ length: 20 }, () => view.mayAnswer(nowNs, 100n)).filter(Boolean).length;
  expect([answers(0n), answers(99n), answers(100n), answers(1_000n)]).toEqual([8, 0, 8, 8]);
});

it('who names what it has gets the rest, once; as the answer to a claim, at once again', () => {
  const view = at(1n);
  const has = (...indexes: number[]) => bitArrayOf(4, indexes);
  const lacking = (...indexes: number[]) =>
    view.takeLacking(1n, 0, PREVOTE, votes, has(...indexes), 4).map(({ validatorIndex }) => validatorIndex);
  view.markVote(1n, 0, PREVOTE, 2, 4); // another vote of validator 2, as the peer does not name it for this id
  expect([lacking(1), lacking(1)]).toEqual([[0, 2, 3], []]);
  view.forgetUnconfirmed();
  expect([lacking(0, 1), lacking(0, 1)]).toEqual([[2, 3], []]);
  expect(indexes(view.takeMissing(1n, 0, PREVOTE, votes, 9))).toEqual([]);
  view.claimedHeight = 1n;
  expect([lacking(0, 1), lacking(0, 1)]).toEqual([
    [2, 3],
    [2, 3],
  ]);
  expect(view.takeLacking(2n, 0, PREVOTE, votes, has(), 4)).toEqual([]);
});

it('parts of a block that was let go are sent anew, also to who had them', () => {
  const { header, parts } = splitIntoParts(new Uint8Array(3 * 65_536));
  const view = at(1n);
  const sent = (): number[] => view.takeMissingParts(header, (i) => parts[i], 9).map(({ index }) => index);
  view.markPart(header, 1);
  expect(sent()).toEqual([0, 2]);
  expect(sent()).toEqual([]);
  view.forgetParts(header);
  expect(sent()).toEqual([0, 1, 2]);
});

it('marks of a polka that is spoken of again and again outlast any number of rounds', () => {
  const view = at(1n);
  const { parts } = idOf('B');
  for (const index of [0, 1, 2, 3]) view.markVote(1n, 1, PREVOTE, index, 4);
  view.markPart(parts, 0);
  for (let round = 2; round < 200; round++) {
    for (const type of [PREVOTE, PRECOMMIT]) view.markVote(1n, round, type, 0, 4);
    view.markPart(idOf(`of round ${round}`).parts, 0);
    if (round % 9 !== 0) continue;
    expect(view.takeMissing(1n, 1, PREVOTE, votes, 9)).toEqual([]);
    expect(view.takeMissingParts(parts, () => ({}) as Part, 1)).toEqual([]);
  }
});

it('claims are answered up to a bound in each period, apart from questions', () => {
  const view = at(1n);
  const taken = (nowNs: bigint, takes: 'mayAnswer' | 'mayAnswerClaim'): number =>
    Array.from({ length: 4_096 }, () => view[takes](nowNs, 100n)).filter(Boolean).length;
  expect([taken(0n, 'mayAnswerClaim'), taken(99n, 'mayAnswerClaim'), taken(0n, 'mayAnswer')]).toEqual([
    256, 0, 8,
  ]);
  expect([taken(100n, 'mayAnswerClaim'), taken(100n, 'mayAnswer')]).toEqual([256, 8]);
});
