// Where a node listens and what it dials: ws://host:port, on this machine only while peers do not prove who
// they are.

import { type Refusal, refuse } from '../../../protocol/refusal.ts';

export interface WsAddress {
  readonly host: string;
  /** 0: the system chooses (for listening). */
  readonly port: number;
}

const BYTE = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const LOOPBACK = new RegExp(`^(127\\.${BYTE}\\.${BYTE}\\.${BYTE}|::1|localhost)$`);
const SHAPE = /^ws:\/\/(\[[0-9a-fA-F:]+\]|[^/:?#@[\]]+):(\d{1,5})\/?$/;

export function parseWsAddress(text: string): WsAddress | Refusal {
  const [, hostText, portText] = SHAPE.exec(text) ?? [];
  if (hostText === undefined || portText === undefined) {
    return refuse('bad-address', `"${text}" is not an address: write ws://127.0.0.1:26656`);
  }
  const host = hostText.replace(/^\[|\]$/g, '');
  const port = Number(portText);
  if (port > 65_535) return refuse('bad-address', `"${text}": a port is at most 65535`);
  if (!LOOPBACK.test(host)) {
    return refuse(
      'bad-address',
      `"${text}" is not on this machine: there is no authentication between peers yet, so only ` +
        'loopback addresses (127.0.0.1, [::1], localhost) are allowed',
    );
  }
  return { host, port };
}

export const formatWsAddress = ({ host, port }: WsAddress): string =>
  host.includes(':') ? `ws://[${host}]:${port}` : `ws://${host}:${port}`;
