// The false accuser: evidence that proves nothing, in blocks of its own and to peers; and now and then a true double vote of its own, twice.

import { evidenceListHash } from '../../protocol/hashes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { encodeEvidenceList } from '../../protocol/wire/index.ts';
import { ownVote } from '../oracles/votes.ts';
import type { Lie } from '../scenario/rules.ts';
import { Accuser } from './accusations.ts';
import { isItsPlace, type Liar, type LiarKit, Remembered } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';

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
  const beside = besideVotes(kit);
  return (to, payloads) => inBlocks(to, payloads) ?? beside(to, payloads);
};

/** To the first whom it sends a vote of a height. */
function besideVotes(kit: LiarKit): Lie {
  const accuser = new Accuser(kit);
  const told = new Remembered<string>();
  return (to, payloads) => {
    const vote = kit.victims.has(to)
      ? payloads.map((each) => ownVote(kit.machine, each)).find((each) => each)
      : null;
    if (!vote || !isItsPlace(kit.words, vote.height, vote.round)) return null;
    if (told.get(String(vote.height), () => to) !== to || !kit.lies()) return null;
    const evidence = accuser.about(vote.height - HEIGHTS_BACK);
    if (evidence.length === 0) return null;
    kit.count('lie: false evidence');
    return [...payloads, { channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList(evidence) }];
  };
}
