import { expect, it } from 'vitest';
import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import type { Machine } from '../../sim/machine.ts';
import { AskedBlocks } from '../../sim/oracles/asked-blocks.ts';

type Message = Parameters<typeof encodeBlocksyncMessage>[0];
const said = (message: Message) => [{ channel: CHANNEL_BLOCKSYNC, bytes: encodeBlocksyncMessage(message) }];

it('a block is asked of who said to have it, in this life of who asks', () => {
  const asked = new AskedBlocks();
  const at = { index: 0 } as Machine;
  const asks = (height: bigint) => [...asked.asks(at, ['p'], said({ type: 'block-request', height }))];
  expect(asks(5n)).toEqual([{ peer: 'p', height: 5n }]);
  asked.hears(at, 'p', said({ type: 'status-response', base: 5n, height: 9n }), 1);
  expect([...asks(5n), ...asks(9n)]).toEqual([]);
  expect([...asks(4n), ...asks(10n)].map(({ height }) => height)).toEqual([4n, 10n]);
  // The node may not have taken up yet that the oldest went.
  asked.hears(at, 'p', said({ type: 'status-response', base: 7n, height: 10n }), 2);
  expect([...asks(5n), ...asks(10n)]).toEqual([]);
  asked.starts(at);
  expect(asks(9n)).toEqual([{ peer: 'p', height: 9n }]);
});
