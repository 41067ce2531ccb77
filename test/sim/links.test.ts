// The simulated network: every fault happens, nothing else does, and the same seed does the same.

import { describe, expect, test } from 'vitest';
import type { Payload, PeerId } from '../../actors/turn.ts';
import type { Net } from '../../runtime/kernel/ports.ts';
import { Agenda, type Life } from '../../sim/agenda.ts';
import { Choices } from '../../sim/choices.ts';
import { type Latency, MILLISECOND, SECOND, uniform } from '../../sim/latency.ts';
import { CALM_LINK, type LinkSettings, type SendRule } from '../../sim/links.ts';
import { Network, type NetworkSettings, USUAL_NETWORK } from '../../sim/network.ts';
import { bridge, halves, isolate, majorityRing, randomCuts, ring } from './cut-shapes.ts';

const peerOf = (i: number): PeerId => `${i}`.repeat(40).slice(0, 40);

/** A full mesh; `story` tells what each node heard, and when. */
function mesh(
  count: number,
  links: Partial<LinkSettings> = {},
  seed = 'links',
  settings: NetworkSettings = USUAL_NETWORK,
) {
  const agenda = new Agenda();
  const network = new Network(agenda, new Choices({ seed }), { ...CALM_LINK, ...links }, settings);
  const peers = Array.from({ length: count }, (_, i) => peerOf(i));
  const story: string[] = [];
  const nets: Net[] = [];
  const lives: Life[] = [];
  const nameOf = (peer: PeerId) => `n${peers.indexOf(peer)}`;
  const boot = (i: number) => {
    const life = agenda.beginLife();
    const net = network.start(peers[i]!, life);
    const tell = (what: string) => story.push(`${agenda.now} n${i} ${what}`);
    net.listen({
      up: (peer) => tell(`up ${nameOf(peer)}`),
      down: (peer) => tell(`down ${nameOf(peer)}`),
      heard: (peer, payloads) =>
        tell(`heard ${nameOf(peer)} ${payloads.map(({ bytes }) => bytes.join('.')).join('+')}`),
      dialFailed: (peer) => tell(`failed ${nameOf(peer)}`),
    });
    nets[i] = net;
    lives[i] = life;
  };
  for (const peer of peers) network.addHost(peer, `at ${peer}`);
  for (const i of peers.keys()) boot(i);
  const dial = (i: number, j: number) => nets[i]!.dial(peers[j]!, `at ${peers[j]}`);
  const settle = () => {
    while (agenda.next());
  };
  const say = (i: number, j: number, ...bytes: number[]) =>
    nets[i]!.send([peers[j]!], [{ channel: 1, bytes: Uint8Array.from(bytes) }]);
  const crash = (i: number, death: 'noticed' | 'unnoticed' = 'noticed') => {
    agenda.endLife(lives[i]!);
    network.crash(peers[i]!, death);
  };
  for (let i = 0; i < count; i++) for (let j = i + 1; j < count; j++) dial(i, j);
  settle();
  const opening = story.splice(0).length;
  /** What a node heard, without times. */
  const told = (i: number) =>
    story.filter((line) => line.split(' ')[1] === `n${i}`).map((line) => line.replace(/^\d+ n\d+ /, ''));
  return { agenda, network, peers, nets, story, dial, settle, say, crash, boot, told, opening };
}

