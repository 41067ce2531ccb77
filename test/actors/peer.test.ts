import { expect, it } from 'vitest';
import type { PeerMail } from '../../actors/mail.ts';
import { GREET_AGAIN_NS, type PeerState, peerLogic } from '../../actors/peer.ts';
import type { Effect, Payload } from '../../actors/turn.ts';
import {
  CHANNEL_GREETING,
  encodeNodeInfo,
  type NodeInfo,
  nodeInfoOf,
} from '../../machines/peers/node-info.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import { Driven, only, said } from './drive.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const infoOf = (nodeId: string): NodeInfo =>
  nodeInfoOf({ nodeId, listenAddress: 'tcp://0.0.0.0:26656', network: 'c', moniker: 'm' });

type Peer = Driven<PeerState, PeerMail>;
const peer = (self: string, other: string): Peer =>
  new Driven(peerLogic({ peer: other, info: infoOf(self), greetAgainNs: GREET_AGAIN_NS }));

const greeting = (more: Partial<NodeInfo> = {}): Payload => ({
  channel: CHANNEL_GREETING,
  bytes: encodeNodeInfo({ ...infoOf(B), ...more }),
});
const QUESTION: Payload = { channel: CHANNEL_GREETING, bytes: EMPTY_BYTES };
const heard = (...payloads: Payload[]): PeerMail => ({ type: 'heard', peer: B, payloads });
const CONNECTED: PeerMail = { type: 'connected' };
const GONE: PeerMail = { type: 'disconnected' };
const TIMER: PeerMail = { type: 'timer', timer: 'greet' };

const UP = [
  'cancel greet',
  'tell validator peer-up',
  'tell mempool peer-up',
  'tell blocksync peer-up',
  'publish peer',
];
const DOWN = [
  'tell validator peer-down',
  'tell mempool peer-down',
  'tell blocksync peer-down',
  'publish peer',
];

const rows: readonly {
  readonly mail: readonly PeerMail[];
  readonly says: readonly string[];
  readonly stands: string;
}[] = [
  { mail: [CONNECTED], says: [`send ${B}`, 'schedule greet'], stands: 'greeting' },
  { mail: [CONNECTED, TIMER], says: [`send ${B}`, 'schedule greet'], stands: 'greeting' },
  { mail: [CONNECTED, heard(greeting())], says: UP, stands: 'up' },
  { mail: [CONNECTED, heard(greeting(), QUESTION)], says: [...UP, `send ${B}`], stands: 'up' },
  { mail: [CONNECTED, heard(QUESTION)], says: [`send ${B}`], stands: 'greeting' },
  { mail: [CONNECTED, heard(greeting()), heard(greeting())], says: [], stands: 'up' },
  { mail: [CONNECTED, heard(greeting()), heard(greeting(), QUESTION)], says: [`send ${B}`], stands: 'up' },
  { mail: [CONNECTED, heard(greeting()), TIMER], says: [], stands: 'up' },
  { mail: [CONNECTED, heard(greeting()), GONE], says: DOWN, stands: 'idle' },
  { mail: [CONNECTED, GONE], says: ['cancel greet', 'tell validator peer-down'], stands: 'idle' },
  { mail: [CONNECTED, GONE, GONE], says: [], stands: 'idle' },
  {
    mail: [CONNECTED, heard(greeting({ network: 'd' }))],
    says: ['cancel greet', `drop ${B}`],
    stands: 'refused',
  },
  {
    mail: [CONNECTED, heard({ ...QUESTION, bytes: Uint8Array.of(10, 9) })],
    says: ['cancel greet', `drop ${B}`],
    stands: 'refused',
  },
  {
    mail: [CONNECTED, heard(greeting({ network: 'd' })), heard(greeting(), QUESTION)],
    says: [],
    stands: 'refused',
  },
  {
    mail: [CONNECTED, heard(greeting({ network: 'd' })), GONE],
    says: ['tell validator peer-down'],
    stands: 'idle',
  },
  { mail: [CONNECTED, heard(greeting()), GONE, CONNECTED, heard(greeting())], says: UP, stands: 'up' },
];

it.each(rows)('$says, then $stands', ({ mail, says, stands }) => {
  const driven = peer(A, B);
  let last: readonly Effect[] = [];
  for (const each of mail) last = driven.tell(each);
  expect(said(last)).toEqual(says);
  expect(driven.logic.look?.(driven.state)).toBe(stands);
});

it('two who lose most of what they say are up in the end, and fall silent', () => {
  const sides = [peer(A, B), peer(B, A)] as const;
  let dice = 7;
  let sent = 0;
  const deliver = (from: 0 | 1, effects: readonly Effect[]): void => {
    for (const { payloads } of only(effects, 'send')) {
      sent++;
      dice = (Math.imul(dice, 1_103_515_245) + 12_345) >>> 0;
      if ((dice >>> 16) % 4 !== 0) continue;
      const to = from === 0 ? 1 : 0;
      deliver(to, sides[to].tell({ type: 'heard', peer: from === 0 ? A : B, payloads }));
    }
  };
  for (const side of [0, 1] as const) deliver(side, sides[side].tell(CONNECTED));
  for (let second = 0; second < 60; second++) {
    for (const side of [0, 1] as const) deliver(side, sides[side].tell(TIMER));
  }
  expect(sides.map(({ state }) => state.stands)).toEqual(['up', 'up']);
  const before = sent;
  for (const side of [0, 1] as const) deliver(side, sides[side].tell(TIMER));
  expect(sent).toBe(before);
});
