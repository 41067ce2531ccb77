import { describe, expect, it } from 'vitest';
import { ed25519Sign, utf8Encode } from '#platform';
import { encodeRecord } from '../../actors/validator/logbook.ts';
import { payloadOf } from '../../actors/validator/words.ts';
import { commitOf } from '../../machines/chain/commits.ts';
import { blockKey, committedEvidenceKey, seenCommitKey } from '../../machines/chain/keys.ts';
import { NOT_BEHIND } from '../../machines/mempool/gossip.ts';
import type { AbciResponse } from '../../protocol/abci.ts';
import { concatBytes, hexOf } from '../../protocol/bytes.ts';
import { evidenceIdentity, headerHash } from '../../protocol/hashes.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { unreachable } from '../../protocol/refusal.ts';
import { makeDuplicateVote } from '../../protocol/rules/evidence.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import {
  BLOCK_TXS_MAX,
  type ChainState,
  type Commit,
  type DuplicateVoteEvidence,
  EMPTY_BYTES,
  type Evidence,
  FLAG_COMMIT,
  type Header,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  type Vote,
} from '../../protocol/types.ts';
import {
  decodeBlock,
  decodeCommit,
  encodeBlock,
  encodeCommit,
  encodeEvidenceList,
} from '../../protocol/wire/index.ts';
import { CHAIN_ID, genesisOf, okay, person, someBlockId } from '../protocol/rules/people.ts';
import {
  copyDisk,
  Home,
  type Made,
  newDisk,
  nextBlock,
  notProposers,
  proposalOf,
  roundStepAt,
  signedVote,
} from './home.ts';

const ALONE = genesisOf([10n]);
const FOUR = genesisOf([10n, 10n, 10n, 10n]);
const probe = new Home({ genesis: FOUR, me: 0 });
const me = notProposers(probe, 0, 1, 2)[0]!;
const others = [0, 1, 2, 3].filter((i) => i !== me);

function votes(home: Home, type: number, round: number, made: Made | null, n: number): void {
  const said = others.slice(0, n).map((who) => signedVote(home, who, type, round, made?.id ?? null));
  home.hear('peer', ...said.map((vote) => ({ type: 'vote', vote }) as const));
}

const four = (more: Partial<ConstructorParameters<typeof Home>[0]> = {}): Home => {
  const home = new Home({ genesis: FOUR, me, ...more });
  home.peerUp('peer');
  return home;
};

/** The same block with another header. */
function changed({ block }: Made, header: Partial<Header>): Made {
  const other = { ...block, header: { ...block.header, ...header } };
  const parts = PartSet.whole(encodeBlock(other));
  return { block: other, parts, id: { hash: headerHash(other.header), parts: parts.header } };
}

/** The first validator votes twice at a height of ALONE. */
function doubleVote(home: Home, height: bigint): DuplicateVoteEvidence {
  const { header } = okay(decodeBlock(home.disk.chain.get(hexOf(blockKey(height)))!.value));
  const [first, second] = ['one', 'two'].map((name): Vote => {
    const vote = signedVote(home, 0, PREVOTE, 0, someBlockId(name), { height });
    return { ...vote, signature: ed25519Sign(person(0).seed, voteSignBytes(CHAIN_ID, vote)) };
  }) as [Vote, Vote];
  return okay(makeDuplicateVote(first, second, header.timeNs, home.state.history.validators(height)!));
}

/** A peer that somebody told offers it. */
function offer(home: Home, evidence: readonly Evidence[]): void {
  if (!home.state.views.has('peer')) home.peerUp('peer');
  const payloads = [{ channel: 0x38, bytes: encodeEvidenceList(evidence) }];
  home.tell({ type: 'heard', peer: 'peer', payloads });
}

/** The height is decided with all precommits of the others, whoever proposes. */
function decide(home: Home, txs: readonly string[] = [], evidence: readonly Evidence[] = []): Made {
  home.fire('start');
  const { consensus } = home.state;
  const last = consensus.lastCommit;
  const commit = last
    ? commitOf(last.precommits, consensus.height - 1n, last.round, home.state.chain.lastBlockId)
    : undefined;
  const made = nextBlock(home, txs, commit, evidence);
  const { height } = consensus;
  if (notProposers(home, 0).includes(me)) home.hear('peer', ...proposalOf(home, made, 0));
  const id = consensus.rounds.get(0)?.proposals[0]?.blockId ?? unreachable('proposed');
  for (const type of [PREVOTE, PRECOMMIT]) votes(home, type, 0, { ...made, id }, 3);
  expect([home.halted, home.state.chain.lastBlockHeight]).toEqual([null, height]);
  return made;
}

