// What only real sockets can show: malformed frames, cut wires, slow readers, ports in use.

import * as tcp from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Payload } from '../../../actors/turn.ts';
import { CHANNEL_MEMPOOL, CHANNEL_VOTE } from '../../../protocol/messages.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { packEnvelope, unpackEnvelope } from '../../../runtime/host/net/envelope.ts';
import { openNet } from '../../../runtime/host/net/net.ts';
import { parseWsAddress } from '../../../runtime/host/net/net-address.ts';
import { bytesOf } from '../../compliance/bytes.ts';
import { HIGH, LOW, MIDDLE, type Node, PROTOCOL, start, stranger, until } from './sockets.ts';

describe('malformed frames', () => {
  const envelope = (...payloads: Payload[]) => packEnvelope(payloads);
  const hello = bytesOf('hello');
  const bad: Record<string, Uint8Array | string> = {
    text: 'a text frame',
    nothing: new Uint8Array(0),
    'not msgpack': Uint8Array.of(0xc1),
    'a number': Uint8Array.of(7),
    'a map': Uint8Array.of(0x80),
    'a channel without bytes': Uint8Array.of(0x91, 0x22),
    'bytes as channel': Uint8Array.of(0x92, 0xc4, 0, 0xc4, 0),
    'a channel beyond 255': Uint8Array.of(0x92, 0xcd, 1, 0, 0xc4, 0),
    'a negative channel': Uint8Array.of(0x92, 0xff, 0xc4, 0),
    'text as payload': Uint8Array.of(0x92, 1, 0xa1, 0x41),
    'a payload longer than the frame': Uint8Array.of(0x92, 1, 0xc6, 0xff, 0xff, 0xff, 0xff, 1),
    'an array longer than the frame': Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xfe),
    'a cut envelope': envelope({ channel: 1, bytes: hello }).subarray(0, 6),
    'bytes behind an envelope': Uint8Array.of(...envelope({ channel: 1, bytes: hello }), 0),
  };
  for (const [what, frame] of Object.entries(bad)) {
    test(`${what}: the connection is closed, the node goes on`, async () => {
      const { net, said } = await start(LOW);
      const one = stranger(net.address);
      await one.opened();
      one.socket.send(HIGH);
      await until(() => said.length > 0, 'up');
      one.socket.send(envelope({ channel: 1, bytes: hello }));
      one.socket.send(frame);
      one.socket.send(envelope({ channel: 1, bytes: bytesOf('too late') }));
      await until(() => one.closed !== null, 'closed');
      expect(one.closed).toBe(4003);
      expect(said).toEqual(['up 9', '9: hello', 'down 9']);
    });
  }
  test('envelopes come back as they were, and no bytes make the reader throw', () => {
    const payload = fc.record({ channel: fc.nat(255), bytes: fc.uint8Array({ maxLength: 300 }) });
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 40 }), (payloads) => {
        expect(unpackEnvelope(packEnvelope(payloads))).toEqual(payloads);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        const read = unpackEnvelope(noise);
        expect(isRefusal(read) || Array.isArray(read)).toBe(true);
      }),
      { numRuns: 2000 },
    );
    const big = { channel: 0x40, bytes: new Uint8Array(100_000).fill(7) };
    expect(unpackEnvelope(packEnvelope([big, big]))).toEqual([big, big]);
  });
});

