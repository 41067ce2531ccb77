// Each oracle that watches votes and certificates can fail, and is silent when nothing is wrong.

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SignerMail, ValidatorMail } from '../../../actors/mail.ts';
import type { Effect } from '../../../actors/turn.ts';
import { encodeRecord } from '../../../actors/validator/logbook.ts';
import { seenCommitKey } from '../../../machines/chain/keys.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { evidenceIdentity } from '../../../protocol/hashes.ts';
import { addressOf } from '../../../protocol/keys.ts';
import { CHANNEL_DATA, CHANNEL_EVIDENCE, CHANNEL_VOTE } from '../../../protocol/messages.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { voteSignBytes } from '../../../protocol/sign-bytes.ts';
import {
  type Block,
  type BlockId,
  type Commit,
  EMPTY_BYTES,
  type Evidence,
  FLAG_ABSENT,
  FLAG_COMMIT,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  PROPOSAL,
  type Proposal,
  type Vote,
  type VoteType,
} from '../../../protocol/types.ts';
import { encodeCommit, encodeConsensusMessage, encodeEvidenceList } from '../../../protocol/wire/index.ts';
import type { Node } from '../../../runtime/kernel/node.ts';
import { addressFor, hexFor } from '../../../sim/addresses.ts';
import { makeCast } from '../../../sim/cast.ts';
import { Choices } from '../../../sim/choices.ts';
import type { Machine } from '../../../sim/machine.ts';
import type { Oracle, OracleMaker } from '../../../sim/oracle.ts';
import { chainOracle } from '../../../sim/oracles/chain/chain.ts';
import { justifiedSends } from '../../../sim/oracles/consensus/justified.ts';
import { turnsOracle } from '../../../sim/oracles/consensus/turns.ts';
import { lockLemma, voteUniqueness } from '../../../sim/oracles/consensus/votes.ts';
import { evidenceOracle } from '../../../sim/oracles/evidence/evidence.ts';
import { GhostChain } from '../../../sim/oracles/ghost/ghost.ts';
import { resourceBounds } from '../../../sim/oracles/machine/resources.ts';
import { joiningOracle } from '../../../sim/oracles/peers/joining.ts';
import { worldCrypto } from '../../../sim/sim-crypto.ts';
import { STEP } from '../../../sim/steps.ts';
import { World } from '../../../sim/world.ts';

const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
const crypto = worldCrypto();
const { machines } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
const idOf = (fill: number): BlockId => ({
  hash: new Uint8Array(32).fill(fill),
  parts: { total: 1, hash: new Uint8Array(32).fill(fill + 1) },
});
const [A, B] = [idOf(1), idOf(7)];