describe('faults', () => {
  const FAULTS: Partial<LinkSettings> = {
    lossPpm: 100_000,
    duplicatePpm: 100_000,
    reorderPpm: 100_000,
    corruptPpm: 100_000,
    bytesPerSecond: 100_000,
  };
  const chatter = (links: Partial<LinkSettings>, seed: string) => {
    const world = mesh(3, links, seed);
    for (let k = 0; k < 1000; k++) {
      world.say(k % 3, (k + 1) % 3, k & 255, k >> 8, 7);
      world.agenda.runUntil(world.agenda.now + 10_000);
    }
    world.network.clog(world.peers[0]!, world.peers[1]!, world.agenda.now + 1 * SECOND);
    world.say(0, 1, 1);
    world.network.cut(world.peers[0]!, world.peers[1]!);
    world.say(0, 1, 2);
    world.network.heal();
    world.settle();
    return world;
  };

  test('each one happens, about as often as asked', () => {
    const { counters } = chatter(FAULTS, 'a').network;
    for (const fault of ['dropped', 'duplicated', 'reordered'] as const) {
      expect(counters[fault], fault).toBeGreaterThan(60);
      expect(counters[fault], fault).toBeLessThan(140);
    }
    expect(counters.corrupted + counters.truncated).toBeGreaterThan(60);
    expect(counters.truncated).toBeGreaterThan(5);
    expect(counters.throttled).toBeGreaterThan(0);
    expect(counters.clogged + counters.dropped).toBeGreaterThan(0);
    expect(counters.cut).toBe(1);
    expect(counters.delivered).toBe(counters.sent - counters.dropped - counters.cut + counters.duplicated);
  });
  test('the same seed tells the same story, another one another', () => {
    expect(chatter(FAULTS, 'a').story).toEqual(chatter(FAULTS, 'a').story);
    expect(chatter(FAULTS, 'a').story).not.toEqual(chatter(FAULTS, 'b').story);
  });
  test('adding a fault does not reshuffle the delays of the others', () => {
    const plain = chatter({}, 'a').story;
    const lossy = new Set(chatter({ duplicatePpm: 50_000 }, 'a').story);
    expect(plain.filter((line) => lossy.has(line)).length).toBeGreaterThan(plain.length * 0.9);
  });
  test('without faults all arrives once, in order', () => {
    const { network, told } = chatter({}, 'a');
    const heard = told(1).filter((line) => line.includes('.7'));
    expect(heard).toEqual(
      Array.from({ length: 334 }, (_, k) => `heard n0 ${(3 * k) & 255}.${(3 * k) >> 8}.7`),
    );
    expect(network.counters.dropped + network.counters.duplicated + network.counters.reordered).toBe(0);
  });
  test('corruption makes new bytes: the sender and other receivers keep theirs', () => {
    const world = mesh(3, { corruptPpm: 1_000_000 });
    const bytes = new Uint8Array(50).fill(9);
    world.nets[0]!.send([world.peers[1]!, world.peers[2]!], [{ channel: 1, bytes }]);
    world.settle();
    expect(bytes).toEqual(new Uint8Array(50).fill(9));
    expect(world.told(1)[0]).not.toContain(bytes.join('.'));
  });
  test('payloads are carried by reference', () => {
    const world = mesh(2);
    const payloads: Payload[] = [{ channel: 1, bytes: Uint8Array.of(1) }];
    let got: readonly Payload[] = [];
    world.nets[1]!.listen({
      up() {},
      down() {},
      dialFailed() {},
      heard: (_, heard) => {
        got = heard;
      },
    });
    world.nets[0]!.send([world.peers[1]!], payloads);
    world.settle();
    expect(got).toBe(payloads);
  });
  test('bandwidth: a megabyte over a megabyte per second takes a second', () => {
    const world = mesh(2, { bytesPerSecond: 1_000_000, latency: uniform(0, 0) });
    const start = world.agenda.now;
    for (let i = 0; i < 10; i++) {
      world.nets[0]!.send([world.peers[1]!], [{ channel: 1, bytes: new Uint8Array(100_000) }]);
    }
    world.settle();
    expect(world.agenda.now - start).toBe(SECOND);
  });
  test('a rule carries nothing through a cut line, which may heal before it would be there', () => {
    const world = mesh(2);
    const { network, peers } = world;
    network.carrier.rule = (_from, _to, payloads) => ({ delayNs: 4 * SECOND, payloads, done: 0 });
    network.cut(peers[0]!, peers[1]!);
    world.say(0, 1, 1);
    network.heal();
    world.say(0, 1, 2);
    world.settle();
    expect(world.told(1)).toEqual(['heard n0 2']);
    expect(network.counters).toMatchObject({ cut: 1, ruledDelayed: 1 });
  });
  test('every distribution stays in its bounds and has its mean', () => {
    const rows: [Latency, number, number, number][] = [
      [uniform(1000, 3000), 1000, 3000, 2000],
      [uniform(0, 8 * SECOND), 0, 8 * SECOND, 4 * SECOND],
      [{ kind: 'exponential', minNs: 1000, meanNs: 10_000 }, 1000, 140_000, 11_000],
      [{ kind: 'table', quantilesNs: [100, 200, 10_000] }, 100, 10_000, 2625],
    ];
    for (const [latency, min, max, mean] of rows) {
      const { network, peers } = mesh(2, { latency });
      const link = network.link(peers[0]!, peers[1]!);
      const drawn = Array.from({ length: 20_000 }, () => network.carrier.drawLatency(link));
      expect(drawn.every((ns) => Number.isInteger(ns) && ns >= min && ns <= max)).toBe(true);
      const actual = drawn.reduce((sum, ns) => sum + ns, 0) / drawn.length;
      expect(Math.abs(actual / mean - 1), `${latency.kind}: mean ${actual}, not ${mean}`).toBeLessThan(0.04);
    }
  });
});

