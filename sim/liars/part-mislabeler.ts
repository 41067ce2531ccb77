// The mislabeler of parts: parts of blocks leave it under the index of the next one, each with the proof of
// its true place. A block of one part has no other place.

import { CHANNEL_DATA } from '../../protocol/messages.ts';
import { consensusMessage } from '../oracles/messages.ts';
import { instead, isItsPlace, type Liar, partPayload, Remembered } from './liar.ts';

export const partMislabeler: Liar = (kit) => {
  const isMislabelled = new Remembered<boolean>();
  return instead(kit, (payload) => {
    const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
    if (message?.type !== 'block-part') return null;
    const { height, round, part } = message;
    const total = Number(part.proof.total);
    if (total < 2) return null;
    const isLie = isMislabelled.get(`${height}/${round}/${part.index}`, () => {
      if (!isItsPlace(kit.words, height, round) || !kit.lies()) return false;
      kit.count('lie: a part at another place');
      return true;
    });
    return isLie ? [partPayload(height, round, { ...part, index: (part.index + 1) % total })] : null;
  });
};
