// Reads canonical sign bytes back (spec 4.6): the time, by which alone two attempts at a vote may differ, and the block that a vote is for.

import { isRefusal } from '../../protocol/refusal.ts';
import { type BlockId, NIL_BLOCK_ID, type TimeNs } from '../../protocol/types.ts';
import { readBlockId } from '../../protocol/wire/block-id.ts';
import { decodeWith, type ProtoReader } from '../../protocol/wire/reader.ts';

/** Length-delimited: CanonicalVote has its timestamp as field 5, CanonicalProposal as field 6. */
const TIMESTAMP_TAG = { vote: 0x2a, proposal: 0x32 } as const;
/** Field 4 of CanonicalVote; absent in votes for nil. */
const BLOCK_ID_TAG = 0x22;

/** Reads on from the length before the message; null when these are no sign bytes. */
function readBack<T>(signBytes: Uint8Array, read: (reader: ProtoReader) => T): T | null {
  let prefix = 1;
  while ((signBytes[prefix - 1] ?? 0) > 127) prefix++;
  const found = decodeWith('sign bytes', signBytes.subarray(prefix), (reader) => read(reader), null);
  return isRefusal(found) ? null : found;
}

/** Null when these are no sign bytes of this kind. */
export const timeOfSignBytes = (signBytes: Uint8Array, kind: 'vote' | 'proposal'): TimeNs | null =>
  readBack(signBytes, (reader) => {
    let found: TimeNs | null = null;
    while (reader.next()) {
      if (reader.tag === TIMESTAMP_TAG[kind]) found = reader.time();
      else reader.skip(0);
    }
    return found;
  });

/** What a vote is for; null when these are no sign bytes. Bytes of a proposal are not told from those of a vote. */
export const blockIdOfSignBytes = (signBytes: Uint8Array): BlockId | null =>
  readBack(signBytes, (reader) => {
    let found: BlockId = NIL_BLOCK_ID;
    while (reader.next()) {
      if (reader.tag === BLOCK_ID_TAG) found = reader.message(readBlockId, found);
      else reader.skip(0);
    }
    return found;
  });
