// What JavaScript lets people do in parts of their own: change what they were given, wait, leave fields undefined, throw null.

import { describe, expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import {
  aboutOwnVotes,
  at,
  calm,
  clock,
  drawn,
  everyone,
  explainRun,
  fromJson,
  height,
  type Liar,
  liar,
  links,
  type OracleMaker,
  runScenario,
  type Scenario,
  scenario,
  scenarioUnder,
  shrink,
  signedVote,
  swarmPlay,
  toJson,
  txs,
  validators,
  widePlay,
} from '../../sim/index.ts';
import { consensusMessage } from '../../sim/oracles/ghost/messages.ts';
import type { World } from '../../sim/world.ts';

const CHANNEL_VOTE = 0x22;
const words = { cast: validators(4), ends: everyone.decides(height(4), { within: '60s' }) };
const play = (more: object): Scenario => scenario('slips', { ...words, ...more });

describe('what it was given, changed in place', () => {
  class Tidy extends KvStore {
    override answer(request: AbciRequest): AbciResponse {
      const answer = super.answer(request);
      if (request.type === 'finalize-block') (request.value.txs as Uint8Array[]).reverse();
      else if (request.type === 'process-proposal') for (const tx of request.value.txs) tx.fill(0);
      return answer;
    }
  }
  it('by an application: no node notices, with memory between turns or without', () => {
    const run = (app: () => KvStore, memo: boolean) =>
      runScenario(play({ app, load: txs({ perBlock: 2 }) }), { seed: 1, memo });
    const plain = run(() => new KvStore(), true);
    const changed = [true, false].map((memo) => run(() => new Tidy(), memo));
    expect(changed.map(({ holds, digest }) => [holds, digest])).toEqual([
      [true, plain.digest],
      [true, plain.digest],
    ]);
  });

  // What the node said was read already, and what was read stands beside its bytes.
  const garbled = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xff);
  const spread: Liar = (kit) =>
    aboutOwnVotes(kit, 'garbled', (_, payload) => [{ ...payload, bytes: garbled(payload.bytes) }]);
  const refilled: Liar = (kit) =>
    aboutOwnVotes(kit, 'garbled', (_, payload) => {
      payload.bytes.set(garbled(payload.bytes));
      return [payload];
    });
  const scratch = new Uint8Array(4_096);
  const oneBuffer: Liar = (kit) =>
    aboutOwnVotes(kit, 'garbled', (vote, { channel, bytes }) => {
      scratch.fill(Number(vote.height % 200n) + 1);
      return [{ channel, bytes: scratch.subarray(0, bytes.length) }];
    });
  it.each([
    ['a spread of the truth', spread],
    ['the bytes of the truth', refilled],
    ['one buffer for all', oneBuffer],
  ])('by a liar that says something else with %s: oracles hear what nodes hear', (_, own) => {
    let heard = 0;
    const onWorld = (world: World): void => {
      world.network.carrier.arrivals.push((_from, _to, payloads) => {
        for (const payload of payloads) {
          if (payload.channel !== CHANNEL_VOTE) continue;
          heard++;
          const { channel, bytes } = payload;
          expect(consensusMessage(payload)).toEqual(consensusMessage({ channel, bytes }));
        }
      });
    };
    const lying = play({ liars: [liar('v3', own, ['v0'])], act: [at('0s', links({ lossPpm: 50_000 }))] });
    const [first, plain] = [true, false].map((memo) => runScenario(lying, { seed: 1, memo, onWorld }));
    expect(heard).toBeGreaterThan(20);
    expect(first?.violations).toEqual([]);
    expect(plain?.digest).toBe(first?.digest);
  });

  it('by an oracle: neither nodes nor oracles of ours notice', () => {
    const change = (...about: unknown[]): void => {
      for (const each of about) {
        if (each instanceof Uint8Array) each.fill(0);
        else if (Array.isArray(each)) change(...each.splice(0));
        else if (Object.getPrototypeOf(each ?? 0) === Object.prototype)
          for (const [field, inner] of Object.entries(each as object)) {
            change(inner);
            (each as Record<string, unknown>)[field] = typeof inner === 'bigint' ? 99n : null;
          }
      }
    };
    const odd: OracleMaker = () => ({
      name: 'mine',
      heard: change,
      leaving: change,
      published: change,
      submitted: change,
      corrupted: change,
    });
    const act = [at('1s', links({ corruptPpm: 100_000 })), at('3s', calm())];
    const run = (oracles: OracleMaker[]) =>
      runScenario(play({ act, load: txs({ perBlock: 1 }), oracles }), { seed: 1 });
    const [plain, changed] = [run([]), run([odd])];
    expect([changed.violations, changed.digest]).toEqual([[], plain.digest]);
  });

  /** One bit of the votes that the victim hears. */
  const flips: Liar = (kit) => (to, payloads) => {
    if (!kit.victims.has(to)) return null;
    for (const { channel, bytes } of payloads)
      if (channel === CHANNEL_VOTE) bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1;
    return payloads;
  };
  it('by a liar: only its victim hears the lie', () => {
    const run = (memo: boolean) =>
      runScenario(play({ liars: [liar('v3', flips, ['v0'])] }), { seed: 1, memo });
    const [first, second] = [run(true), run(false)];
    expect([first.violations, second.violations]).toEqual([[], []]);
    expect(first.digest).toBe(second.digest);
  });
});

