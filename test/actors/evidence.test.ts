// Evidence that peers offer, at a validator's door: what a double voter may not hang on it, and what it costs to pass it on.

import { expect, it } from 'vitest';
import { ed25519Sign } from '#platform';
import { commitOf } from '../../machines/chain/commits.ts';
import { blockKey, evidenceKey, PENDING_EVIDENCE } from '../../machines/chain/keys.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { makeDuplicateVote } from '../../protocol/rules/evidence.ts';
import { voteExtensionSignBytes } from '../../protocol/sign-bytes.ts';
import type { DuplicateVoteEvidence, Evidence, Vote } from '../../protocol/types.ts';
import { PRECOMMIT } from '../../protocol/types.ts';
import { decodeBlock, encodeEvidenceList } from '../../protocol/wire/index.ts';
import { CHAIN_ID, genesisOf, okay, person, someBlockId } from '../protocol/rules/people.ts';
import { copyDisk, Home, nextBlock, proposalOf, signedVote } from './home.ts';

/** Alone it decides at each start. */
const ALONE = genesisOf([10n]);

const blockAt = (home: Home, height: bigint) =>
  okay(decodeBlock(home.disk.chain.get(hexOf(blockKey(height)))!.value));

function doubleVote(home: Home, height: bigint, round = 0, extensionBytes = 0): DuplicateVoteEvidence {
  const voteFor = (name: string): Vote =>
    signedVote(home, 0, PRECOMMIT, round, someBlockId(name), { height });
  const extended = { ...voteFor('one'), extension: new Uint8Array(extensionBytes) };
  const signBytes = voteExtensionSignBytes(CHAIN_ID, extended);
  const extensionSignature = ed25519Sign(person(0).seed, signBytes);
  const one = extensionBytes > 0 ? { ...extended, extensionSignature } : voteFor('one');
  const set = home.state.history.validators(height)!;
  return okay(makeDuplicateVote(one, voteFor('two'), blockAt(home, height).header.timeNs, set));
}

function offer(home: Home, peer: string, evidence: readonly Evidence[]): void {
  if (!home.state.views.has(peer)) home.peerUp(peer, 1000n);
  const payloads = [{ channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(evidence) }];
  home.tell({ type: 'heard', peer, payloads });
}

/** Bytes of evidence that leave it, times those who get them. */
function homeWithScale(): { home: Home; sent: () => number } {
  let sent = 0;
  const home = new Home({
    genesis: ALONE,
    me: 0,
    crash: (effect) => {
      if (effect.type !== 'send') return false;
      for (const { channel, bytes } of effect.payloads)
        if (channel === CHANNEL_EVIDENCE) sent += bytes.length * effect.to.length;
      return false;
    },
  });
  for (let height = 1n; height <= 3n; height++) home.fire('start');
  return { home, sent: () => sent };
}

it('a double voter hangs nothing on the proof against itself that keeps back all others', () => {
  const { home } = homeWithScale();
  offer(home, 'liar', [doubleVote(home, 1n, 0, 1_000_000)]);
  offer(home, 'giant', [doubleVote(home, 1n, 0, 2_000_000)]);
  expect(home.scored).toEqual([
    expect.stringContaining('carries an extension'),
    expect.stringContaining('a message may have 1048576'),
  ]);
  offer(home, 'peer', [doubleVote(home, 2n)]);
  home.fire('start');
  expect(blockAt(home, 4n).evidence).toHaveLength(1);
});

it('each new piece goes to each peer once, not with all that wait', () => {
  const { home, sent } = homeWithScale();
  for (const peer of ['liar', 'p1', 'p2', 'p3', 'p4']) home.peerUp(peer, 1000n);
  home.tell({ type: 'peer-up', peer: 'silent' }); // it never says where it stands
  let heard = 0;
  for (let round = 0; round < 100; round++) {
    const evidence = [doubleVote(home, 1n, round)];
    if (round < 64) heard += encodeEvidenceList(evidence).length;
    offer(home, 'liar', evidence);
  }
  expect(home.state.evidencePool.inOrder()).toHaveLength(64); // all are of one validator
  const one = encodeEvidenceList([doubleVote(home, 1n)]).length;
  expect(sent()).toBeLessThanOrEqual(4 * heard + one); // not back to who told it, but where a period begins
  const before = sent();
  home.fire('evidence'); // soon, for the silent one
  expect(sent()).toBe(before);
});

it('who comes back is told again: what was said on the connection before may be lost', () => {
  const { home, sent } = homeWithScale();
  for (const peer of ['liar', 'stays', 'comes back']) home.peerUp(peer, 1000n);
  offer(home, 'liar', [doubleVote(home, 1n, 0)]);
  home.tell({ type: 'peer-down', peer: 'comes back' });
  home.peerUp('comes back', 1000n);
  const before = sent();
  offer(home, 'liar', [doubleVote(home, 1n, 1)]);
  const one = encodeEvidenceList([doubleVote(home, 1n, 0)]).length;
  const two = encodeEvidenceList([doubleVote(home, 1n, 1)]).length;
  expect(sent() - before).toBe(one + 2 * two);
});

it('what goes for newer evidence leaves the store, too', () => {
  const { consensusParams, ...others } = ALONE;
  const evidence = { ...consensusParams.evidence, maxBytes: 0n }; // no block takes any
  const home = new Home({ genesis: { ...others, consensusParams: { ...consensusParams, evidence } }, me: 0 });
  const isOfEvidence = (key: string): boolean => key.startsWith(hexOf(PENDING_EVIDENCE.from));
  for (let height = 1n; height <= 3n; height++) {
    for (let round = 0; round < 40; round++) {
      const [one, two] = ['one', 'two'].map((name) =>
        signedVote(home, 0, PRECOMMIT, round, someBlockId(name), { height }),
      ) as [Vote, Vote];
      home.state.evidencePool.sawConflict(one, two);
    }
    home.fire('start');
    const pending = home.state.evidencePool.inOrder();
    expect(pending).toHaveLength(height === 1n ? 40 : 64);
    expect([...home.disk.chain.keys()].filter(isOfEvidence).sort()).toEqual(
      pending.map((each) => hexOf(evidenceKey(each.height, each.identity))).sort(),
    );
  }
});

it('of a block full of false evidence of the past, no more of the past is read than for the first', () => {
  const home = new Home({ genesis: ALONE, me: 0 });
  while (home.state.chain.lastBlockHeight < 200n) home.fire('start');
  let loads = 0;
  const follower = new Home({
    genesis: ALONE,
    me: 5,
    disk: copyDisk(home.disk),
    crash: ({ type }) => {
      if (type === 'load') loads++;
      return false;
    },
  });
  follower.peerUp('liar');
  const evidence = Array.from({ length: 50 }, (_, i) => {
    const proof = doubleVote(home, BigInt(i + 1));
    return { ...proof, voteA: { ...proof.voteA, signature: new Uint8Array(64) } };
  });
  follower.fire('start');
  const { precommits, round } = follower.state.consensus.lastCommit!;
  const commit = commitOf(precommits, 200n, round, follower.state.chain.lastBlockId);
  const made = nextBlock(follower, [], commit, evidence);
  const before = loads;
  follower.hear('liar', ...proposalOf(follower, made, 0, -1, 1));
  expect(follower.events.filter(({ type }) => type === 'refused')).toMatchObject([
    { height: 201n, because: expect.stringContaining('is not signed by the validator') },
  ]);
  expect(loads - before).toBeGreaterThan(0);
  expect(loads - before).toBeLessThanOrEqual(4);
});
