// The forger of blocks: as a sync peer it serves blocks that nobody decided. At even heights another valid one; at odd heights the true one,
// with a commit for what it forged before. And where a first round ended with nil, another valid one, with the precommits for nil for its commit.

import { utf8Encode } from '#platform';
import { commitHash, dataHash, headerHash } from '../../protocol/hashes.ts';
import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { PartSet } from '../../protocol/part-set.ts';
import type { Block, BlockId, CommitSig } from '../../protocol/types.ts';
import { encodeBlock, encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { blockGiven, instead, isItsPlace, type Liar, type LiarKit, Remembered } from './liar.ts';
import { Overheard } from './overheard.ts';

export const blockForger: Liar = (kit) => {
  /** By height; null: it told the truth there. */
  const forged = new Remembered<Block | null>();
  const overheard = new Overheard(kit);
  return instead(kit, (payload) => {
    const message = blockGiven(payload);
    if (!message) return null;
    const { height } = message.block.header;
    const block = forged.get(String(height), () => {
      if (!isItsPlace(kit.words, height, 0) || !kit.lies()) return null;
      kit.count('lie: a block that nobody decided');
      const before = forged.get(String(height - 1n), () => null);
      const nils = overheard.nilOf(height - 1n);
      const isNew = overheard.nilOf(height) !== null || (height % 2n === 0n && !nils);
      return isNew ? withOwnTransaction(kit, message.block) : withCommitFor(message.block, before, nils);
    });
    return block && [{ channel: CHANNEL_BLOCKSYNC, bytes: encodeBlocksyncMessage({ ...message, block }) }];
  });
};

function withOwnTransaction(kit: LiarKit, block: Block): Block {
  const own = utf8Encode(`forged${block.header.height}=x`);
  kit.submitted(own);
  const txs = [...block.txs, own];
  return { ...block, txs, header: { ...block.header, dataHash: dataHash(txs) } };
}

/** The signatures are true ones, for the true block or for nil. */
function withCommitFor(block: Block, before: Block | null, nils: readonly CommitSig[] | null): Block {
  if (!before || !block.lastCommit) return block;
  const blockId: BlockId = {
    hash: headerHash(before.header),
    parts: PartSet.whole(encodeBlock(before)).header,
  };
  const lastCommit = { ...block.lastCommit, blockId, ...(nils && { round: 0, signatures: nils }) };
  const header = { ...block.header, lastBlockId: blockId, lastCommitHash: commitHash(lastCommit) };
  return { ...block, lastCommit, header };
}