describe('rules', () => {
  const heardUnder = (rule: SendRule) => {
    const world = mesh(2);
    world.network.rule = rule;
    for (const k of [1, 2, 3]) world.say(0, 1, k);
    world.settle();
    return { heard: world.told(1), counters: world.network.counters };
  };
  const first = (payloads: readonly Payload[]) => payloads[0]?.bytes[0];

  test('may drop, delay, rewrite, or leave it to chance', () => {
    expect(heardUnder(() => 'pass').heard).toEqual(['heard n0 1', 'heard n0 2', 'heard n0 3']);
    const dropped = heardUnder((_, __, payloads) => (first(payloads) === 2 ? 'drop' : 'pass'));
    expect(dropped.heard).toEqual(['heard n0 1', 'heard n0 3']);
    expect(dropped.counters.ruledDropped).toBe(1);
    const late = heardUnder((_, __, payloads) =>
      first(payloads) === 1 ? { delayNs: SECOND, payloads, done: 0 } : 'pass',
    );
    expect(late.heard).toEqual(['heard n0 2', 'heard n0 3', 'heard n0 1']);
    expect(late.counters.ruledDelayed).toBe(1);
    const lateLie = heardUnder(() => ({
      delayNs: SECOND,
      payloads: [{ channel: 1, bytes: Uint8Array.of(66) }],
      done: 0,
    }));
    expect(lateLie.heard).toEqual(['heard n0 66', 'heard n0 66', 'heard n0 66']);
    const lie = heardUnder(() => ({ payloads: [{ channel: 1, bytes: Uint8Array.of(66) }], done: 0 }));
    expect(lie.heard).toEqual(['heard n0 66', 'heard n0 66', 'heard n0 66']);
    expect(lie.counters.ruledRewritten).toBe(3);
  });
  test('see each receiver by itself', () => {
    const world = mesh(3);
    const asked: string[] = [];
    world.network.rule = (from, to) => {
      asked.push(`${from[0]}>${to[0]}`);
      return 'drop';
    };
    world.nets[0]!.send([world.peers[1]!, world.peers[2]!], []);
    expect(asked).toEqual(['0>1', '0>2']);
  });
});

