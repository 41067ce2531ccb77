// Whose envelope a node may give up: a liar's, with eight words in it that may be false.

import { expect, it } from 'vitest';
import type { Payload } from '../../../../actors/turn.ts';
import { CHANNEL_EVIDENCE, CHANNEL_STATE, type ConsensusMessage } from '../../../../protocol/messages.ts';
import { NIL_BLOCK_ID, PREVOTE } from '../../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../../protocol/wire/index.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Choices } from '../../../../sim/choices.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { GivenUp } from '../../../../sim/oracles/ghost/given-up.ts';
import { worldCrypto } from '../../../../sim/sim-crypto.ts';
import { World } from '../../../../sim/world.ts';

const cast = makeCast({ powers: [10n, 10n] });
const { machines } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
const [liar, honest] = machines.map(({ member }) => member.id) as [string, string];
const givenUp = new GivenUp(new GhostChain(cast.genesis), {
  chainId: cast.chainId,
  machines,
  now: () => 0,
  isHonest: ({ member }) => member.id !== liar,
  mayHalt: () => false,
  reached: () => undefined,
  verify: worldCrypto().verify,
});

const payload = (message: ConsensusMessage): Payload => ({
  channel: CHANNEL_STATE,
  bytes: encodeConsensusMessage(message),
});
const claim = payload({
  type: 'vote-set-maj23',
  height: 1n,
  round: 0,
  voteType: PREVOTE,
  blockId: NIL_BLOCK_ID,
});
const step = payload({
  type: 'new-round-step',
  height: 1n,
  round: 0,
  step: 3,
  secondsSinceStart: 0n,
  lastCommitRound: -1,
});
const garbled = { channel: CHANNEL_EVIDENCE, bytes: Uint8Array.of(255) };

it.each([
  ['a liar makes seven claims', liar, Array(7).fill(claim), false],
  ['a liar makes eight', liar, Array(8).fill(claim), true],
  ['somebody honest makes nine', honest, Array(9).fill(claim), false],
  ['a liar says eight times where it stands', liar, Array(8).fill(step), false],
  [
    'a liar makes seven claims, and an accusation that does not decode',
    liar,
    [...Array(7).fill(claim), garbled],
    true,
  ],
])('%s', (_, from, payloads, isGivenUp) => {
  expect(givenUp.mayBe(from, payloads)).toBe(isGivenUp);
});
