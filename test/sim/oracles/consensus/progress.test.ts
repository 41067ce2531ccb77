// Who can act, acts: a rule whose guard was met by what reached a node, and which a timeout carried out, is told; who was
// prompt, or was held back, is not.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Payload } from '../../../../actors/turn.ts';
import { hexOf } from '../../../../protocol/bytes.ts';
import { addressOf } from '../../../../protocol/keys.ts';
import { leafHash } from '../../../../protocol/merkle.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../../../protocol/messages.ts';
import { PartSet } from '../../../../protocol/part-set.ts';
import { unreachable } from '../../../../protocol/refusal.ts';
import { proposalSignBytes, voteSignBytes } from '../../../../protocol/sign-bytes.ts';
import {
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  type Proposal,
  type Vote,
} from '../../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../../protocol/wire/index.ts';
import type { Node } from '../../../../runtime/kernel/node.ts';
import { addressFor, hexFor } from '../../../../sim/addresses.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Choices } from '../../../../sim/choices.ts';
import { SLOW_DISK } from '../../../../sim/disk-door.ts';
import type { Machine } from '../../../../sim/machine.ts';
import type { Oracle } from '../../../../sim/oracle.ts';
import { progressRules } from '../../../../sim/oracles/consensus/progress.ts';
import { FirstWords } from '../../../../sim/oracles/ghost/first-words.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { Seen } from '../../../../sim/oracles/ghost/seen.ts';
import { worldCrypto } from '../../../../sim/sim-crypto.ts';
import { World } from '../../../../sim/world.ts';

const MS = 1_000_000;
const PEER = 'peer';
const STEP = { newRound: 2, propose: 3, prevote: 4, precommit: 6, commit: 8 } as const;
const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
const crypto = worldCrypto();

let said: string[];
let nowNs: number;
let at: Machine;
let others: readonly Machine[];
let oracle: Oracle;
let liars: Machine[];

beforeEach(() => {
  said = [];
  liars = [];
  nowNs = 1_000 * MS;
  const { machines } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
  [at, ...others] = machines as [Machine, ...Machine[]];
  at.mode = 'consensus';
  at.node = { isPaused: false } as Node;
  oracle = progressRules(new GhostChain(cast.genesis))((what) => said.push(what), {
    chainId: cast.chainId,
    machines,
    now: () => nowNs,
    isHonest: (machine) => !liars.includes(machine),
    mayHalt: () => false,
    reached: () => undefined,
    verify: crypto.verify,
  });
  oracle.published?.(at, 'peer', { type: 'peer', peer: PEER, up: true });
  later(10);
  steps(0, STEP.newRound, STEP.propose);
});

const later = (ms: number): void => {
  nowNs += ms * MS;
};
const steps = (round: number, ...all: readonly number[]): void => {
  for (const step of all)
    oracle.published?.(at, 'validator', { type: 'step', height: at.height + 1n, round, step });
};
const members = new GhostChain(cast.genesis).set(1n)?.members ?? [];

const hears = (count: number, round: number, change: Partial<Vote> = {}): void => {
  for (const payload of votes(count, round, change)) oracle.heard?.(at, PEER, [payload]);
};

/** One of each of so many others. */
function votes(count: number, round: number, change: Partial<Vote> = {}): Payload[] {
  return others.slice(0, count).map((from) => {
    const address = addressFor(from);
    const vote = {
      type: PREVOTE as typeof PREVOTE,
      height: 1n,
      round,
      blockId: NIL_BLOCK_ID,
      timeNs: 5n,
      validatorAddress: address,
      validatorIndex: members.findIndex((each) => each.address === hexOf(address)),
      signature: EMPTY_BYTES,
      extension: EMPTY_BYTES,
      extensionSignature: EMPTY_BYTES,
      ...change,
    };
    const key = from.key ?? unreachable('a validator');
    const signature = change.signature ?? key.sign(voteSignBytes(cast.chainId, vote)).slice();
    const signed = { ...vote, signature };
    return { channel: CHANNEL_VOTE, bytes: encodeConsensusMessage({ type: 'vote', vote: signed }) };
  });
}

