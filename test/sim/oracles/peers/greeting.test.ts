// The oracle `greeting`: whom a node speaks to is a peer of it, or was one when what it says was said; and what it says is said where it belongs.

import { expect, it } from 'vitest';
import type { Payload } from '../../../../actors/turn.ts';
import { CHANNEL_GREETING, encodeNodeInfo, nodeInfoOf } from '../../../../machines/peers/node-info.ts';
import { CHANNEL_MEMPOOL, CHANNEL_OF } from '../../../../protocol/messages.ts';
import { BLOCK_PROTOCOL, P2P_PROTOCOL } from '../../../../protocol/types.ts';
import { encodeConsensusMessage } from '../../../../protocol/wire/index.ts';
import { GOOD_DISK } from '../../../../sim/disk-door.ts';
import { greetingOracle } from '../../../../sim/oracles/peers/greeting.ts';

const MS = 1_000_000;

it.each<[string, { lostMs?: number | null; heldMs?: number; channel?: number; isHonest?: boolean }, number]>([
  ['a peer', { lostMs: null }, 0],
  ['who was a peer a moment ago: what it says waited for the disk', { lostMs: 5 }, 0],
  ['who was a peer long ago', { lostMs: 100 }, 1],
  ['who was a peer long ago, by a liar', { lostMs: 100, isHonest: false }, 0],
  ['who was a peer long ago, when its disk holds it back until later', { lostMs: 100, heldMs: 95 }, 0],
  ['who never was a peer', {}, 1],
  ['who never was a peer, to greet', { channel: CHANNEL_GREETING }, 0],
])(
  'a node speaks to %s',
  (_, { lostMs, heldMs = 0, channel = CHANNEL_MEMPOOL, isHonest = true }, reports) => {
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
    const actor = channel === CHANNEL_GREETING ? 'peer:peer' : 'mempool';
    oracle.leaving?.(v0 as never, actor, { type: 'send', to: ['peer'], payloads });
    expect(said.slice(before)).toEqual(Array(reports).fill('v0 speaks to v1, which is no peer of it'));
  },
);

const hasVote = encodeConsensusMessage({ type: 'has-vote', height: 3n, round: 0, voteType: 1, index: 1 });
const own = { nodeId: 'v0', listenAddress: '', network: 'chain', moniker: 'v0' };
const greeting = (more: Parameters<typeof nodeInfoOf>[0] | object): Payload => ({
  channel: CHANNEL_GREETING,
  bytes: encodeNodeInfo(nodeInfoOf({ ...own, ...more })),
});
const question: Payload = { channel: CHANNEL_GREETING, bytes: new Uint8Array(0) };
const state: Payload = { channel: CHANNEL_OF['has-vote'], bytes: hasVote };
/** Whoever reads it reads the same. */
const swapped: Payload = { ...state, bytes: Uint8Array.of(0x3a, 6, 0x08, 3, 0x20, 1, 0x18, 1) };

it.each<[string, string, readonly Payload[], string | null]>([
  ['its greeting', 'peer:peer', [greeting({}), question], null],
  ['the name of another', 'peer:peer', [greeting({ nodeId: 'v1' })], 'greets as what it is not'],
  ['another chain', 'peer:peer', [greeting({ network: 'other' })], 'greets as what it is not'],
  [
    'an older block protocol',
    'peer:peer',
    [greeting({ blockProtocol: BLOCK_PROTOCOL - 1n })],
    'greets as what it is not',
  ],
  [
    'an older protocol of peers',
    'peer:peer',
    [greeting({ p2pProtocol: P2P_PROTOCOL - 1n })],
    'greets as what it is not',
  ],
  [
    'fewer channels',
    'peer:peer',
    [greeting({ channels: Uint8Array.of(0x20, 0x30) })],
    'greets as what it is not',
  ],
  ['a word on its channel', 'validator', [state, state], null],
  ['a word on another', 'validator', [state, { ...state, channel: 0x22 }], 'on channel 0x22 what is no word'],
  [
    'a word where nobody speaks',
    'validator',
    [{ ...state, channel: 0x39 }],
    'where its validator has nothing',
  ],
  ['a word where its mempool speaks', 'validator', [{ ...state, channel: 0x30 }], 'where its validator has'],
  [
    'what its validator says',
    'blocksync',
    [state],
    'on channel 0x20, where its blocksync has nothing to say',
  ],
  ['a word whose fields changed places', 'validator', [swapped], '(has-vote) in other bytes than CometBFT'],
  ['a greeting as a validator', 'validator', [question], 'on channel 0x1, where its validator'],
])('a node says %s', (_, actor, payloads, says) => {
  const said: string[] = [];
  const v0 = { name: 'v0', index: 0, height: 1n, heldUntilNs: 0, member: { id: 'v0' } };
  const about = { now: () => 0, machines: [v0], isHonest: () => true, chainId: 'chain' };
  const oracle = greetingOracle((what) => void said.push(what), about as never);
  oracle.leaving?.(v0 as never, actor, { type: 'send', to: [], payloads });
  expect(said).toEqual(says === null ? [] : [expect.stringContaining(says)]);
});

it.each<
  [
    string,
    { answers?: boolean; isUp?: boolean; againMs?: number; heldMs?: number; isHonest?: boolean },
    number,
  ]
>([
  ['is silent', {}, 1],
  ['answers', { answers: true }, 0],
  ['has not taken it for a peer yet', { isUp: false }, 0],
  ['is asked again at once', { againMs: 100 }, 0],
  ['was held back', { heldMs: 1_900 }, 0],
  ['lies', { isHonest: false }, 0],
])(
  'who is asked for its greeting by a peer, and %s',
  (_, { answers = false, isUp = true, againMs = 2_000, heldMs = 0, isHonest = true }, reports) => {
    const said: string[] = [];
    let now = 0;
    const node = { isPaused: false };
    const v0 = {
      name: 'v0',
      index: 0,
      height: 1n,
      heldUntilNs: 0,
      node,
      disk: { settings: GOOD_DISK },
      member: { id: 'v0' },
    };
    const v1 = { name: 'v1', index: 1, member: { id: 'peer' } };
    const about = { now: () => now, machines: [v0, v1], isHonest: () => isHonest, chainId: 'chain' };
    const oracle = greetingOracle((what) => void said.push(what), about as never);
    oracle.heard?.(v0 as never, 'peer', [greeting({ nodeId: 'peer' })]);
    if (isUp) oracle.published?.(v0 as never, 'peer:peer', { type: 'peer', peer: 'peer', up: true } as never);
    oracle.heard?.(v0 as never, 'peer', [greeting({ nodeId: 'peer' }), question]);
    if (answers)
      oracle.leaving?.(v0 as never, 'peer:peer', { type: 'send', to: ['peer'], payloads: [greeting({})] });
    now = againMs * MS;
    v0.heldUntilNs = heldMs * MS;
    oracle.heard?.(v0 as never, 'peer', [greeting({ nodeId: 'peer' }), question]);
    expect(said).toEqual(Array(reports).fill('v0 was asked for its greeting by v1, its peer, and is silent'));
  },
);
