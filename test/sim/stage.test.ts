// The hands of a play: nodes die exactly where they are told to, rules take exactly what they name, and liars sign what they say.

import { describe, expect, it } from 'vitest';
import { hexOf } from '../../protocol/bytes.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import { PRECOMMIT, PREVOTE, type Vote } from '../../protocol/types.ts';
import { addressFor } from '../../sim/addresses.ts';
import { SECOND } from '../../sim/latency.ts';
import type { OracleMaker } from '../../sim/oracle.ts';
import { consensusMessage } from '../../sim/oracles/ghost/messages.ts';
import { runScenario } from '../../sim/run.ts';
import { fromJson, toJson } from '../../sim/scenario/json.ts';
import type { CrashPoint, Scenario } from '../../sim/scenario/play.ts';
import {
  after,
  at,
  crash,
  drop,
  empower,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  liar,
  pause,
  restart,
  scenario,
  submit,
  these,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
} from '../../sim/scenario/words.ts';
import type { World } from '../../sim/world.ts';

const points: readonly Omit<CrashPoint, 'node' | 'nth'>[] = [
  { op: 'append', when: 'before', on: 'consensus' },
  { op: 'append', when: 'inside', on: 'consensus' },
  { op: 'append', when: 'after', on: 'consensus' },
  { op: 'sync', when: 'before', on: 'consensus' },
  { op: 'sync', when: 'before', on: 'privval' },
  { op: 'flush', when: 'inside', on: 'privval' },
  { op: 'flush', when: 'after', on: 'privval' },
  { op: 'flush', when: 'inside', on: 'chain' },
  { op: 'flush', when: 'after', on: 'app' },
  { op: 'write', when: 'before', on: 'chain' },
  { op: 'write', when: 'inside', on: 'app' },
  { op: 'write', when: 'after', on: 'chain' },
  { op: 'send', when: 'before' },
  { op: 'send', when: 'after' },
  { op: 'sign', when: 'before' },
  { op: 'sign', when: 'after' },
];

describe('a node dies', () => {
  it.each(points.map((point) => [`${point.when} ${point.op}`, point.on ?? 'any', point] as const))(
    '%s on %s, and takes part again',
    (name, _, point) => {
      const play = scenario('a crash', {
        cast: validators(4),
        act: [
          when(
            v0.decides(height(2)),
            crash('v0', { how: 'lose', restart: '1s', point: { ...point, nth: 2 } }),
          ),
          when(v0.crashes()),
          when(v0.joins()),
        ],
        ends: everyone.decides(height(5), { within: '120s', afterwards: 2 }),
      });
      for (let seed = 0; seed < 3; seed++) {
        const verdict = runScenario(play, { seed });
        expect(verdict.violations).toEqual([]);
        expect(verdict.faults).toMatchObject({ crashes: 1, restarts: 1, [`crashed ${name}`]: 1 });
      }
    },
  );

  it('of a full disk, and comes back when there is room', () => {
    const play = scenario('a full disk', {
      cast: validators(4),
      act: [
        when(v0.decides(height(2)), { do: 'disk', node: 'v0', disk: 'full' }),
        when(v0.crashes()),
        at('20s', { do: 'disk', node: 'v0', disk: 'good' }, { do: 'restart', node: 'v0' }),
      ],
      ends: everyone.decides(height(5), { within: '120s', afterwards: 3 }),
    });
    const verdict = runScenario(play, { seed: 1 });
    expect(verdict.violations).toEqual([]);
    expect(verdict.faults['writes refused by a full disk']).toBeGreaterThan(0);
  });
});

describe('a deed at a node that has not started', () => {
  it('waits for its first life', () => {
    const play = scenario('too early', {
      cast: validators(4),
      act: [
        at('0s', crash('v3', { restart: '5s' }), pause('v2', '1s'), submit('v1', 'a=b'), empower('v3', 20)),
        when(v3.joins()),
      ],
      ends: everyone.decides(height(5), { within: '120s', afterwards: 3 }),
    });
    const { holds, faults, transactions } = runScenario(play, { seed: 1 });
    expect(holds).toBe(true);
    expect(faults).toMatchObject({ crashes: 1, restarts: 1, pauses: 1, 'validator changes asked for': 1 });
    expect(transactions).toEqual({ submitted: 2, committed: 2 });
  });
});

/** Every vote of `name` that reaches `to`, whoever brings it. */
function votesHeard(name: string, to: string): { oracle: OracleMaker; heard: Vote[] } {
  const heard: Vote[] = [];
  const oracle: OracleMaker = (_, about) => {
    const by = about.machines.find((machine) => machine.name === name);
    const receiver = about.machines.find((machine) => machine.name === to);
    return {
      name: 'ear',
      leaving(_at, _actor, effect) {
        if (effect.type !== 'send' || !receiver || !by || !effect.to.includes(receiver.member.id)) return;
        for (const payload of effect.payloads) {
          const message = payload.channel === 0x22 ? consensusMessage(payload) : null;
          if (message?.type !== 'vote') continue;
          if (hexOf(message.vote.validatorAddress) === hexOf(addressFor(by))) heard.push(message.vote);
        }
      },
    };
  };
  return { oracle, heard };
}