describe('L55: a third in a later round', () => {
  it('is followed at once', () => {
    hears(2, 2);
    later(20);
    steps(2, STEP.newRound);
    expect(said).toEqual([]);
  });

  it('is not waited out', () => {
    hears(2, 2);
    later(500);
    steps(1, STEP.newRound);
    expect(said).toEqual([`${at.name} at 1/1 could have begun round 2 (L55) since 500 ms`]);
  });

  it.each([
    ['at once', 20, null],
    ['when a third has spoken in the one after it', 500, 'could have begun round 1 (L55) since 520 ms'],
  ])('is followed %s', (_, ms, says) => {
    hears(2, 1, { type: PRECOMMIT });
    later(ms);
    hears(2, 2);
    later(20);
    steps(2, STEP.newRound);
    expect(said).toEqual(says === null ? [] : [expect.stringContaining(says)]);
  });

  it('needs more than a third, and true signatures', () => {
    hears(1, 2);
    hears(3, 2, { signature: new Uint8Array(64) });
    later(500);
    steps(1, STEP.newRound);
    expect(said).toEqual([]);
  });

  it('is nothing that one hears of whom it has not greeted', () => {
    oracle.published?.(at, 'peer', { type: 'peer', peer: PEER, up: false });
    hears(2, 2);
    later(500);
    steps(1, STEP.newRound);
    expect(said).toEqual([]);
  });

  it.each([
    [8, true, 0],
    [7, true, 1],
    [9, false, 1],
  ])('behind %d false votes in one envelope of a liar (%s) counts: %d', (forged, isLiar, counts) => {
    const [from] = others as [Machine];
    oracle.published?.(at, 'peer', { type: 'peer', peer: from.member.id, up: true });
    later(10);
    if (isLiar) liars = [from];
    const [wrong] = votes(1, 2, { signature: new Uint8Array(64) });
    oracle.heard?.(at, from.member.id, [...Array(forged).fill(wrong), ...votes(2, 2)]);
    later(500);
    steps(1, STEP.newRound);
    expect(said.length).toBe(counts);
  });

  it('does not count from a peer that has spoken of too many rounds', () => {
    for (let round = 100; round < 164; round++) hears(1, round);
    hears(2, 2);
    later(500);
    steps(1, STEP.newRound);
    expect(said).toEqual([]);
  });

  it('counts from a peer that has spoken of many', () => {
    for (let round = 101; round < 163; round++) hears(1, round);
    hears(2, 3);
    later(500);
    steps(1, STEP.newRound);
    expect(said).toEqual([expect.stringContaining('could have begun round 3 (L55)')]);
  });

  it('may be late after a pause, and on a slow disk', () => {
    hears(2, 2);
    later(500);
    at.heldUntilNs = nowNs;
    steps(1, STEP.newRound);
    at.heldUntilNs = 0;
    at.disk.settings = SLOW_DISK;
    steps(2, STEP.newRound);
    expect(said).toEqual([]);
  });
});

describe('L44: two thirds of prevotes for nil', () => {
  it('are answered at once', () => {
    steps(0, STEP.prevote);
    hears(3, 0);
    later(20);
    steps(0, STEP.precommit);
    expect(said).toEqual([]);
  });

  it('are not waited out', () => {
    hears(3, 0);
    later(100);
    steps(0, STEP.prevote);
    later(200);
    steps(0, STEP.precommit);
    expect(said).toEqual([expect.stringContaining('two thirds prevoted (L44) since 200 ms')]);
  });
});

describe('L34, L47: two thirds of votes for whatever', () => {
  const waits = (timer: string): void =>
    oracle.leaving?.(at, 'validator', { type: 'schedule', timer, afterNs: 1n });

  it('set their timers at once', () => {
    steps(0, STEP.prevote);
    hears(3, 0);
    hears(3, 0, { type: PRECOMMIT });
    later(20);
    waits('prevote 1 0');
    waits('precommit 1 0');
    expect(said).toEqual([]);
  });

  it('of precommits are not waited for in a later step', () => {
    hears(3, 0, { type: PRECOMMIT });
    later(200);
    waits('precommit 1 0');
    expect(said).toEqual([`${at.name} at 1/0 could have waited for precommits (L47) since 200 ms`]);
  });

  it('of prevotes count from the step that votes', () => {
    hears(3, 0);
    later(200);
    steps(0, STEP.prevote);
    waits('prevote 1 0');
    expect(said).toEqual([]);
    later(100);
    waits('prevote 1 0');
    expect(said).toEqual([`${at.name} at 1/0 could have waited for prevotes (L34) since 100 ms`]);
  });

  it('of the next round count when it has begun', () => {
    hears(3, 1, { type: PRECOMMIT });
    later(50);
    steps(1, STEP.newRound, STEP.propose);
    later(50);
    waits('precommit 1 1');
    expect(said).toEqual([]);
    later(50);
    waits('precommit 1 1');
    expect(said).toEqual([
      expect.stringContaining('at 1/1 could have waited for precommits (L47) since 100'),
    ]);
  });

  it('are not two of four', () => {
    hears(2, 0, { type: PRECOMMIT });
    later(200);
    waits('precommit 1 0');
    expect(said).toEqual([]);
  });
});