describe('connections', () => {
  test('a peer that restarts and dials again replaces its old connection', async () => {
    const { net, said } = await start(LOW);
    const first = stranger(net.address);
    await first.opened();
    first.socket.send(HIGH);
    await until(() => said.length === 1, 'up');
    const second = stranger(net.address);
    await second.opened();
    second.socket.send(HIGH);
    await until(() => said.length === 3, 'up again');
    await until(() => first.closed !== null, 'the first is closed');
    expect([said, first.closed, second.closed]).toEqual([['up 9', 'down 9', 'up 9'], 4001, null]);
  });
  test('the lower id refuses a second connection from the other side', async () => {
    const [low, high] = [await start(LOW), await start(HIGH)];
    low.net.dial(HIGH, high.net.address);
    await until(() => low.said.length + high.said.length === 2, 'up');
    const again = stranger(low.net.address);
    await again.opened();
    again.socket.send(HIGH);
    await until(() => again.closed !== null, 'closed');
    expect([again.closed, low.said]).toEqual([4001, ['up 9']]);
  });
  test('twelve that all dial each other at once end with one connection per pair', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => (i + 1).toString(16).repeat(40).slice(0, 40));
    const nodes = await Promise.all(ids.map((id) => start(id)));
    for (const [i, from] of nodes.entries()) {
      for (const [j, to] of nodes.entries()) if (i !== j) from.net.dial(ids[j]!, to.net.address);
    }
    const standing = (node: Node) => {
      const up = new Set<string>();
      for (const line of node.said) {
        const [verb, who] = line.split(' ');
        if (verb === 'up') up.add(who!);
        if (verb === 'down') up.delete(who!);
      }
      return up.size;
    };
    await until(() => nodes.every((node) => standing(node) === ids.length - 1), 'all are connected');
    await sleep(200);
    expect(nodes.map(standing)).toEqual(ids.map(() => ids.length - 1));
    expect(nodes.flatMap(({ said }) => said).filter((line) => line.startsWith('failed'))).toEqual([]);
    for (const { net } of nodes) net.send(ids, [{ channel: 1, bytes: bytesOf('hello') }]);
    const heard = (node: Node) => node.said.filter((line) => line.endsWith(': hello')).length;
    await until(() => nodes.every((node) => heard(node) >= ids.length - 1), 'all hear all');
    await sleep(50);
    expect(nodes.map(heard)).toEqual(ids.map(() => ids.length - 1));
  });
  test('a cut wire is noticed', async () => {
    const [low, high] = [await start(LOW, { pingMs: 100 }), await start(HIGH, { pingMs: 100 })];
    const wire = await cuttable(high.net.address);
    low.net.dial(HIGH, wire.address);
    await until(() => low.said.length + high.said.length === 2, 'up');
    await sleep(500);
    expect([low.said, high.said]).toEqual([['up 9'], ['up 1']]);
    wire.cut();
    await until(() => low.said.length === 2 && high.said.length === 2, 'down');
    expect([low.said, high.said]).toEqual([
      ['up 9', 'down 9'],
      ['up 1', 'down 1'],
    ]);
  });
  test('a peer that reads slowly, and all the time, is not taken for a cut wire', async () => {
    const [low, high] = [await start(LOW, { pingMs: 1_500 }), await start(HIGH, { pingMs: 1_500 })];
    const wire = await cuttable(high.net.address, 10_000);
    low.net.dial(HIGH, wire.address);
    await until(() => low.said.length + high.said.length === 2, 'up');
    const megabyte = [{ channel: 1, bytes: new Uint8Array(1 << 20) }];
    for (let i = 0; i < 60; i++) low.net.send([HIGH], megabyte);
    await until(() => high.said.length === 61 || low.said.length > 1, 'all of it is there', 40_000);
    expect(low.said).toEqual(['up 9']);
  });
  test('a peer that does not read is dropped before it costs much memory', async () => {
    const [low, high] = [await start(LOW), await start(HIGH)];
    const wire = await cuttable(high.net.address);
    low.net.dial(HIGH, wire.address);
    await until(() => low.said.length + high.said.length === 2, 'up');
    wire.cut();
    const megabyte = [{ channel: 1, bytes: new Uint8Array(1 << 20) }];
    let sent = 0;
    while (low.said.length === 1 && sent < 400) {
      low.net.send([HIGH], megabyte);
      sent++;
      await new Promise((done) => setImmediate(done));
    }
    expect(low.said).toEqual(['up 9', 'down 9']);
    expect(sent).toBeGreaterThan(250);
    expect(sent).toBeLessThan(300);
  });
  test('strangers that do not read cost no more memory together than two of them may', async () => {
    const low = await start(LOW);
    const strangers = await Promise.all([MIDDLE, HIGH, '7'.repeat(40)].map((id) => start(id)));
    const wires = await Promise.all(strangers.map(() => cuttable(low.net.address)));
    for (const [i, { net }] of strangers.entries()) net.dial(LOW, wires[i]!.address);
    await until(() => low.said.length === 3, 'up');
    for (const wire of wires) wire.cut();
    const megabyte = [{ channel: 1, bytes: new Uint8Array(1 << 20) }];
    let sent = 0;
    while (low.said.length === 3 && sent < 300) {
      low.net.send([MIDDLE, HIGH, '7'.repeat(40)], megabyte);
      sent++;
      await new Promise((done) => setImmediate(done));
    }
    expect(low.said.slice(3)).toEqual([expect.stringMatching(/^down /)]);
    expect(sent).toBeGreaterThan(170);
    expect(sent).toBeLessThan(220);
  });
  test('to a peer that does not read no more transactions are said than may wait, and votes are', async () => {
    const [low, high] = [await start(LOW), await start(HIGH)];
    const wire = await cuttable(high.net.address);
    low.net.dial(HIGH, wire.address);
    await until(() => low.said.length + high.said.length === 2, 'up');
    wire.cut();
    const say = async (channel: number, times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        low.net.send([HIGH], [{ channel, bytes: new Uint8Array(1 << 20) }]);
        await new Promise((done) => setImmediate(done));
      }
    };
    await say(CHANNEL_MEMPOOL, 400);
    expect(low.said).toEqual(['up 9']);
    await say(CHANNEL_VOTE, 250);
    expect(low.said).toEqual(['up 9']);
    await say(CHANNEL_VOTE, 50);
    expect(low.said).toEqual(['up 9', 'down 9']);
  });
  test('two of the largest blocks at once, and votes behind them, come through, whoever dialled', async () => {
    const [low, high] = [await start(LOW), await start(HIGH)];
    low.net.dial(HIGH, high.net.address);
    await until(() => low.said.length + high.said.length === 2, 'up');
    const largest = 100 * (1 << 20);
    const wanted = [largest, largest, 200, 200];
    for (const [from, to, peer] of [
      [low, high, HIGH],
      [high, low, LOW],
    ] as const) {
      const sizes: number[] = [];
      to.net.listen({
        up: () => {},
        down: () => sizes.push(-1),
        heard: (_, payloads) => sizes.push(...payloads.map(({ bytes }) => bytes.length)),
        dialFailed: () => {},
      });
      for (const size of wanted) from.net.send([peer], [{ channel: 0x40, bytes: new Uint8Array(size) }]);
      await until(() => sizes.length === 4 || sizes.includes(-1), 'all are here', 60_000);
      expect(sizes).toEqual(wanted);
    }
    expect([low.said, high.said]).toEqual([['up 9'], ['up 1']]);
  });
  test('a dial to one that accepts and says nothing fails after a while', async () => {
    const low = await start(LOW, { handshakeMs: 300 });
    const silent = tcp.createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await until(() => silent.listening, 'listening');
    const began = performance.now();
    low.net.dial(HIGH, `ws://127.0.0.1:${(silent.address() as tcp.AddressInfo).port}`);
    await until(() => low.said.length > 0, 'failed');
    expect(low.said[0]).toMatch(/^failed 9: /);
    expect(performance.now() - began).toBeGreaterThan(250);
  });
  test('a dial that waits for an ok ends when its peer comes in by itself', async () => {
    const high = await start(HIGH, { handshakeMs: 2_000 });
    const coy = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => PROTOCOL });
    onTestFinished(() => coy.close());
    let closed: number | null = null;
    coy.on('connection', (socket) => {
      socket.send(LOW); // and no ok, ever
      socket.on('close', (code) => {
        closed = code;
      });
    });
    await until(() => coy.address() !== null, 'listening');
    high.net.dial(LOW, `ws://127.0.0.1:${(coy.address() as tcp.AddressInfo).port}`);
    await until(() => coy.clients.size === 1, 'dialled');
    await sleep(100); // its hello has been heard
    const one = stranger(high.net.address);
    await one.opened();
    for (const text of [LOW, 'ok']) one.socket.send(text);
    await until(() => high.said.includes('up 1'), 'up');
    await until(() => closed !== null, 'the dial has ended');
    expect([closed, high.said]).toEqual([4001, ['up 1']]);
  });
  test('a dial says why it failed', async () => {
    const [low, middle] = [await start(LOW), await start(MIDDLE)];
    low.net.dial(HIGH, 'ws://127.0.0.1:1');
    await until(() => low.said.length === 1, 'failed');
    low.net.dial(HIGH, middle.net.address);
    await until(() => low.said.length === 2, 'failed');
    low.net.dial(HIGH, 'ws://192.0.2.7:26656');
    await until(() => low.said.length === 3, 'failed');
    low.net.dial(LOW, low.net.address);
    await until(() => low.said.length === 4, 'failed');
    expect(low.said[0]).toMatch(/ECONNREFUSED/);
    expect(low.said[1]).toMatch(/another peer/);
    expect(low.said[2]).toMatch(/192\.0\.2\.7.* only loopback addresses/);
    expect(low.said[3]).toMatch(/our own id/);
    expect(middle.said).toEqual([]);
  });
});

