// What counts as kept of one peer while a handshake runs: what it alone gave, before it was over, and was asked about then.

import { expect, it } from 'vitest';
import { EARLY_OF_PEER_MAX, EarlyShare } from '../../../../sim/oracles/mempool/early-share.ts';

/** One more than may be kept. */
const ids = Array.from({ length: EARLY_OF_PEER_MAX + 1 }, (_, i) => `tx ${i}`);
const given = (): EarlyShare => {
  const share = new EarlyShare();
  for (const id of ids) share.comes(id, 'p');
  return share;
};
/** Who is named as it asks about all of them. */
const named = (share: EarlyShare): unknown[] =>
  ids.map((id) => share.asks(id)).filter((peer) => peer !== null);

it('one more than a share is too much, and told once', () => {
  const share = given();
  share.comes('another', 'p');
  share.opens();
  expect(named(share)).toEqual(['p']);
  expect(share.asks('another')).toBeNull();
});

it.each([
  ['another peer', 'q', false],
  ['a client', null, false],
  ['the same peer, when it is over', 'p', true],
  ['a client, when it is over', null, true],
] as const)("what %s gives as well is nobody's share", (_, from, isOver) => {
  const share = given();
  if (isOver) share.opens();
  share.comes(ids[0] as string, from);
  if (!isOver) share.opens();
  expect(named(share)).toEqual([]);
});
