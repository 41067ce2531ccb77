// The mislabeler of parts: parts of blocks leave it under the index of the next one, each with the proof of
// its true place; and some in their own place and with their own proof, but with other bytes. A block of one part has no other place.

import { CHANNEL_DATA } from '../../protocol/messages.ts';
import { consensusMessage } from '../oracles/ghost/messages.ts';
import { instead, isItsPlace, type Liar, partPayload, Remembered } from './liar.ts';

export const partMislabeler: Liar = (kit) => {
  const lies = new Remembered<'index' | 'bytes' | null>();
  return instead(kit, (payload) => {
    const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
    if (message?.type !== 'block-part') return null;
    const { height, round, part } = message;
    const total = Number(part.proof.total);
    const lie = lies.get(`${height}/${round}/${part.index}`, () => {
      const isOfBytes = total < 2 || height % ONE_IN_BYTES === 0n;
      if (!isItsPlace(kit.words, height, round) || !kit.lies()) return null;
      kit.count(isOfBytes ? 'lie: a part with other bytes' : 'lie: a part at another place');
      return isOfBytes ? 'bytes' : 'index';
    });
    if (lie === null) return null;
    const { index, bytes } = part;
    return [
      partPayload(height, round, {
        ...part,
        ...(lie === 'index' ? { index: (index + 1) % total } : { bytes: withAnotherEnd(bytes) }),
      }),
    ];
  });
};

/** Of blocks of several parts. */
const ONE_IN_BYTES = 3n;

function withAnotherEnd(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}
