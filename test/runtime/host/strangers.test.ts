// Who comes in, and who does not: strangers at the door, those that are one too many, those that never greet.

import * as tcp from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { packEnvelope } from '../../../runtime/host/net/envelope.ts';
import { openNet } from '../../../runtime/host/net/net.ts';
import { bytesOf } from '../../compliance/bytes.ts';
import { HIGH, LOW, type Node, PROTOCOL, start, stranger, until } from './sockets.ts';

describe('strangers', () => {
  test('another protocol, no protocol, or a web page: refused at the door', async () => {
    const { net, said } = await start(LOW);
    for (const [protocol, origin] of [['other.1'], [''], [PROTOCOL, 'https://example.com']]) {
      const one = stranger(net.address, protocol, origin);
      await until(() => one.closed !== null, 'refused');
      expect(one.closed).toBe('Unexpected server response: 401');
    }
    expect(said).toEqual([]);
  });
  test('one that says our id, no id, or bytes instead of an id: closed, and nobody hears of it', async () => {
    const { net, said } = await start(LOW);
    for (const [hello, code] of [
      [LOW, 4002],
      ['', 4002],
      ['A'.repeat(40), 4002],
      ['7'.repeat(41), 4002],
      [bytesOf(HIGH), 4003],
    ] as const) {
      const one = stranger(net.address);
      await one.opened();
      one.socket.send(hello);
      await until(() => one.closed !== null, 'closed');
      expect(one.closed).toBe(code);
    }
    expect(said).toEqual([]);
  });
  test('one that says nothing, or that is to judge and does not: closed after a while', async () => {
    const { net, said } = await start(HIGH, { handshakeMs: 200 });
    for (const hello of [null, LOW]) {
      const one = stranger(net.address);
      await one.opened();
      if (hello !== null) one.socket.send(hello);
      await until(() => one.closed !== null, 'closed');
      expect(one.closed).toBe(4004);
    }
    expect(said).toEqual([]);
  });
  test('one that opens connections and asks for no WebSocket: it gets no more than so many, and not for long', async () => {
    const { net, said } = await start(LOW, { handshakeMs: 1000 });
    const port = Number(new URL(net.address).port);
    const sockets = Array.from({ length: 600 }, (_, i) => {
      const socket = tcp.connect(port, '127.0.0.1', () => void (i % 2 && socket.write('GET / HTTP/1.1\r\n')));
      socket.on('error', () => {}).resume();
      return socket;
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const gone = () => sockets.filter(({ closed }) => closed).length;
    await until(() => sockets.every(({ connecting }) => !connecting), 'connected');
    await until(() => gone() >= 600 - 512, 'too many are hung up on');
    await until(() => gone() === 600, 'all are hung up on');
    const high = await start(HIGH);
    high.net.dial(LOW, net.address);
    await until(() => said.length + high.said.length === 2, 'up');
    expect([said, high.said]).toEqual([['up 9'], ['up 1']]);
  });
  test('those that say nothing make way, the oldest first, and keep nobody out who says who he is', async () => {
    const { net, said } = await start(LOW, { handshakeMs: 60_000, known: [HIGH] });
    const port = Number(new URL(net.address).port);
    const first = await start('8'.repeat(40));
    first.net.dial(LOW, net.address);
    await until(() => said.length === 1, 'up');
    const silent: tcp.Socket[] = [];
    onTestFinished(() => {
      for (const socket of silent) socket.destroy();
    });
    for (let i = 0; i < 600; i++) {
      const socket = tcp.connect(port, '127.0.0.1').on('error', () => {});
      silent.push(socket.resume());
      await until(() => !socket.connecting, 'connected');
    }
    // 64, and one for each that is known: a process of few descriptors needs the others for its files.
    await until(() => silent.filter(({ closed }) => closed).length === 600 - 65, 'the others made way');
    expect(silent.findIndex(({ closed }) => !closed)).toBe(600 - 65);
    const high = await start(HIGH);
    high.net.dial(LOW, net.address);
    await until(() => said.length + high.said.length === 3, 'up');
    expect([said, first.said]).toEqual([['up 8', 'up 9'], ['up 1']]);
  });
  test('one that says more than a greeting: hung up on before all of it is here, by who dialled as well', async () => {
    const [low, high] = [await start(LOW), await start(HIGH)];
    const one = stranger(low.net.address);
    await one.opened();
    one.socket.send('7'.repeat(1 << 20));
    await until(() => one.closed !== null, 'closed');
    expect([one.closed, low.said]).toEqual([1006, []]);
    const talkative = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => PROTOCOL });
    onTestFinished(() => talkative.close());
    talkative.on('connection', (socket) => socket.send('7'.repeat(1 << 20)));
    await until(() => talkative.address() !== null, 'listening');
    high.net.dial(LOW, `ws://127.0.0.1:${(talkative.address() as tcp.AddressInfo).port}`);
    await until(() => high.said.length > 0, 'failed');
    expect(high.said).toEqual(['failed 1: the connection closed (1006)']);
    // What comes right behind a greeting is none of it.
    const two = stranger(high.net.address);
    await two.opened();
    for (const text of [LOW, 'ok']) two.socket.send(text);
    two.socket.send(packEnvelope([{ channel: 1, bytes: bytesOf('x'.repeat(1 << 20)) }]));
    await until(() => high.said.length > 2, 'heard');
    expect([high.said[1], high.said[2]?.length]).toEqual(['up 1', 3 + (1 << 20)]);
  });
  test('before our node listens for its mail, nobody comes in', async () => {
    const net = await openNet({ peer: LOW, listen: 'ws://127.0.0.1:0' });
    onTestFinished(() => net.shutdown());
    const one = stranger(net.address);
    await until(() => one.closed !== null, 'closed');
    expect(one.closed).toBe(1013);
  });
  test('a verdict from the one that has none to give closes the connection', async () => {
    const { net, said } = await start(HIGH);
    const one = stranger(net.address);
    await one.opened();
    one.socket.send(LOW);
    one.socket.send('yes');
    await until(() => one.closed !== null, 'closed');
    expect([one.closed, said]).toEqual([4003, []]);
  });
});

