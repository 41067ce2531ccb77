import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effect, LocalMessage } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { Bench, type Scripted, scripted } from './world.ts';

const append = (n: number): Effect => ({ type: 'append', log: 'consensus', record: Uint8Array.of(n) });
const sync: Effect = { type: 'sync', log: 'consensus' };
const store = (n: number, durable: boolean): Effect => ({
  type: 'store',
  store: 'chain',
  durable,
  writes: [{ key: Uint8Array.of(n), value: Uint8Array.of(n), remove: false }],
});
const send = (to: string): Effect => ({ type: 'send', to: [to], payloads: [] });
const tell = (to: string, n: number): Effect => ({ type: 'tell', to, message: { type: 'go', n } });
const n = (message: LocalMessage): number => (message.type === 'go' ? Number(message.n) : -1);

describe('effects', () => {
  it('leave in order, and none passes a sync or durable store that is not durable', () => {
    const script: Record<number, Effect[]> = {
      1: [append(1), sync, send('x'), store(2, true), send('y')],
      2: [append(3), send('z')],
    };
    const bench = new Bench([scripted('a', (message) => script[n(message)] ?? [])]);
    bench.go('a', 1);
    bench.go('a', 2);
    expect(bench.done).toEqual(['append consensus 1', 'sync consensus']);
    bench.becomeDurable();
    expect(bench.done.slice(2)).toEqual(['send x', 'store chain 2 durable']);
    bench.becomeDurable();
    expect(bench.done.slice(4)).toEqual(['send y', 'append consensus 3', 'send z']);
    expect(bench.becomeDurable()).toBe(false);
  });

  it('hold up only the actor that waits, and its turns run on', () => {
    const a = scripted('a', (message) => (n(message) === 1 ? [sync, send('late')] : [send('later')]));
    const b = scripted('b', () => [send('now')]);
    const bench = new Bench([a, b]);
    bench.go('a', 1);
    bench.go('a', 2);
    bench.go('b', 1);
    expect(bench.done).toEqual(['sync consensus', 'send now']);
    expect(bench.node.peek<{ heard: string[] }>('a')?.heard).toEqual(['go 1', 'go 2']);
    bench.becomeDurable();
    expect(bench.done.slice(2)).toEqual(['send late', 'send later']);
  });

  const kinds = fc.constantFrom('append', 'sync', 'store', 'durable', 'send', 'publish');
  const turns = fc.array(fc.array(kinds, { maxLength: 6 }), { minLength: 1, maxLength: 8 });
  // Between turns, how many of the waiting become durable.
  const pace = fc.array(fc.nat(3), { minLength: 8, maxLength: 8 });

  it('keep their order for all lists and all times of becoming durable, with a crash anywhere', () => {
    fc.assert(
      fc.property(turns, pace, fc.option(fc.nat(40)), (lists, durable, crash) => {
        let number = 0;
        const expected: string[] = [];
        const script = lists.map((kindsOfTurn) =>
          kindsOfTurn.map((kind): Effect => {
            const k = number++ % 250;
            switch (kind) {
              case 'append':
                expected.push(`append consensus ${k}`);
                return append(k);
              case 'sync':
                expected.push('sync consensus');
                return sync;
              case 'store':
              case 'durable':
                expected.push(`store chain ${k}${kind === 'durable' ? ' durable' : ''}`);
                return store(k, kind === 'durable');
              case 'send':
                expected.push(`send ${k}`);
                return send(String(k));
              default:
                expected.push('publish warning');
                return { type: 'publish', event: { type: 'warning', what: '' } };
            }
          }),
        );
        const bench = new Bench([scripted('a', (message) => script[n(message)] ?? [])]);
        let left = 0;
        bench.leaving = () => {
          // A durable thing that waits is always the last that left.
          const last = bench.done.at(-1);
          const isWaiting = bench.waiting.length > 0;
          expect(isWaiting && (last?.startsWith('sync') || last?.endsWith('durable'))).toBe(false);
          if (left++ !== crash) return false;
          bench.node.halt();
          return true;
        };
        script.forEach((_, i) => {
          bench.go('a', i);
          for (let k = 0; k < (durable[i] ?? 0); k++) bench.becomeDurable();
        });
        while (bench.becomeDurable());
        expect(bench.done).toEqual(crash === null ? expected : expected.slice(0, crash));
      }),
      { numRuns: 1_000 },
    );
  });

  it('of a node that died inside one of them are not shown to anybody', () => {
    const bench = new Bench([scripted('a', () => [append(1), append(2), send('b'), append(3)])]);
    const shown: string[] = [];
    bench.leaving = ({ type }) => {
      shown.push(type);
      return false;
    };
    bench.diesAtRecord = 2;
    bench.go('a', 0);
    expect(shown).toEqual(['append', 'append']);
    expect(bench.done).toEqual(['append consensus 1', 'append consensus 2']);
  });

  it('that wait are lost with the node', () => {
    const bench = new Bench([scripted('a', () => [sync, send('x')])]);
    bench.go('a', 1);
    bench.node.halt();
    bench.becomeDurable();
    bench.go('a', 2);
    expect(bench.done).toEqual(['sync consensus']);
  });
});