describe('L49: two thirds of precommits for a block', () => {
  const blockId = { hash: new Uint8Array(32).fill(7), parts: { total: 1, hash: new Uint8Array(32).fill(8) } };

  it('are a decision at once, in whatever step', () => {
    hears(3, 0, { type: PRECOMMIT, blockId });
    later(20);
    steps(0, STEP.commit);
    expect(said).toEqual([]);
  });

  it('are not left lying until the proposal has timed out', () => {
    hears(3, 0, { type: PRECOMMIT, blockId });
    later(300);
    steps(0, STEP.commit);
    expect(said).toEqual([`${at.name} at 1/0 could have taken the decision (L49) since 300 ms`]);
  });

  it('are no decision for nil, nor for two blocks', () => {
    hears(3, 1, { type: PRECOMMIT });
    const other = { ...blockId, hash: new Uint8Array(32).fill(9) };
    for (const [i, payload] of votes(3, 0, { type: PRECOMMIT, blockId }).entries())
      if (i < 2) oracle.heard?.(at, PEER, [payload]);
    oracle.heard?.(at, PEER, [votes(3, 0, { type: PRECOMMIT, blockId: other })[2] as Payload]);
    later(300);
    steps(0, STEP.commit);
    expect(said).toEqual([]);
  });
});

describe('L28: a proposal that stands whole before a node, with its polka', () => {
  const set = new GhostChain(cast.genesis).set(1n) ?? unreachable('the first set');
  const parts = PartSet.whole(new Uint8Array(100).fill(3));
  const blockId = { hash: new Uint8Array(32).fill(3), parts: parts.header };
  const v0 = hexOf(addressOf(cast.members[0]?.publicKey ?? unreachable('a validator')));
  /** Another proposes it. */
  const round = [2, 3].find((each) => set.atRound(each) !== v0) ?? unreachable('turns');

  const isOffered = (afterMs = 10): void => {
    const by = others.find((each) => hexFor(each) === set.atRound(round)) ?? unreachable('one of the others');
    const proposal = {
      type: 32,
      height: 1n,
      round,
      polRound: 0,
      blockId,
      timeNs: 5n,
      signature: EMPTY_BYTES,
    } as const;
    const key = by.key ?? unreachable('a validator');
    const signature = key.sign(proposalSignBytes(cast.chainId, proposal)).slice();
    const part = parts.part(0) ?? unreachable('one part');
    hears(3, 0, { blockId });
    steps(round, STEP.newRound, STEP.propose);
    later(afterMs);
    for (const message of [
      { type: 'proposal', proposal: { ...proposal, signature } },
      { type: 'block-part', height: 1n, round, part },
    ] as const)
      oracle.heard?.(at, PEER, [{ channel: CHANNEL_DATA, bytes: encodeConsensusMessage(message) }]);
  };
  const prevotes = (change: Partial<Vote>): void => {
    steps(round, STEP.prevote);
    const own = {
      validatorAddress: addressFor(at),
      validatorIndex: set.members.findIndex(({ address }) => address === hexFor(at)),
    };
    const payloads = votes(1, round, { ...own, ...change });
    oracle.leaving?.(at, 'validator', { type: 'send', to: [PEER], payloads });
  };
  const locks = (lockedIn: number, hash = new Uint8Array(32).fill(4)): void =>
    oracle.published?.(at, 'validator', { type: 'locked', height: 1n, round: lockedIn, hash });
  const refused = `v0 prevotes nil at 1/${round}, though the proposal comes with its polka and no later lock is in the way (L28)`;

  it.each<[string, () => unknown, boolean]>([
    ['by who is free', () => undefined, true],
    ['by who is locked since the round of the polka', () => locks(0), true],
    ['by who is locked on the same since', () => locks(1, blockId.hash), true],
    ['by who is locked since', () => locks(1), false],
    ['after a pause', () => Object.assign(at, { heldUntilNs: nowNs }), false],
    ['where more than a third lie', () => liars.push(...others.slice(0, 2)), false],
  ])('is refused without a reason %s', (_, first, isWrong) => {
    isOffered();
    first();
    prevotes({ blockId: NIL_BLOCK_ID });
    expect(said).toEqual(isWrong ? [refused] : []);
  });

  it('may be refused when its time may be over', () => {
    isOffered(1_600);
    prevotes({ blockId: NIL_BLOCK_ID });
    expect(said).toEqual([]);
  });

  it('is prevoted', () => {
    isOffered();
    prevotes({ blockId });
    expect(said).toEqual([]);
  });
});

