// A log of consensus explains the precommits in it, or says what is missing.

import { describe, expect, it } from 'vitest';
import { encodeRecord, type LogRecord } from '../../actors/validator/logbook.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../protocol/messages.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import {
  BLOCK_PART_BYTES,
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  type Vote,
} from '../../protocol/types.ts';
import { encodeConsensusMessage } from '../../protocol/wire/index.ts';
import { addressFor, hexFor } from '../../sim/addresses.ts';
import { makeCast } from '../../sim/cast.ts';
import { Choices } from '../../sim/choices.ts';
import { GhostChain } from '../../sim/oracles/ghost.ts';
import { unexplained } from '../../sim/oracles/log-reasons.ts';
import { Heard } from '../../sim/oracles/tally.ts';
import { World } from '../../sim/world.ts';

const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
const { machines } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
const ghost = new GhostChain(cast.genesis);
const [v0] = machines as [(typeof machines)[number]];
const { members } = ghost.set(1n) as NonNullable<ReturnType<GhostChain['set']>>;

const { header, parts } = splitIntoParts(new Uint8Array(BLOCK_PART_BYTES + 1).fill(3));
const id: BlockId = { hash: new Uint8Array(32).fill(9), parts: header };

const indexOf = (name: number): number =>
  members.findIndex(({ address }) => address === hexFor(machines[name] as typeof v0));

let round = 0;

function voteOf(name: number, type: Vote['type'], blockId: BlockId): Vote {
  return {
    type,
    height: 1n,
    round,
    blockId,
    timeNs: 5n,
    validatorAddress: addressFor(machines[name] as typeof v0),
    validatorIndex: indexOf(name),
    signature: new Uint8Array(64).fill(name + 1),
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
}
const voteBytes = (vote: Vote): Uint8Array => encodeConsensusMessage({ type: 'vote', vote });

const heard = (name: number, blockId = id): LogRecord => ({
  type: 'heard',
  peer: machines[name]?.member.id ?? '',
  channel: CHANNEL_VOTE,
  bytes: voteBytes(voteOf(name, PREVOTE, blockId)),
});
const own = (type: Vote['type'], blockId = id): LogRecord => ({
  type: 'own',
  channel: CHANNEL_VOTE,
  bytes: voteBytes(voteOf(0, type, blockId)),
});
const part = (index: number): LogRecord => ({
  type: 'heard',
  peer: machines[1]?.member.id ?? '',
  channel: CHANNEL_DATA,
  bytes: encodeConsensusMessage({
    type: 'block-part',
    height: 1n,
    round: 0,
    part: parts[index] as (typeof parts)[number],
  }),
});

function missingIn(records: readonly LogRecord[], isForgotten = (): boolean => false): string | null {
  const tally = new Heard((height) => ghost.set(height), hexFor(v0));
  const found = unexplained(records.map(encodeRecord), (height) => tally.at(height), isForgotten);
  return found?.missing ?? null;
}

describe('the precommit of a block', () => {
  const whole = [part(0), part(1), own(PREVOTE), heard(1), heard(2)];

  it('rests on a polka and on each part', () => {
    expect(missingIn([...whole, own(PRECOMMIT)])).toBeNull();
  });

  it.each<[string, LogRecord, string]>([
    ['a prevote', heard(2), 'a polka for it'],
    ['a part', part(1), 'part 1 of it'],
  ])('is not explained without %s', (_what, gone, missing) => {
    const left = whole.map(encodeRecord);
    const rest = whole.filter((_, i) => !Buffer.from(left[i] ?? []).equals(encodeRecord(gone)));
    expect(rest).toHaveLength(whole.length - 1);
    expect(missingIn([...rest, own(PRECOMMIT)])).toBe(missing);
  });

  it('needs no parts where it proposed itself: whose log was lost may have made the same again', () => {
    const byItself = [own(PREVOTE), heard(1), heard(2), own(PRECOMMIT)];
    expect(missingIn(byItself)).toBe('part 0 of it');
    while (ghost.set(1n)?.atRound(round) !== hexFor(v0)) round++;
    const mine = [own(PREVOTE), heard(1), heard(2), own(PRECOMMIT)];
    round = 0;
    expect(missingIn(mine)).toBeNull();
  });

  it('is not explained by what comes behind it, or is for another block', () => {
    const [last] = whole.slice(-1) as [LogRecord];
    expect(missingIn([...whole.slice(0, -1), own(PRECOMMIT), last])).toBe('a polka for it');
    expect(missingIn([...whole.slice(0, -1), heard(2, NIL_BLOCK_ID), own(PRECOMMIT)])).toBe('a polka for it');
  });

  it('needs none where its height is over, or a life signed it whose log is lost', () => {
    expect(missingIn([{ type: 'end-height', height: 1n }, own(PRECOMMIT)])).toBeNull();
    expect(missingIn([own(PRECOMMIT)], () => true)).toBeNull();
    expect(missingIn([{ type: 'end-height', height: 0n }, own(PRECOMMIT)])).toBe('a polka for it');
  });
});

it('a precommit of nil rests on two thirds of prevotes, for whatever', () => {
  const nil = own(PRECOMMIT, NIL_BLOCK_ID);
  expect(missingIn([own(PREVOTE), heard(1), nil])).toBe('two thirds of the prevotes');
  expect(missingIn([own(PREVOTE), heard(1), heard(2, NIL_BLOCK_ID), nil])).toBeNull();
});
