// The forger of commits: as a sync peer it serves true blocks, in whose last commit the signature of the last one who signed is another one.

import { commitHash } from '../../protocol/hashes.ts';
import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { type Commit, FLAG_COMMIT } from '../../protocol/types.ts';
import { encodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { blockGiven, instead, isItsPlace, type Liar } from './liar.ts';

export const commitForger: Liar = (kit) =>
  instead(kit, (payload) => {
    const message = blockGiven(payload);
    if (!message) return null;
    const { block } = message;
    const lastCommit = block.lastCommit && withoutProof(block.lastCommit);
    if (!lastCommit || !isItsPlace(kit.words, block.header.height, 0) || !kit.lies()) return null;
    kit.count('lie: a commit with a signature that is none');
    const header = { ...block.header, lastCommitHash: commitHash(lastCommit) };
    return [
      {
        channel: CHANNEL_BLOCKSYNC,
        bytes: encodeBlocksyncMessage({ ...message, block: { ...block, header, lastCommit } }),
      },
    ];
  });

/** Null: nobody signed. */
function withoutProof(commit: Commit): Commit | null {
  const last = commit.signatures.findLastIndex(({ flag }) => flag === FLAG_COMMIT);
  const signed = commit.signatures[last];
  if (!signed) return null;
  const signature = signed.signature.map((byte) => byte ^ 1);
  return { ...commit, signatures: commit.signatures.with(last, { ...signed, signature }) };
}
