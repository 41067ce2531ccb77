// A promised fork: it must come, and forensics must name who lied, nobody else. Each promise is broken once
// here.

import { describe, expect, it } from 'vitest';
import type { Payload } from '../../actors/turn.ts';
import { CHANNEL_VOTE } from '../../protocol/messages.ts';
import { NIL_BLOCK_ID, PRECOMMIT, PREVOTE, type Vote } from '../../protocol/types.ts';
import { encodeConsensusMessage } from '../../protocol/wire/index.ts';
import { forkByAmnesia, forkByTwoVotes } from '../../scenarios/forks.ts';
import { makeCast } from '../../sim/cast.ts';
import { type ForkEnding, takeFork } from '../../sim/fork.ts';
import type { Machine } from '../../sim/machine.ts';
import { type WorldAbout, wordsOf } from '../../sim/oracle.ts';
import { type Findings, Forensics } from '../../sim/oracles/chain/forensics.ts';
import { GhostChain } from '../../sim/oracles/ghost/ghost.ts';
import { runScenario } from '../../sim/run.ts';
import type { Scenario } from '../../sim/scenario/play.ts';
import { chain, height } from '../../sim/scenario/words.ts';
import type { World } from '../../sim/world.ts';

const what = (play: Scenario): string[] =>
  runScenario(play, { seed: 5 }).violations.map((violation) => violation.what);

describe('a play that promises a fork', () => {
  it.each([forkByTwoVotes, forkByAmnesia])('$name says whom it names, and why', (play) => {
    const { holds, fork } = runScenario(play, { seed: 5 });
    expect(holds).toBe(true);
    expect(fork).toMatchObject({ height: 13, power: 20n, total: 40n });
    expect(fork?.guilty.map(({ name }) => name)).toEqual(['v2', 'v3']);
  });

  it('fails when there is none', () => {
    const truthful = forkByTwoVotes.liars.map((liar) => ({ ...liar, ppm: 0 }));
    expect(what({ ...forkByTwoVotes, liars: truthful })).toEqual([
      'no fork at height 13 after 60 s; the play promises one',
    ]);
  });

  it('fails when it names others than the play does', () => {
    const ends = chain.forksAt(height(13), { guilty: ['v3'], within: '60s' });
    expect(what({ ...forkByAmnesia, ends })).toEqual([
      'the fork at height 13 names v2, v3; the play promises v3',
    ]);
  });

  it('fails when the fork is at another height', () => {
    const ends = chain.forksAt(height(12), { guilty: ['v2', 'v3'], within: '60s' });
    expect(what({ ...forkByTwoVotes, ends })[0]).toMatch(/^agreement: /);
  });

  it('fails when something else of it does not come', () => {
    const holds = [{ sometime: { who: 'v0', does: 'crashes' } } as const];
    expect(what({ ...forkByTwoVotes, holds })).toEqual(['never happened: v0 crashes']);
  });

  it('cannot blame who does not lie', () => {
    const ends = chain.forksAt(height(13), { guilty: ['v0', 'v3'], within: '60s' });
    expect(() => what({ ...forkByTwoVotes, ends })).toThrow('ends.guilty: v0 does not lie');
  });

  it('fails when those named have a third or less, or the votes show no fork', () => {
    const ends = chain.forksAt(height(13), { guilty: ['v2'], within: '60s' }) as ForkEnding;
    const machines = [{ name: 'v2', member: makeCast({ powers: [1n] }).members[0] }];
    const broken = (findings: Omit<Findings, 'guilty'>, power: bigint): string[] => {
      const said: string[] = [];
      const violations = [{ ...wordsOf('chain', 'two', 'agreement'), node: 'v1', atNs: 7, height: 13n }];
      const address = new GhostChain(makeCast({ powers: [1n] }).genesis).set(1n)?.members[0]?.address ?? '';
      const forensics = { examine: () => ({ ...findings, guilty: [{ address, power, why: '' }] }) };
      const world = { violations, machines } as unknown as World;
      takeFork(world, ends, forensics as unknown as Forensics, (text) => said.push(text));
      return said;
    };
    expect(broken({ decided: ['a', 'b'], total: 30n }, 11n)).toEqual([]);
    expect(broken({ decided: ['a', 'b'], total: 30n }, 10n).join()).toMatch(/10 of 30 power/);
    expect(broken({ decided: ['a'], total: 30n }, 11n).join()).toMatch(/1 blocks have two thirds/);
  });
});

