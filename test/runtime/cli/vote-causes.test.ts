// What enabled a vote is about its block: parts and judgements of another one, of the same height, are not.

import { expect, test } from 'vitest';
import type { Effect, LocalMessage } from '../../../actors/turn.ts';
import { CHANNEL_DATA } from '../../../protocol/messages.ts';
import { splitIntoParts } from '../../../protocol/part-set.ts';
import { type BlockId, NIL_BLOCK_ID, PREVOTE, PROPOSAL, type Vote } from '../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../protocol/wire/index.ts';
import { causesLines, VoteCauses } from '../../../runtime/cli/traces/vote-causes.ts';
import type { Replayed } from '../../../runtime/kernel/replay.ts';

const blockOf = (fill: number): { id: BlockId; part: Uint8Array } => {
  const { header, parts } = splitIntoParts(new Uint8Array(100).fill(fill));
  const part = encodeConsensusMessage({ type: 'block-part', height: 1n, round: 0, part: parts[0]! });
  return { id: { hash: new Uint8Array(32).fill(fill), parts: header }, part };
};
const [one, other] = [blockOf(1), blockOf(2)];

const prevote = (blockId: BlockId): Vote => ({
  type: PREVOTE,
  height: 1n,
  round: 0,
  blockId,
  timeNs: 0n,
  validatorAddress: new Uint8Array(20),
  validatorIndex: 0,
  signature: new Uint8Array(64),
  extension: new Uint8Array(0),
  extensionSignature: new Uint8Array(0),
});

const heard = (bytes: Uint8Array): LocalMessage => ({
  type: 'heard',
  peer: 'p',
  payloads: [{ channel: CHANNEL_DATA, bytes }],
});
const proposed = (blockId: BlockId): LocalMessage => {
  const proposal = {
    type: PROPOSAL,
    height: 1n,
    round: 0,
    polRound: -1,
    blockId,
    timeNs: 0n,
    signature: new Uint8Array(64),
  };
  return heard(encodeConsensusMessage({ type: 'proposal', proposal }));
};
const judging = (tag: number, { hash }: BlockId): Effect => ({
  type: 'tell',
  to: 'app',
  message: { type: 'request', tag, request: { type: 'process-proposal', value: { hash } } },
});
const judged = (tag: number): LocalMessage => ({
  type: 'answer',
  tag,
  response: { type: 'process-proposal', value: { status: 1 } },
});

/** The causes of a prevote after two blocks were heard and judged, of which the first was proposed. */
function causesOf(blockId: BlockId): string[] {
  const causes = new VoteCauses({ byPeer: (peer) => peer, byAddress: () => 'v0' });
  const turns: [LocalMessage, Effect[]][] = [
    [proposed(one.id), []],
    [heard(one.part), [judging(1, one.id)]],
    [heard(other.part), [judging(2, other.id)]],
    [judged(1), []],
    [judged(2), []],
    [
      { type: 'timer', timer: 'x' },
      [{ type: 'tell', to: 'signer', message: { type: 'sign-vote', vote: prevote(blockId) } }],
    ],
  ];
  for (const [i, [message, effects]] of turns.entries())
    causes.turn(i + 1, { actor: 'validator', message, effects } as unknown as Replayed);
  return causes.last!.causes.map(({ record, what }) => `${record} ${what}`);
}

test('a vote for a block', () => {
  expect(causesOf(one.id)).toEqual([
    '1 proposal 1/0 01010101, from p',
    '2 block-part 1/0 #0, from p',
    '4 the application judged block 01010101',
  ]);
  expect(causesOf(other.id)).toEqual([
    '3 block-part 1/0 #0, from p',
    '5 the application judged block 02020202',
  ]);
});

test('a vote for nil: what its round proposed, and the judgement of that', () => {
  expect(causesOf(NIL_BLOCK_ID)).toEqual([
    '1 proposal 1/0 01010101, from p',
    '4 the application judged block 01010101',
  ]);
});

test('the last vote is one of this life', () => {
  const names = { byPeer: (peer: string) => peer, byAddress: () => 'v0' };
  const causes = new VoteCauses(names);
  const asks = { type: 'tell', to: 'signer', message: { type: 'sign-vote', vote: prevote(one.id) } };
  causes.turn(1, {
    actor: 'validator',
    message: { type: 'timer', timer: 'x' },
    effects: [asks],
  } as unknown as Replayed);
  expect(causesLines(causes, names)[0]).toMatch(/^last vote: prevote /);
  causes.reborn();
  expect(causesLines(causes, names)).toEqual(['last vote: none in this life']);
});
