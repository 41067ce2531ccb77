// The forger of polkas: in a round after the first it proposes a block of its own and says that two thirds
// prevoted it in the round before. Nobody did.

import type { Liar } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';

export const polForger: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: a polka that never was', (block, { round }) =>
    round > 0 ? { block, polRound: round - 1 } : null,
  );