describe('forensics', () => {
  const HEIGHT = 2n;
  const [A, B] = [1, 2].map((fill) => new Uint8Array(32).fill(fill)) as [Uint8Array, Uint8Array];
  const ghost = new GhostChain(makeCast({ powers: [10n, 10n, 10n, 10n] }).genesis);
  const members = ghost.set(HEIGHT)?.members ?? [];
  const SIGNED = Uint8Array.of(1);
  const about = {
    chainId: 'x',
    isHonest: () => true,
    verify: (_key: unknown, _bytes: unknown, signature: Uint8Array) => signature[0] === 1,
  } as unknown as WorldAbout;

  type Said = readonly [
    who: number,
    type: Vote['type'],
    round: number,
    hash: Uint8Array | null,
    sign?: Uint8Array,
  ];
  const named = (...said: Said[]): number[] => {
    const forensics = new Forensics(ghost, HEIGHT);
    const oracle = forensics.asOracle(() => undefined, about);
    const payloads = said.map(([validatorIndex, type, round, hash, signature = SIGNED]): Payload => {
      const blockId = hash ? { hash, parts: { total: 1, hash } } : NIL_BLOCK_ID;
      const validatorAddress = members[validatorIndex]?.addressBytes ?? A;
      const none = new Uint8Array(0);
      const more = { timeNs: 0n, signature, extension: none, extensionSignature: none };
      const vote = { type, height: HEIGHT, round, blockId, validatorAddress, validatorIndex, ...more };
      return { channel: CHANNEL_VOTE, bytes: encodeConsensusMessage({ type: 'vote', vote }) };
    });
    oracle.heard?.({} as Machine, 'peer', payloads);
    return forensics
      .examine()
      .guilty.map(({ address }) => members.findIndex((each) => each.address === address));
  };

  it('names who signs two values for one round and step', () => {
    expect(named([1, PREVOTE, 0, A], [1, PREVOTE, 0, null])).toEqual([1]);
    expect(named([1, PREVOTE, 0, A], [1, PREVOTE, 0, A], [1, PRECOMMIT, 0, null])).toEqual([]);
  });

  it('names nobody for a vote that it did not sign', () => {
    expect(named([1, PREVOTE, 0, A], [1, PREVOTE, 0, B, Uint8Array.of(9)])).toEqual([]);
  });

  it('names who votes for another block than it precommitted, unless two thirds prevoted that one since', () => {
    const forgot: Said[] = [
      [0, PRECOMMIT, 1, A],
      [0, PREVOTE, 3, B],
    ];
    const polka = (round: number): Said[] => [1, 2, 3].map((who) => [who, PREVOTE, round, B] as const);
    expect(named(...forgot)).toEqual([0]);
    expect(named(...forgot, ...polka(0))).toEqual([0]);
    expect(named(...forgot, ...polka(2).slice(1))).toEqual([0]);
    expect(named(...forgot, ...polka(2))).toEqual([]);
    expect(named(...forgot, ...polka(3))).toEqual([0]);
  });

  it('lets a precommit follow the two thirds of its own round, and nil follow anything', () => {
    const polka = [1, 2, 3].map((who) => [who, PREVOTE, 2, B] as const);
    expect(named([0, PRECOMMIT, 1, A], [0, PRECOMMIT, 2, B], ...polka)).toEqual([]);
    expect(named([0, PRECOMMIT, 1, A], [0, PREVOTE, 2, null], [0, PRECOMMIT, 2, null])).toEqual([]);
  });
});
