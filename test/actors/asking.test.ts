import { expect, it } from 'vitest';
import { payloadOf } from '../../actors/validator/words.ts';
import { bitArrayOf } from '../../protocol/bit-array.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { type BlockId, PRECOMMIT, PREVOTE, type Vote } from '../../protocol/types.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import { Home, nextBlock, notProposers, proposalOf, signedVote } from './home.ts';

const FOUR = genesisOf([10n, 10n, 10n, 10n]);
const me = notProposers(new Home({ genesis: FOUR, me: 0 }), 0, 1, 2)[0]!;
const others = [0, 1, 2, 3].filter((i) => i !== me);

function home(...peers: readonly string[]): Home {
  const made = new Home({ genesis: FOUR, me });
  for (const peer of peers) made.peerUp(peer);
  made.fire('start');
  made.sent.length = 0;
  return made;
}

/** Messages that left for this peer since the last look, as words. */
function sentTo(at: Home, peer: string): string[] {
  const said = at.sent
    .filter(({ to }) => to.includes(peer))
    .map(({ message }) => (message.type === 'vote' ? `vote ${message.vote.validatorIndex}` : message.type));
  at.sent.length = 0;
  return said.filter((word) => word !== 'new-round-step');
}

const bits = (blockId: BlockId, ...indexes: number[]): ConsensusMessage => ({
  type: 'vote-set-bits',
  height: 1n,
  round: 0,
  voteType: PREVOTE,
  blockId,
  votes: bitArrayOf(4, indexes),
});

/** Us with a block and the prevotes of two others, all of them from peer `a`; and the block's id. */
function informed(...peers: readonly string[]) {
  const at = home('a', ...peers);
  const made = nextBlock(at, ['a']);
  const votes: Vote[] = others.slice(0, 2).map((who) => signedVote(at, who, PREVOTE, 0, made.id));
  at.hear('a', ...proposalOf(at, made, 0), ...votes.map((vote) => ({ type: 'vote', vote }) as const));
  at.sent.length = 0;
  return { at, id: made.id, have: votes.map(({ validatorIndex }) => validatorIndex) };
}

it('who has fewer peers than there are other validators asks them in turns; who hears all of them asks nobody', () => {
  const far = home('a', 'b');
  const asked: string[] = [];
  for (let i = 0; i < 3; i++) {
    far.fire('ask');
    asked.push(far.sent.map(({ to, message }) => `${to} ${message.type}`).join());
    far.sent.length = 0;
  }
  expect(asked).toEqual(['a vote-set-bits', 'b vote-set-bits', 'a vote-set-bits']);
  const near = home('a', 'b', 'c');
  expect([...near.timers.keys()]).not.toContain('ask');
  expect([...near.timers.keys()]).toContain('gossip');
});

it('who asks is answered with what it lacks in one envelope, once, and again when that may be lost', () => {
  const { at, id, have } = informed('b');
  at.hear('b', bits(id, have[0]!));
  const own = at.state.consensus.index;
  expect(sentTo(at, 'b').sort()).toEqual(['block-part', 'proposal', `vote ${have[1]}`]);
  at.hear('b', bits(id, have[0]!));
  expect(sentTo(at, 'b')).toEqual([]);
  const late = signedVote(at, others[2]!, PREVOTE, 0, id);
  at.hear('a', { type: 'vote', vote: late });
  at.sent.length = 0;
  for (let tick = 1; tick <= 2; tick++) at.fire('gossip');
  expect(sentTo(at, 'b')).toEqual([]); // it will ask for the late one
  at.fire('gossip'); // nothing was new for two ticks: the next one is when all is offered again
  const again = sentTo(at, 'b');
  for (const what of [
    'proposal',
    'block-part',
    `vote ${have[1]}`,
    `vote ${own}`,
    `vote ${late.validatorIndex}`,
  ])
    expect(again).toContain(what);
  expect(again).not.toContain(`vote ${have[0]}`);
});

it('an answer to our claim that stands in one envelope many times is answered once', () => {
  const { at, id, have } = informed('b');
  for (let tick = 1; tick <= 5; tick++) at.fire('gossip');
  expect(sentTo(at, 'b')).toContain('vote-set-maj23');
  at.hear('b', ...Array.from({ length: 50 }, () => bits(id, have[0]!)));
  const votes = sentTo(at, 'b').filter((word) => word.startsWith('vote '));
  expect(votes.sort()).toEqual([`vote ${at.state.consensus.index}`, `vote ${have[1]}`].sort());
});

it('what is asked in an envelope that does not decode to its end is not answered with the next one', () => {
  const { at, id, have } = informed('b');
  const asked = payloadOf(bits(id, have[0]!));
  at.tell({ type: 'heard', peer: 'b', payloads: [asked, { ...asked, bytes: Uint8Array.of(0x7a, 0) }] });
  at.hear('b', { type: 'has-vote', height: 1n, round: 0, voteType: PREVOTE, index: have[0]! });
  expect(sentTo(at, 'b')).toEqual([]);
});