describe('actors', () => {
  it('are spawned and stopped by name; mail for the gone is lost, and told', () => {
    const a = scripted('a', (message) =>
      n(message) === 1
        ? [{ type: 'spawn', actor: 'c' }, tell('c', 5)]
        : [{ type: 'stop', actor: 'c' }, tell('c', 6)],
    );
    const bench = new Bench([a], (name) => scripted(name, () => [send(name)], [send('born')]));
    bench.go('a', 1);
    bench.carryMail();
    expect(bench.node.has('c')).toBe(true);
    bench.go('a', 2);
    bench.carryMail();
    expect([bench.done, bench.lost, bench.node.has('c')]).toEqual([['send born', 'send c'], ['c'], false]);
    expect(bench.records.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
      'boot a',
      'turn a',
      'spawn c',
      'turn c',
      'turn a',
      'stop c',
    ]);
  });

  it('that are stopped do nothing more: what waits for their disk, or for the end of a pause, does not happen', () => {
    const orders: Record<number, Effect[]> = {
      1: [{ type: 'spawn', actor: 'c' }, tell('c', 1)],
      2: [{ type: 'stop', actor: 'c' }],
      3: [{ type: 'spawn', actor: 'c' }],
    };
    const timed: Effect = { type: 'schedule', timer: 't', afterNs: 1n };
    const child = (name: string) => scripted(name, () => [timed, sync, send('late')]);
    const bench = new Bench([scripted('a', (message) => orders[n(message)] ?? [])], child);
    bench.go('a', 1);
    bench.carryMail();
    bench.node.pause();
    bench.go('a', 2);
    bench.go('a', 3);
    bench.fireTimers();
    bench.node.unpause();
    bench.becomeDurable();
    expect(bench.done).toEqual(['sync consensus']);
    expect(bench.lost).toEqual([]);
    expect(bench.node.peek<{ heard: string[] }>('c')?.heard).toEqual([]);
  });

  it('cannot ask for a time in the past: that is a bug of theirs, in every world', () => {
    const a = scripted('a', () => [{ type: 'schedule', timer: 't', afterNs: -1n }]);
    const bench = new Bench([a]);
    bench.go('a', 1);
    expect(bench.bugs.map(String)).toEqual(['Bug: the timer t is asked for a time in the past']);
    expect(bench.node.isAlive).toBe(false);
  });

  it('move and cancel their timers, and lose them when stopped', () => {
    const schedule: Effect = { type: 'schedule', timer: 't', afterNs: 1n };
    const script: Record<number, Effect[]> = {
      1: [schedule, schedule],
      2: [schedule, { type: 'cancel', timer: 't' }],
    };
    const bench = new Bench([scripted('a', (message) => script[n(message)] ?? [])]);
    bench.go('a', 1);
    bench.fireTimers();
    bench.go('a', 2);
    bench.fireTimers();
    bench.go('a', 1);
    bench.node.halt();
    bench.fireTimers();
    expect(bench.node.peek<{ heard: string[] }>('a')?.heard).toEqual(['go 1', 'timer t', 'go 2', 'go 1']);
  });

  it('that throw in a turn stop the node; the guilty turn is the last that was recorded', () => {
    const a = scripted('a', (message) => (n(message) === 2 ? unreachable('two') : [send('x')]));
    const bench = new Bench([a, scripted('b', () => [])]);
    for (const each of [1, 2, 3]) bench.go('a', each);
    bench.go('b', 1);
    expect([bench.node.isAlive, bench.done]).toEqual([false, ['send x']]);
    expect(bench.bugs.map(String)).toEqual(['Bug: two']);
    expect(bench.node.bug).toBe(bench.bugs[0]);
    expect(bench.records.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
      'boot a',
      'boot b',
      'turn a',
      'turn a',
    ]);
    expect(hexOf(bench.records.at(-1)!.input)).toContain('02');
  });

  it('that throw at their start stop the node too', () => {
    const a = { ...scripted('a', () => []), start: () => unreachable('a broken disk') };
    const bench = new Bench([scripted('b', () => []), a, scripted('c', () => [])]);
    expect(bench.bugs.map(String)).toEqual(['Bug: a broken disk']);
    expect([bench.node.isAlive, bench.node.has('c'), bench.net]).toEqual([false, false, null]);
    expect(bench.records.at(-1)).toMatchObject({ kind: 'boot', actor: 'a' });
  });
});

