// What a node says is in its log, for good and byte for byte, before anybody hears it.

import { beforeEach, expect, it } from 'vitest';
import type { Effect, Payload } from '../../../../actors/turn.ts';
import { encodeRecord } from '../../../../actors/validator/logbook.ts';
import { lastSignWords, STEP_PREVOTE } from '../../../../machines/privval/last-sign.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../../../protocol/messages.ts';
import { unreachable } from '../../../../protocol/refusal.ts';
import { voteSignBytes } from '../../../../protocol/sign-bytes.ts';
import { EMPTY_BYTES, NIL_BLOCK_ID, PREVOTE, type Vote } from '../../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../../protocol/wire/index.ts';
import { encodeWords } from '../../../../protocol/words.ts';
import { addressFor } from '../../../../sim/addresses.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Choices } from '../../../../sim/choices.ts';
import type { Machine } from '../../../../sim/machine.ts';
import type { Oracle } from '../../../../sim/oracle.ts';
import { logbookOracle } from '../../../../sim/oracles/disk/logbook.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { worldCrypto } from '../../../../sim/sim-crypto.ts';
import { World } from '../../../../sim/world.ts';

const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
const { machines } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
const [real] = machines as [Machine];

/** How many records each log was given, and how many of them it called durable. */
let consensus: { written: number; answered: number };
let privval: { written: number; answered: number };
/** What the signer's log holds. */
let kept: Uint8Array[];
let said: string[];
let oracle: Oracle;
/** v0, with a disk that says what a test wants. */
const v0: Machine = Object.create(real, {
  disk: {
    value: {
      counts: (name: string) => (name === 'privval' ? privval : consensus),
      records: (name: string) => (name === 'privval' ? kept : []),
    },
  },
}) as Machine;

beforeEach(() => {
  consensus = { written: 0, answered: 0 };
  privval = { written: 0, answered: 0 };
  kept = [];
  said = [];
  oracle = logbookOracle(new GhostChain(cast.genesis))((what) => said.push(what), {
    chainId: cast.chainId,
    machines,
    now: () => 0,
    isHonest: () => true,
    mayHalt: () => false,
    reached: () => undefined,
    verify: worldCrypto().verify,
  });
});

