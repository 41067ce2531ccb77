// What every keeper of the Net port promises over links that work: one connection per peer, envelopes
// whole, callbacks later.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Payload, PeerId } from '../../actors/turn.ts';
import type { Net } from '../../runtime/kernel/ports.ts';
import { bytesOf, pattern, textOf } from './bytes.ts';

export interface NetNode {
  readonly peer: PeerId;
  /** What the others dial. */
  readonly address: string;
  readonly net: Net;
}

/** Nodes on links without faults: nothing lost, nothing changed, in order. */
export interface NetWorld {
  readonly nodes: readonly NetNode[];
  /** Until `holds`, or a failure that says `what`. */
  until(holds: () => boolean, what: string): Promise<void>;
  /** Until nothing is under way: long enough for any envelope or connection to arrive. */
  settle(): Promise<void>;
  /** Node `i` dies without a word. */
  kill(i: number): void;
  /** An address where nobody listens. */
  readonly nowhere: string;
  close(): Promise<void>;
}

interface Heard {
  /** `up <name>`, `down <name>`, `failed <name>`, `<name> says <channel>:<text>+...` */
  readonly all: string[];
  readonly up: Set<PeerId>;
  readonly payloads: Payload[];
}

export function netCompliance(name: string, open: (nodes: number) => NetWorld | Promise<NetWorld>): void {
  describe(`net: ${name}`, () => {
    let world: NetWorld;
    let heard: Heard[];
    const start = async (count: number) => {
      world = await open(count);
      heard = world.nodes.map(({ net }) => listen(net));
    };
    beforeEach(() => start(3));
    afterEach(() => world.close());

    const nameOf = (peer: PeerId) => {
      const i = world.nodes.findIndex((node) => node.peer === peer);
      return i < 0 ? peer : `n${i}`;
    };
    function listen(net: Net): Heard {
      const mine: Heard = { all: [], up: new Set(), payloads: [] };
      net.listen({
        up: (peer) => {
          expect(mine.up.has(peer), 'up twice').toBe(false);
          mine.up.add(peer);
          mine.all.push(`up ${nameOf(peer)}`);
        },
        down: (peer) => {
          expect(mine.up.delete(peer), 'down but never up').toBe(true);
          mine.all.push(`down ${nameOf(peer)}`);
        },
        heard: (peer, payloads) => {
          expect(mine.up.has(peer), 'heard from a peer that is not up').toBe(true);
          mine.payloads.push(...payloads);
          const said = payloads.map(
            ({ channel, bytes }) => `${channel}:${bytes.length < 100 ? textOf(bytes) : bytes.length}`,
          );
          mine.all.push(`${nameOf(peer)} says ${said.join('+')}`);
        },
        dialFailed: (peer, because) => {
          expect(because.length).toBeGreaterThan(0);
          mine.all.push(`failed ${nameOf(peer)}`);
        },
      });
      return mine;
    }
    const node = (i: number) => world.nodes[i]!;
    const dial = (from: number, to: number) => node(from).net.dial(node(to).peer, node(to).address);
    const say = (from: number, to: number | number[], ...texts: string[]) =>
      node(from).net.send(
        [to].flat().map((i) => node(i).peer),
        texts.map((text) => ({ channel: 0x22, bytes: bytesOf(text) })),
      );
    const connected = (i: number, j: number) =>
      heard[i]!.up.has(node(j).peer) && heard[j]!.up.has(node(i).peer);
    const connect = async (i: number, j: number) => {
      dial(i, j);
      await world.until(() => connected(i, j), `n${i} and n${j} are connected`);
    };

    describe('connections', () => {
      test('a dial brings both ends up, once, and not inside the call', async () => {
        dial(0, 1);
        expect(heard[0]!.all).toEqual([]);
        await world.until(() => connected(0, 1), 'connected');
        await world.settle();
        expect([heard[0]!.all, heard[1]!.all, heard[2]!.all]).toEqual([['up n1'], ['up n0'], []]);
      });
      test('the same peer dialled twice is one connection', async () => {
        dial(0, 1);
        dial(0, 1);
        await world.until(() => connected(0, 1), 'connected');
        dial(0, 1);
        await world.settle();
        say(0, 1, 'one');
        await world.settle();
        expect(connected(0, 1)).toBe(true);
        expect(heard[1]!.all.filter((line) => line === 'n0 says 34:one')).toHaveLength(1);
      });
      test('two that dial each other at once end with one connection, good both ways', async () => {
        for (let i = 0; i < 10; i++) {
          if (i > 0) {
            await world.close();
            await start(2);
          }
          dial(0, 1);
          dial(1, 0);
          await world.until(() => connected(0, 1), 'connected');
          await world.settle();
          expect(connected(0, 1)).toBe(true);
          say(0, 1, 'hello');
          say(1, 0, 'hello yourself');
          await world.settle();
          expect(heard[1]!.all.filter((line) => line.includes('says'))).toEqual(['n0 says 34:hello']);
          expect(heard[0]!.all.filter((line) => line.includes('says'))).toEqual([
            'n1 says 34:hello yourself',
          ]);
        }
      });
      test('a dial to nowhere is answered with dialFailed, not inside the call', async () => {
        node(0).net.dial(node(1).peer, world.nowhere);
        expect(heard[0]!.all).toEqual([]);
        await world.until(() => heard[0]!.all.length > 0, 'answered');
        await world.settle();
        expect(heard[0]!.all).toEqual(['failed n1']);
      });
      test('a dial that finds another peer than it named fails', async () => {
        node(0).net.dial(node(1).peer, node(2).address);
        await world.until(() => heard[0]!.all.length > 0, 'answered');
        await world.settle();
        expect(heard[0]!.all).toEqual(['failed n1']);
        expect(heard[2]!.up.size).toBe(0);
      });
      test('close brings both ends down, not inside the call', async () => {
        await connect(0, 1);
        node(0).net.close(node(1).peer);
        expect(heard[0]!.all).toEqual(['up n1']);
        await world.until(() => !connected(0, 1) && heard[0]!.up.size + heard[1]!.up.size === 0, 'both down');
        await world.settle();
        expect([heard[0]!.all, heard[1]!.all]).toEqual([
          ['up n1', 'down n1'],
          ['up n0', 'down n0'],
        ]);
      });
      test('closing a peer that is not up changes nothing', async () => {
        node(0).net.close(node(1).peer);
        await world.settle();
        expect(heard[0]!.all).toEqual([]);
      });
      test('after a close the peer can be dialled again, by either', async () => {
        await connect(0, 1);
        node(0).net.close(node(1).peer);
        await world.until(() => heard[0]!.up.size + heard[1]!.up.size === 0, 'both down');
        await connect(1, 0);
        say(0, 1, 'again');
        await world.until(() => heard[1]!.all.includes('n0 says 34:again'), 'heard');
      });
      test('the death of a node brings its peers a down', async () => {
        await connect(0, 1);
        await connect(0, 2);
        world.kill(0);
        await world.until(() => heard[1]!.up.size + heard[2]!.up.size === 0, 'both hear of it');
        expect(heard[1]!.all).toEqual(['up n0', 'down n0']);
      });
    });

    describe('envelopes', () => {
      test('arrive whole, once, in order, and not inside the call', async () => {
        await connect(0, 1);
        for (let i = 0; i < 300; i++) say(0, 1, `${i}`);
        expect(heard[1]!.payloads).toEqual([]);
        await world.until(() => heard[1]!.payloads.length >= 300, 'all heard');
        await world.settle();
        expect(heard[1]!.payloads.map(({ bytes }) => textOf(bytes))).toEqual(
          Array.from({ length: 300 }, (_, i) => `${i}`),
        );
      });
      test('several payloads of several channels stay together', async () => {
        await connect(0, 1);
        const payloads = [0x20, 0x21, 0x22, 0x30, 0x38, 0x40, 0xff, 0x00].map((channel) => ({
          channel,
          bytes: bytesOf(`${channel}`),
        }));
        node(0).net.send([node(1).peer], payloads);
        await world.until(() => heard[1]!.payloads.length > 0, 'heard');
        expect(heard[1]!.payloads.map(({ channel }) => channel)).toEqual(
          payloads.map(({ channel }) => channel),
        );
        expect(heard[1]!.all.filter((line) => line.includes('says'))).toHaveLength(1);
      });
      test('go both ways, whoever dialled', async () => {
        await connect(0, 1);
        say(1, 0, 'from the dialled');
        say(0, 1, 'from the dialler');
        await world.until(() => heard[0]!.payloads.length + heard[1]!.payloads.length === 2, 'both heard');
      });
      test('go to each peer named, and to no other', async () => {
        await connect(0, 1);
        await connect(0, 2);
        await connect(1, 2);
        say(0, [1, 2], 'both');
        say(0, [2], 'two');
        await world.until(() => heard[2]!.payloads.length === 2 && heard[1]!.payloads.length === 1, 'heard');
        await world.settle();
        expect(heard[1]!.all.at(-1)).toBe('n0 says 34:both');
        expect(heard[2]!.all.slice(-2)).toEqual(['n0 says 34:both', 'n0 says 34:two']);
      });
      test('to a peer that is not up are lost, and nothing breaks', async () => {
        await connect(0, 1);
        say(0, [1, 2], 'one of two');
        await world.until(() => heard[1]!.payloads.length === 1, 'heard');
        await world.settle();
        expect(heard[2]!.all).toEqual([]);
      });
      test('empty payloads, empty envelopes and nobody to send to are harmless', async () => {
        await connect(0, 1);
        node(0).net.send([node(1).peer], []);
        node(0).net.send([], [{ channel: 1, bytes: bytesOf('x') }]);
        node(0).net.send([node(1).peer], [{ channel: 1, bytes: new Uint8Array(0) }]);
        say(0, 1, 'after');
        await world.until(() => heard[1]!.all.includes('n0 says 34:after'), 'heard');
        expect(heard[1]!.payloads.filter(({ bytes }) => bytes.length === 0)).toHaveLength(1);
      });
      test('bytes arrive as plain Uint8Array with the same content', async () => {
        await connect(0, 1);
        const sent = pattern(100_000);
        node(0).net.send([node(1).peer], [{ channel: 0x21, bytes: sent }]);
        await world.until(() => heard[1]!.payloads.length === 1, 'heard');
        const { bytes } = heard[1]!.payloads[0]!;
        expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
        expect(Buffer.compare(bytes, sent)).toBe(0);
      });
      test('of several megabytes arrive', async () => {
        await connect(0, 1);
        const sent = pattern(5_000_000);
        node(0).net.send([node(1).peer], [{ channel: 0x40, bytes: sent }]);
        say(0, 1, 'after');
        await world.until(() => heard[1]!.payloads.length === 2, 'heard');
        expect(Buffer.compare(heard[1]!.payloads[0]!.bytes, sent)).toBe(0);
      });
      test('sent by the first callback of a connection arrive', async () => {
        await world.close();
        world = await open(2);
        heard = [];
        const got: string[] = [];
        world.nodes.forEach(({ net }, i) => {
          net.listen({
            up: (peer) => net.send([peer], [{ channel: 1, bytes: bytesOf(`hello from n${i}`) }]),
            down: () => {},
            heard: (_, payloads) => got.push(...payloads.map(({ bytes }) => textOf(bytes))),
            dialFailed: () => {},
          });
        });
        dial(0, 1);
        await world.until(() => got.length === 2, 'both greet');
        expect(got.sort()).toEqual(['hello from n0', 'hello from n1']);
      });
    });
  });
}