describe('cuts', () => {
  test('are one way, silent, and leave the connection up', () => {
    const world = mesh(2);
    world.network.cut(world.peers[0]!, world.peers[1]!);
    world.say(0, 1, 1);
    world.say(1, 0, 2);
    world.settle();
    expect([world.told(0), world.told(1)]).toEqual([['heard n1 2'], []]);
    world.network.heal();
    world.say(0, 1, 3);
    world.settle();
    expect(world.told(1)).toEqual(['heard n0 3']);
  });
  test('take what is on its way', () => {
    const world = mesh(2);
    world.say(0, 1, 1);
    world.network.cut(world.peers[0]!, world.peers[1]!);
    world.settle();
    expect(world.told(1)).toEqual([]);
  });
  test('for ever are not healed, but mended', () => {
    const world = mesh(3);
    world.network.partition([[world.peers[0]!]], 'for-ever');
    world.network.heal();
    world.say(0, 1, 1);
    world.say(1, 2, 2);
    world.settle();
    expect([world.told(1), world.told(2)]).toEqual([[], ['heard n1 2']]);
    world.network.mend(world.peers[0]!, world.peers[1]!);
    world.say(0, 1, 3);
    world.settle();
    expect(world.told(1)).toEqual(['heard n0 3']);
  });
  test('a dial over a cut fails after the timeout, either way round', () => {
    for (const [from, to] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const world = mesh(2);
      world.network.reset(world.peers[0]!, world.peers[1]!);
      world.settle();
      world.network.cut(world.peers[from]!, world.peers[to]!);
      const start = world.agenda.now;
      world.dial(0, 1);
      world.dial(0, 1);
      world.settle();
      expect(world.story.slice(-1)).toEqual([`${start + 3 * SECOND} n0 failed n1`]);
      expect(world.told(0)).toEqual(['down n1', 'failed n1']);
    }
  });
  test('shapes of partitions keep what they say', () => {
    const peers = [0, 1, 2, 3, 4].map(peerOf);
    const heardBy = (cuts: readonly (readonly [PeerId, PeerId])[]) =>
      peers.map((to) =>
        peers
          .filter((from) => from !== to && !cuts.some(([a, b]) => a === from && b === to))
          .map((peer) => peer[0])
          .join(''),
      );
    expect(heardBy(halves(peers))).toEqual(['12', '02', '01', '4', '3']);
    expect(heardBy(isolate(peers))).toEqual(['', '234', '134', '124', '123']);
    expect(heardBy(ring(peers))).toEqual(['14', '02', '13', '24', '03']);
    expect(heardBy(bridge(peers))).toEqual(['1234', '02', '01', '04', '03']);
    for (const size of [4, 5, 6, 7, 10]) {
      const many = Array.from({ length: size }, (_, i) => `p${i}`);
      const cuts = majorityRing(many);
      const views = many.map((to) =>
        many.filter((from) => !cuts.some(([a, b]) => a === from && b === to)).join(),
      );
      expect(views.every((view) => view.split(',').length * 2 > size)).toBe(true);
      if (size > 4) expect(new Set(views).size).toBe(size);
    }
    const stream = new Choices({ seed: 'digraph' }).stream('cuts');
    expect(randomCuts(peers, stream, 0)).toEqual([]);
    const some = randomCuts(peers, stream, 500_000).length;
    expect(some > 3 && some < 17).toBe(true);
    const world = mesh(5);
    for (const [from, to] of isolate(world.peers)) world.network.cut(from, to);
    world.nets[0]!.send(world.peers.slice(1), [{ channel: 1, bytes: Uint8Array.of(1) }]);
    world.settle();
    expect(world.story).toEqual([]);
  });
});

