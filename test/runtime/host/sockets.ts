// Nodes' nets and sockets driven by hand, for the tests of the net.

import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { type HostNet, type NetOptions, openNet } from '../../../runtime/host/net/net.ts';
import { textOf } from '../../compliance/bytes.ts';

export const LOW = '1'.repeat(40);
export const MIDDLE = '5'.repeat(40);
export const HIGH = '9'.repeat(40);
export const PROTOCOL = 'rehearsal.p2p.1';

export interface Node {
  readonly net: HostNet;
  readonly said: string[];
}
/** Listens, and keeps what its listener hears: a peer by the first letter of its id. */
export async function start(peer: string, options: Partial<NetOptions> = {}): Promise<Node> {
  const net = await openNet({ peer, listen: 'ws://127.0.0.1:0', ...options });
  const said: string[] = [];
  net.listen({
    up: (other) => said.push(`up ${other[0]}`),
    down: (other) => said.push(`down ${other[0]}`),
    heard: (other, payloads) =>
      said.push(`${other[0]}: ${payloads.map(({ bytes }) => textOf(bytes)).join('+')}`),
    dialFailed: (other, because) => said.push(`failed ${other[0]}: ${because}`),
  });
  onTestFinished(() => net.shutdown());
  return { net, said };
}
export async function until(holds: () => boolean, what: string, ms = 8000): Promise<void> {
  const end = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await sleep(3);
  }
}
/** A socket that we drive by hand, with the code it was closed with. */
export function stranger(address: string, protocol: string | undefined = PROTOCOL, origin?: string) {
  const socket = new WebSocket(address, protocol ? [protocol] : [], origin === undefined ? {} : { origin });
  const heard: string[] = [];
  let closed: number | string | null = null;
  socket.on('message', (data) => heard.push(String(data)));
  socket.on('close', (code) => {
    closed ??= code;
  });
  socket.on('error', (error) => {
    closed ??= error.message;
  });
  onTestFinished(() => socket.terminate());
  return {
    socket,
    heard,
    get closed() {
      return closed;
    },
    opened: () => until(() => socket.readyState === WebSocket.OPEN, 'the stranger is connected'),
  };
}
