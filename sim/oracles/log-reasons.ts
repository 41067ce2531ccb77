// Whether a log of consensus explains the precommits in it: who starts from it again knows its lock and its valid value from what stands there
// alone (spec 5.7), so the two thirds of prevotes that a precommit rests on stand before it, and of a block each part.

import { CHANNEL_DATA, CHANNEL_VOTE, type ConsensusMessage } from '../../protocol/messages.ts';
import { PRECOMMIT, type Vote } from '../../protocol/types.ts';
import { bytes, decodeWith, i64, record, text, u8 } from '../../protocol/words.ts';
import { decoded } from './messages.ts';
import type { HeardHeight } from './tally.ts';

/** Kinds of record, as they stand in the log of consensus. */
const HEARD = 0;
export const OWN = 2;
const END_OF_HEIGHT = 3;

const heardRecord = record({ tag: u8, peer: text, channel: u8, bytes });
export const ownRecord = record({ tag: u8, channel: u8, bytes });
const endRecord = record({ tag: u8, height: i64 });

/** The height whose end this record is; null: it is another one. */
export function endIn(logged: Uint8Array): bigint | null {
  return logged[0] === END_OF_HEIGHT ? (decodeWith(endRecord, logged)?.height ?? null) : null;
}

/** What a peer said; null: it is another record. */
export const heardIn = (
  logged: Uint8Array,
): { readonly channel: number; readonly bytes: Uint8Array } | null =>
  logged[0] === HEARD ? decodeWith(heardRecord, logged) : null;

/** A word of consensus that a record holds, a peer's or its own; null: it holds none. */
function wordIn(logged: Uint8Array): ConsensusMessage | null {
  const kept = logged[0] === OWN ? decodeWith(ownRecord, logged) : heardIn(logged);
  return kept && (kept.channel === CHANNEL_VOTE || kept.channel === CHANNEL_DATA)
    ? decoded(kept.bytes)
    : null;
}

export interface Unexplained {
  readonly vote: Vote;
  /** What is missing before it. */
  readonly missing: string;
}

/**
 * The first precommit of its own, of a height that the log does not end, that nothing before it explains.
 *
 * @param heardAt an empty tally of a height; null: nobody knows who votes there.
 * @param isForgotten the precommit was signed in a life whose log is lost.
 */
export function unexplained(
  log: readonly Uint8Array[],
  heardAt: (height: bigint) => HeardHeight | null,
  isForgotten: (vote: Vote) => boolean,
): Unexplained | null {
  let ended = -1n;
  for (const logged of log) {
    ended = endIn(logged) ?? ended;
    const word = wordIn(logged);
    if (word?.type === 'block-part') heardAt(word.height)?.addPart(word.part);
    if (word?.type !== 'vote') continue;
    const { vote } = word;
    const heard = heardAt(vote.height);
    heard?.addVote(vote);
    // What was signed late is logged behind the end of its height, and what it rests on went with that.
    if (!heard || vote.height <= ended || logged[0] !== OWN || vote.type !== PRECOMMIT) continue;
    if (isForgotten(vote)) continue;
    const missing = missingFor(vote, heard);
    if (missing) return { vote, missing };
  }
  return null;
}

function missingFor({ round, blockId }: Vote, heard: HeardHeight): string | null {
  if (blockId.hash.length === 0)
    return heard.isMostOfAny('prevotes', round) ? null : 'two thirds of the prevotes';
  if (!heard.isPolka(round, blockId.hash)) return 'a polka for it';
  // What it made itself it may have made again, byte for byte, where its log was lost: then it logs no parts.
  for (let r = 0; r <= round; r++) if (heard.isProposer(r)) return null;
  for (let i = 0; i < blockId.parts.total; i++)
    if (!heard.hasPart(blockId.parts, i)) return `part ${i} of it`;
  return null;
}