describe('addresses', () => {
  test('a port in use: the error names it and says what to do', async () => {
    const { net } = await start(LOW);
    await expect(openNet({ peer: HIGH, listen: net.address })).rejects.toThrow(
      `cannot listen on ${net.address}: the port is in use; stop the other program or listen on another port`,
    );
  });
  test('only this machine may be listened on', async () => {
    for (const listen of ['ws://0.0.0.0:26656', 'ws://10.1.2.3:26656', 'ws://example.com:1', 'ws://[::]:1']) {
      await expect(openNet({ peer: LOW, listen })).rejects.toThrow(/no authentication between peers yet/);
    }
  });
  test('what is no address is refused with an example', () => {
    for (const text of [
      '',
      '127.0.0.1:26656',
      'tcp://127.0.0.1:1',
      'ws://127.0.0.1',
      'ws://a:b@127.0.0.1:1',
      'ws://::1:1',
    ]) {
      const parsed = parseWsAddress(text);
      expect(isRefusal(parsed) && parsed.because).toMatch(/write ws:\/\/127\.0\.0\.1:26656/);
    }
    expect(parseWsAddress('ws://127.0.0.1:99999')).toMatchObject({ refused: 'bad-address' });
    expect(parseWsAddress('ws://[::1]:26656')).toEqual({ host: '::1', port: 26656 });
    expect(parseWsAddress('ws://localhost:0')).toEqual({ host: 'localhost', port: 0 });
  });
});

/** A TCP wire to `address` that can be cut: then it carries nothing more, and nobody is told. */
/** @param bytesPerMs what it carries to that address; all that comes when nothing is said */
async function cuttable(
  address: string,
  bytesPerMs = Number.POSITIVE_INFINITY,
): Promise<{ address: string; cut(): void }> {
  const port = Number(new URL(address).port);
  const sockets: tcp.Socket[] = [];
  const server = tcp.createServer((inner) => {
    const outer = tcp.connect(port, '127.0.0.1');
    sockets.push(inner, outer);
    for (const socket of [inner, outer]) socket.on('error', () => {});
    if (bytesPerMs === Number.POSITIVE_INFINITY) inner.pipe(outer);
    else inner.pipe(slowed(bytesPerMs)).pipe(outer);
    outer.pipe(inner);
  });
  server.listen(0, '127.0.0.1');
  await until(() => server.listening, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    address: `ws://127.0.0.1:${(server.address() as tcp.AddressInfo).port}`,
    cut: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
  };
}

const slowed = (bytesPerMs: number): Transform =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) =>
      void setTimeout(() => done(null, chunk), chunk.length / bytesPerMs),
  });