describe('crashes', () => {
  test('peers notice within the drawn time, and what is sent meanwhile is lost', () => {
    const world = mesh(4);
    const start = world.agenda.now;
    world.crash(0);
    world.say(1, 0, 1);
    world.settle();
    expect([1, 2, 3].map((i) => world.told(i))).toEqual([['down n0'], ['down n0'], ['down n0']]);
    expect(world.agenda.now - start).toBeLessThanOrEqual(5 * SECOND);
    expect(world.network.counters.stray).toBe(1);
    world.say(1, 0, 2);
    expect(world.network.counters.unconnected).toBe(1);
  });
  test('unnoticed until the node is back and dials: then down, then up', () => {
    const world = mesh(2);
    world.crash(0, 'unnoticed');
    world.settle();
    expect(world.told(1)).toEqual([]);
    world.boot(0);
    world.say(1, 0, 1);
    world.dial(0, 1);
    world.settle();
    world.say(1, 0, 2);
    world.settle();
    expect(world.told(1)).toEqual(['down n0', 'up n0']);
    expect(world.told(0)).toEqual(['up n1', 'heard n1 2']);
    expect(world.network.counters.unnoticed).toBe(1);
  });
  test('unnoticed, and the node that is back dials nobody: down within the drawn time of its return', () => {
    const world = mesh(3);
    world.crash(0, 'unnoticed');
    world.network.close(world.network.link(world.peers[2]!, world.peers[0]!));
    world.agenda.runUntil(world.agenda.now + 60 * SECOND);
    expect([world.told(1), world.told(2)]).toEqual([[], ['down n0']]);
    world.boot(0);
    const back = world.agenda.now;
    world.settle();
    expect([world.told(1), world.told(2)]).toEqual([['down n0'], ['down n0']]);
    expect(world.agenda.now - back).toBeLessThanOrEqual(5 * SECOND);
  });
  test('a dead node cannot be dialled, hears nothing, and its last turn speaks to nobody', () => {
    const world = mesh(2);
    const old = world.nets[0]!;
    world.say(1, 0, 1);
    world.crash(0);
    old.send([world.peers[1]!], []);
    old.close(world.peers[1]!);
    old.dial(world.peers[1]!, `at ${world.peers[1]}`);
    world.settle();
    world.dial(1, 0);
    world.settle();
    expect([world.told(0), world.told(1)]).toEqual([[], ['down n0', 'failed n0']]);
  });
  test('of the dialled between the answer and its arrival: the dial fails', () => {
    const world = mesh(2);
    world.network.reset(world.peers[0]!, world.peers[1]!);
    world.settle();
    world.dial(0, 1);
    while (!world.told(1).includes('up n0')) world.agenda.next();
    world.crash(1);
    world.settle();
    expect(world.told(0)).toEqual(['down n1', 'failed n1']);
  });
  test('any mix of dials, closes, crashes, cuts and talk: up and down alternate, talk comes between', () => {
    for (let seed = 0; seed < 60; seed++) {
      const noisy = {
        lossPpm: 50_000,
        duplicatePpm: 50_000,
        reorderPpm: 100_000,
        latency: uniform(0, 50 * MILLISECOND),
      };
      const world = mesh(3, noisy, `${seed}`);
      const stream = new Choices({ seed }, 'forget').stream('mix');
      const alive = [true, true, true];
      const up = new Set(['0>1', '0>2', '1>0', '1>2', '2>0', '2>1']);
      const check = () => {
        for (const line of world.story.splice(0)) {
          const [, me, what, other] = line.split(' ');
          const pair = `${me![1]}>${other![1]}`;
          expect(alive[Number(me![1])], line).toBe(true);
          if (what === 'up') expect(up.has(pair), line).toBe(false);
          else if (what !== 'failed') expect(up.has(pair), line).toBe(true);
          if (what === 'up') up.add(pair);
          if (what === 'down') up.delete(pair);
        }
      };
      for (let k = 0; k < 400; k++) {
        const i = stream.draw(3);
        const j = (i + 1 + stream.draw(2)) % 3;
        const act = stream.draw(20);
        if (act < 8) world.say(i, j, k & 255);
        else if (act < 12) world.dial(i, j);
        else if (act < 13) world.nets[i]!.close(world.peers[j]!);
        else if (act < 14) world.network.cut(world.peers[i]!, world.peers[j]!);
        else if (act < 16) world.network.heal();
        else if (act < 17) world.network.reset(world.peers[i]!, world.peers[j]!);
        else if (act < 18 && alive[i]) {
          world.crash(i, stream.chance(3, 10) ? 'unnoticed' : 'noticed');
          alive[i] = false;
          for (const other of [0, 1, 2]) up.delete(`${i}>${other}`);
        } else if (!alive[i]) {
          world.boot(i);
          alive[i] = true;
        }
        world.agenda.runUntil(world.agenda.now + stream.draw(100 * MILLISECOND));
        check();
      }
      // Healed and all alive, one dial from each side always ends in a connection.
      world.network.heal();
      for (const i of [0, 1, 2]) if (!alive[i]) world.boot(i);
      alive.fill(true);
      world.settle();
      for (const i of [0, 1, 2]) for (const j of [0, 1, 2]) if (i !== j) world.dial(i, j);
      world.settle();
      check();
      const half = [...up].filter((pair) => !up.has([...pair].reverse().join('')));
      expect(half, `seed ${seed}`).toEqual([]);
      expect(up.size, `seed ${seed}`).toBe(6);
      // And both ends mean the same connection: what is said is heard.
      world.network.setLinks(CALM_LINK);
      for (const i of [0, 1, 2]) for (const j of [0, 1, 2]) if (i !== j) world.say(i, j, 99);
      world.settle();
      expect(world.story.filter((line) => line.endsWith(' 99'))).toHaveLength(6);
    }
  });
});

