// Block ids: when two are the same, when one means nil, and the key that votes are grouped and ordered by.

import { byteKey, equalBytes } from './bytes.ts';
import { Lately } from './lately.ts';
import type { BlockId, PartSetHeader } from './types.ts';
import { encodePartSetHeader } from './wire/block-id.ts';

const HASH_BYTES = 32;

export const isNilBlockId = (id: BlockId): boolean =>
  id.hash.length === 0 && id.parts.total === 0 && id.parts.hash.length === 0;

export const isCompleteBlockId = (id: BlockId): boolean =>
  id.hash.length === HASH_BYTES && id.parts.total > 0 && id.parts.hash.length === HASH_BYTES;

export const equalPartSetHeaders = (a: PartSetHeader, b: PartSetHeader): boolean =>
  a === b || (a.total === b.total && equalBytes(a.hash, b.hash));

export const equalBlockId = (a: BlockId, b: BlockId): boolean =>
  a === b || (equalBytes(a.hash, b.hash) && equalPartSetHeaders(a.parts, b.parts));

const keys = new Lately<BlockId, string>(16);

/** CometBFT BlockID.Key, one char per byte: the hash, then the protobuf of the part set header. */
export function blockIdKey(id: BlockId): string {
  let key = keys.get(id);
  if (key === undefined) {
    key = byteKey(id.hash) + byteKey(encodePartSetHeader(id.parts));
    keys.set(id, key);
  }
  return key;
}

/** The order of the two votes in duplicate vote evidence: negative when `a` comes first. */
export function compareBlockIdKeys(a: BlockId, b: BlockId): number {
  const [keyA, keyB] = [blockIdKey(a), blockIdKey(b)];
  return keyA < keyB ? -1 : keyA > keyB ? 1 : 0;
}
