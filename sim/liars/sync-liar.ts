// The lying sync peer: claims heights that it does not have, and never admits that it lacks a block. The other one says now and then, beside, that
// its first block comes after its last, and is found out by that.

import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlocksyncMessage, encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { instead, isItsPlace, type Liar, type LiarKit, type Lie } from './liar.ts';

const HEIGHTS_CLAIMED = 1_000n;
/** Every so often, what the other one says of itself cannot be. */
const SENSELESS_EVERY = 4;

export const syncLiar: Liar = (kit) => claiming(kit, () => false);

export const statusLiar: Liar = (kit) => {
  let claims = 0;
  return claiming(kit, () => ++claims % SENSELESS_EVERY === 0);
};

function claiming(kit: LiarKit, isSenseless: () => boolean): Lie {
  return instead(kit, ({ channel, bytes }) => {
    if (channel !== CHANNEL_BLOCKSYNC) return null;
    const message = decodeBlocksyncMessage(bytes);
    if (isRefusal(message)) return null;
    if (message.type !== 'status-response' && message.type !== 'no-block-response') return null;
    if (!isItsPlace(kit.words, message.height, 0) || !kit.lies()) return null;
    kit.count('lie: more blocks than it has');
    if (message.type === 'no-block-response') return [];
    const height = message.height + HEIGHTS_CLAIMED;
    const claimed = { ...message, height, ...(isSenseless() && { base: height + 1n }) };
    return [{ channel, bytes: encodeBlocksyncMessage(claimed) }];
  });
}