describe('what each fault is', () => {
  const without = (line: string): string => line.replace(/^\d+ /, '');

  test('a reset tells both sides', () => {
    const world = mesh(2);
    world.network.reset(world.peers[1]!, world.peers[0]!);
    world.settle();
    expect(world.story.map(without).sort()).toEqual(['n0 down n1', 'n1 down n0']);
  });

  test('healing ends a clog', () => {
    const world = mesh(2);
    const began = world.agenda.now;
    world.network.clog(world.peers[0]!, world.peers[1]!, began + 9 * SECOND);
    world.network.heal();
    world.say(0, 1, 1);
    world.settle();
    expect(world.agenda.now - began).toBeLessThan(SECOND);
  });

  test('what a clog holds goes on when it is healed, in order, and what follows does not wait for it', () => {
    const world = mesh(2);
    const { agenda, network, peers } = world;
    const began = agenda.now;
    network.clog(peers[0]!, peers[1]!, began + 60 * SECOND);
    for (const k of [1, 2, 3]) world.say(0, 1, k);
    network.rule = (_, __, payloads) => ({ delayNs: 9 * SECOND, payloads, done: 0 });
    world.say(0, 1, 8);
    network.rule = null;
    agenda.runUntil(began + 5 * SECOND);
    expect(world.told(1)).toEqual([]);
    network.heal();
    world.say(0, 1, 4);
    agenda.runUntil(began + 6 * SECOND);
    expect(world.told(1)).toEqual(['heard n0 1', 'heard n0 2', 'heard n0 3', 'heard n0 4']);
    const times = world.story.map((line) => line.split(' ')[0]);
    expect(new Set(times).size).toBe(times.length); // of one instant they might come in any order
    world.settle();
    expect(agenda.now - began).toBe(9 * SECOND); // late by a rule, as long as that says
    expect(world.told(1).at(-1)).toBe('heard n0 8');
    expect(network.counters).toMatchObject({ clogged: 4, sent: 5, delivered: 5 });
  });

  test('healing keeps the order of what a clog holds and what did not wait for it', () => {
    for (let k = 0; k < 50; k++) {
      const world = mesh(2, {}, `clog ${k}`);
      const { agenda, network, peers } = world;
      const end = agenda.now + 10 * MILLISECOND;
      network.clog(peers[0]!, peers[1]!, end);
      world.say(0, 1, 1);
      agenda.runUntil(end - MILLISECOND / 2);
      world.say(0, 1, 2); // is there after the clog, by itself
      network.heal();
      world.say(0, 1, 3);
      world.settle();
      expect(world.told(1)).toEqual(['heard n0 1', 'heard n0 2', 'heard n0 3']);
    }
  });

  test('a farewell behind a clog comes when that is healed, after what was sent before it', () => {
    const world = mesh(2);
    const { agenda, network, peers } = world;
    const began = agenda.now;
    network.clog(peers[0]!, peers[1]!, began + 60 * SECOND);
    world.say(0, 1, 1);
    world.nets[0]!.close(peers[1]!);
    agenda.runUntil(began + 5 * SECOND);
    expect(network.link(peers[1]!, peers[0]!).session).not.toBe(0);
    network.heal();
    world.settle();
    expect(agenda.now).toBeLessThan(began + 6 * SECOND);
    expect(world.told(1)).toEqual(['heard n0 1', 'down n0']);
  });

  test('what a rule made late and a clog later is late by the rule alone when that is healed', () => {
    const world = mesh(2);
    const { agenda, network, peers } = world;
    const link = network.link(peers[0]!, peers[1]!);
    const began = agenda.now;
    network.clog(peers[0]!, peers[1]!, began + 60 * SECOND);
    network.rule = (_, __, payloads) => ({ delayNs: 9 * SECOND, payloads, done: 0 });
    world.say(0, 1, 1);
    expect(link.lateUntil).toBe(began + 60 * SECOND);
    network.heal();
    expect(link.lateUntil).toBe(began + 9 * SECOND);
  });

  test('healing does not bring the word of who answers a dial before the answer', () => {
    for (let k = 0; k < 50; k++) {
      const world = mesh(2, { latency: uniform(MILLISECOND, 50 * MILLISECOND) }, `answer ${k}`);
      const { agenda, network, peers } = world;
      world.nets[0]!.close(peers[1]!);
      world.settle();
      const link = network.link(peers[1]!, peers[0]!);
      world.dial(0, 1);
      while (link.session === 0 && agenda.next());
      world.say(1, 0, 7);
      network.heal();
      world.say(1, 0, 8);
      world.settle();
      expect(world.told(0).slice(-3)).toEqual(['up n1', 'heard n1 7', 'heard n1 8']);
      expect(network.counters.stray).toBe(0);
    }
  });

  test('a farewell does not pass a cut: the other side notices in its own time', () => {
    const world = mesh(2, {}, 'links', { ...USUAL_NETWORK, notice: { minNs: SECOND, maxNs: SECOND } });
    const began = world.agenda.now;
    world.network.cut(world.peers[0]!, world.peers[1]!);
    world.nets[0]!.close(world.peers[1]!);
    world.settle();
    expect(world.story.at(-1)).toBe(`${began + SECOND} n1 down n0`);
  });

  test('any bit may flip, or some of the end goes, and something always does', () => {
    const world = mesh(2, { corruptPpm: 1_000_000 });
    for (let i = 0; i < 400; i++) world.say(0, 1, 0, 0);
    world.settle();
    const heard = world.told(1).map((line) => line.replace('heard n0 ', ''));
    expect(heard).not.toContain('0.0');
    expect(heard).toContain('128.0');
  });

  test('bandwidth is for all payloads of an envelope', () => {
    const world = mesh(2, { bytesPerSecond: 1_000_000, latency: uniform(0, 0) });
    const began = world.agenda.now;
    const payloads = [1, 2, 3].map((channel) => ({ channel, bytes: new Uint8Array(100_000) }));
    world.nets[0]!.send([world.peers[1]!], payloads);
    world.settle();
    expect(world.agenda.now - began).toBe(300_000_000);
  });

  test('a shorter delay after a longer one leaves the line late for as long', () => {
    const world = mesh(2);
    const link = world.network.link(world.peers[0]!, world.peers[1]!);
    world.network.rule = (_, __, payloads) => ({
      delayNs: (payloads[0]?.bytes[0] ?? 0) * SECOND,
      payloads,
      done: 0,
    });
    const began = world.agenda.now;
    world.say(0, 1, 9);
    world.say(0, 1, 1);
    expect(link.lateUntil).toBe(began + 9 * SECOND);
  });

  test.each<[string, (ppm: number) => ReturnType<typeof mesh>]>([
    ['losses', (lossPpm) => mesh(2, { lossPpm })],
    ['reordering', (reorderPpm) => mesh(2, { reorderPpm })],
    ['corruption', (corruptPpm) => mesh(2, { corruptPpm })],
  ])('%s are drawn from a stream of their own', (_, made) => {
    const story = (ppm: number) => {
      const world = made(ppm);
      for (let i = 0; i < 20; i++) {
        world.say(0, 1, i);
        world.settle();
      }
      world.crash(0);
      world.settle();
      return world.story;
    };
    expect(story(1)).toEqual(story(0));
  });
});