describe('a pause', () => {
  it('keeps what happens, in order, and lets it happen after', () => {
    const bench = new Bench([
      scripted('a', (message) => (n(message) === 1 ? [sync, send('x')] : [send(`a${n(message)}`)])),
      scripted('b', () => [send('b')]),
      scripted('dialer', () => []),
    ]);
    bench.go('a', 1);
    bench.node.pause();
    bench.go('b', 1);
    bench.becomeDurable();
    bench.net?.heard('p', [{ channel: 2, bytes: new Uint8Array(0) }]);
    bench.go('a', 2);
    expect(bench.done).toEqual(['sync consensus']);
    bench.node.unpause();
    expect(bench.done.slice(1)).toEqual(['send b', 'send x', 'send b', 'send a2']);
  });

  it('keeps peers that come and go in it, in order', () => {
    const bench = new Bench([scripted('dialer', () => [])], (name) =>
      scripted(name, (message) => [send(`${name} ${message.type}`)]),
    );
    bench.net?.up('p');
    bench.node.pause();
    bench.net?.down('p');
    bench.net?.up('q');
    bench.net?.down('q');
    expect(bench.done).toEqual(['send peer:p connected']);
    bench.node.unpause();
    expect(bench.done.slice(1)).toEqual(['p dis', 'q ', 'q dis'].map((each) => `send peer:${each}connected`));
    expect((bench.node.peek('dialer') as Scripted).heard).toEqual(['up', 'down', 'up', 'down']);
    expect(['peer:p', 'peer:q'].filter((actor) => bench.node.has(actor))).toEqual([]);
  });

  it('may begin again while the backlog is worked off', () => {
    const bench: Bench = new Bench([
      scripted('a', (message) => {
        if (n(message) === 2) bench.node.pause();
        return [send(String(n(message)))];
      }),
    ]);
    bench.node.pause();
    for (const each of [1, 2, 3, 4]) bench.go('a', each);
    bench.node.unpause();
    expect(bench.done).toEqual(['send 1', 'send 2']);
    bench.node.unpause();
    expect(bench.done).toEqual(['send 1', 'send 2', 'send 3', 'send 4']);
  });
});

