// What accusers share: their evidence goes into blocks of their own, and to peers beside their prevotes.

import { evidenceListHash } from '../../protocol/hashes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { type Evidence, PREVOTE } from '../../protocol/types.ts';
import { encodeEvidenceList } from '../../protocol/wire/index.ts';
import type { LiarKit, Lie } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** The block after the one accused of is decided by then, and holds true precommits of others. */
const HEIGHTS_BACK = 2n;

/** Evidence about this height, another one each time; none: nothing to say. */
type Source = (height: bigint) => readonly Evidence[];

export function accusing(kit: LiarKit, inBlock: Source, beside: Source): Lie {
  const inBlocks = aboutOwnBlocks(kit, 'lie: false evidence in a block', (block) => {
    const evidence = inBlock(block.header.height - HEIGHTS_BACK);
    if (evidence.length === 0) return null;
    return {
      block: { ...block, evidence, header: { ...block.header, evidenceHash: evidenceListHash(evidence) } },
    };
  });
  const besideVotes = aboutOwnVotes(kit, 'lie: false evidence', (vote, payload) => {
    const evidence = vote.type === PREVOTE ? beside(vote.height - HEIGHTS_BACK) : [];
    return evidence.length > 0
      ? [payload, { channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(evidence) }]
      : null;
  });
  return (to, payloads) => inBlocks(to, payloads) ?? besideVotes(to, payloads);
}