describe('a network of one', () => {
  it('makes heights, one after another, from its own transactions', () => {
    const home = new Home({ genesis: ALONE, me: 0 });
    expect(home.state.mode).toBe('consensus');
    home.txs = [Uint8Array.of(1, 2, 3)];
    for (let height = 1n; height <= 5n; height++) {
      home.fire('start');
      expect(home.state.chain.lastBlockHeight).toBe(height);
    }
    expect(home.halted).toBeNull();
    expect(home.disk.consensus.length).toBe(1); // the end of height 5
    const steps = home.events.flatMap((event) => (event.type === 'committed' ? [event.txs] : []));
    expect(steps).toEqual([1, 1, 1, 1, 1]);
  });

  it('keeps of what it proposed nothing but the block, and of votes nothing that keeps more than them in memory', () => {
    const home = new Home({ genesis: ALONE, me: 0 });
    for (let height = 1n; height <= 3n; height++) home.fire('start');
    const { proposing, history } = home.state;
    expect(proposing).toBeNull();
    const [signature] = history.commit(1n)?.signatures ?? [];
    expect(signature?.signature).toHaveLength(64);
    // Next to the votes it would keep a slab of 16 KiB alive, as long as history lasts.
    expect(signature?.signature.buffer.byteLength).toBe(64);
    expect(signature?.validatorAddress.buffer.byteLength).toBe(20);
  });

  it('without empty blocks: transactions that came before consensus began are not forgotten', () => {
    const consensus = { createEmptyBlocks: false };
    const home = new Home({ genesis: ALONE, me: 0, consensus });
    home.disk.app.finalize = () => ({ appHash: new Uint8Array(0) }); // nothing to prove after the first block
    home.fire('start');
    home.fire('start');
    const { height } = home.state.consensus;
    expect([home.state.consensus.step, height]).toEqual(['newRound', home.state.chain.lastBlockHeight + 1n]);
    // The same disk, and a mempool that is quicker than the application's first answer.
    const disk = copyDisk(home.disk);
    disk.app.silent.add('info');
    const again = new Home({ genesis: ALONE, me: 0, consensus, disk });
    again.tell({ type: 'txs-available' });
    disk.app.silent.clear();
    const info = disk.app.answer({
      type: 'info',
      value: { version: '', blockVersion: 0n, p2pVersion: 0n, abciVersion: '' },
    });
    again.tell({ type: 'answer', tag: 1, response: info! });
    expect(again.state.chain.lastBlockHeight).toBe(height);
  });

  it('what the application prepared for a round before is not proposed in this one', () => {
    const home = new Home({ genesis: ALONE, me: 0 });
    const { app } = home.disk;
    const prepares = (text: string): AbciResponse => ({
      type: 'prepare-proposal',
      value: { txs: [utf8Encode(text)] },
    });
    app.silent.add('prepare-proposal');
    home.fire('start');
    home.fire('propose');
    home.fire('precommit');
    expect([home.state.consensus.round, app.asked.filter((each) => each.startsWith('prepare'))]).toEqual([
      1,
      ['prepare-proposal 1', 'prepare-proposal 1'],
    ]);
    const [late, due] = home.unanswered as [number, number];
    home.tell({ type: 'answer', tag: late, response: prepares('late') });
    expect(home.state.chain.lastBlockHeight).toBe(0n);
    home.tell({ type: 'answer', tag: due, response: prepares('due') });
    const { value } = home.disk.chain.get(hexOf(blockKey(1n))) ?? unreachable('decided');
    expect(okay(decodeBlock(value)).txs).toEqual([utf8Encode('due')]);
  });

  it('what the application prepared for a height that is decided meanwhile is not proposed', () => {
    const proposer = [0, 1, 2, 3].find((i) => !notProposers(probe, 0).includes(i)) ?? unreachable('somebody');
    const home = four({ me: proposer });
    const { app } = home.disk;
    app.silent.add('prepare-proposal').add('finalize-block');
    home.fire('start');
    const made = nextBlock(home, ['another']);
    const voters = [0, 1, 2, 3].filter((i) => i !== proposer);
    const precommits = voters.map((who) => signedVote(home, who, PRECOMMIT, 1, made.id));
    home.hear('peer', ...precommits.map((vote) => ({ type: 'vote', vote }) as const));
    home.hear('peer', ...proposalOf(home, made, 1));
    expect(app.asked.filter((each) => /^(prepare|finalize)/.test(each))).toEqual([
      'prepare-proposal 1',
      'finalize-block 1',
    ]);
    const [prepare] = home.unanswered as [number, number];
    home.tell({ type: 'answer', tag: prepare, response: { type: 'prepare-proposal', value: { txs: [] } } });
    expect(home.sent.filter(({ message }) => message.type === 'proposal')).toEqual([]);
    // Nor is it asked for a block of that height any more.
    const asked = app.asked.length;
    home.state.reapsDue = 1;
    home.tell({ type: 'reaped', txs: [] });
    expect(app.asked.slice(asked)).toEqual([]);
    expect(home.state.reapsDue).toBe(0);
    expect(home.halted).toBeNull();
  });

  it('is none when its application prepares more than a block may hold: the node says so and stops', () => {
    const disk = newDisk();
    const txs = new Array<Uint8Array>(BLOCK_TXS_MAX + 1).fill(EMPTY_BYTES);
    disk.app.answers['prepare-proposal'] = () => ({ type: 'prepare-proposal', value: { txs } });
    const home = new Home({ genesis: ALONE, me: 0, disk });
    home.fire('start');
    expect(home.halted).toContain(
      'PrepareProposal returned 262145 transactions; no block has more than 262144',
    );
  });

  it('proposes after a crash in its own round, when the proposal was never said', () => {
    const home = new Home({
      genesis: ALONE,
      me: 0,
      crash: (effect) => effect.type === 'tell' && effect.message.type === 'reap',
    });
    home.fire('start');
    expect([home.isDown, home.state.chain.lastBlockHeight]).toEqual([true, 0n]);
    const again = new Home({ genesis: ALONE, me: 0, disk: copyDisk(home.disk) });
    expect(again.state.chain.lastBlockHeight).toBe(1n);
  });
});