describe('liars', () => {
  it('sign another vote of the same height, round and index with their own key', () => {
    const lies: Vote[] = [];
    const judge: OracleMaker = (_, about) => ({
      name: 'judge',
      leaving(machine, _actor, effect) {
        if (machine.name !== 'v3' || effect.type !== 'send') return;
        for (const payload of effect.payloads) {
          const message = payload.channel === 0x22 ? consensusMessage(payload) : null;
          if (message?.type !== 'vote') continue;
          const { vote } = message;
          if (hexOf(vote.validatorAddress) !== hexOf(addressFor(machine))) continue;
          const key = machine.member.publicKey;
          expect(key && about.verify(key, voteSignBytes(about.chainId, vote), vote.signature)).toBe(true);
          lies.push(vote);
        }
      },
    });
    const play = scenario('two votes', {
      cast: validators(4),
      liars: [liar('v3', 'vote-equivocator', ['v0'])],
      ends: everyone.decides(height(6), { within: '200s' }),
    });
    const verdict = runScenario(play, { seed: 5, oracles: [judge] });
    expect(verdict.violations).toEqual([]);
    const said = new Map<string, Set<string>>();
    for (const vote of lies) {
      const key = `${vote.height}/${vote.round}/${vote.type}/${vote.validatorIndex}`;
      said.set(key, (said.get(key) ?? new Set()).add(hexOf(vote.blockId.hash)));
    }
    const doubled = [...said.values()].filter((ids) => ids.size === 2).length;
    expect(doubled).toBeGreaterThan(4);
    expect(doubled).toBe(verdict.faults['lie: another vote']);
  });

  it('lie as often as they are told to', () => {
    const play = scenario('one lie', {
      cast: validators(4),
      liars: [liar('v3', 'double-voter', ['v0', 'v1', 'v2'], { times: 1, votes: 'precommits' })],
      ends: everyone.decides(height(8), { within: '200s' }),
    });
    expect(runScenario(play, { seed: 1 }).faults['lie: another vote']).toBe(1);
  });
});

describe('what was to end one trouble ends no other', () => {
  const rest = these('v0', 'v2', 'v3').decides(height(20), { within: '60s' });

  it('the restart of a death that is over', () => {
    const play = scenario('two deaths', {
      cast: validators(4),
      act: [at('1s', crash('v1', { restart: '10s' })), at('3s', restart('v1')), at('5s', crash('v1'))],
      holds: [finally_(v1.isDown)],
      ends: rest,
    });
    expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
  });

  it('the end of an earlier pause', () => {
    const play = scenario('two pauses', {
      cast: validators(4),
      act: [at('1s', pause('v1', '3s')), at('2s', pause('v1'))],
      ends: rest,
    });
    let isPaused: boolean | undefined;
    const onWorld = (world: World): void => {
      world.agenda.at(10 * SECOND, () => {
        isPaused = world.machine('v1').node?.isPaused;
      });
    };
    expect(runScenario(play, { seed: 1, onWorld }).violations).toEqual([]);
    expect(isPaused).toBe(true);
  });
});

it('a directive acts at each place where a play names it', () => {
  const healing = after('2s', heal());
  const play = scenario('healed twice', {
    cast: validators(4),
    act: [at('1s', isolate('v0')), healing, at('10s', isolate('v1')), healing],
    ends: everyone.decides(height(20), { within: '120s' }),
  });
  const verdict = runScenario(play, { seed: 1 });
  expect(verdict.violations).toEqual([]);
  expect(verdict.digest).toBe(runScenario(fromJson(toJson(play) as string) as Scenario, { seed: 1 }).digest);
});

it('an oracle is told of no lies but those of the effects that it asks for', () => {
  const told = new Set<string>();
  const appends: OracleMaker = () => ({
    name: 'appends',
    effects: ['append'],
    leaving: (_at, _actor, { type }) => void told.add(type),
  });
  const play = scenario('a lie', {
    cast: validators(4),
    liars: [liar('v3', 'vote-equivocator', ['v0'])],
    oracles: [appends],
    ends: everyone.decides(height(4), { within: '60s' }),
  });
  expect(runScenario(play, { seed: 1 }).violations).toEqual([]);
  expect([...told]).toEqual(['append']);
});

describe('message rules', () => {
  it('drop what they name, by signer, and nothing else', () => {
    const { oracle, heard } = votesHeard('v1', 'v2');
    const seen: Vote[] = [];
    const play = scenario('no prevotes of v1 at height 3', {
      cast: validators(4),
      load: txs({ perBlock: 1 }),
      act: [
        at('0s', drop('prevotes', { by: ['v1'], to: ['v2'], height: 3 })),
        when(v0.decides(height(5)), heal()),
      ],
      ends: everyone.decides(height(8), { within: '200s' }),
    });
    const verdict = runScenario(play, {
      seed: 1,
      oracles: [oracle],
      onWorld: (world) => {
        const receiver = world.machine('v2');
        const by = hexOf(addressFor(world.machine('v1')));
        const { carrier } = world.network;
        const send = carrier.send.bind(carrier);
        carrier.send = (link, payloads) => {
          const { rule } = carrier;
          const judged =
            rule && link.to.peer === receiver.member.id
              ? rule(link.from.peer, link.to.peer, payloads)
              : 'pass';
          const left =
            judged === 'drop'
              ? []
              : typeof judged === 'object' && 'payloads' in judged
                ? judged.payloads
                : payloads;
          if (link.to.peer === receiver.member.id) {
            for (const payload of left) {
              const message = payload.channel === 0x22 ? consensusMessage(payload) : null;
              if (message?.type === 'vote' && hexOf(message.vote.validatorAddress) === by)
                seen.push(message.vote);
            }
          }
          send(link, payloads);
        };
      },
    });
    expect(verdict.violations).toEqual([]);
    const of = (votes: readonly Vote[], at: bigint, type: number): number =>
      votes.filter((vote) => vote.height === at && vote.type === type).length;
    expect(of(heard, 3n, PREVOTE)).toBeGreaterThan(0);
    expect(of(seen, 3n, PREVOTE)).toBe(0);
    expect(of(seen, 3n, PRECOMMIT)).toBeGreaterThan(0);
    expect(of(seen, 4n, PREVOTE)).toBeGreaterThan(0);
  });
});