describe('of who says two things', () => {
  const block = { hash: new Uint8Array(32).fill(1), parts: { total: 1, hash: new Uint8Array(32).fill(2) } };
  const heardTwice = (between: () => void): void => {
    hears(1, 0, { blockId: block });
    between();
    steps(0, STEP.newRound, STEP.propose, STEP.prevote);
    hears(3, 0);
    later(200);
    steps(0, STEP.precommit);
  };

  it('the first word may count that another life heard, and wrote down', () => {
    heardTwice(() => {
      oracle.started?.(at);
      oracle.published?.(at, 'peer', { type: 'peer', peer: PEER, up: true });
      later(10);
    });
    expect(said).toEqual([]);
  });

  it('the first word may count that came in a pause', () => {
    at.node = { isPaused: true } as Node;
    heardTwice(() => {
      at.node = { isPaused: false } as Node;
    });
    expect(said).toEqual([]);
  });

  it('the first word may count that came before it was greeted for certain', () => {
    oracle.published?.(at, 'peer', { type: 'peer', peer: PEER, up: true });
    heardTwice(() => later(10));
    expect(said).toEqual([]);
  });

  it.each([true, false])('the first word may count that came in the height before: %s', (isTwofold) => {
    if (isTwofold) hears(1, 0, { height: 2n, blockId: block });
    at.height = 1n;
    steps(0, STEP.newRound, STEP.propose, STEP.prevote);
    hears(3, 0, { height: 2n });
    later(200);
    steps(0, STEP.precommit);
    expect(said.length).toBe(isTwofold ? 0 : 1);
  });

  it('who says the same twice counts in each life', () => {
    hears(1, 0);
    oracle.started?.(at);
    oracle.published?.(at, 'peer', { type: 'peer', peer: PEER, up: true });
    later(10);
    steps(0, STEP.newRound, STEP.propose, STEP.prevote);
    hears(3, 0);
    later(200);
    steps(0, STEP.precommit);
    expect(said).toEqual([expect.stringContaining('two thirds prevoted (L44) since 200 ms')]);
  });
});