describe('the net', () => {
  it('of an envelope that mixes owners each hears all that is its own, in one turn', () => {
    const heard: string[] = [];
    const note =
      (name: string) =>
      (message: LocalMessage): Effect[] => {
        const channels = (message.payloads as { channel: number }[]).map(({ channel }) => channel);
        heard.push(`${name} ${channels}`);
        return [];
      };
    const bench = new Bench([scripted('a', note('a')), scripted('b', note('b'))]);
    const bytes = new Uint8Array(0);
    bench.net?.heard(
      'p',
      [1, 1, 2, 3, 1].map((channel) => ({ channel, bytes })),
    );
    expect(heard).toEqual(['a 1,1,1', 'b 2,3']);
    expect(bench.node.deliveries).toBe(2);
  });

  it('a peer that comes up gets an actor, and loses it when it goes', () => {
    const bench = new Bench([scripted('dialer', () => [])], (name) =>
      scripted(name, (message) => [send(`${name} ${message.type}`)]),
    );
    bench.net?.up('p');
    bench.net?.heard('p', [{ channel: 9, bytes: new Uint8Array(0) }]);
    bench.net?.down('p');
    bench.net?.down('p');
    expect(bench.done).toEqual(['send peer:p connected', 'send peer:p heard', 'send peer:p disconnected']);
    expect(bench.node.has('peer:p')).toBe(false);
  });
});

it('turns are digested with their effects: one effect more is another digest', () => {
  const digestOf = (effects: readonly Effect[]): string => {
    const bench = new Bench([scripted('a', () => effects)]);
    bench.go('a', 1);
    return hexOf(bench.node.digest.read());
  };
  expect(digestOf([send('x')])).toBe(digestOf([send('x')]));
  expect(digestOf([send('x'), send('y')])).not.toBe(digestOf([send('x')]));
  expect(digestOf([send('x'), send('y')])).not.toBe(digestOf([send('y'), send('x')]));
});

describe('timers', () => {
  it('of an actor that stopped are not those of its successor', () => {
    const parent = scripted('a', (message) =>
      message.type === 'go' && message.n === 1
        ? [{ type: 'spawn', actor: 'c' }]
        : [{ type: 'stop', actor: 'c' }],
    );
    const child = (name: string) => scripted(name, () => [], [{ type: 'schedule', timer: 't', afterNs: 1n }]);
    const bench = new Bench([parent], child);
    for (const n of [1, 2, 1]) bench.go('a', n);
    bench.timers.pop(); // that of the second child
    bench.fireTimers();
    expect((bench.node.peek('c') as Scripted).heard).toEqual([]);
    expect(bench.lost).toEqual([]);
  });

  it('that come due in a pause may be cancelled by what came before them', () => {
    const bench = new Bench([
      scripted('a', (message) => {
        if (message.type !== 'go') return [];
        return message.n === 1
          ? [{ type: 'schedule', timer: 't', afterNs: 1n }]
          : [{ type: 'cancel', timer: 't' }];
      }),
    ]);
    bench.go('a', 1);
    bench.node.pause();
    bench.go('a', 2);
    bench.fireTimers();
    bench.node.unpause();
    expect((bench.node.peek('a') as Scripted).heard).toEqual(['go 1', 'go 2']);
  });
});

it('mail to nobody is no delivery', () => {
  const bench = new Bench([scripted('a', () => [])]);
  bench.go('nobody', 1);
  bench.go('a', 1);
  expect(bench.node.deliveries).toBe(1);
});

it('the dialer hears of every peer that comes and goes', () => {
  const bench = new Bench([scripted('dialer', () => [])], (name) => scripted(name, () => []));
  bench.net?.up('p');
  bench.net?.down('p');
  expect((bench.node.peek('dialer') as Scripted).heard).toEqual(['up', 'down']);
});
