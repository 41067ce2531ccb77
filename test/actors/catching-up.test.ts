// Who is behind, or comes between two heights: what it says, and what it is given without waiting for a tick.

import { describe, expect, it } from 'vitest';
import { genesisOf } from '../protocol/rules/people.ts';
import { copyDisk, Home, nextBlock, notProposers, proposalOf, roundStepAt, signedVote } from './home.ts';

const MS = 1_000_000n;
const ALONE = genesisOf([10n]);
const FOUR = genesisOf([10n, 10n, 10n, 10n]);
const me = notProposers(new Home({ genesis: FOUR, me: 0 }), 0, 1, 2)[0]!;
const others = [0, 1, 2, 3].filter((i) => i !== me);
const [PREVOTE, PRECOMMIT] = [1, 2];

const home = (...peers: readonly string[]): Home => {
  const made = new Home({ genesis: FOUR, me });
  for (const peer of peers) made.peerUp(peer);
  return made;
};

/** Messages that left for this peer since the last look. */
function sentTo(at: Home, peer: string): string[] {
  const said = at.sent.filter(({ to }) => to.includes(peer));
  at.sent.length = 0;
  return said.map(({ message }) => {
    if (message.type === 'vote') return `vote ${message.vote.type}`;
    return message.type === 'new-round-step' ? `at ${message.height}` : message.type;
  });
}

/** The height as far as `precommits` of the others, by peer `a`. */
function vote(at: Home, precommits: number): void {
  const made = nextBlock(at, ['tx']);
  const votes = [
    ...others.map((who) => signedVote(at, who, PREVOTE, 0, made.id)),
    ...others.slice(0, precommits).map((who) => signedVote(at, who, PRECOMMIT, 0, made.id)),
  ];
  at.hear('a', ...proposalOf(at, made, 0), ...votes.map((each) => ({ type: 'vote', vote: each }) as const));
}

describe('who comes to our height', () => {
  it('is given at once what there is of it, and only once', () => {
    const at = home('a');
    at.fire('start');
    vote(at, 1);
    at.tell({ type: 'peer-up', peer: 'b' });
    sentTo(at, 'b');
    at.hear('b', roundStepAt(1n));
    const given = sentTo(at, 'b');
    expect(given.filter((word) => word === 'vote 1')).toHaveLength(4);
    expect(given.filter((word) => word === 'vote 2')).toHaveLength(2);
    expect(given).toEqual(expect.arrayContaining(['proposal', 'block-part']));
    at.hear('b', roundStepAt(1n));
    expect(sentTo(at, 'b')).toEqual([]);
  });

  it('with a vote of its own is no newcomer, and gets the rest on a tick', () => {
    const at = home('a', 'c');
    at.fire('start');
    vote(at, 1);
    at.tell({ type: 'peer-up', peer: 'b' });
    sentTo(at, 'b');
    const own = signedVote(at, others[0]!, PREVOTE, 0, null);
    at.hear('b', roundStepAt(1n), { type: 'vote', vote: own });
    expect(sentTo(at, 'b')).toEqual([]);
    for (let ticks = 0; ticks < 2; ticks++) at.fire('gossip');
    expect(sentTo(at, 'b')).toEqual(expect.arrayContaining(['proposal', 'block-part', 'vote 1', 'vote 2']));
  });

  it('is served at once, too, when we have gone on and it says again where it stands', () => {
    const at = home('a', 'c');
    at.fire('start');
    vote(at, 1);
    at.tell({ type: 'peer-up', peer: 'b' });
    at.hear('b', roundStepAt(1n));
    vote(at, 3);
    expect(at.state.consensus.height).toBe(2n);
    sentTo(at, 'b');
    at.hear('b', roundStepAt(1n));
    expect(sentTo(at, 'b')).toEqual(expect.arrayContaining(['vote 2']));
  });
});

describe('who is behind and says so again and again', () => {
  it('is served once a gossip period, from memory as from the store', () => {
    const at = new Home({ genesis: ALONE, me: 0 });
    for (let height = 1; height <= 5; height++) at.fire('start');
    for (const height of [2n, 5n]) {
      at.tell({ type: 'peer-up', peer: 'b' });
      sentTo(at, 'b');
      const given = (): number => sentTo(at, 'b').filter((word) => word === 'block-part').length;
      for (let i = 0; i < 100; i++) at.hear('b', roundStepAt(height));
      expect([height, given()]).toEqual([height, 1]);
      at.pass(at.state.consensus.config.gossipNs);
      for (let i = 0; i < 100; i++) at.hear('b', roundStepAt(height));
      expect([height, given()]).toEqual([height, 1]);
      at.tell({ type: 'peer-down', peer: 'b' });
    }
  });
});