function voteOf(at: Machine, type: VoteType, round: number, blockId: BlockId, timeNs = 5n): Vote {
  const key = at.key ?? unreachable('a validator');
  const vote: Vote = {
    type,
    height: 1n,
    round,
    blockId,
    timeNs,
    validatorAddress: addressOf(at.member.publicKey ?? unreachable('a validator')),
    validatorIndex: at.index,
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
  return { ...vote, signature: key.sign(voteSignBytes(cast.chainId, vote)).slice() };
}

let said: string[];
let nowNs: number;
beforeEach(() => {
  said = [];
  nowNs = 0;
});
const oracleOf = (make: OracleMaker, isHonest: (at: Machine) => boolean = () => true): Oracle =>
  make((what) => said.push(what), {
    chainId: cast.chainId,
    machines,
    now: () => nowNs,
    isHonest,
    mayHalt: () => false,
    reached: () => undefined,
    verify: crypto.verify,
  });

function says(oracle: Oracle, at: Machine, vote: Vote): void {
  const bytes = encodeConsensusMessage({ type: 'vote', vote });
  oracle.leaving?.(at, 'validator', {
    type: 'send',
    to: ['x'],
    payloads: [{ channel: CHANNEL_VOTE, bytes }],
  });
}
const [v0, v1, v2, v3] = machines as [Machine, Machine, Machine, Machine];

describe('vote uniqueness', () => {
  it('one vote may be said again, another of the same step may not, also in another life', () => {
    const oracle = oracleOf(voteUniqueness);
    const first = voteOf(v0, PREVOTE, 0, A);
    for (let times = 0; times < 3; times++) says(oracle, v0, first);
    says(oracle, v0, voteOf(v0, PRECOMMIT, 0, A));
    says(oracle, v0, voteOf(v0, PREVOTE, 1, B));
    says(oracle, v1, voteOf(v0, PREVOTE, 0, B)); // relayed by another: not its own word
    expect(said).toEqual([]);
    oracle.crashed?.(v0);
    oracle.started?.(v0);
    says(oracle, v0, voteOf(v0, PREVOTE, 0, A, 6n));
    expect(said).toEqual([expect.stringContaining('v0 signed two prevotes for 1/0')]);
  });
});

describe('the lock', () => {
  const locked = (): Oracle => {
    const oracle = oracleOf(lockLemma(new GhostChain(cast.genesis)));
    says(oracle, v0, voteOf(v0, PRECOMMIT, 0, A));
    return oracle;
  };

  it('who precommitted a block prevotes it again, or nil', () => {
    const oracle = locked();
    says(oracle, v0, voteOf(v0, PREVOTE, 1, A));
    says(oracle, v0, voteOf(v0, PREVOTE, 2, NIL_BLOCK_ID));
    expect(said).toEqual([]);
  });

  it('another only after two thirds prevoted that one in between', () => {
    const without = locked();
    for (const each of [v1, v2]) says(without, each, voteOf(each, PREVOTE, 1, B));
    says(without, v0, voteOf(v0, PREVOTE, 2, B));
    expect(said).toEqual([expect.stringContaining('v0 precommitted')]);
    said = [];
    const after = locked();
    for (const each of [v1, v2, v3]) says(after, each, voteOf(each, PREVOTE, 1, B));
    says(after, v0, voteOf(v0, PREVOTE, 2, B));
    expect(said).toEqual([]);
  });
});

describe('certificates', () => {
  const stores = (oracle: Oracle, commit: Commit): void => {
    const write = { key: seenCommitKey(1n), value: encodeCommit(commit), remove: false };
    const effect: Effect = { type: 'store', store: 'chain', writes: [write], durable: true };
    oracle.leaving?.(v0, 'validator', effect);
  };
  const fresh = (): Oracle => oracleOf(chainOracle(new GhostChain(cast.genesis), crypto.verify));
  /** Who is where in the set: the order that the ghost itself holds. */
  const members = new GhostChain(cast.genesis).set(1n)?.members ?? [];
  const commitBy = (count: number, timeNs = 5n): Commit => ({
    height: 1n,
    round: 0,
    blockId: A,
    signatures: members.map(({ addressBytes }, i) => {
      const who = machines.find(
        (each) => voteOf(each, PRECOMMIT, 0, A).validatorAddress.join() === addressBytes.join(),
      );
      if (i >= count || !who) {
        return { flag: FLAG_ABSENT, validatorAddress: EMPTY_BYTES, timeNs: 0n, signature: EMPTY_BYTES };
      }
      const { signature } = voteOf(who, PRECOMMIT, 0, A, timeNs);
      return { flag: FLAG_COMMIT, validatorAddress: addressBytes, timeNs, signature };
    }),
  });

  it('hold when more than two thirds signed', () => {
    const oracle = fresh();
    for (const commit of [commitBy(3), commitBy(4), commitBy(3)]) stores(oracle, commit);
    expect(said).toEqual([]);
  });

  it('each one is verified, whatever was stored for the height before', () => {
    const oracle = fresh();
    stores(oracle, commitBy(3));
    stores(oracle, commitBy(2));
    expect(said).toEqual([expect.stringContaining('20 of 40 power signed')]);
    said = [];
    const other = commitBy(3, 6n);
    const [first, ...rest] = other.signatures;
    stores(oracle, { ...other, signatures: [{ ...first!, timeNs: 7n }, ...rest] });
    expect(said).toEqual([expect.stringContaining('signature 0 is wrong')]);
    said = [];
    const [a, b, ...more] = other.signatures;
    stores(oracle, { ...other, signatures: [b!, a!, ...more] });
    expect(said).toEqual([expect.stringContaining('signature 0 is of another validator')]);
  });
});

describe('justified sends', () => {
  const ghost = new GhostChain(cast.genesis);
  const members = ghost.set(1n)?.members ?? [];
  /** A vote under the index that its signer has in the set. */
  const placed = (at: Machine, type: VoteType, round: number, id: BlockId): Vote => {
    const vote = voteOf(at, type, round, id);
    const validatorIndex = members.findIndex(
      ({ addressBytes }) => addressBytes.join() === vote.validatorAddress.join(),
    );
    return { ...vote, validatorIndex };
  };
  const heard = (oracle: Oracle, at: Machine, ...votes: Vote[]): void =>
    oracle.heard?.(
      at,
      'x',
      votes.map((vote) => ({
        channel: CHANNEL_VOTE,
        bytes: encodeConsensusMessage({ type: 'vote', vote }),
      })),
    );
  const proposed = (oracle: Oracle, at: Machine, round: number, blockId: BlockId, polRound = -1): void => {
    const proposal = {
      type: PROPOSAL,
      height: 1n,
      round,
      polRound,
      blockId,
      timeNs: 5n,
      signature: new Uint8Array(64),
    };
    const bytes = encodeConsensusMessage({ type: 'proposal', proposal });
    oracle.heard?.(at, 'x', [{ channel: CHANNEL_DATA, bytes }]);
  };
  /** Somebody whose own proposal would need no hearing does not vote here. */
  const listener = machines.find(
    (each) => ![0, 1].some((round) => ghost.set(1n)?.atRound(round) === hexOf(addressFor(each))),
  ) as Machine;
  const others = machines.filter((each) => each !== listener);
  const fresh = (): Oracle => oracleOf(justifiedSends(new GhostChain(cast.genesis)));

  it('a prevote needs a proposal that was heard', () => {
    const oracle = fresh();
    says(oracle, listener, placed(listener, PREVOTE, 0, A));
    expect(said).toEqual([expect.stringContaining('it heard no such proposal')]);
    said = [];
    const after = fresh();
    proposed(after, listener, 0, A);
    says(after, listener, placed(listener, PREVOTE, 0, A));
    expect(said).toEqual([]);
  });

  it('a precommit needs two thirds of prevotes for it that reached the node, in that round', () => {
    const oracle = fresh();
    heard(
      oracle,
      listener,
      placed(others[0] as Machine, PREVOTE, 0, A),
      placed(others[1] as Machine, PREVOTE, 1, A),
    );
    says(oracle, listener, placed(listener, PRECOMMIT, 0, A));
    expect(said).toEqual([expect.stringContaining('no polka for it reached it')]);
    said = [];
    const after = fresh();
    heard(after, listener, ...others.slice(0, 2).map((each) => placed(each, PREVOTE, 0, A)));
    says(after, listener, placed(listener, PREVOTE, 0, NIL_BLOCK_ID));
    says(after, listener, placed(listener, PRECOMMIT, 0, A));
    expect(said).toEqual([expect.stringContaining('no polka for it reached it')]); // its own was for nil
    said = [];
    const more = fresh();
    heard(more, listener, ...others.map((each) => placed(each, PREVOTE, 0, A)));
    says(more, listener, placed(listener, PRECOMMIT, 0, A));
    expect(said).toEqual([]);
  });

  it('a lock is left for a polka at least as late that reached the node', () => {
    const locked = (): Oracle => {
      const oracle = fresh();
      heard(oracle, listener, ...others.map((each) => placed(each, PREVOTE, 0, A)));
      says(oracle, listener, placed(listener, PRECOMMIT, 0, A));
      proposed(oracle, listener, 2, B, 1);
      return oracle;
    };
    const without = locked();
    says(without, listener, placed(listener, PREVOTE, 2, B));
    expect(said).toEqual([expect.stringContaining('no polka as late as its lock')]);
    said = [];
    const after = locked();
    heard(after, listener, ...others.map((each) => placed(each, PREVOTE, 1, B)));
    says(after, listener, placed(listener, PREVOTE, 2, B));
    expect(said).toEqual([]);
  });

  it('a lock binds the rounds after it, not what was voted before and had nobody to hear it', () => {
    const locked = (): Oracle => {
      const oracle = fresh();
      heard(oracle, listener, ...others.map((each) => placed(each, PREVOTE, 1, A)));
      says(oracle, listener, placed(listener, PRECOMMIT, 1, A));
      proposed(oracle, listener, 0, B);
      proposed(oracle, listener, 2, B);
      return oracle;
    };
    says(locked(), listener, placed(listener, PREVOTE, 0, B));
    expect(said).toEqual([]);
    says(locked(), listener, placed(listener, PREVOTE, 2, B));
    expect(said).toEqual([expect.stringContaining('it is locked on another block since round 1')]);
  });

  it('a round begins with a third in it, or two thirds of precommits of the one before', () => {
    const begins = (oracle: Oracle): void =>
      oracle.published?.(listener, 'validator', { type: 'step', height: 1n, round: 1, step: 3 });
    begins(fresh());
    expect(said).toEqual([expect.stringContaining('nothing that reached it allows that')]);
    said = [];
    const pulled = fresh();
    heard(
      pulled,
      listener,
      ...([PREVOTE, PRECOMMIT] as const).map((type) => placed(others[0] as Machine, type, 1, NIL_BLOCK_ID)),
    );
    begins(pulled); // one of four, in two voices
    expect(said).toEqual([expect.stringContaining('nothing that reached it allows that')]);
    said = [];
    const skips = fresh();
    heard(skips, listener, ...others.slice(0, 2).map((each) => placed(each, PREVOTE, 1, NIL_BLOCK_ID)));
    begins(skips);
    const waits = fresh();
    heard(
      waits,
      listener,
      ...others.map((each, i) => placed(each, PRECOMMIT, 0, i === 0 ? A : NIL_BLOCK_ID)),
    );
    begins(waits);
    expect(said).toEqual([]);
  });
});

describe('evidence', () => {
  const ghost = new GhostChain(cast.genesis);
  const evidence = (against: Machine): Evidence => ({
    kind: 'duplicate-vote',
    voteA: voteOf(against, PREVOTE, 0, A),
    voteB: voteOf(against, PREVOTE, 0, B),
    powerTotal: 40n,
    validatorPower: 10n,
    timeNs: 5n,
  });
  const block = (height: bigint, by: Machine, ...list: Evidence[]): Block => {
    const header = { height, timeNs: height, proposerAddress: addressFor(by) };
    return { header, evidence: list, txs: [], lastCommit: null } as unknown as Block;
  };

  it('names no honest node, and each lie once', () => {
    oracleOf(evidenceOracle(ghost), (machine) => machine !== v3);
    for (const tell of ghost.onBlock) tell(v0, block(2n, v2, evidence(v3)));
    expect(said).toEqual([]);
    for (const tell of ghost.onBlock) tell(v0, block(3n, v2, evidence(v3)));
    expect(said).toEqual(['evidence of block 3 was in a block before']);
    said = [];
    for (const tell of ghost.onBlock) tell(v0, block(4n, v2, evidence(v1)));
    expect(said).toEqual(['framing: block 4 punishes v1, who never lied']);
  });

  describe('a double vote that reached a node', () => {
    const fresh = () => {
      const chain = new GhostChain(cast.genesis);
      const oracle = oracleOf(evidenceOracle(chain), (machine) => machine !== v3);
      for (const each of [v0, v1]) {
        each.mode = 'consensus';
        each.node = { isPaused: false } as Node;
        each.height = 0n;
        oracle.started?.(each);
      }
      const greets = (): void => {
        oracle.published?.(v0, 'peers', { type: 'peer', peer: 'x', up: true });
        nowNs += 10_000_000;
      };
      const hears = (id: BlockId, change: Partial<Vote> = {}): void => {
        const address = hexOf(addressFor(v3));
        const validatorIndex = chain.set(1n)?.members.findIndex((each) => each.address === address) ?? -1;
        const vote = { ...voteOf(v3, PREVOTE, 0, id), validatorIndex, ...change };
        const bytes = encodeConsensusMessage({ type: 'vote', vote });
        oracle.heard?.(v0, 'x', [{ channel: CHANNEL_VOTE, bytes }]);
      };
      /** Its node is as far as the chain. */
      const passes = (height: bigint, ...list: Evidence[]): void => passesBy(v2, height, ...list);
      const passesBy = (by: Machine, height: bigint, ...list: Evidence[]): void => {
        v0.height = height;
        for (const tell of chain.onBlock) tell(v1, block(height, by, ...list));
      };
      const starts = (): void => oracle.started?.(v0);
      const stores = (hash: Uint8Array = EMPTY_BYTES): void =>
        oracle.published?.(v0, 'validator', {
          type: 'evidence',
          hash,
          validator: addressFor(v3),
          height: 1n,
        });
      const onDisk = vi.spyOn(v0.disk, 'read').mockReturnValue(EMPTY_BYTES);
      onTestFinished(() => onDisk.mockRestore());
      const payloads = [{ channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList([evidence(v3)]) }];
      const offers = (): void => oracle.leaving?.(v0, 'validator', { type: 'send', to: ['y'], payloads });
      /** By one whose life began when that height was long over: it takes what it must look up one at a time. */
      const isHeardLate = (list: readonly Evidence[]): void => {
        v1.height = 5n;
        oracle.started?.(v1);
        oracle.published?.(v1, 'peers', { type: 'peer', peer: v0.member.id, up: true });
        nowNs += 10_000_000;
        oracle.heard?.(v1, v0.member.id, [{ channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(list) }]);
      };
      const isHeard = (isChanged = false): void => {
        oracle.published?.(v1, 'peers', { type: 'peer', peer: v0.member.id, up: true });
        nowNs += 10_000_000;
        if (isChanged) oracle.corrupted?.(payloads[0] ?? unreachable('it is there'));
        oracle.heard?.(v1, v0.member.id, payloads);
      };
      const isTold = (list: readonly Evidence[]): void =>
        oracle.heard?.(v0, 'x', [{ channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(list) }]);
      return {
        greets,
        hears,
        passes,
        passesBy,
        starts,
        stores,
        offers,
        isHeard,
        isHeardLate,
        isTold,
        onDisk,
      };
    };
    const forgotten = [expect.stringMatching(/^v0 heard [0-9a-f]{12} vote twice at 1; nobody was punished$/)];

    it('is told of by who has stored it', () => {
      const { offers, onDisk } = fresh();
      offers();
      expect(said).toEqual([]);
      onDisk.mockReturnValue(undefined);
      offers();
      expect(said).toContain('v0 tells of evidence that it has not stored');
    });

    it('is punished within eight blocks', () => {
      for (const isPunished of [true, false]) {
        const { greets, hears, passes } = fresh();
        greets();
        hears(A);
        hears(B);
        passes(9n, ...(isPunished ? [evidence(v3)] : []));
        expect(said).toEqual([]);
        passes(10n);
        expect(said).toEqual(isPunished ? [] : forgotten);
      }
    });

    const proves = () => {
      const at = fresh();
      at.greets();
      at.hears(A);
      at.hears(B);
      return at;
    };

    it('is expected later where what its prover says is lost, and soon where it is heard', () => {
      const lost = proves();
      for (let height = 2n; height < 30n; height++) {
        lost.offers();
        lost.passes(height);
        lost.passes(height + 8n); // too soon for it to be said again
        expect(said).toEqual([]);
        nowNs += 11_000_000_000;
      }
      const heard = proves();
      heard.passes(2n);
      heard.offers();
      heard.isHeard();
      heard.offers();
      heard.passes(10n);
      expect(said).toEqual([]);
      heard.passes(11n);
      expect(said).toEqual(forgotten);
    });

    it('is heard late by one who looks up another first', () => {
      const ours = evidence(v3);
      const other =
        ours.kind === 'duplicate-vote'
          ? { ...ours, voteA: { ...ours.voteA, type: PRECOMMIT }, voteB: { ...ours.voteB, type: PRECOMMIT } }
          : unreachable('it is of votes');
      for (const isFirst of [true, false]) {
        said = [];
        const at = proves();
        at.passes(2n);
        at.offers();
        at.isHeardLate(isFirst ? [ours, other] : [other, ours]);
        at.passes(11n);
        expect(said).toEqual(isFirst ? forgotten : []);
      }
    });

    it('must be said again when what its prover said is lost, or comes garbled', () => {
      for (const isGarbled of [false, true]) {
        said = [];
        const once = proves();
        once.passes(2n);
        once.offers();
        if (isGarbled) once.isHeard(true);
        nowNs += 12_000_000_000;
        once.passes(10n);
        expect(said).toEqual([]);
        once.passes(11n);
        expect(said).toEqual(forgotten);
      }
    });

    it('is in the next block of who holds it, where that begins after', () => {
      const { passes, passesBy, stores } = proves();
      passes(1n);
      stores();
      passesBy(v0, 2n); // may have been made before
      passesBy(v2, 3n); // made by another
      expect(said).toEqual([]);
      passesBy(v0, 4n);
      expect(said).toEqual(['v0 proposed block 4 without the evidence of height 1 that it holds']);
    });

    it('is not what its prover holds when others told it of another', () => {
      for (const type of [PREVOTE, PRECOMMIT]) {
        said = [];
        const { passes, passesBy, isTold, stores } = proves();
        const proof = evidence(v3);
        const told =
          proof.kind === 'duplicate-vote'
            ? { ...proof, voteA: { ...proof.voteA, type }, voteB: { ...proof.voteB, type } }
            : unreachable('it is of votes');
        isTold([told]);
        passes(1n);
        stores(evidenceIdentity(told));
        passesBy(v2, 3n);
        passesBy(v0, 4n);
        const isProven = type === PREVOTE;
        expect(said).toHaveLength(isProven ? 1 : 0);
      }
    });

    it('is not expected of who does not get on itself', () => {
      const { passes, stores } = proves();
      stores();
      nowNs += 2_000_000_000;
      passes(9n);
      v0.mode = 'block-sync';
      passes(20n);
      v0.mode = 'consensus';
      passes(28n);
      expect(said).toEqual([]);
      passes(29n);
      expect(said).toEqual(forgotten);
    });

    it('is not expected before its prover could say so: for the first time, or in a new life', () => {
      const { passes, starts, stores } = proves();
      stores();
      passes(20n); // in no time
      nowNs += 2_000_000_000;
      starts();
      nowNs += 11_000_000_000;
      passes(30n);
      expect(said).toEqual([]);
      nowNs += 1_000_000_000;
      passes(31n);
      expect(said).toEqual(forgotten);
    });

    it('proves nothing by a peer that is not greeted yet, in a pause, in two lives, or without a true signature', () => {
      const early = fresh();
      early.hears(A);
      early.greets();
      early.hears(B);
      early.passes(10n);
      const paused = fresh();
      paused.greets();
      paused.hears(A);
      v0.node = { isPaused: true } as Node;
      paused.hears(B);
      paused.passes(10n);
      const reborn = fresh();
      reborn.greets();
      reborn.hears(A);
      reborn.starts(); // its log may have lost that
      reborn.greets();
      reborn.hears(B);
      reborn.passes(10n);
      const forged = fresh();
      forged.greets();
      forged.hears(A);
      forged.hears(B, { signature: new Uint8Array(64) });
      forged.passes(10n);
      expect(said).toEqual([]);
    });
  });
});

describe('bounds', () => {
  it('a height writes so many small records, and no more', () => {
    const oracle = oracleOf(resourceBounds);
    const record = encodeRecord({ type: 'timeout', step: 'propose', height: 1n, round: 0 });
    const effect: Effect = { type: 'append', log: 'consensus', record };
    for (let i = 0; i < 736; i++) oracle.leaving?.(v0, 'validator', effect);
    expect(said).toEqual([]);
    oracle.leaving?.(v0, 'validator', effect);
    expect(said).toEqual([expect.stringContaining('logs more than 736 records')]);
  });

  it.each([
    ['one payload of any size', [2_000_000], null],
    ['so many bytes', [1_048_000, 576], null],
    ['one byte more', [1_048_000, 577], 'v0 sends 1048577 bytes in 2 payloads at once'],
    ['so many payloads', Array(4_096).fill(1), null],
    ['one payload more', Array(4_097).fill(1), 'v0 sends 4097 payloads at once'],
  ])('an envelope may hold %s, or may not', (_, sizes: readonly number[], says) => {
    const payloads = sizes.map((size) => ({ channel: CHANNEL_VOTE, bytes: new Uint8Array(size) }));
    oracleOf(resourceBounds).leaving?.(v0, 'validator', { type: 'send', to: [], payloads });
    expect(said).toEqual(says === null ? [] : [says]);
  });
});

describe('whose turn it is', () => {
  const ghost = new GhostChain(cast.genesis);
  const proposer = machines.find((each) => hexFor(each) === ghost.set(1n)?.atRound(0)) ?? v0;
  const enters = (oracle: Oracle, round: number, step: number): void =>
    oracle.published?.(proposer, 'validator', { type: 'step', height: 1n, round, step });
  const comesBack = (oracle: Oracle): void => {
    oracle.started?.(proposer);
    oracle.published?.(proposer, 'validator', { type: 'mode', mode: 'consensus', height: 0n });
  };

  it('has had it when a later round begins, and proposed nothing', () => {
    const oracle = oracleOf(turnsOracle(ghost));
    enters(oracle, 0, STEP.propose);
    nowNs = 3_000_000_000;
    enters(oracle, 1, STEP.propose);
    expect(said).toEqual([`${proposer.name} has the turn at 1/0, and proposes nothing in 3 s`]);
  });

  it('has not had it when its log says, in the moment that it comes back, that it is beyond it', () => {
    for (const isAtOnce of [true, false]) {
      const oracle = oracleOf(turnsOracle(ghost));
      comesBack(oracle);
      enters(oracle, 0, STEP.propose);
      if (!isAtOnce) nowNs += 1;
      enters(oracle, 0, STEP.prevote);
      nowNs += 3_000_000_000;
      enters(oracle, 1, STEP.propose);
      expect(said).toHaveLength(isAtOnce ? 0 : 1);
    }
  });

  it('has a signer that leaves nothing of a round unsigned for what is of the same round', () => {
    const oracle = oracleOf(turnsOracle(ghost));
    const tells = (message: SignerMail | ValidatorMail): void =>
      oracle.leaving?.(v0, 'signer', { type: 'tell', to: 'x', message } as never);
    const asks = (type: VoteType, round: number): void =>
      tells({ type: 'sign-vote', vote: voteOf(v0, type, round, A) });
    const refuses = (because: string): void =>
      tells({ type: 'sign-refused', height: 1n, round: 0, step: 2, because });
    asks(PREVOTE, 0);
    asks(PRECOMMIT, 0);
    refuses('conflicting data');
    expect(said).toEqual([]);
    refuses('the key is still busy, and 1/0 has begun');
    expect(said).toEqual([`the signer of v0 leaves 1/0 unsigned for what is of the same round`]);
    asks(PREVOTE, 1);
    refuses('the key is still busy, and 1/1 has begun');
    expect(said).toHaveLength(1);
  });

  it('has a signer that signs a proposal of a life before again, unless it was asked for a vote behind it', () => {
    const proposal: Proposal = {
      type: PROPOSAL,
      height: 1n,
      round: 0,
      polRound: -1,
      blockId: A,
      timeNs: 0n,
      signature: EMPTY_BYTES,
    };
    for (const votes of [false, true]) {
      const oracle = oracleOf(turnsOracle(ghost));
      const tells = (message: SignerMail | ValidatorMail): void =>
        oracle.leaving?.(v0, 'signer', { type: 'tell', to: 'x', message } as never);
      const written = vi.spyOn(v0.disk, 'counts');
      written.mockReturnValue({ written: 7, answered: 7 });
      tells({ type: 'sign-proposal', proposal });
      if (votes) tells({ type: 'sign-vote', vote: voteOf(v0, PREVOTE, 0, NIL_BLOCK_ID) });
      written.mockReturnValue({ written: 8, answered: 8 });
      oracle.started?.(v0);
      tells({ type: 'sign-proposal', proposal });
      written.mockRestore();
      tells({ type: 'sign-refused', height: 1n, round: 0, step: 1, because: 'step regression' });
      expect(said).toEqual([`the signer of v0 refuses the proposal of 1/0 that it signed before`]);
    }
  });

  it('has not had it when it died, and waits for that round once more, or is led to a later one', () => {
    for (const round of [0, 1]) {
      const oracle = oracleOf(turnsOracle(ghost));
      enters(oracle, 0, STEP.propose);
      comesBack(oracle);
      nowNs += 3_000_000_000;
      enters(oracle, round, STEP.propose);
    }
    expect(said).toEqual([]);
  });
});

describe('who has caught up', () => {
  let chain = new GhostChain(cast.genesis);
  /** So many minutes with a block each, of a node that asks for blocks. */
  const passes = (minutes: number): void => {
    for (let i = 0; i < minutes; i++) {
      nowNs += 60_000_000_000;
      for (const told of chain.onBlock) told(v1, { header: { height: 1n, timeNs: 0n } } as Block);
    }
  };
  const begins = (): ((up: boolean) => void) => {
    chain = new GhostChain(cast.genesis);
    const oracle = oracleOf(joiningOracle(chain));
    v0.mode = 'sync';
    v0.node = { isPaused: false } as Node;
    oracle.started?.(v0);
    return (up) => oracle.published?.(v0, 'peers', { type: 'peer', peer: 'x', up });
  };
  const ends = (): void => {
    v0.mode = 'down';
    v0.node = null;
  };

  it('does not go on asking for blocks', () => {
    const meets = begins();
    meets(true);
    passes(2);
    ends();
    expect(said).toEqual([`${v0.name} has caught up for 60 s and does not take part`]);
  });

  it('cannot know of it while it has nobody to ask, and has its time when it has', () => {
    const meets = begins();
    passes(3);
    meets(true);
    passes(1);
    meets(false);
    passes(3);
    meets(true);
    passes(1);
    ends();
    expect(said).toEqual([]);
  });
});