describe('what peers say', () => {
  it('costs them the connection when it is false', () => {
    const scored = (say: (home: Home) => void): string[] => {
      const home = four();
      home.fire('start');
      say(home);
      return home.scored;
    };
    const hearVote = (home: Home, vote: Vote) => home.hear('peer', { type: 'vote', vote });
    const other = others[0]!;
    const good = (home: Home) => signedVote(home, other, PREVOTE, 0, null);
    expect(scored((home) => hearVote(home, good(home)))).toEqual([]);
    expect(scored((home) => hearVote(home, { ...good(home), signature: new Uint8Array(64) }))).toHaveLength(
      1,
    );
    expect(scored((home) => hearVote(home, { ...good(home), validatorIndex: 99 }))).toHaveLength(1);
    const extended = (change: object) => (home: Home) =>
      hearVote(home, { ...signedVote(home, other, PRECOMMIT, 0, someBlockId('b')), ...change });
    const extensionSignature = new Uint8Array(64).fill(1);
    for (const change of [{ extensionSignature }, { extension: Uint8Array.of(1), extensionSignature }])
      expect(scored(extended(change))[0]).toContain('extensions are not enabled');
    const another = (vote: Vote) => ({ ...vote, validatorIndex: (vote.validatorIndex + 1) % 4 });
    expect(scored((home) => hearVote(home, another(good(home))))).toHaveLength(1);
    const B = (home: Home) => nextBlock(home, ['b']);
    const proposal = (home: Home, change: object) => {
      const [message] = proposalOf(home, B(home), 0);
      if (message?.type !== 'proposal') return unreachable('first');
      home.hear('peer', { type: 'proposal', proposal: { ...message.proposal, ...change } });
    };
    expect(scored((home) => proposal(home, {}))).toEqual([]);
    expect(scored((home) => proposal(home, { timeNs: 5n }))[0]).toContain('not signed by its proposer');
    expect(scored((home) => proposal(home, { polRound: 0 }))[0]).toContain('POL');
    const huge = { hash: new Uint8Array(32), parts: { total: 1601, hash: new Uint8Array(32) } };
    expect(scored((home) => proposal(home, { blockId: huge }))[0]).toContain('1601 parts');
  });

  it('of a proposal with the hash of another and other parts does not hide that one', () => {
    const home = four();
    home.fire('start');
    const made = nextBlock(home, ['b']);
    const split = { ...made, id: { ...made.id, parts: someBlockId('other').parts } };
    home.hear('peer', proposalOf(home, split, 0)[0]!);
    expect(home.state.consensus.rounds.get(0)?.proposals).toHaveLength(1);
    home.hear('peer', ...proposalOf(home, made, 0));
    expect(home.said).toEqual([`prevote 1/0 ${hexOf(made.id.hash).slice(0, 6)}`]);
  });

  it('is not looked at where a round has as many proposals as are kept', () => {
    const home = four();
    home.fire('start');
    const [first] = proposalOf(home, nextBlock(home, ['b']), 0);
    if (first?.type !== 'proposal') return unreachable('first');
    const isFalse = {
      type: 'proposal',
      proposal: { ...first.proposal, signature: new Uint8Array(64) },
    } as const;
    for (const name of ['c', 'd', 'e']) home.hear('peer', proposalOf(home, nextBlock(home, [name]), 0)[0]!);
    expect(home.state.consensus.rounds.get(0)?.proposals).toHaveLength(3);
    home.hear('peer', isFalse);
    expect(home.scored).toEqual([]);
  });

  it('is bounded in memory, whatever they claim', () => {
    const home = four();
    home.fire('start');
    const view = home.state.views.get('peer')!;
    const { consensus } = home.state;
    const { height } = consensus;
    for (let round = 0; round < 500; round++) {
      home.hear(
        'peer',
        { type: 'has-vote', height, round: round * 1_000_003, voteType: 1, index: 3 },
        {
          type: 'new-valid-block',
          height,
          round: 0,
          parts: { total: 1601, hash: new Uint8Array(32).fill(round % 256) },
          have: { bits: 1601, elems: new Array<bigint>(26).fill(0n) },
          isCommit: false,
        },
        { type: 'vote-set-maj23', height, round, voteType: 1, blockId: someBlockId(`claim ${round}`) },
      );
      home.pass(1_000_000n);
    }
    const marks = view as unknown as Record<'votes' | 'parts' | 'proposals', Map<string, unknown>>;
    expect(marks.votes.size).toBeLessThanOrEqual(64);
    expect(marks.parts.size).toBeLessThanOrEqual(64);
    expect([...consensus.rounds.all()].length).toBeLessThanOrEqual(2);
  });

  it('answers claims up to a bound: each is a frame of its own, with a bit for each validator', () => {
    const home = four();
    home.fire('start');
    const { height } = home.state.consensus;
    const claim = {
      type: 'vote-set-maj23',
      height,
      round: 0,
      voteType: PREVOTE,
      blockId: NIL_BLOCK_ID,
    } as const;
    const before = home.sent.length;
    home.hear('peer', ...Array.from({ length: 1_000 }, () => claim));
    expect(home.sent.length - before).toBe(256);
    expect(home.scored).toEqual([]);
  });

  it('is logged without what nobody knows behind it: no signature covers that', () => {
    const home = four();
    home.fire('start');
    const vote = signedVote(home, others[0]!, PREVOTE, 0, null);
    const { channel, bytes } = payloadOf({ type: 'vote', vote });
    const unknown = Uint8Array.of(0x7a, 0x80, 0x80, 0x08); // field 15, of 131072 bytes
    const padded = concatBytes(bytes, unknown, new Uint8Array(131_072));
    const before = home.disk.consensus.length;
    home.tell({ type: 'heard', peer: 'peer', payloads: [{ channel, bytes: padded }] });
    const [record, ...more] = home.disk.consensus.slice(before);
    expect(more).toEqual([]);
    expect(record).toEqual(encodeRecord({ type: 'heard', peer: 'peer', channel, bytes }));
  });

  it('about the next height is kept within a bound per peer, and heard when it begins', () => {
    const home = four();
    home.peerUp('other');
    home.fire('start');
    const part = {
      index: 0,
      bytes: new Uint8Array(65_536),
      proof: { total: 1n, index: 0n, leafHash: new Uint8Array(32), aunts: [] },
    };
    for (let i = 0; i < 200; i++) home.hear('peer', { type: 'block-part', height: 2n, round: 0, part });
    const vote = signedVote(home, others[0]!, PREVOTE, 0, null, { height: 2n });
    home.hear('other', { type: 'vote', vote });
    const { future } = home.state;
    expect(future.reduce((sum, { payload }) => sum + payload.bytes.length, 0)).toBeLessThanOrEqual(
      9 * 1024 * 1024,
    );
    expect(future.at(-1)?.peer).toBe('other');
    home.tell({ type: 'peer-down', peer: 'peer' });
    expect(home.state.future.map(({ peer }) => peer)).toEqual(['other']);
    home.peerUp('peer');
    const { consensus } = home.state;
    const made = nextBlock(home, ['b']);
    home.hear('peer', ...proposalOf(home, made, 0));
    for (const type of [PREVOTE, PRECOMMIT]) votes(home, type, 0, made, 3);
    expect(consensus.height).toBe(2n);
    expect(consensus.rounds.get(0)?.prevotes.count).toBe(1);
    expect(home.state.future).toEqual([]);
  });

  it('about each next height has the whole share of its peer', () => {
    const home = four();
    home.fire('start');
    const early = (height: bigint): ConsensusMessage => ({
      type: 'vote',
      vote: signedVote(home, others[0]!, PREVOTE, 0, null, { height }),
    });
    for (let i = 0; i < 2_000; i++) home.hear('peer', early(2n));
    const kept = home.state.future.length;
    expect(kept).toBeLessThan(2_000);
    const made = nextBlock(home, ['b']);
    home.hear('peer', ...proposalOf(home, made, 0));
    for (const type of [PREVOTE, PRECOMMIT]) votes(home, type, 0, made, 3);
    expect(home.state.consensus.height).toBe(2n);
    for (let i = 0; i < 2_000; i++) home.hear('peer', early(3n));
    expect(home.state.future).toHaveLength(kept);
  });

  it('is answered a few times per gossip period when the answer is long', () => {
    const home = four();
    home.fire('start');
    const made = nextBlock(home, ['x'.repeat(200_000)]);
    home.hear('peer', ...proposalOf(home, made, 0));
    const sentParts = () => home.sent.filter(({ message }) => message.type === 'block-part').length;
    const total = made.id.parts.total;
    expect(total).toBe(4);
    const ask = () =>
      home.hear('peer', {
        type: 'new-valid-block',
        height: 1n,
        round: 0,
        parts: made.id.parts,
        have: { bits: total, elems: [0n] },
        isCommit: false,
      });
    for (let i = 0; i < 100; i++) ask();
    expect(sentParts()).toBe(8 * total);
    home.pass(100_000_000n);
    ask();
    expect(sentParts()).toBe(9 * total);
  });
});

