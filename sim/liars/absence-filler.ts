// The absence filler: in the last commit of the blocks that it proposes somebody who is absent says something all the same: when, who, or what it
// signed, in turns.

import { commitHash } from '../../protocol/hashes.ts';
import { type CommitSig, FLAG_ABSENT } from '../../protocol/types.ts';
import type { Liar } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';

const WORDS: readonly Partial<CommitSig>[] = [
  { timeNs: 1_700_000_000_000_000_000n },
  { validatorAddress: new Uint8Array(20).fill(0xee) },
  { signature: new Uint8Array(64).fill(0xee) },
];

export const absenceFiller: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: words of the absent', (block) => {
    const signatures = block.lastCommit?.signatures ?? [];
    const index = signatures.findIndex(({ flag }) => flag === FLAG_ABSENT);
    const absent = signatures[index];
    if (!block.lastCommit || !absent) return null;
    const words = WORDS[Number(block.header.height % BigInt(WORDS.length))];
    const lastCommit = { ...block.lastCommit, signatures: signatures.with(index, { ...absent, ...words }) };
    return {
      block: { ...block, lastCommit, header: { ...block.header, lastCommitHash: commitHash(lastCommit) } },
    };
  });
