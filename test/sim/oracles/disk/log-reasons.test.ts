// A log of consensus explains what its node says in it, or says what is missing.

import { describe, expect, it } from 'vitest';
import { encodeRecord, type LogRecord } from '../../../../actors/validator/logbook.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../../../protocol/messages.ts';
import { splitIntoParts } from '../../../../protocol/part-set.ts';
import {
  BLOCK_PART_BYTES,
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  PROPOSAL,
  type Vote,
} from '../../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../../protocol/wire/index.ts';
import { addressFor, hexFor } from '../../../../sim/addresses.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Choices } from '../../../../sim/choices.ts';
import { unexplained } from '../../../../sim/oracles/disk/log-reasons.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { Heard } from '../../../../sim/oracles/ghost/tally.ts';
import { World } from '../../../../sim/world.ts';

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

function voteOf(name: number, type: Vote['type'], blockId: BlockId, at = round): Vote {
  return {
    type,
    height: 1n,
    round: at,
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

const heard = (name: number, blockId = id, type: Vote['type'] = PREVOTE, at = round): LogRecord => ({
  type: 'heard',
  peer: machines[name]?.member.id ?? '',
  channel: CHANNEL_VOTE,
  bytes: voteBytes(voteOf(name, type, blockId, at)),
});
const own = (type: Vote['type'], blockId = id, at = round): LogRecord => ({
  type: 'own',
  channel: CHANNEL_VOTE,
  bytes: voteBytes(voteOf(0, type, blockId, at)),
});
const proposal = (blockId = id, at = round): LogRecord => ({
  type: 'heard',
  peer: machines[1]?.member.id ?? '',
  channel: CHANNEL_DATA,
  bytes: encodeConsensusMessage({
    type: 'proposal',
    proposal: {
      type: PROPOSAL,
      height: 1n,
      round: at,
      polRound: -1,
      blockId,
      timeNs: 5n,
      signature: new Uint8Array(64).fill(5),
    },
  }),
});
const timeout = (step: string, at: number, height = 1n): LogRecord => ({
  type: 'timeout',
  step,
  height,
  round: at,
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

const begun = timeout('start', 0);

function missingIn(
  records: readonly LogRecord[],
  isForgotten = (): boolean => false,
  before: readonly LogRecord[] = [begun],
): string | null {
  const tally = new Heard((height) => ghost.set(height), hexFor(v0));
  const found = unexplained(
    [...before, ...records].map(encodeRecord),
    (height) => tally.at(height),
    isForgotten,
  );
  return found?.missing ?? null;
}

it.each<[string, readonly LogRecord[], string | null]>([
  ['nothing', [], 'that the height began'],
  ['the beginning of another height', [timeout('start', 0, 0n)], 'that the height began'],
  ['that it began', [begun], null],
])('a vote behind %s', (_what, before, missing) => {
  expect(missingIn([proposal(), own(PREVOTE)], undefined, before)).toBe(missing);
});

describe('the precommit of a block', () => {
  const whole = [proposal(), part(0), part(1), own(PREVOTE), heard(1), heard(2)];

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
    const byItself = [proposal(), own(PREVOTE), heard(1), heard(2), own(PRECOMMIT)];
    expect(missingIn(byItself)).toBe('part 0 of it');
    while (ghost.set(1n)?.atRound(round) !== hexFor(v0)) round++;
    const mine = [timeout('start', 0), own(PREVOTE), heard(1), heard(2), own(PRECOMMIT)];
    if (round > 0)
      mine.unshift(
        ...[1, 2, 3].map((name) => heard(name, NIL_BLOCK_ID, PRECOMMIT, round - 1)),
        timeout('precommit', round - 1),
      );
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
  const split = [proposal(), own(PREVOTE), heard(1), heard(2, NIL_BLOCK_ID)];
  expect(missingIn([proposal(), own(PREVOTE), heard(1), nil])).toBe('two thirds of the prevotes');
  expect(missingIn([...split, timeout('prevote', 0), nil])).toBeNull();
  expect(missingIn([...split, nil])).toBe('a polka for nil, or that its time was over');
  const nils = [1, 2, 3].map((name) => heard(name, NIL_BLOCK_ID));
  expect(missingIn([proposal(), own(PREVOTE), ...nils, nil])).toBeNull();
});

describe('a prevote', () => {
  const other = { ...id, hash: new Uint8Array(32).fill(8) };

  it('of a block stands behind its proposal', () => {
    expect(missingIn([proposal(), own(PREVOTE)])).toBeNull();
    expect(missingIn([own(PREVOTE), proposal()])).toBe('its proposal');
    expect(missingIn([proposal(other), own(PREVOTE)])).toBe('its proposal');
    expect(missingIn([proposal(id, 1), own(PREVOTE)])).toBe('its proposal');
  });

  it('of nil stands behind a proposal that it refuses, or the end of the time for one', () => {
    const nil = own(PREVOTE, NIL_BLOCK_ID);
    expect(missingIn([proposal(), nil])).toBeNull();
    expect(missingIn([timeout('propose', 0), nil])).toBeNull();
    expect(missingIn([nil])).toBe('a proposal, or that its time was over');
    expect(missingIn([timeout('propose', 0, 0n), nil])).toBe('a proposal, or that its time was over');
  });
});

describe('a word of a later round', () => {
  const ofRoundOne = own(PREVOTE, NIL_BLOCK_ID, 1);
  const precommits = [1, 2].map((name) => heard(name, NIL_BLOCK_ID, PRECOMMIT, 0));
  const mine = [
    proposal(),
    own(PREVOTE),
    heard(1),
    heard(2, NIL_BLOCK_ID),
    timeout('prevote', 0),
    own(PRECOMMIT, NIL_BLOCK_ID),
  ];
  const late = timeout('propose', 1);

  it('stands behind the timer that ended the round before, and that behind the precommits that set it going', () => {
    expect(missingIn([...mine, ...precommits, timeout('precommit', 0), late, ofRoundOne])).toBeNull();
    expect(missingIn([...mine, ...precommits, ofRoundOne])).toBe('why that round began');
    expect(missingIn([...mine, ...precommits, timeout('prevote', 0), ofRoundOne])).toBe(
      'why that round began',
    );
    expect(missingIn([...mine, timeout('precommit', 0), ...precommits, ofRoundOne])).toBe(
      'two thirds of the precommits',
    );
    // Of another height, whose own round one nobody began.
    expect(missingIn([timeout('precommit', 0, 0n), ofRoundOne])).toBe('why that round began');
  });

  it('or behind a third that speaks in it, which one of four is not', () => {
    const [one, two] = [1, 2].map((name) => heard(name, NIL_BLOCK_ID, PREVOTE, 1)) as [LogRecord, LogRecord];
    expect(missingIn([one, ofRoundOne])).toBe('why that round began');
    expect(missingIn([one, two, late, ofRoundOne])).toBeNull();
  });

  it('needs neither where its height is over, or its log is lost', () => {
    expect(missingIn([ofRoundOne], () => true)).toBeNull();
    expect(missingIn([{ type: 'end-height', height: 1n }, timeout('prevote', 3), ofRoundOne])).toBeNull();
  });
});

it('the wait for prevotes begins with two thirds of them', () => {
  const mine = [proposal(), own(PREVOTE), heard(1)];
  expect(missingIn([...mine, timeout('prevote', 0)])).toBe('two thirds of the prevotes');
  expect(missingIn([...mine, heard(2), timeout('prevote', 0)])).toBeNull();
  expect(missingIn([timeout('propose', 0), timeout('start', 0)])).toBeNull();
});
