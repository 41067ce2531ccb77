// What an application that takes its time is asked, and when.

import { expect, it } from 'vitest';
import { appSays, both, precommits, prevotes, proposal, Seat, started } from './seat.ts';

const asks = (said: readonly string[]): string[] => said.filter((each) => each.startsWith('ask '));

const slow = (): Seat => {
  const seat = new Seat();
  for (const name of ['A', 'B', 'C', 'D']) seat.app.set(name, 'silent');
  return seat;
};

it('is asked about two blocks at once, and then about the next', () => {
  const seat = slow();
  expect(asks(seat.tell(both(started, proposal('A'))))).toEqual(['ask A']);
  expect(asks(seat.tell(proposal('B', 1)))).toEqual(['ask B']);
  seat.tell(both(prevotes('nil', 3), precommits('nil', 3)));
  const nextRounds = both(prevotes('nil', 3, 1), precommits('nil', 3, 1));
  expect(asks(seat.tell(both(proposal('C', 2), nextRounds, proposal('D', 3))))).toEqual([]);
  expect(asks(seat.tell(appSays('A', 'accepted')))).toEqual(['ask C']);
  expect(asks(seat.tell(appSays('B', 'rejected')))).toEqual(['ask D']);
});

it('is asked about as many as came at once, where it is quick', () => {
  const seat = new Seat();
  expect(asks(seat.tell(both(started, proposal('A'), proposal('B'), proposal('C', 1))))).toEqual([
    'ask A',
    'ask B',
    'ask C',
  ]);
});