describe('a decision', () => {
  it('for a block that breaks the rules halts the node, judged before or after', () => {
    for (const isFirst of [true, false]) {
      const home = four();
      home.fire('start');
      const bad = changed(nextBlock(home, ['b']), { appHash: new Uint8Array(32) });
      const messages = proposalOf(home, bad, 0);
      if (isFirst) home.hear('peer', ...messages);
      votes(home, PRECOMMIT, 0, bad, 3);
      if (!isFirst) home.hear('peer', ...messages.slice(1));
      expect(home.halted).toContain('CONSENSUS FAILURE: +2/3 committed an invalid block at height 1');
      expect(home.disk.app.asked.some((each) => each.startsWith('finalize'))).toBe(false);
    }
  });

  it('waits for the application: nothing of the next height is decided before Commit is answered', () => {
    const home = four();
    home.disk.app.silent.add('commit');
    home.fire('start');
    const made = nextBlock(home, ['b']);
    home.hear('peer', ...proposalOf(home, made, 0));
    for (const type of [PREVOTE, PRECOMMIT]) votes(home, type, 0, made, 3);
    expect([home.state.consensus.step, home.state.chain.lastBlockHeight]).toEqual(['commit', 0n]);
    // Its own third vote of this height, while the application works, is still said.
    expect(home.said.length).toBe(2);
  });
});