describe('one that is up and does not greet', () => {
  const up = async (node: Node) => {
    const one = stranger(node.net.address);
    await one.opened();
    one.socket.send(HIGH);
    await until(() => node.said.length > 0, 'up');
    return one;
  };
  test('is hung up on after a while, unless it greeted meanwhile', async () => {
    const told: string[] = [];
    const onTurnedAway = (peer: string, because: string) => void told.push(`${peer[0]} ${because}`);
    const [first, second] = [
      await start(LOW, { greetingMs: 300, onTurnedAway }),
      await start(LOW, { greetingMs: 300, onTurnedAway }),
    ];
    const [silent, greets] = [await up(first), await up(second)];
    second.net.greeted(HIGH);
    await until(() => silent.closed !== null, 'closed');
    expect([silent.closed, first.said, told]).toEqual([
      4004,
      ['up 9', 'down 9'],
      ['9 it did not greet within 300 ms'],
    ]);
    await sleep(400);
    expect([greets.closed, second.said, told.length]).toEqual([null, ['up 9'], 1]);
  });
  test('says nothing large: neither a message, nor a part of one', async () => {
    for (const fin of [true, false]) {
      const node = await start(LOW, { greetingMs: 60_000 });
      const one = await up(node);
      one.socket.send(packEnvelope([{ channel: 1, bytes: new Uint8Array(10 * 1024) }])); // as large as a greeting may be
      await until(() => node.said.length === 2, 'heard');
      one.socket.send(new Uint8Array(1 << 20), { fin });
      await until(() => one.closed !== null, 'hung up on');
      expect([one.closed, node.said.at(-1)]).toEqual([1006, 'down 9']);
    }
  });
});

