// The false accuser: evidence that proves nothing, in blocks of its own and beside its prevotes; and now and then a true double vote of its own,
// and that again and again.

import { evidenceListHash } from '../../protocol/hashes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { PREVOTE } from '../../protocol/types.ts';
import { encodeEvidenceList } from '../../protocol/wire/index.ts';
import { Accuser, CHANGED } from './accusations.ts';
import type { Liar } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';
import { aboutOwnVotes } from './own-votes.ts';

/** The block after the one accused of is decided by then, and holds true precommits of others. */
const HEIGHTS_BACK = 2n;

export const falseAccuser: Liar = (kit) => {
  const accuser = new Accuser(kit);
  const inBlocks = aboutOwnBlocks(kit, 'lie: false evidence in a block', (block) => {
    const evidence = accuser.about(block.header.height - HEIGHTS_BACK);
    if (evidence.length === 0) return null;
    return {
      block: { ...block, evidence, header: { ...block.header, evidenceHash: evidenceListHash(evidence) } },
    };
  });
  const beside = new Accuser(kit, CHANGED);
  const besideVotes = aboutOwnVotes(kit, 'lie: false evidence', (vote, payload) => {
    const evidence = vote.type === PREVOTE ? beside.about(vote.height - HEIGHTS_BACK) : [];
    return evidence.length > 0
      ? [payload, { channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(evidence) }]
      : null;
  });
  return (to, payloads) => inBlocks(to, payloads) ?? besideVotes(to, payloads);
};