describe('a proposal', () => {
  const set = new GhostChain(cast.genesis).set(1n) ?? unreachable('the first set');
  const proposed = (bytes: number, round: number) => {
    const parts = PartSet.whole(new Uint8Array(100).fill(bytes));
    const hash = new Uint8Array(32).fill(bytes);
    const blockId = { hash, parts: parts.header };
    const proposal: Proposal = {
      type: 32,
      height: 1n,
      round,
      polRound: -1,
      blockId,
      timeNs: 5n,
      signature: EMPTY_BYTES,
    };
    return { proposal, part: parts.part(0) ?? unreachable('one part') };
  };

  it('that stands whole before a node is to be judged', () => {
    const seen = new Seen(new FirstWords(1n), set);
    const { proposal, part } = proposed(1, 0);
    seen.proposed(proposal, 7);
    expect(seen.wholeNs).toBeNull();
    const other = part.bytes.slice().fill(9);
    seen.part({ ...part, bytes: other, proof: { ...part.proof, leafHash: leafHash(other) } }, 0, 8);
    expect(seen.wholeNs).toBeNull(); // a part, and not of this block
    seen.part(part, 0, 9);
    expect(seen.wholeNs).toBe(9);
  });

  it('is there as its round begins, when it came in the round before', () => {
    const seen = new Seen(new FirstWords(1n), set);
    const { proposal, part } = proposed(1, 1);
    seen.part(part, 1, 5); // nobody has proposed it yet: it falls
    seen.proposed(proposal, 6);
    expect(seen.wholeNs).toBeNull();
    seen.enters(1, 7, 7);
    expect(seen.wholeNs).toBeNull();
    seen.part(part, 1, 8);
    expect(seen.wholeNs).toBe(8);
    const other = new Seen(new FirstWords(1n), set);
    other.proposed(proposal, 6);
    other.part(part, 1, 6);
    other.enters(1, 7, 7);
    expect(other.wholeNs).toBe(7);
  });

  it('is not, when the proposer said another thing before, were it a round ahead', () => {
    const seen = new Seen(new FirstWords(1n), set);
    seen.proposed(proposed(2, 1).proposal, 6);
    seen.enters(1, 6, 6);
    const { proposal, part } = proposed(1, 1);
    seen.proposed(proposal, 7);
    seen.part(part, 1, 8);
    expect(seen.wholeNs).toBeNull();
  });

  it.each([
    ['in good time, is its valid value', 9, { round: 0, sinceNs: 9 }],
    ['as the round ends, is none: nobody had time to judge it', 8, null],
  ])('whose polka comes %s', (_, enoughNs, valid) => {
    const seen = new Seen(new FirstWords(1n), set);
    const { proposal, part } = proposed(1, 0);
    seen.comesToPrevote(5);
    seen.proposed(proposal, 6);
    seen.part(part, 0, 7);
    for (const validatorIndex of [0, 1, 2])
      seen.voted(
        { type: PREVOTE, round: 0, blockId: proposal.blockId, validatorIndex } as Vote,
        7 + validatorIndex,
      );
    expect(seen.valid).toEqual({ round: 0, sinceNs: 9 });
    seen.enters(1, enoughNs, 10);
    expect(seen.valid).toEqual(valid);
  });

  it('with other parts is another one, though the block has the same hash', () => {
    const words = new FirstWords(1n);
    const seen = new Seen(words, set);
    const { proposal, part } = proposed(1, 0);
    const stretched = { ...proposal.blockId, parts: { total: 1, hash: new Uint8Array(32).fill(9) } };
    seen.comesToPrevote(5);
    seen.proposed(proposal, 6);
    seen.part(part, 0, 7);
    for (const validatorIndex of [0, 1, 2])
      seen.voted({ type: PREVOTE, round: 0, blockId: stretched, validatorIndex } as Vote, 8);
    expect([seen.wholeNs, seen.valid]).toEqual([7, null]);
    words.proposed({ ...proposal, blockId: stretched });
    expect(words.isTwofold(0)).toBe(true);
    expect(
      words.voted({ type: PREVOTE, round: 0, blockId: proposal.blockId, validatorIndex: 0 } as Vote),
    ).toBe(false);
  });

  it('is one of two where another life heard the other', () => {
    const words = new FirstWords(1n);
    const { proposal, part } = proposed(1, 0);
    new Seen(words, set).proposed({ ...proposal, polRound: 0 }, 5);
    const seen = new Seen(words, set);
    seen.proposed(proposal, 6);
    seen.part(part, 0, 6);
    expect(seen.wholeNs).toBeNull();
  });

  it('whose polka comes as the round ends leaves the valid value of the round before', () => {
    const seen = new Seen(new FirstWords(1n), set);
    const polka = (round: number, fromNs: number) => {
      const { proposal, part } = proposed(1 + round, round);
      seen.comesToPrevote(fromNs);
      seen.proposed(proposal, fromNs);
      seen.part(part, round, fromNs);
      for (const validatorIndex of [0, 1, 2])
        seen.voted({ type: PREVOTE, round, blockId: proposal.blockId, validatorIndex } as Vote, fromNs);
    };
    polka(0, 5);
    seen.enters(1, 8, 9);
    polka(1, 10);
    expect(seen.valid).toEqual({ round: 1, sinceNs: 10 });
    seen.enters(2, 9, 11);
    expect(seen.valid).toEqual({ round: 0, sinceNs: 5 });
  });
});