// --- evidence ----------------------------------------------------------------------------------------------------------

describe('where a height begins', () => {
  const stepsTo = (home: Home, peer: string): bigint[] =>
    home.sent
      .filter(({ to }) => to.includes(peer))
      .flatMap(({ message }) => (message.type === 'new-round-step' ? [message.height] : []));

  it('is told to those there or ahead; once nobody is, to those who know us further back', () => {
    const home = four();
    home.peerUp('ahead', 4n);
    home.peerUp('behind', 0n);
    for (let height = 1; height <= 3; height++) decide(home);
    expect(stepsTo(home, 'ahead')).toEqual([1n, 2n, 3n, 4n]);
    expect(stepsTo(home, 'behind')).toEqual([1n, 4n]);
  });

  it.each([
    ['before the first height', 0n, -1, 'stands at height 0, before the first, 1'],
    ['at the first, behind a commit', 1n, 0, 'last_commit_round 0 at height 1, the first'],
    ['beyond the first, behind none', 3n, -1, 'last_commit_round -1 at height 3, and the first is 1'],
  ])('is nowhere %s: who says so is cut off', (_, height, lastCommitRound, because) => {
    const home = four();
    const before = home.state.views.get('peer')?.height;
    home.hear('peer', { ...roundStepAt(height), lastCommitRound });
    expect([home.scored, home.state.views.get('peer')?.height]).toEqual([[because], before]);
  });

  it('is where a peer stands, too, that speaks of it, whatever it said before: the mempool hears of both', () => {
    const home = four();
    for (let height = 1; height <= 3; height++) decide(home);
    const behind = (): unknown[] =>
      home.told.flatMap(({ message }) => (message.type === 'peer-height' ? [message.height] : []));
    expect(behind()).toEqual([]);
    const precommit = home.state.consensus.lastCommit!.precommits.votes[others[0]!]!;
    for (const vote of [signedVote(home, others[0]!, PREVOTE, 0, NIL_BLOCK_ID), precommit]) {
      // An older word comes late, over a line that was slow.
      home.peerUp('peer', 1n);
      home.hear('peer', { type: 'vote', vote });
    }
    expect(behind()).toEqual([1n, NOT_BEHIND, 1n, NOT_BEHIND]);
  });
});

