// Looks in a damaged trace for what still stands: behind the torn end of a write there is no whole record.

import { readSync } from 'node:fs';
import { crc32c } from '../../../protocol/crc32c.ts';
import { AROUND_INPUT_BYTES, FRAME_BYTES } from '../../kernel/trace.ts';

export const CHUNK_BYTES = 1 << 20;
/** A kind and an actor's name. */
const INPUT_BYTES_MIN = 1 + 4;
/** Before the input: the frame, the node's index and the input's length. */
const HEAD_BYTES = FRAME_BYTES + 4 + 4;

/**
 * Is there a whole record anywhere behind the damage at `from`? Then it is not the torn end of a write.
 * @param file an open file of `size` bytes
 */
export function wholeRecordBehind(file: number, from: number, size: number): boolean {
  const chunk = new Uint8Array(CHUNK_BYTES);
  const view = new DataView(chunk.buffer);
  for (let begin = from + 1; begin + HEAD_BYTES <= size; ) {
    const got = readSync(file, chunk, 0, CHUNK_BYTES, begin);
    if (got < HEAD_BYTES) return false;
    const places = got - HEAD_BYTES + 1;
    for (let at = 0; at < places; at++) {
      const input = view.getUint32(at + FRAME_BYTES + 4, true);
      const payload = input + AROUND_INPUT_BYTES;
      if (input < INPUT_BYTES_MIN || view.getUint32(at, true) !== payload) continue;
      const start = begin + at + FRAME_BYTES;
      if (start + payload <= size && checksumOf(file, start, payload) === view.getUint32(at + 4, true))
        return true;
    }
    begin += places;
  }
  return false;
}

/** CRC-32C of a part of a file. */
export function checksumOf(file: number, start: number, length: number): number {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const got = readSync(file, bytes, done, length - done, start + done);
    if (got === 0) break;
    done += got;
  }
  return crc32c(bytes);
}