function voteAt(height: bigint): Vote {
  const key = real.key ?? unreachable('a validator');
  const vote: Vote = {
    type: PREVOTE,
    height,
    round: 0,
    blockId: NIL_BLOCK_ID,
    timeNs: 5n,
    validatorAddress: addressFor(real),
    validatorIndex: 0,
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
  return { ...vote, signature: key.sign(voteSignBytes(cast.chainId, vote)).slice() };
}
const payloadOf = (vote: Vote): Payload => ({
  channel: CHANNEL_VOTE,
  bytes: encodeConsensusMessage({ type: 'vote', vote }),
});

const leaves = (actor: string, effect: Effect): void => void oracle.leaving?.(v0, actor, effect);
/** The signer keeps it and gives it away. */
function signs(vote: Vote): void {
  keeps(vote);
  gives(vote);
}
function keeps({ height, round, signature }: Vote): void {
  const record = encodeWords(lastSignWords, {
    height,
    round,
    step: STEP_PREVOTE,
    signBytes: EMPTY_BYTES,
    signature,
  });
  leaves('signer', { type: 'append', log: 'privval', record });
  kept.push(record);
  privval.answered = ++privval.written;
}
const gives = (vote: Vote, type: 'signed-vote' | 'signed-before' = 'signed-vote'): void =>
  leaves('signer', { type: 'tell', to: 'validator', message: { type, vote } });
function logs({ channel, bytes }: Payload): void {
  leaves('validator', {
    type: 'append',
    log: 'consensus',
    record: encodeRecord({ type: 'own', channel, bytes }),
  });
  consensus.written++;
}
function syncs(): void {
  consensus.answered = consensus.written;
}
const says = (payload: Payload): void =>
  leaves('validator', { type: 'send', to: ['x'], payloads: [payload] });

const UNLOGGED = 'v0 says what it signed at 1/0 before its log has it for good';

it('a signature is given away, and again, only while it is the last that is kept', () => {
  const [one, two] = [voteAt(1n), voteAt(2n)];
  signs(one);
  gives(one);
  gives(one, 'signed-before');
  expect(said).toEqual([]);
  keeps(two);
  gives(one);
  gives(one, 'signed-before');
  expect(said).toEqual(Array(2).fill("v0 gives a signature away that its signer's log does not end with"));
});

it('what is signed is of a later place than what is kept', () => {
  for (const height of [1n, 2n, 2n, 1n]) keeps(voteAt(height));
  expect(said).toEqual([
    'v0 signs at 2/0, step 2 after it signed at 2/0, step 2',
    'v0 signs at 1/0, step 2 after it signed at 2/0, step 2',
  ]);
});

it('of the height under way nothing is let go, and of earlier ones all but some', () => {
  const vote = voteAt(1n);
  const trims = (keep: number): void => leaves('signer', { type: 'trim', log: 'privval', keep });
  for (let round = 0; round < 1_100; round++) keeps({ ...vote, round });
  keeps(voteAt(2n));
  expect(said).toEqual([]);
  keeps({ ...voteAt(2n), round: 1 });
  expect(said.splice(0)).toEqual(["v0's signer keeps the last 1101 signatures, and lets none go"]);
  trims(16);
  kept.splice(0, kept.length - 16);
  keeps({ ...voteAt(2n), round: 2 });
  expect(said).toEqual([]);
  trims(3);
  expect(said).toEqual([]);
  trims(2);
  expect(said).toEqual(['v0 lets go of what it signed at 2']);
});

it('what is logged and durable may be said, and again', () => {
  const vote = voteAt(1n);
  signs(vote);
  logs(payloadOf(vote));
  syncs();
  says(payloadOf(vote));
  says(payloadOf(vote));
  expect(said).toEqual([]);
});

it('what is not logged, or not for good, may not', () => {
  const vote = voteAt(1n);
  signs(vote);
  says(payloadOf(vote));
  expect(said).toEqual([UNLOGGED]);
  const next = voteAt(2n);
  signs(next);
  logs(payloadOf(next));
  says(payloadOf(next));
  expect(said).toEqual([UNLOGGED, UNLOGGED.replace('1/0', '2/0')]);
});

it.each<[string, (vote: Vote) => Payload]>([
  ['of another round', (vote) => payloadOf({ ...vote, round: 1 })],
  ['cut short', (vote) => ({ channel: CHANNEL_VOTE, bytes: payloadOf(vote).bytes.slice(0, -1) })],
  ['a part of a block', (vote) => ({ channel: CHANNEL_DATA, bytes: payloadOf(vote).bytes })],
])('a record that only holds its signature is not its record: %s', (_what, other) => {
  const vote = voteAt(1n);
  signs(vote);
  logs(other(vote));
  syncs();
  says(payloadOf(vote));
  expect(said).toEqual([UNLOGGED]);
});

it('a word may be logged late, when its signer is at the next height', () => {
  const [first, second] = [voteAt(1n), voteAt(2n)];
  signs(first);
  signs(second);
  logs(payloadOf(first));
  syncs();
  says(payloadOf(first));
  expect(said).toEqual([]);
});

it('a word that was never logged may not be said at a later height either, one that was may be', () => {
  const [lost, kept] = [voteAt(1n), voteAt(2n)];
  signs(lost);
  signs(kept);
  logs(payloadOf(kept));
  syncs();
  for (let height = 3n; height < 9n; height++) {
    signs(voteAt(height));
    logs(payloadOf(voteAt(height)));
    syncs();
  }
  says(payloadOf(kept));
  expect(said).toEqual([]);
  says(payloadOf(lost));
  expect(said).toEqual([UNLOGGED]);
});
