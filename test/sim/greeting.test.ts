// The oracle `greeting`: whom a node speaks to is a peer of it, or was one when what it says was said.

import { expect, it } from 'vitest';
import { CHANNEL_GREETING } from '../../machines/peers/node-info.ts';
import { CHANNEL_VOTE } from '../../protocol/messages.ts';
import { GOOD_DISK } from '../../sim/disk-door.ts';
import { greetingOracle } from '../../sim/oracles/greeting.ts';

const MS = 1_000_000;

it.each<[string, { lostMs?: number | null; heldMs?: number; channel?: number; isHonest?: boolean }, number]>([
  ['a peer', { lostMs: null }, 0],
  ['who was a peer a moment ago: what it says waited for the disk', { lostMs: 5 }, 0],
  ['who was a peer long ago', { lostMs: 100 }, 1],
  ['who was a peer long ago, by a liar', { lostMs: 100, isHonest: false }, 0],
  ['who was a peer long ago, when its disk holds it back until later', { lostMs: 100, heldMs: 95 }, 0],
  ['who never was a peer', {}, 1],
  ['who never was a peer, to greet', { channel: CHANNEL_GREETING }, 0],
])('a node speaks to %s', (_, { lostMs, heldMs = 0, channel = CHANNEL_VOTE, isHonest = true }, reports) => {
  const said: string[] = [];
  let now = 0;
  const v0 = { name: 'v0', index: 0, height: 1n, heldUntilNs: heldMs * MS, disk: { settings: GOOD_DISK } };
  const v1 = { name: 'v1', index: 1, member: { id: 'peer' } };
  const about = {
    now: () => now,
    machines: [v0, v1].map((each) => ({ member: { id: 'v0' }, ...each })),
    isHonest: () => isHonest,
  };
  const oracle = greetingOracle((what) => void said.push(what), about as never);
  const turns = (up: boolean): void =>
    oracle.published?.(v0 as never, 'peer', { type: 'peer', peer: 'peer', up } as never);
  if (lostMs !== undefined) turns(true);
  if (typeof lostMs === 'number') turns(false);
  const before = said.length; // that it never greeted is another matter
  now = (lostMs ?? 0) * MS;
  const payloads = [{ channel, bytes: new Uint8Array(0) }];
  oracle.leaving?.(v0 as never, 'validator', { type: 'send', to: ['peer'], payloads });
  expect(said.slice(before)).toEqual(Array(reports).fill('v0 speaks to v1, which is no peer of it'));
});