describe('inbound peers', () => {
  const says = async (address: string, ...texts: string[]) => {
    const one = stranger(address);
    await one.opened();
    for (const text of texts) one.socket.send(text);
    return one;
  };
  type Stranger = Awaited<ReturnType<typeof says>>;
  const closedWith = async (one: Stranger): Promise<Stranger['closed']> => {
    await until(() => one.closed !== null, 'closed');
    return one.closed;
  };

  test('are no more than may be: whoever comes then is turned away, until one goes, and who comes again is none more', async () => {
    const told: string[] = [];
    const { net, said } = await start(LOW, {
      inboundMax: 2,
      onTurnedAway: (peer, because) => told.push(`${peer[0]} ${because}`),
    });
    const [a, b] = [await says(net.address, '7'.repeat(40)), await says(net.address, '8'.repeat(40))];
    await until(() => said.length === 2, 'two are up');
    expect(await closedWith(await says(net.address, HIGH))).toBe(4005);
    expect(told).toEqual(['9 it is one more than the 2 inbound peers of p2p.max_num_inbound_peers']);
    const again = await says(net.address, '8'.repeat(40));
    expect(await closedWith(b)).toBe(4001);
    await until(() => said.length === 4, 'up again');
    a.socket.close();
    await until(() => said.includes('down 7'), 'one has gone');
    const late = await says(net.address, HIGH);
    await until(() => said.includes('up 9'), 'there is room');
    expect([again.closed, late.closed, told.length]).toEqual([null, null, 1]);
  });

  test('say no more half than may be, all of them together: who has the most is hung up on', async () => {
    const { net, said } = await start(LOW, { strangersBytesMax: 1_000_000 });
    const all: Stranger[] = [];
    for (const digit of '678') all.push(await says(net.address, digit.repeat(40)));
    await until(() => said.length === 3, 'three are up');
    for (const peer of ['6', '7', '8']) net.greeted(peer.repeat(40));
    const whole = packEnvelope([{ channel: 1, bytes: new Uint8Array(700_000) }]);
    // More than may be half said, and none of it is in the end.
    for (const [i, { socket }] of all.entries()) {
      socket.send(whole);
      await until(() => said.length === 4 + i, 'heard');
    }
    for (const [i, bytes] of [100_000, 200_000, 600_000].entries())
      all[i]?.socket.send(new Uint8Array(bytes), { fin: false });
    await sleep(200);
    expect(all.map(({ closed }) => closed)).toEqual([null, null, null]);
    all[0]?.socket.send(new Uint8Array(200_000), { fin: false }); // in whatever order they come, the third has the most
    await until(() => all[2]?.closed !== null, 'hung up on');
    await sleep(100);
    expect(all.map(({ closed }) => closed)).toEqual([null, null, 1006]);
    expect(said.at(-1)).toBe('down 8');
  });
  test('are no more either when many wait for their turn at once', async () => {
    const { net, said } = await start(HIGH, { inboundMax: 2 });
    const ids = Array.from('12345678', (digit) => digit.repeat(40));
    const waiting = await Promise.all(ids.map((id) => says(net.address, id)));
    await sleep(100); // each hello has been heard
    for (const { socket } of waiting) socket.send('ok');
    await until(() => waiting.filter(({ closed }) => closed === 4005).length === 6, 'six are turned away');
    expect(said.map((line) => line.slice(0, 2))).toEqual(['up', 'up']);
  });
  test('are 40 where nobody says how many; who is known comes in all the same, and takes no place', async () => {
    const known = [HIGH, '8'.repeat(40)];
    const { net, said } = await start(LOW, { known });
    await says(net.address, known[1]!);
    const ids = Array.from({ length: 40 }, (_, i) => `7${i.toString().padStart(39, '0')}`);
    const strangers = await Promise.all(ids.map((id) => says(net.address, id)));
    await until(() => said.length === 41, 'up');
    expect(await closedWith(await says(net.address, '6'.repeat(40)))).toBe(4005);
    const high = await start(HIGH);
    high.net.dial(LOW, net.address);
    await until(() => said.length === 42, 'the known one is up');
    expect([said[41], strangers.every(({ closed }) => closed === null)]).toEqual(['up 9', true]);
  });
  test('that are too many hear why, whoever of the two judges', async () => {
    const told: string[] = [];
    const onDialFailed = (peer: string, because: string) => void told.push(`${peer[0]} ${because}`);
    const why = /the peer has as many inbound peers as it takes/;
    const [low, high] = [await start(LOW, { inboundMax: 0 }), await start(HIGH, { onDialFailed })];
    high.net.dial(LOW, low.net.address);
    await until(() => high.said.length === 1, 'failed');
    expect([low.said, high.said]).toEqual([[], [expect.stringMatching(why)]]);
    const [judge, full] = [await start(LOW, { onDialFailed }), await start(HIGH, { inboundMax: 0 })];
    judge.net.dial(HIGH, full.net.address);
    await until(() => judge.said.length === 2, 'up, and down');
    expect([judge.said, full.said]).toEqual([['up 9', 'down 9'], []]);
    expect(told).toEqual([1, 9].map((id) => expect.stringMatching(new RegExp(`^${id} ${why.source}`))));
  });
});