describe('evidence', () => {
  const liar = others[2]!;

  it('goes from two votes to a block, and is taken once', () => {
    const home = four();
    home.fire('start');
    const made = nextBlock(home, ['b']);
    home.hear('peer', ...proposalOf(home, made, 0));
    const one = signedVote(home, liar, PREVOTE, 0, made.id);
    const two = signedVote(home, liar, PREVOTE, 0, NIL_BLOCK_ID);
    const three = signedVote(home, liar, PREVOTE, 0, someBlockId('another'));
    for (const vote of [one, two, three]) home.hear('peer', { type: 'vote', vote });
    for (const type of [PREVOTE, PRECOMMIT]) votes(home, type, 0, made, 3);
    expect(home.state.chain.lastBlockHeight).toBe(1n);
    const pending = home.state.evidencePool.inOrder();
    expect(pending.length).toBe(1); // one pair is proof enough
    expect(pending[0]!.evidence.timeNs).toBe(made.block.header.timeNs);
    const [proof] = pending.map(({ evidence }) => evidence) as [DuplicateVoteEvidence];
    expect(okay(proof).voteA.validatorAddress).toEqual(person(liar).address);
    const keys = () =>
      [...home.disk.chain.keys()].filter((key) => /^(64|65)/.test(key)).map((key) => key.slice(0, 2));
    expect(keys()).toEqual(['65']);

    decide(home, [], [proof]);
    expect(home.state.evidencePool.hasPending).toBe(false);
    expect(keys()).toEqual(['64']);
    const identity = evidenceIdentity(proof);
    expect(home.disk.chain.has(hexOf(committedEvidenceKey(1n, identity)))).toBe(true);
    const restarted = new Home({ genesis: FOUR, me, disk: copyDisk(home.disk) });
    for (const each of [home, restarted]) {
      const refusal = each.state.evidencePool.check([proof], each.state.facts(), () => true);
      expect(refusal?.refused).toBe('evidence-committed');
    }
  });

  it('is made once: what its voter says beside two votes is not looked at, unless somebody stands there or claims it', () => {
    const home = four();
    home.fire('start');
    const says = (name: string, change: object = {}): void => {
      const vote = signedVote(home, liar, PREVOTE, 0, someBlockId(name));
      home.hear('peer', { type: 'vote', vote: { ...vote, ...change } });
    };
    const isFalse = { signature: new Uint8Array(64) };
    for (const name of ['one', 'two']) says(name);
    says('three', isFalse);
    expect(home.scored).toEqual([]);
    const { height } = home.state.consensus;
    home.hear('peer', {
      type: 'vote-set-maj23',
      height,
      round: 0,
      voteType: PREVOTE,
      blockId: someBlockId('four'),
    });
    says('four', isFalse);
    expect(home.scored).toHaveLength(1);
    says('four');
    const { prevotes } = home.state.consensus.rounds.get(0)!;
    expect(prevotes.sumFor(someBlockId('four'))).toBe(10n);
  });

  it('is never made of votes with our own key that another node signed', () => {
    const home = four();
    home.fire('start');
    const made = nextBlock(home, ['b']);
    home.hear('peer', ...proposalOf(home, made, 0));
    const own = signedVote(home, me, PREVOTE, 0, NIL_BLOCK_ID);
    home.hear('peer', { type: 'vote', vote: own });
    for (const type of [PREVOTE, PRECOMMIT]) votes(home, type, 0, made, 3);
    expect(home.state.chain.lastBlockHeight).toBe(1n);
    const late = signedVote(home, me, PRECOMMIT, 0, NIL_BLOCK_ID, { height: 1n });
    home.hear('peer', { type: 'vote', vote: late });
    const warned = home.events.flatMap((event) => (event.type === 'warning' ? [event.what] : []));
    expect(warned).toEqual([
      expect.stringMatching(/^somebody signs with our key/),
      expect.stringMatching(/^somebody signs with our key/),
    ]);
    decide(home);
    expect(home.state.evidencePool.hasPending).toBe(false);
    expect(home.scored).toEqual([]);
  });

  it('is made of a second precommit that comes after the decision, too', () => {
    const home = four();
    decide(home);
    const { lastBlockId } = home.state.chain;
    expect(lastBlockId.hash.length).toBe(32);
    const late = signedVote(home, liar, PRECOMMIT, 0, NIL_BLOCK_ID, { height: 1n });
    home.hear('peer', { type: 'vote', vote: late });
    decide(home);
    expect(home.state.evidencePool.inOrder().map(({ height }) => height)).toEqual([1n]);
  });
});

