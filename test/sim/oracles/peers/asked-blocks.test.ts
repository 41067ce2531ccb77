import { expect, it } from 'vitest';
import { DEFAULT_SYNC } from '../../../../machines/sync/config.ts';
import { CHANNEL_BLOCKSYNC } from '../../../../protocol/messages.ts';
import { encodeBlocksyncMessage } from '../../../../protocol/wire/index.ts';
import type { Machine } from '../../../../sim/machine.ts';
import type { WorldAbout } from '../../../../sim/oracle.ts';
import { AskedBlocks } from '../../../../sim/oracles/peers/asked-blocks.ts';
import { blameOracle } from '../../../../sim/oracles/peers/blame.ts';

type Message = Parameters<typeof encodeBlocksyncMessage>[0];
const said = (message: Message) => [{ channel: CHANNEL_BLOCKSYNC, bytes: encodeBlocksyncMessage(message) }];

it('a block is asked of who said to have it, in this life of who asks', () => {
  const asked = new AskedBlocks();
  const at = { index: 0 } as Machine;
  const asks = (height: bigint) => [...asked.asks(at, ['p'], said({ type: 'block-request', height }), 0)];
  const isClaimed = (height: bigint) => asks(height)[0]?.isClaimed;
  expect(asks(5n)).toEqual([{ peer: 'p', height: 5n, isClaimed: false }]);
  asked.hears(at, 'p', said({ type: 'status-response', base: 5n, height: 9n }), 1);
  expect([4n, 5n, 9n, 10n].map(isClaimed)).toEqual([false, true, true, false]);
  // The node may not have taken up yet that the oldest went.
  asked.hears(at, 'p', said({ type: 'status-response', base: 7n, height: 10n }), 2);
  expect([5n, 10n].map(isClaimed)).toEqual([true, true]);
  asked.starts(at);
  expect(isClaimed(9n)).toBe(false);
});

it('who gave a wrong block is asked for nothing for a while, in this life of who asks', () => {
  const [at, liar] = ['v0', 'v1'].map((name, index) => ({ index, name, height: 0n, member: { id: name } }));
  const machines = [at, liar] as unknown as Machine[];
  const found: string[] = [];
  let now = 0;
  const oracle = blameOracle((what) => found.push(what), {
    machines,
    now: () => now,
    isHonest: (machine: Machine) => machine.name === 'v0',
  } as unknown as WorldAbout);
  const asks = (seconds: number) => {
    now = seconds * 1e9;
    found.length = 0;
    const payloads = said({ type: 'block-request', height: 5n });
    oracle.leaving?.(machines[0] as Machine, 'blocksync', { type: 'send', to: ['v1'], payloads });
    return found;
  };
  const drops = (because: string) =>
    oracle.leaving?.(machines[0] as Machine, 'blocksync', { type: 'score', peer: 'v1', because, drop: true });
  oracle.heard?.(machines[0] as Machine, 'v1', said({ type: 'status-response', base: 1n, height: 9n }));
  drops('blocks asked for do not come');
  expect(asks(1)).toEqual([]);
  drops('block sync at height 4: insufficient voting power');
  expect(asks(50)).toEqual(['v0 asks v1 for block 5, 49 s after it gave a wrong one']);
  expect(asks(57)).toEqual([]);
  drops('block sync at height 4: its half of a pair was wrong');
  oracle.started?.(machines[0] as Machine);
  oracle.heard?.(machines[0] as Machine, 'v1', said({ type: 'status-response', base: 1n, height: 9n }));
  expect(asks(58)).toEqual([]);
});

it('who is asked a moment ago, and has said how far it is, is not quiet', () => {
  const [at, peer] = ['v0', 'v1'].map((name, index) => ({
    index,
    name,
    height: 0n,
    heldUntilNs: 0,
    member: { id: name },
    config: { sync: DEFAULT_SYNC },
    clock: { fastest: 1 },
  })) as unknown as [Machine, Machine];
  const found: string[] = [];
  let now = 0;
  const oracle = blameOracle((what) => found.push(what), {
    machines: [at, peer],
    now: () => now,
    isHonest: () => true,
  } as unknown as WorldAbout);
  const until = (seconds: number) => {
    now = seconds * 1e9;
  };
  const asks = (height: bigint) => {
    const payloads = said({ type: 'block-request', height });
    oracle.leaving?.(at, 'blocksync', { type: 'send', to: ['v1'], payloads });
  };
  const hears = (message: Message) => oracle.heard?.(at, 'v1', said(message));
  const drops = () => {
    found.length = 0;
    const because = 'blocks asked for do not come';
    oracle.leaving?.(at, 'blocksync', { type: 'score', peer: 'v1', because, drop: true });
    return found.length;
  };
  until(10);
  hears({ type: 'status-response', base: 1n, height: 9n });
  asks(5n);
  until(24);
  expect(drops()).toBe(1);
  until(25);
  expect(drops()).toBe(0);
  hears({ type: 'no-block-response', height: 5n });
  asks(6n);
  until(39);
  expect(drops()).toBe(1);
  // For half a minute it did not say how far it is.
  until(40);
  hears({ type: 'no-block-response', height: 6n });
  asks(7n);
  until(41);
  expect(drops()).toBe(0);
});

it('who answers what a line made a question is not to blame for it, and nobody else is excused', () => {
  const machines = ['v0', 'v1', 'v2'].map((name, index) => ({
    index,
    name,
    height: 0n,
    member: { id: name },
  }));
  const [v0, v1] = machines as unknown as [Machine, Machine];
  const found: string[] = [];
  const oracle = blameOracle((what) => found.push(what), {
    machines,
    now: () => 0,
    isHonest: () => true,
  } as unknown as WorldAbout);
  const drops = (peer: string) =>
    oracle.leaving?.(v0, 'blocksync', { type: 'score', peer, because: 'we are not syncing', drop: true });
  drops('v1');
  expect(found).toEqual(['v0 cuts off v1, which broke no rule: we are not syncing']);
  const payloads = said({ type: 'block-request', height: 1n });
  for (const payload of payloads) oracle.corrupted?.(payload);
  oracle.heard?.(v1, 'v0', payloads);
  drops('v1');
  expect(found).toHaveLength(1);
  drops('v2');
  expect(found[1]).toBe('v0 cuts off v2, which broke no rule: we are not syncing');
});