describe('a liar’s name for its lie', () => {
  const calls = (what: unknown): Liar => {
    return (kit) =>
      aboutOwnVotes(kit, 'of its own', (vote) => {
        kit.count(what as string);
        return [signedVote(kit, vote)];
      });
  };
  const run = (what: unknown) =>
    runScenario(play({ liars: [liar('v3', calls(what), ['v0'])] }), { seed: 1 }).faults;
  it('is a lie in the verdict, and no fault of the world', () => {
    const faults = run('reset');
    expect(faults['lie: reset']).toBeGreaterThan(0);
    expect(faults['lie: of its own']).toBe(faults['lie: reset']);
    expect(faults).not.toHaveProperty('connections reset');
    expect(run('lie: reset')).toEqual(faults);
  });
  it.each([
    [5, '5'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    ['', '""'],
  ])('that is none is refused: %o', (what, said) => {
    expect(() => run(what)).toThrow(
      `liars[0].liar: count takes a text that says what the lie is, not ${said}`,
    );
  });
});

it('an oracle that has the name of one of ours is refused: nobody could tell who objects', () => {
  const names: string[] = [];
  const onWorld = ({ oracles }: World): void => void names.push(...oracles.map(({ name }) => name));
  expect(runScenario(play({}), { seed: 1, onWorld }).holds).toBe(true);
  expect(names.length).toBeGreaterThan(20);
  for (const name of [...names, 'play', 'forensics']) {
    const namesake: OracleMaker = () => ({ name, ended: () => {} });
    expect(() => runScenario(play({ oracles: [namesake] }), { seed: 1 })).toThrow(
      `oracles[0]: ${name} is the name of one of ours`,
    );
  }
  for (const [name, because] of [
    ['chain/agreement', 'chain/agreement is the name of one of ours'],
    ['', 'what it makes has an empty name'],
  ]) {
    const nameless: OracleMaker = () => ({ name: name as string, ended: () => {} });
    expect(() => runScenario(play({ oracles: [nameless] }), { seed: 1 })).toThrow(`oracles[0]: ${because}`);
  }
});

describe('what waits', () => {
  it.each(['published', 'ended'])('an oracle’s %s', (hook) => {
    const waits: OracleMaker = () => ({ name: 'mine', [hook]: async () => {} });
    expect(() => runScenario(play({ oracles: [waits] }), { seed: 1 })).toThrow(
      `oracles[0]: mine: ${hook}() gives a promise; it must not be async`,
    );
  });
  it.each(['answer', 'restore', 'drainWrites', 'digest'])('an application’s %s', (method) => {
    const app = (): KvStore =>
      Object.assign(new KvStore(), {
        [method]: async () => {
          throw new Error('later');
        },
      });
    const says = (): string => {
      const [first] = runScenario(play({ app }), { seed: 1 }).violations;
      return first?.what ?? 'nothing';
    };
    expect(says()).toContain(`app: ${method}() gives a promise; it must not be async`);
  });
  it('what a liar says instead of a vote', () => {
    const waits: Liar = (kit) =>
      aboutOwnVotes(kit, 'lie: late', (async () => {
        throw new Error('later');
      }) as never);
    expect(() => runScenario(play({ liars: [liar('v3', waits, ['v0'])] }), { seed: 1 })).toThrow(
      'liars[0].liar: its lie threw: lie: late: expected a list of payloads, or null for the truth',
    );
  });
});

it('one application for all nodes is none: each start begins with a new one', () => {
  const one = new KvStore();
  expect(runScenario(play({ app: () => one }), { seed: 1 }).violations[0]?.what).toContain(
    'app: it makes the same application again, and each start of a node begins with a new one; write () => new ...',
  );
});

it('who is no victim of a liar of one’s own hears the truth', () => {
  const heard = new Set<string>();
  const mute: Liar = () => (to) => {
    heard.add(to);
    return [];
  };
  let ids: string[] = [];
  const onWorld = ({ machines }: World): void => {
    ids = machines.map(({ member }) => member.id);
  };
  const muted = play({ liars: [liar('v3', mute, ['v0'])] });
  expect(runScenario(muted, { seed: 1, onWorld }).holds).toBe(true);
  expect([...heard]).toEqual([ids[0]]);
});

describe('applications that judge one proposal differently', () => {
  const says = (app: () => KvStore): unknown => {
    const [first] = runScenario(play({ app }), { seed: 1 }).violations;
    return first && { promise: first.promise, what: first.what };
  };
  /** Refuses at height 2 as often as `refuses` says. */
  const choosy = (refuses: () => boolean): KvStore =>
    new (class extends KvStore {
      override answer(request: AbciRequest): AbciResponse {
        const isIts = request.type === 'process-proposal' && request.value.height === 2n;
        return isIts && refuses()
          ? { type: 'process-proposal', value: { status: 2 } }
          : super.answer(request);
      }
    })();

  it('are found, as two of their nodes would go apart', () => {
    let made = 0;
    const app = (): KvStore => {
      const isOdd = made++ === 2; // the first is made to be looked at
      return choosy(() => isOdd);
    };
    expect(says(app)).toEqual({
      promise: 'application',
      what: expect.stringMatching(
        /^v\d has an application that (refuses|accepts) the proposal [0-9a-f]{8} of height 2, which that of v\d (accepted|refused)$/,
      ),
    });
  });

  it('are none where all refuse the same', () => {
    const first: { hash: string | null } = { hash: null };
    const app = (): KvStore =>
      new (class extends KvStore {
        override answer(request: AbciRequest): AbciResponse {
          if (request.type !== 'process-proposal' || request.value.height !== 2n)
            return super.answer(request);
          const hash = String(request.value.hash);
          first.hash ??= hash;
          return { type: 'process-proposal', value: { status: hash === first.hash ? 2 : 1 } };
        }
      })();
    expect(says(app)).toBe(undefined);
  });
});

it.each<[string, (report: (...words: unknown[]) => void) => void, string]>([
  ['a name', (report) => report('bad', 'v0', 3n), 'report names a node by the object that a hook was given'],
  ['a number', (report) => report('bad', null, 3), 'report takes a height that is a bigint (3n), not 3'],
  [
    'no height',
    (report) => report('bad', null),
    'report takes a height that is a bigint (3n), not undefined',
  ],
  [
    'a promise of another kind',
    (report) => report('bad', null, 3n, 7),
    'report takes a promise that is a text, not 7',
  ],
])('a report with %s is refused', (_, says, because) => {
  const odd: OracleMaker = (report) => ({
    name: 'mine',
    published: () => says(report as (...words: unknown[]) => void),
  });
  expect(() => runScenario(play({ oracles: [odd] }), { seed: 1 })).toThrow(`oracles[0]: ${because}`);
});

it('a report may say which of several promises is broken, as those of ours do', () => {
  const several: OracleMaker = (report) => ({
    name: 'mine',
    ended: () => report('bad', null, 1n, 'the second'),
  });
  expect(runScenario(play({ oracles: [several] }), { seed: 1 }).violations).toMatchObject([
    { oracle: 'mine', promise: 'mine/the second', what: 'the second: bad' },
  ]);
});

it('a report before there is a hook to be asked is refused', () => {
  const early: OracleMaker = (report) => {
    report('bad', null, 1n);
    return { name: 'mine', ended: () => {} };
  };
  expect(() => runScenario(play({ oracles: [early] }), { seed: 1 })).toThrow(
    'oracles[0]: report was called before a hook was',
  );
});

it('an application that throws null ends its node as any other bug does', () => {
  const app = (): KvStore =>
    Object.assign(new KvStore(), {
      answer: (): never => {
        throw null;
      },
    });
  expect(runScenario(play({ app }), { seed: 1 }).violations[0]?.what).toBe('app threw: it threw null');
});

it('an application that writes a key that no store takes', () => {
  const write = { key: new Uint8Array(1979), value: new Uint8Array(1), remove: false };
  const app = (): KvStore => Object.assign(new KvStore(), { drainWrites: () => [write] });
  expect(runScenario(play({ app }), { seed: 1 }).violations[0]?.what).toBe(
    'app threw: the application writes a key of 1979 bytes; a store takes 1 to 1978',
  );
});

describe('a field that is undefined', () => {
  const whole = runScenario(play({}), { seed: 1 }).digest;
  it.each(['act', 'holds', 'liars', 'app', 'liveness', 'load', 'oracles', 'settings', 'crypto'])(
    '%s is as if it were not there',
    (field) => {
      expect(runScenario(play({ [field]: undefined }), { seed: 1 }).digest).toBe(whole);
      const plain = { ...play({}), [field]: undefined } as unknown as Scenario;
      expect(runScenario(plain, { seed: 1 }).digest).toBe(whole);
    },
  );
  it('inside another, too', () => {
    const inside = (latency: object, consensus: object): string =>
      runScenario(play({ act: [at('1s', links(latency))], settings: { consensus } }), { seed: 1 }).digest;
    expect(inside({ latency: undefined, lossPpm: 10 }, { timeoutCommitNs: undefined })).toBe(
      inside({ lossPpm: 10 }, {}),
    );
  });
  it('does not waive liveness', () => {
    expect(play({ liveness: undefined })).toMatchObject({ liveness: 'checked' });
  });
  it('of a file is one that is not there', () => {
    expect(fromJson(JSON.stringify({ name: 'x', title: 'x', ...words }))).toMatchObject({
      liveness: 'checked',
    });
  });
});

it('what draws a play and throws, or gives none', () => {
  const run = (draw: () => unknown) => () =>
    runScenario(drawn('mine', 'mine', draw as () => Scenario), { seed: 1 });
  expect(
    run(() => {
      throw new Error('boom');
    }),
  ).toThrow('draw: it threw: boom');
  expect(run(() => words)).not.toThrow();
  expect(run(() => null)).toThrow('cast');
});

describe.each([
  ['swarmPlay', swarmPlay],
  ['widePlay', widePlay],
])('%s without what makes it a play', (name, draw) => {
  const bare = draw as never;
  it.each<[string, () => unknown]>([
    ['performed', () => runScenario(bare, { seed: 1 })],
    ['explained', () => explainRun(bare, { seed: 1 })],
    ['made small', () => shrink(bare, { seed: 1 })],
    ['under a seed', () => scenarioUnder(bare, 1)],
    ['as JSON', () => toJson(bare)],
  ])('is no play: %s', (_, use) => {
    expect(use).toThrow(`play: a function that draws one is made a play by drawn('name', 'title', ${name})`);
  });
  it.each([[[]], [[7]], [[null]]])('draws from nothing else than a stream: %j', (given) => {
    expect(() => (draw as (...given: unknown[]) => void)(...given)).toThrow(
      `${name}: it draws from the stream of a run: give it to drawn('name', 'title', ${name}), which calls it`,
    );
  });
  it('with it is one, also with more in it', () => {
    const heard: OracleMaker = () => ({ name: 'mine', ended: () => {} });
    const mine = drawn('mine', 'mine', (stream) => ({ ...draw(stream), oracles: [heard] }));
    expect(runScenario(mine, { seed: 3 }).digest).toBe(
      runScenario(drawn('mine', 'mine', draw), { seed: 3 }).digest,
    );
  });
});

it('what is no play at all is refused by that name', () => {
  for (const none of [undefined, null, 'swarm'])
    expect(() => scenarioUnder(none as never, 1)).toThrow(
      `play: expected scenario(...) or drawn(...), not ${none}`,
    );
});

it('a promise where a value is expected is refused where it comes, and what it throws later ends nothing', () => {
  const later = async (): Promise<never> => {
    throw new Error('later');
  };
  const slips: readonly [Partial<Record<keyof Scenario, unknown>>, string][] = [
    [
      { load: txs({ perBlock: 1, make: later as never }) },
      'load.make: it gives a promise; it must not be async',
    ],
    [{ app: later }, 'app: what makes it gives a promise'],
    [{ oracles: [later] }, 'oracles[0]: what makes it gives a promise'],
    [{ liars: [liar('v3', later as never, ['v0'])] }, 'liars[0].liar: what makes its lies gives a promise'],
  ];
  for (const [more, says] of slips) expect(() => runScenario(play(more), { seed: 1 })).toThrow(says);
  expect(() => runScenario(drawn('mine', 'mine', later as never), { seed: 1 })).toThrow(
    'draw: it gives a promise',
  );
});

it('a workload may fill one Buffer again and again', () => {
  const kept = Buffer.alloc(16);
  const make = (_: unknown, n: number): Uint8Array => {
    kept.write(`key${n}=value`.padEnd(16, '.'));
    return kept;
  };
  const { violations, transactions } = runScenario(play({ load: txs({ perBlock: 2, make }) }), { seed: 1 });
  expect(violations).toEqual([]);
  expect(transactions.committed).toBeGreaterThanOrEqual(6);
});

it('what is no seed, no ending is refused by its name', () => {
  const swarm = drawn('mine', 'mine', swarmPlay);
  expect(() => scenarioUnder(swarm, 'abc')).toThrow('seed: expected a whole number');
  expect(() => scenarioUnder(swarm, 1.5)).toThrow('seed: expected a whole number');
  expect(() => everyone.decides(height(3), null as never)).toThrow("ends: write { within: '60s' }");
  expect(() => clock('v1', null as never)).toThrow('clock: write');
  const json = toJson(swarm as never);
  expect(isRefusal(json) && json.because).toContain('a seed draws this play');
});