// --- block sync --------------------------------------------------------------------------------------------------------

describe('block sync', () => {
  it('refuses a commit with a wrong signature beyond two thirds: it would become our own last commit', () => {
    const home = four();
    decide(home);
    const block = home.disk.chain.get(hexOf(blockKey(1n)))!.value;
    const { precommits } = home.state.consensus.lastCommit!;
    const commit = commitOf(precommits, 1n, 0, home.state.chain.lastBlockId);
    expect(commit.signatures.every(({ flag }) => flag === FLAG_COMMIT)).toBe(true);
    const broken: Commit = {
      ...commit,
      signatures: commit.signatures.map((each, i) =>
        i === 3 ? { ...each, signature: new Uint8Array(64) } : each,
      ),
    };
    const sync = (with_: Commit) => {
      const follower = new Home({ genesis: FOUR, me, blocksync: true });
      follower.tell({ type: 'block-fetched', height: 1n, block, commit: encodeCommit(with_) });
      return follower.told.filter(({ to }) => to === 'blocksync').map(({ message }) => message.type);
    };
    expect(sync(commit)).toEqual(['sync-from', 'block-applied']);
    expect(sync(broken)).toEqual(['sync-from', 'block-refused']);
  });

  it('halts at what two thirds decided and our state refuses: whoever gave it did not lie', () => {
    const home = new Home({ genesis: ALONE, me: 0 });
    for (let height = 1n; height <= 3n; height++) home.fire('start');
    const disk = copyDisk(home.disk);
    home.fire('start');
    const block = home.disk.chain.get(hexOf(blockKey(4n)))!.value;
    const commit = home.disk.chain.get(hexOf(seenCommitKey(4n)))!.value;
    const fetches = (other: (chain: ChainState) => ChainState = (chain) => chain): Home => {
      const follower = new Home({ genesis: ALONE, me: 5, disk: copyDisk(disk), blocksync: true });
      follower.state.chain = other(follower.state.chain);
      follower.tell({ type: 'block-fetched', height: 4n, block, commit });
      expect(follower.told.some(({ message }) => message.type === 'block-refused')).toBe(false);
      return follower;
    };
    expect(fetches().state.chain.lastBlockHeight).toBe(4n);
    const apart = fetches((chain) => ({ ...chain, appHash: new Uint8Array(8).fill(7) }));
    expect(apart.state.chain.lastBlockHeight).toBe(3n);
    expect(apart.halted).toContain('+2/3 committed an invalid block at height 4: wrong Block.Header.AppHash');
    const narrow = fetches((chain) => {
      const { block: limits, ...others } = chain.consensusParams;
      return { ...chain, consensusParams: { ...others, block: { ...limits, maxBytes: 100n } } };
    });
    expect(narrow.halted).toMatch(/invalid block at height 4: \d+ bytes; block.max_bytes allows 100/);
  });

  it('looks up a past that memory has lost when a peer or a block brings old evidence', () => {
    const home = new Home({ genesis: ALONE, me: 0 });
    for (let height = 1n; height <= 150n; height++) home.fire('start');
    const disk = copyDisk(home.disk);
    offer(home, [doubleVote(home, 1n)]);
    expect(home.state.evidencePool.hasPending).toBe(true);
    expect(home.scored).toEqual([]);
    home.fire('start');
    expect(home.state.evidencePool.hasPending).toBe(false);

    const block = home.disk.chain.get(hexOf(blockKey(151n)))!.value;
    const commit = home.disk.chain.get(hexOf(seenCommitKey(151n)))!.value;
    expect(okay(decodeCommit(commit)).height).toBe(151n);
    const follower = new Home({ genesis: ALONE, me: 5, disk, blocksync: true });
    expect([follower.state.mode, follower.state.history.header(1n)]).toEqual(['sync', null]);
    follower.tell({ type: 'block-fetched', height: 151n, block, commit });
    expect(follower.state.chain.lastBlockHeight).toBe(151n);
    expect(follower.told.some(({ message }) => message.type === 'block-refused')).toBe(false);
    expect(follower.state.history.header(1n)).toBeNull(); // only as long as it was needed
  });
});

