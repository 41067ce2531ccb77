// The proposal equivocator: when it is its turn it makes a second valid block, with other transactions, and
// proposes that one to its victims.

import { utf8Encode } from '#platform';
import { dataHash } from '../../protocol/hashes.ts';
import type { Block } from '../../protocol/types.ts';
import type { Liar, LiarKit } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';

export const proposalEquivocator: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: another block', (block) => ({ block: twinOf(kit, block) }));

/** As valid as the first: without its last transaction, or with one of the liar's own. */
function twinOf(kit: LiarKit, block: Block): Block {
  const own = utf8Encode(`twin${block.header.height}=x`);
  const txs = block.txs.length > 0 ? block.txs.slice(0, -1) : [own];
  if (block.txs.length === 0) kit.submitted(own);
  return { ...block, txs, header: { ...block.header, dataHash: dataHash(txs) } };
}
