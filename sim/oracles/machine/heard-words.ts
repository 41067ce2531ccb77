// What one life of a node logs as heard. However often a part of a block is said in a round it is logged once: as another begins a block may be let
// go, and come again. No words are logged but those that were said to this life: what stands in the log already is read from there. What hangs behind
// a word and nobody knows is not kept, if that is much.

import type { Payload } from '../../../actors/turn.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../canonical/numbers.ts';
import { heardIn, isHeard } from '../disk/log-reasons.ts';

/** Votes, proposals and timeouts are smaller. */
export const SMALL_BYTES = 1_024;
/** A vote has some hundred. */
const VOTE_BYTES_MAX = 5 * 1_024;
/** A part of a block has 64 KiB, its proof some more, and what hangs behind it may be as long again. */
const DATA_BYTES_MAX = 144 * 1_024;

export class HeardWords {
  private said = 0;
  private logged = 0;
  private height = 0n;
  /** Of that height, by their lengths. */
  private readonly parts = new Map<number, { readonly bytes: Uint8Array; readonly round: number }[]>();

  hears(payloads: readonly Payload[]): void {
    for (let i = 0; i < payloads.length; i++) {
      const channel = payloads[i]?.channel;
      if (channel === CHANNEL_VOTE || channel === CHANNEL_DATA) this.said++;
    }
  }

  /** What is wrong with this record of the log, after the last block of that height, in this round; null: nothing. */
  logs(record: Uint8Array, height: bigint, round: number): string | null {
    if (!isHeard(record)) return null;
    if (++this.logged === this.said + 1) return 'more words than anybody has said to it in this life';
    if (record.length <= SMALL_BYTES) return null;
    const { channel = 0, bytes = record } = heardIn(record) ?? {};
    if (channel === CHANNEL_VOTE)
      return record.length > VOTE_BYTES_MAX ? `${record.length} bytes for a vote` : null;
    if (channel !== CHANNEL_DATA) return null;
    if (record.length > DATA_BYTES_MAX) return `${record.length} bytes for a proposal or a part of a block`;
    return this.logsPart(bytes, height, round) ? null : 'a part of a block that it has logged';
  }

  /** False: it is there already. A proposal that is as long as a part is taken for one: it is logged once as well. */
  private logsPart(bytes: Uint8Array, height: bigint, round: number): boolean {
    if (height !== this.height) this.parts.clear();
    this.height = height;
    const asLong = this.parts.get(bytes.length) ?? [];
    if (asLong.some((each) => each.round === round && equalBytes(each.bytes, bytes))) return false;
    asLong.push({ bytes, round });
    this.parts.set(bytes.length, asLong);
    return true;
  }
}
