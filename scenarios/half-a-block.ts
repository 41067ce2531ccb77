// A liar gives one validator the beginning of a block that nobody else hears of. Its place is taken then, and its bytes may be those of the block that
// the others decide: a part is known by its proof.

import { CHANNEL_DATA } from '../protocol/messages.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import { consensusMessage } from '../sim/oracles/ghost/messages.ts';
import { everyone, height, liar, scenario, txs, validators } from '../sim/scenario/words.ts';

/** Its header names other validators: the first part is another one, and all others have the bytes of the true block's. The last is kept back. */
const halfATwin: Liar = (kit) => {
  const lie = aboutOwnBlocks(kit, 'lie: the beginning of another block', (block) => ({
    block: { ...block, header: { ...block.header, validatorsHash: new Uint8Array(32).fill(0xee) } },
  }));
  return (to, payloads) =>
    lie(to, payloads)?.filter((payload) => {
      const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
      return message?.type !== 'block-part' || message.part.index + 1 < message.part.proof.total;
    }) ?? null;
};

/** Blocks of three parts. What v2 has begun for v0 nobody can end, and what is decided instead comes from everybody. */
export const halfABlock = scenario(
  'who was given the beginning of another block gets the one that is decided',
  {
    name: 'half-a-block',
    cast: validators(4),
    load: txs({ perBlock: 4, size: 40_000 }),
    liars: [liar('v2', halfATwin, ['v0'])],
    ends: everyone.decides(height(12), { within: '240s' }),
  },
);
