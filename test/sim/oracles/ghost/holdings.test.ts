// What is known of a peer: how often it may be sent the same.

import { describe, expect, it } from 'vitest';
import { PREVOTE } from '../../../../sim/oracles/canonical/numbers.ts';
import { Peer, SENT_FREELY, voteIn } from '../../../../sim/oracles/ghost/holdings.ts';

const vote = voteIn(0, PREVOTE, 3);
/** How often it may be sent the vote, all at once. */
function freely(peer: Peer): number {
  for (let times = 1; ; times++) if (peer.isSent(vote, 100) !== null) return times - 1;
}

describe('a peer is sent the same', () => {
  it('so many times, then it is too often', () => {
    const peer = new Peer();
    for (let i = 0; i < SENT_FREELY; i++) expect(peer.isSent(vote, 100 + i)).toBeNull();
    expect(peer.isSent(vote, 200)).toEqual({ times: SENT_FREELY + 1, sinceNs: 100 });
  });

  it('as often again when it asks, and once more for each envelope in which it asked meanwhile', () => {
    const peer = new Peer();
    for (const nowNs of [1, 1, 1]) peer.asks(nowNs); // three words of one envelope
    expect(freely(peer)).toBe(SENT_FREELY);
    for (const nowNs of [2, 3, 3, 4]) peer.asks(nowNs);
    expect(freely(peer)).toBe(SENT_FREELY + 2);
    peer.asks(5);
    expect(freely(peer)).toBe(SENT_FREELY);
  });

  it('as often as any, when it is lost or goes on', () => {
    for (const goesOn of [
      (peer: Peer) => peer.isLost(),
      (peer: Peer) => peer.movedTo(2n),
      (peer: Peer) => peer.stands(1n, 1, 9),
    ]) {
      const peer = new Peer();
      for (const nowNs of [1, 2, 3]) peer.asks(nowNs);
      goesOn(peer);
      expect(freely(peer)).toBe(SENT_FREELY);
    }
  });
});