describe('who says that it goes back and forth', () => {
  it('is served once a gossip period, too', () => {
    const at = new Home({ genesis: ALONE, me: 0 });
    for (let height = 1; height <= 5; height++) at.fire('start');
    at.tell({ type: 'peer-up', peer: 'b' });
    const given = (): number => sentTo(at, 'b').filter((word) => word === 'block-part').length;
    at.hear('b', roundStepAt(3n));
    expect(given()).toBe(1);
    for (let i = 0; i < 100; i++) at.hear('b', roundStepAt(i % 2 === 0 ? 2n : 3n));
    expect(given()).toBe(0);
  });
});

describe('who is behind and moves on while its height is read from the store', () => {
  it('is served where it stands by then, and goes on to be', () => {
    const at = new Home({ genesis: ALONE, me: 0 });
    for (let height = 1; height <= 5; height++) at.fire('start');
    at.tell({ type: 'peer-up', peer: 'b' });
    at.held = [];
    at.hear('b', roundStepAt(1n));
    at.hear('b', roundStepAt(2n));
    sentTo(at, 'b');
    at.release();
    const commits = (): bigint[] =>
      at.sent.flatMap(({ message }) => (message.type === 'vote' ? [message.vote.height] : []));
    expect(commits()).toEqual([2n]);
    at.hear('b', roundStepAt(3n));
    expect(commits()).toEqual([2n, 3n]);
  });
});

describe('who begins a height', () => {
  it('says so to those who are there already: what they said of it went before', () => {
    const at = home('a', 'b', 'c');
    at.fire('start');
    at.hear('b', roundStepAt(2n));
    sentTo(at, 'b');
    vote(at, 3);
    expect(at.state.consensus.height).toBe(2n);
    expect(
      at.sent.filter(({ message }) => message.type === 'new-round-step').flatMap(({ to }) => to),
    ).toEqual(['b']);
  });
});

describe('who hears that a peer is beyond its height', () => {
  it('says on the next tick where it stands: by then it may be there itself', () => {
    const at = home('a', 'b', 'c');
    at.fire('start');
    sentTo(at, 'b');
    at.hear('b', roundStepAt(2n));
    expect(sentTo(at, 'b')).toEqual([]);
    at.fire('gossip');
    expect(sentTo(at, 'b')).toEqual(['at 1']);
    at.fire('gossip');
    expect(sentTo(at, 'b')).toEqual([]);
  });

  it('says so at once where no tick runs', () => {
    const at = home('a', 'b', 'c');
    sentTo(at, 'b');
    at.hear('b', roundStepAt(2n));
    expect(sentTo(at, 'b')).toEqual(['at 1']);
    at.hear('b', roundStepAt(2n));
    expect(sentTo(at, 'b')).toEqual([]);
    at.tell({ type: 'peer-up', peer: 'd' });
    expect(sentTo(at, 'd')).toEqual(['at 1']);
    at.hear('d', roundStepAt(2n)); // and served us when it heard that
    expect(sentTo(at, 'd')).toEqual([]);
  });
});

describe('after a restart', () => {
  /** How long a new life waits for its next height, when the last one was decided so long before it by its precommit. */
  function waitsFor(agoNs: bigint): bigint {
    const first = new Home({ genesis: ALONE, me: 0 });
    first.fire('start');
    expect(first.state.chain.lastBlockHeight).toBe(1n);
    const [precommit] = first.state.consensus.lastCommit!.precommits.votes;
    const again = new Home({
      genesis: ALONE,
      me: 0,
      disk: copyDisk(first.disk),
      wallNs: precommit!.timeNs + agoNs,
    });
    return [...again.timers].find(([timer]) => timer.startsWith('start'))![1] - again.validator.monoNs;
  }

  it('a height begins timeout_commit after the last one was decided, as for the peers, and not after the start', () => {
    expect(waitsFor(0n)).toBe(1_000n * MS);
    expect(waitsFor(300n * MS)).toBe(700n * MS);
    expect(waitsFor(60_000n * MS)).toBe(0n);
  });

  it('and never later than after the start, whatever clocks say', () => {
    expect(waitsFor(-60_000n * MS)).toBe(1_000n * MS);
  });
});
