// What one peer can make a node do in a turn: as much as an honest one needs, however much it says.

import { describe, expect, it } from 'vitest';
import type { Payload } from '../../actors/turn.ts';
import { CHANNEL_EVIDENCE, CHANNEL_STATE, CHANNEL_VOTE } from '../../protocol/messages.ts';
import { type DuplicateVoteEvidence, NIL_BLOCK_ID, PREVOTE, type Vote } from '../../protocol/types.ts';
import { encodeConsensusMessage, encodeEvidenceList } from '../../protocol/wire/index.ts';
import type { Liar } from '../../sim/liars/liar.ts';
import type { OracleMaker } from '../../sim/oracle.ts';
import { runScenario } from '../../sim/run.ts';
import { height, liar, scenario, these, validators } from '../../sim/scenario/words.ts';

const FLOOD = 300;
const NOTHING = new Uint8Array(0);

type Kit = Parameters<Liar>[0];

/** From a height on, so often, what v3 says to v0 has all of this behind it. */
function floods(from: bigint, times: number, payloads: (kit: Kit) => Payload[]) {
  let told = 0;
  const flood: Liar = (kit) => (to, said) => {
    const isRight = said.some(({ channel }) => channel === CHANNEL_STATE || channel === CHANNEL_VOTE);
    if (told === times || !isRight || !kit.victims.has(to) || kit.machine.height < from) return null;
    told++;
    return [...said, ...payloads(kit)];
  };
  return { lies: [liar('v3', flood, ['v0'])], told: () => told };
}

/** How many effects of this type v0's validator has. */
function counts(type: 'score' | 'load') {
  let count = 0;
  const counter: OracleMaker = () => ({
    name: 'counter',
    effects: [type],
    leaving(machine, actor, effect) {
      if (machine.name === 'v0' && actor === 'validator' && effect.type === type) count++;
    },
  });
  return { counter, count: () => count };
}

/** The second validator's, with a signature of somebody who has not its key. */
function forgedVote({ machine, validators: setOf }: Kit, ofHeight: bigint, i: number): Vote {
  const hash = new Uint8Array(32).fill(7);
  return {
    type: PREVOTE,
    height: ofHeight,
    round: 0,
    blockId: { hash, parts: { total: 1, hash } },
    timeNs: 1_700_000_000_000_000_000n + BigInt(i),
    validatorAddress: setOf(machine.height)[1]?.address ?? NOTHING,
    validatorIndex: 1,
    signature: new Uint8Array(64).fill(1 + (i % 100)),
    extension: NOTHING,
    extensionSignature: NOTHING,
  };
}

const forgedVotes =
  (ahead: bigint, count: number) =>
  (kit: Kit): Payload[] =>
    Array.from({ length: count }, (_, i) => {
      const vote = forgedVote(kit, kit.machine.height + ahead, i);
      return { channel: CHANNEL_VOTE, bytes: encodeConsensusMessage({ type: 'vote', vote }) };
    });

/** All in one message, and true but for the signatures. */
function forgedEvidence(kit: Kit): Payload[] {
  const past = kit.machine.height - 1n;
  const powers = kit.validators(past).map(({ power }) => power);
  const evidence = Array.from({ length: FLOOD }, (_, i): DuplicateVoteEvidence => {
    const vote = forgedVote(kit, past, i);
    return {
      kind: 'duplicate-vote',
      voteA: { ...vote, blockId: NIL_BLOCK_ID },
      voteB: vote,
      powerTotal: powers.reduce((sum, power) => sum + power),
      validatorPower: powers[1] ?? 0n,
      timeNs: kit.decided(past)?.header.timeNs ?? 0n,
    };
  });
  return [{ channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(evidence) }];
}

describe('of a peer that says one wrong thing after the other, the rest is not looked at', () => {
  const floodsOf: Record<string, (kit: Kit) => Payload[]> = {
    votes: forgedVotes(1n, FLOOD),
    'votes of the next height': forgedVotes(2n, 1_024),
    evidence: forgedEvidence,
  };
  for (const [what, payloads] of Object.entries(floodsOf)) {
    it(what, () => {
      const { lies, told } = floods(3n, 1, payloads);
      const { counter, count } = counts('score');
      const ends = these('v0', 'v1', 'v2').decides(height(8), { within: '300s' });
      const play = scenario(`forged ${what}`, { cast: validators(4), liars: lies, ends });
      expect(runScenario(play, { seed: '1', oracles: [counter] }).violations).toEqual([]);
      expect(told()).toBe(1);
      expect(count()).toBeGreaterThan(0);
      expect(count()).toBeLessThanOrEqual(16);
    });
  }
});

it('of a peer that stands at every height in turn, no store is read for each', () => {
  const steps = Array.from({ length: 50 }, (_, i): Payload => {
    const message = {
      type: 'new-round-step',
      height: BigInt(i + 1),
      round: 0,
      step: 1,
      secondsSinceStart: 0n,
      lastCommitRound: i > 0 ? 0 : -1,
    } as const;
    return { channel: CHANNEL_STATE, bytes: encodeConsensusMessage(message) };
  });
  const { lies, told } = floods(60n, 20, () => steps);
  const { counter, count } = counts('load');
  const play = scenario('steps of every height', {
    cast: validators(4),
    settings: { consensus: { timeoutCommitNs: 5_000_000n } },
    liars: lies,
    ends: these('v0', 'v1', 'v2').decides(height(80), { within: '300s' }),
  });
  const { violations } = runScenario(play, { seed: '1', oracles: [counter] });
  expect(violations).toEqual([]);
  expect(told()).toBe(20);
  expect(count()).toBeLessThan(4 * told());
});
