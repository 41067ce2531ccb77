// The validator's log (spec 5.7): what it heard and what fired, before it acts; what it says, synced before it leaves; the end of each height.

import { bytes, decodeWords, encodeWords, i32, i64, type Of, text, u8, union } from '../../protocol/words.ts';
import type { Payload } from '../turn.ts';

export const logRecord = union(
  {
    /** A message of a peer that changed something: its channel and protobuf bytes. Unsynced until a signature rests on it. */
    heard: { peer: text, channel: u8, bytes },
    /** A timer that fired: `step` as in the timer's id. */
    timeout: { step: text, height: i64, round: i32 },
    /** A signed message of our own; synced before it is sent. */
    own: { channel: u8, bytes },
    /** The block of this height is stored durably: what stands before is history. */
    'end-height': { height: i64 },
  },
  {
    heard: (w, { peer, channel, bytes }) => {
      w.text(peer);
      w.u8(channel);
      w.bytes(bytes);
    },
  },
);
export type LogRecord = Of<typeof logRecord>;

export const encodeRecord = (record: LogRecord): Uint8Array => encodeWords(logRecord, record);

/** What we say on a channel. */
export const ownRecord = ({ channel, bytes }: Payload): Uint8Array =>
  encodeRecord({ type: 'own', channel, bytes });

export const endOf = (height: bigint): Uint8Array => encodeRecord({ type: 'end-height', height });

/** Whether the log says that this height, or a later one, ended. */
export function hasEnded(log: readonly Uint8Array[], height: bigint): boolean {
  for (const each of log) {
    const record = decodeWords(logRecord, each);
    if (record?.type === 'end-height' && record.height >= height) return true;
  }
  return false;
}

/**
 * The records after the end of `height` - 1, which recovery of `height` replays; null when that end is not in the log, or the log says
 * that `height` ended already: then there is nothing to replay (spec 5.7: logged, not fatal).
 */
export function recordsOf(
  log: readonly Uint8Array[],
  height: bigint,
  initialHeight: bigint,
): LogRecord[] | null {
  let after: LogRecord[] | null = height === initialHeight ? [] : null;
  for (const each of log) {
    const record = decodeWords(logRecord, each);
    if (record === null) return after;
    if (record.type === 'end-height') {
      if (record.height >= height) return null;
      after = record.height === height - 1n ? [] : null;
    } else after?.push(record);
  }
  return after;
}