it('reads its past for one piece of evidence at a time, and not for what it knows, or what is too old by its own word', () => {
  let loads = 0;
  const home = new Home({
    genesis: ALONE,
    me: 0,
    crash: ({ type }) => {
      if (type === 'load') loads++;
      return false;
    },
  });
  const loadsOf = (...evidence: readonly Evidence[]): number => {
    const before = loads;
    offer(home, evidence);
    return loads - before;
  };
  for (let height = 1n; height <= 150n; height++) home.fire('start');
  const history = home.state.history as unknown as Record<'recalled' | 'recalledSets', Map<bigint, unknown>>;
  const keptInMind = (): number => history.recalled.size + history.recalledSets.size;
  const [one, two, three] = [1n, 2n, 3n].map((height) => doubleVote(home, height)) as [
    Evidence,
    Evidence,
    Evidence,
  ];
  expect(loadsOf(one, two)).toBe(1);
  expect(home.state.evidencePool.inOrder().map(({ height }) => height)).toEqual([1n]);
  expect(keptInMind()).toBe(0); // else who names one height after the other makes us keep all of them
  expect(loadsOf(one, two)).toBe(1); // it is offered again
  expect(home.state.evidencePool.inOrder().map(({ height }) => height)).toEqual([1n, 2n]);
  home.fire('start'); // what was read is forgotten, and both stand in a block
  expect(loadsOf(one, two)).toBe(0);
  const { chain } = home.state;
  const evidence = { ...chain.consensusParams.evidence, maxAgeBlocks: 1n, maxAgeNs: 1n };
  home.state.chain = { ...chain, consensusParams: { ...chain.consensusParams, evidence } };
  expect(loadsOf(three)).toBe(0);
  home.state.chain = chain;
  expect(loadsOf(three)).toBe(1);
  expect(home.scored).toEqual([]);
});

it('the memory of the past does not grow with the chain', () => {
  const home = new Home({ genesis: ALONE, me: 0, disk: newDisk() });
  for (let height = 1n; height <= 200n; height++) home.fire('start');
  const history = home.state.history as unknown as Record<'blocks' | 'recalled', Map<bigint, unknown>> &
    Record<'sets', unknown[]>;
  expect(history.blocks.size).toBeLessThanOrEqual(128);
  expect(history.sets.length).toBeLessThanOrEqual(6);
  expect(home.state.history.validators(3n)?.powerTotal).toBe(10n);
});
