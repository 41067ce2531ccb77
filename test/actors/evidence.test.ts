// Evidence that peers offer, at a validator's door: what a double voter may not hang on it, and what it costs to pass it on.

import { expect, it } from 'vitest';
import { ed25519Sign } from '#platform';
import { blockKey } from '../../machines/chain/keys.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { makeDuplicateVote } from '../../protocol/rules/evidence.ts';
import { voteExtensionSignBytes } from '../../protocol/sign-bytes.ts';
import type { DuplicateVoteEvidence, Evidence, Vote } from '../../protocol/types.ts';
import { PRECOMMIT } from '../../protocol/types.ts';
import { decodeBlock, encodeEvidenceList } from '../../protocol/wire/index.ts';
import { CHAIN_ID, genesisOf, okay, person, someBlockId } from '../protocol/rules/people.ts';
import { Home, signedVote } from './home.ts';

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
  expect(home.state.pool.inOrder()).toHaveLength(64); // all are of one validator
  expect(sent()).toBeLessThanOrEqual(5 * heard);
  const before = sent();
  home.fire('evidence'); // soon, for the silent one
  expect(sent()).toBe(before);
});