it('who says which parts it has is not sent the block with what it lacks', () => {
  const { at, id, have } = informed('b');
  at.hear(
    'b',
    {
      type: 'new-valid-block',
      height: 1n,
      round: 0,
      parts: id.parts,
      have: bitArrayOf(1, [0]),
      isCommit: false,
    },
    bits(id, have[0]!),
  );
  expect(sentTo(at, 'b')).toEqual([`vote ${have[1]}`]);
});

it('who does not ask is offered what it lacks on the second tick', () => {
  const { at, have } = informed('b');
  at.fire('gossip');
  expect(sentTo(at, 'b')).toEqual([]);
  at.fire('gossip');
  expect(sentTo(at, 'b').sort()).toEqual(['block-part', 'proposal', ...have.map((i) => `vote ${i}`)].sort());
});

it('who sends a vote that we know has it; a copy with another signature says nothing', () => {
  const offeredTo = (signature: (true_: Uint8Array) => Uint8Array) => {
    const { at, id, have } = informed('b');
    const known = signedVote(at, others[0]!, PREVOTE, 0, id);
    at.hear('b', { type: 'vote', vote: { ...known, signature: signature(known.signature) } });
    for (let tick = 1; tick <= 2; tick++) at.fire('gossip');
    return sentTo(at, 'b').includes(`vote ${have[0]}`);
  };
  expect(offeredTo((known) => known)).toBe(false);
  expect(offeredTo((known) => known.slice().fill(7, 60))).toBe(true);
});

it('who answers our claim asks nothing: it is still offered what it lacks on a tick', () => {
  const { at, id, have } = informed('b');
  for (let tick = 1; tick <= 5; tick++) at.fire('gossip');
  expect(sentTo(at, 'b')).toContain('vote-set-maj23');
  at.hear('b', bits(id, ...have));
  const late = signedVote(at, others[2]!, PREVOTE, 0, id);
  at.hear('a', { type: 'vote', vote: late });
  at.sent.length = 0;
  for (let tick = 1; tick <= 2; tick++) at.fire('gossip');
  expect(sentTo(at, 'b')).toContain(`vote ${late.validatorIndex}`);
});

it('after two ticks without news the next waits for the next offer, until something new comes', () => {
  const { at, id } = informed('b', 'c');
  const wait = () => (at.timers.get('gossip') ?? 0n) - at.state.turn.monoNs;
  const { gossipNs, reofferNs } = at.state.consensus.config;
  while (wait() <= 2n * gossipNs) at.fire('gossip');
  expect(wait()).toBeLessThanOrEqual(reofferNs + gossipNs);
  at.hear('a', { type: 'vote', vote: signedVote(at, others[2]!, PREVOTE, 0, id) });
  expect(wait()).toBeLessThanOrEqual((5n * gossipNs) / 4n);
});

it('who decided and lacks the block says so, and where it stands, on the next tick', () => {
  const at = home('a', 'b', 'c');
  const { id } = nextBlock(at, ['a']);
  for (const who of others) at.hear('a', { type: 'vote', vote: signedVote(at, who, PRECOMMIT, 0, id) });
  expect(at.state.consensus.decision).not.toBeNull();
  at.sent.length = 0;
  at.fire('gossip');
  const toB = at.sent.filter(({ to }) => to.includes('b')).map(({ message }) => message.type);
  expect(toB).toContain('new-round-step');
  expect(toB).toContain('new-valid-block');
});

it('who hears all others announces on the next tick what it has, and relays on the one behind it what nobody has announced to it', () => {
  const { at, have } = informed('b', 'c');
  const [first, second] = have as [number, number];
  at.fire('gossip');
  const announced = at.sent.filter(({ message }) => message.type === 'has-vote');
  const toldOf = (index: number): string[] =>
    announced
      .filter(({ message }) => message.type === 'has-vote' && message.index === index)
      .flatMap(({ to }) => to)
      .sort();
  expect([toldOf(first), toldOf(second)]).toEqual([
    ['b', 'c'],
    ['b', 'c'],
  ]);
  at.sent.length = 0;
  at.hear('c', { type: 'has-vote', height: 1n, round: 0, voteType: PREVOTE, index: first });
  at.fire('gossip');
  const relayed = at.sent.filter(({ message }) => message.type === 'vote');
  const to = (peer: string): number[] =>
    relayed
      .filter((sent) => sent.to.includes(peer))
      .map(({ message }) => (message.type === 'vote' ? message.vote.validatorIndex : -1));
  expect([to('a'), to('b').sort(), to('c')]).toEqual([[], [first, second].sort(), [second]]);
});

it('who is far asks at each height anew', () => {
  const at = home('a', 'b');
  const running = (): boolean => [...at.timers.keys()].includes('ask');
  expect(running()).toBe(true);
  const made = nextBlock(at, ['a']);
  const votes = [PREVOTE, PRECOMMIT].flatMap((type) =>
    others.map((who) => ({ type: 'vote', vote: signedVote(at, who, type, 0, made.id) }) as const),
  );
  at.hear('a', ...proposalOf(at, made, 0), ...votes);
  expect([at.state.chain.lastBlockHeight, running()]).toEqual([1n, false]);
  at.fire('start');
  expect([at.state.consensus.height, running()]).toEqual([2n, true]);
});
