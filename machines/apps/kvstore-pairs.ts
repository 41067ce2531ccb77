// How the key-value application lays its pairs on a disk: a transaction names keys of any length, and a store takes only so many bytes.

import { sha256, utf8Encode } from '#platform';
import { concatBytes } from '../../protocol/bytes.ts';
import { decodeWords, encodeWords, bytes as field, record } from '../../protocol/words.ts';
import { KEY_BYTES_MAX, type Pair, type PairWrite } from './application.ts';

/** A key that is too long stands under its hash, and itself in front of its value. */
const LONG_PREFIX = utf8Encode('longKey:');
const HASH_BYTES = 32;
const longPair = record({ key: field, value: field });

export function onDisk(write: PairWrite): PairWrite {
  const { key, value, remove } = write;
  if (key.length <= KEY_BYTES_MAX) return write;
  return {
    key: concatBytes(LONG_PREFIX, sha256(key)),
    value: remove ? value : encodeWords(longPair, { key, value }),
    remove,
  };
}

/** The pair that `onDisk` was given. */
export function restored(pair: Pair): Pair {
  const { key, value } = pair;
  const isLong =
    key.length === LONG_PREFIX.length + HASH_BYTES && LONG_PREFIX.every((byte, i) => key[i] === byte);
  return isLong ? (decodeWords(longPair, value) ?? pair) : pair;
}
