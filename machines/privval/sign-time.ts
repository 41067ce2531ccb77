// Finds the time inside canonical sign bytes (spec 4.6), so that a vote signed before can be told from one
// that differs by its time only.

import { isRefusal } from '../../protocol/refusal.ts';
import type { TimeNs } from '../../protocol/types.ts';
import { decodeWith } from '../../protocol/wire/reader.ts';

/** Length-delimited: CanonicalVote has its timestamp as field 5, CanonicalProposal as field 6. */
const TIMESTAMP_TAG = { vote: 0x2a, proposal: 0x32 } as const;

/** Null when these are no sign bytes of this kind. */
export function timeOfSignBytes(signBytes: Uint8Array, kind: 'vote' | 'proposal'): TimeNs | null {
  let prefix = 1;
  while ((signBytes[prefix - 1] ?? 0) > 127) prefix++;
  const time = decodeWith(
    'sign bytes',
    signBytes.subarray(prefix),
    (reader): TimeNs | null => {
      let found: TimeNs | null = null;
      while (reader.next()) {
        if (reader.tag === TIMESTAMP_TAG[kind]) found = reader.time();
        else reader.skip(0);
      }
      return found;
    },
    null as TimeNs | null,
  );
  return isRefusal(time) ? null : time;
}
