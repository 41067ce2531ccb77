// Whether a log of consensus explains what its node says in it: who starts from it again knows its lock, its valid value and its round from what
// stands there alone (spec 5.7). So before its votes of a height stands that the height began; before a precommit the two thirds of prevotes
// that it rests on, and of a block each part; before a word of a later round why that round began, before a vote for nil or a block why it is
// for that, and before a timer that fired the votes that set it going.

import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Vote } from '../../../protocol/types.ts';
import { bytes, decodeWords, i32, i64, record, text, u8 } from '../../../protocol/words.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { CHANNEL_DATA, CHANNEL_VOTE, PRECOMMIT } from '../canonical/numbers.ts';
import { nameOf } from '../ghost/about-votes.ts';
import { decoded } from '../ghost/messages.ts';
import type { HeardHeight } from '../ghost/tally.ts';

/** Kinds of record, as they stand in the log of consensus. */
const HEARD = 0;
const TIMEOUT = 1;
export const OWN = 2;
const END_OF_HEIGHT = 3;

const heardRecord = record({ tag: u8, peer: text, channel: u8, bytes });
export const ownRecord = record({ tag: u8, channel: u8, bytes });
const endRecord = record({ tag: u8, height: i64 });
const timeoutRecord = record({ tag: u8, step: text, height: i64, round: i32 });

/** The height whose end this record is; null: it is another one. */
export function endIn(logged: Uint8Array): bigint | null {
  return logged[0] === END_OF_HEIGHT ? (decodeWords(endRecord, logged)?.height ?? null) : null;
}

export const isHeard = (logged: Uint8Array): boolean => logged[0] === HEARD;

/** What a peer said; null: it is another record. */
export const heardIn = (
  logged: Uint8Array,
): { readonly channel: number; readonly bytes: Uint8Array } | null =>
  isHeard(logged) ? decodeWords(heardRecord, logged) : null;

/** A word of consensus that a record holds, a peer's or its own; null: it holds none. */
function wordIn(logged: Uint8Array): ConsensusMessage | null {
  const kept = logged[0] === OWN ? decodeWords(ownRecord, logged) : heardIn(logged);
  return kept && (kept.channel === CHANNEL_VOTE || kept.channel === CHANNEL_DATA)
    ? decoded(kept.bytes)
    : null;
}

/** What in a log nothing before it explains. */
export interface Unexplained {
  readonly what: string;
  readonly height: bigint;
  /** What is missing before it. */
  readonly missing: string;
}

/** The votes that set a timer going. */
const votesBehind: ReadonlyMap<string, 'prevotes' | 'precommits'> = new Map([
  ['prevote', 'prevotes'],
  ['precommit', 'precommits'],
]);

/** A log as it is read, from its beginning. */
class Reading {
  private readonly heardAt: (height: bigint) => HeardHeight | null;
  private readonly isForgotten: (vote: Vote) => boolean;
  private ended = -1n;
  /** Timers that fired, by step and round, of the height that the log is at, and that height. */
  private readonly fired = new Set<string>();
  private height = -1n;
  /** The latest height of which it stands there that it began. */
  private begun = -1n;

  constructor(heardAt: (height: bigint) => HeardHeight | null, isForgotten: (vote: Vote) => boolean) {
    this.heardAt = heardAt;
    this.isForgotten = isForgotten;
  }

  next(logged: Uint8Array): Unexplained | null {
    this.ended = endIn(logged) ?? this.ended;
    if (logged[0] === TIMEOUT) return this.fires(logged);
    const word = wordIn(logged);
    if (word?.type === 'block-part') this.heardAt(word.height)?.addPart(word.part);
    else if (word?.type === 'proposal') this.heardAt(word.proposal.height)?.addProposal(word.proposal);
    else if (word?.type === 'vote') return this.votes(word.vote, logged[0] === OWN);
    return null;
  }

  private fires(logged: Uint8Array): Unexplained | null {
    const timeout = decodeWords(timeoutRecord, logged);
    if (!timeout) return null;
    const { step, height, round } = timeout;
    if (height !== this.height) this.fired.clear();
    this.height = height;
    this.fired.add(`${step} ${round}`);
    if (step === 'start' && height > this.begun) this.begun = height;
    const kind = votesBehind.get(step);
    const heard = height > this.ended ? this.heardAt(height) : null;
    if (!kind || !heard || heard.isMostOfAny(kind, round)) return null;
    const what = `that it waited for ${kind} of ${height}/${round}`;
    return { what, height, missing: `two thirds of the ${kind}` };
  }

  private votes(vote: Vote, isOwn: boolean): Unexplained | null {
    const { height, round, type } = vote;
    const heard = this.heardAt(height);
    // What was signed late is logged behind the end of its height, and what it rests on went with that.
    const isToExplain = isOwn && height > this.ended && !this.isForgotten(vote);
    const missing = heard && isToExplain ? this.missingFor(vote, heard) : null;
    heard?.addVote(vote);
    if (missing === null) return null;
    const kind = type === PRECOMMIT ? 'precommit' : 'prevote';
    return { what: `its ${kind} of ${nameOf(vote)} at ${height}/${round}`, height, missing };
  }

  private missingFor(vote: Vote, heard: HeardHeight): string | null {
    const { height, round } = vote;
    if (height > this.begun) return 'that the height began';
    const hasFired = (step: string, round: number): boolean =>
      height === this.height && this.fired.has(`${step} ${round}`);
    if (round > 0 && !hasFired('precommit', round - 1) && !heard.isThirdIn(round))
      return 'why that round began';
    return vote.type === PRECOMMIT
      ? missingForPrecommit(vote, heard, hasFired('prevote', round))
      : missingForPrevote(vote, heard, hasFired('propose', round));
  }
}

/**
 * The first word of its own, or timer, of a height that the log does not end, that nothing before it explains.
 *
 * @param heardAt an empty tally of a height; null: nobody knows who votes there.
 * @param isForgotten the vote was signed in a life whose log is lost.
 */
export function unexplained(
  log: readonly Uint8Array[],
  heardAt: (height: bigint) => HeardHeight | null,
  isForgotten: (vote: Vote) => boolean,
): Unexplained | null {
  const reading = new Reading(heardAt, isForgotten);
  for (const logged of log) {
    const found = reading.next(logged);
    if (found) return found;
  }
  return null;
}

/** It refuses a proposal or has none in time; or it accepts that one. */
function missingForPrevote({ round, blockId }: Vote, heard: HeardHeight, hasFired: boolean): string | null {
  const { proposals } = heard.round(round);
  if (blockId.hash.length === 0)
    return hasFired || proposals.length > 0 ? null : 'a proposal, or that its time was over';
  // What it made itself it may have made again, as below.
  if (heard.isProposer(round)) return null;
  return proposals.some((each) => equalBlockId(each.blockId, blockId)) ? null : 'its proposal';
}

function missingForPrecommit({ round, blockId }: Vote, heard: HeardHeight, hasFired: boolean): string | null {
  if (blockId.hash.length === 0) {
    if (!heard.isMostOfAny('prevotes', round)) return 'two thirds of the prevotes';
    return hasFired || heard.isPolka(round, blockId) ? null : 'a polka for nil, or that its time was over';
  }
  if (!heard.isPolka(round, blockId)) return 'a polka for it';
  // What it made itself it may have made again, byte for byte, where its log was lost: then it logs no parts.
  for (let r = 0; r <= round; r++) if (heard.isProposer(r)) return null;
  for (let i = 0; i < blockId.parts.total; i++)
    if (!heard.hasPart(blockId.parts, i)) return `part ${i} of it`;
  return null;
}
