// The pusher of blocks: as a sync peer it gives, before each block that it is asked for, one that nobody asked for, far beyond the chain's end.

import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { blockGiven, instead, isItsPlace, type Liar } from './liar.ts';

const HEIGHTS_BEYOND = 1_000n;

export const blockPusher: Liar = (kit) =>
  instead(kit, (payload) => {
    const message = blockGiven(payload);
    if (!message) return null;
    const { block } = message;
    const { height } = block.header;
    if (!isItsPlace(kit.words, height, 0) || !kit.lies()) return null;
    kit.count('lie: a block that nobody asked for');
    const header = { ...block.header, height: height + HEIGHTS_BEYOND };
    const pushed = { ...message, block: { ...block, header }, extendedCommit: null };
    return [{ channel: CHANNEL_BLOCKSYNC, bytes: encodeBlocksyncMessage(pushed) }, payload];
  });
