import { expect, it } from 'vitest';
import { Asking } from '../../../machines/consensus/asking.ts';
import { ask } from '../../../machines/consensus/gossip.ts';
import { bitArrayText } from '../../../protocol/bit-array.ts';
import { PRECOMMIT, PREVOTE } from '../../../protocol/types.ts';
import {
  blockNamed,
  both,
  type Fact,
  nameOf,
  onlyProposal,
  prevotes,
  proposal,
  Seat,
  started,
  voteFrom,
} from './seat.ts';

it('asks one peer after another, each after twice the wait before while nothing comes', () => {
  const asking = new Asking();
  const course: string[] = [`${asking.waitNs(100n, 300n)}`];
  for (let i = 0; i < 7; i++) {
    course.push(`${asking.whom(['a', 'b', 'c'])} ${asking.waitNs(100n, 300n)}`);
    if (i === 4) asking.learn();
  }
  expect(course).toEqual(['20', 'a 20', 'b 40', 'c 80', 'a 160', 'b 300', 'c 20', 'a 40']);
  expect(asking.whom([])).toBe(null);
});

const asked = (...facts: readonly Fact[]): string[] => {
  const seat = new Seat({ me: 3 });
  seat.ownVotesCount = false;
  seat.tell(both(started, ...facts));
  return ask(seat.consensus).map((message) => {
    if (message.type === 'new-valid-block')
      return `parts ${message.have ? bitArrayText(message.have) : 'none'}`;
    if (message.type !== 'vote-set-bits') return message.type;
    const kind = message.voteType === PREVOTE ? 'prevotes' : 'precommits';
    return `${kind} ${nameOf(message.blockId)} ${bitArrayText(message.votes)}`;
  });
};

it('an ask says what we have, so that the answer leaves it out', () => {
  const [firstPart] = blockNamed('Big').parts;
  const somePart: Fact = ({ consensus }) => void consensus.onPart(firstPart!);
  const precommit = voteFrom(PRECOMMIT, 'nil', 2);
  expect(asked()).toEqual(['prevotes nil ____']);
  expect(asked(prevotes('B', 2))).toEqual(['prevotes B xx__']);
  expect(asked(prevotes('B', 1), voteFrom(PREVOTE, 'nil', 1), precommit)).toEqual([
    'prevotes B x___',
    'prevotes nil _x__',
    'precommits nil __x_',
  ]);
  expect(asked(proposal('Big'))).toEqual(['parts xxx']);
  // What has begun to come comes on: naming it would bring all of it a second time.
  expect(asked(onlyProposal('Big'), somePart, prevotes('Big', 1))).toEqual(['prevotes Big x___']);
});
