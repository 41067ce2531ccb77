// The pusher of blocks: as a sync peer it gives, before each block that it is asked for, one that nobody asked for, far beyond the chain's end.

import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlocksyncMessage, encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { instead, isItsPlace, type Liar } from './liar.ts';

const HEIGHTS_BEYOND = 1_000n;

export const blockPusher: Liar = (kit) =>
  instead(kit, (payload) => {
    const { channel, bytes } = payload;
    const message = channel === CHANNEL_BLOCKSYNC ? decodeBlocksyncMessage(bytes) : null;
    if (!message || isRefusal(message) || message.type !== 'block-response') return null;
    const { block } = message;
    const { height } = block.header;
    if (!isItsPlace(kit.words, height, 0) || !kit.lies()) return null;
    kit.count('lie: a block that nobody asked for');
    const header = { ...block.header, height: height + HEIGHTS_BEYOND };
    const pushed = { ...message, block: { ...block, header }, extendedCommit: null };
    return [{ channel, bytes: encodeBlocksyncMessage(pushed) }, payload];
  });
