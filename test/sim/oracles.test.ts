// Each oracle that watches votes and certificates can fail, and is silent when nothing is wrong.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Effect } from '../../actors/turn.ts';
import { seenCommitKey } from '../../machines/chain/keys.ts';
import { addressOf } from '../../protocol/keys.ts';
import { CHANNEL_VOTE } from '../../protocol/messages.ts';
import { unreachable } from '../../protocol/refusal.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import {
  type BlockId,
  type Commit,
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  type Vote,
  type VoteType,
} from '../../protocol/types.ts';
import { encodeCommit, encodeConsensusMessage } from '../../protocol/wire/index.ts';
import { makeCast } from '../../sim/cast.ts';
import { Choices } from '../../sim/choices.ts';
import type { Machine } from '../../sim/machine.ts';
import type { Oracle, OracleMaker } from '../../sim/oracle.ts';
import { chainOracle } from '../../sim/oracles/chain.ts';
import { GhostChain } from '../../sim/oracles/ghost.ts';
import { lockLemma, voteUniqueness } from '../../sim/oracles/votes.ts';
import { worldCrypto } from '../../sim/sim-crypto.ts';
import { World } from '../../sim/world.ts';

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
beforeEach(() => {
  said = [];
});
const oracleOf = (make: OracleMaker): Oracle =>
  make((what) => said.push(what), {
    chainId: cast.chainId,
    machines,
    now: () => 0,
    isHonest: () => true,
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
