// The lying sync peer: claims heights that it does not have, and never admits that it lacks a block.

import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlocksyncMessage, encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { instead, isItsPlace, type Liar } from './liar.ts';

const HEIGHTS_CLAIMED = 1_000n;

export const syncLiar: Liar = (kit) =>
  instead(kit, ({ channel, bytes }) => {
    if (channel !== CHANNEL_BLOCKSYNC) return null;
    const message = decodeBlocksyncMessage(bytes);
    if (isRefusal(message)) return null;
    if (message.type !== 'status-response' && message.type !== 'no-block-response') return null;
    if (!isItsPlace(kit.words, message.height, 0) || !kit.lies()) return null;
    kit.count('lie: more blocks than it has');
    if (message.type === 'no-block-response') return [];
    const claimed = { ...message, height: message.height + HEIGHTS_CLAIMED };
    return [{ channel, bytes: encodeBlocksyncMessage(claimed) }];
  });
