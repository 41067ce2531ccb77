// Where things lie in the `chain` store: one-letter families, heights big-endian so that ranges are in height order.

import { utf8Encode } from '#platform';
import { i64, type Of, record } from '../../protocol/words.ts';

function family(letter: string): (height: bigint) => Uint8Array {
  const code = letter.charCodeAt(0);
  return (height) => {
    const key = new Uint8Array(9);
    key[0] = code;
    putU32(key, 1, Number(height >> 32n));
    putU32(key, 5, Number(BigInt.asUintN(32, height)));
    return key;
  };
}

function putU32(key: Uint8Array, at: number, value: number): void {
  key[at] = value >>> 24;
  key[at + 1] = value >>> 16;
  key[at + 2] = value >>> 8;
  key[at + 3] = value;
}

/** The height in a key of any family. */
export function heightOfKey(key: Uint8Array): bigint {
  const half = (at: number): bigint => {
    let value = 0;
    for (let i = at; i < at + 4; i++) value = value * 256 + (key[i] as number);
    return BigInt(value);
  };
  return (half(1) << 32n) | half(5);
}

/** protobuf Block. */
export const blockKey = family('b');
/** Header and last commit of a block that is gone (protobuf Block without transactions and evidence), as long as evidence may ask for them. */
export const pastKey = family('h');
/** protobuf Commit that our node saw decide the height (any round; may differ from node to node). */
export const seenCommitKey = family('s');
/** protobuf ResponseFinalizeBlock. */
export const responseKey = family('r');
/** protobuf ValidatorSet in force at this height; written only where it changed. */
export const validatorsKey = family('v');
/** protobuf ConsensusParams in force at this height; written only where they changed. */
export const paramsKey = family('p');
/** Pending evidence: 'e' + height + identity hash. */
export const evidenceKey = (height: bigint, identity: Uint8Array): Uint8Array =>
  withTail('e', height, identity);
/** Committed evidence marker: 'd' + height + identity hash. */
export const committedEvidenceKey = (height: bigint, identity: Uint8Array): Uint8Array =>
  withTail('d', height, identity);

function withTail(letter: string, height: bigint, tail: Uint8Array): Uint8Array {
  const key = new Uint8Array(9 + tail.length);
  key.set(family(letter)(height));
  key.set(tail, 9);
  return key;
}

/** All keys of the family of this one: from the first to the one behind the last. */
interface Family {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}
const NO_TAIL = new Uint8Array(0);
const letterOf = (key: Uint8Array): number => key[0] as number;
const familyOf = (key: Uint8Array): Family => ({
  from: Uint8Array.of(letterOf(key)),
  to: Uint8Array.of(letterOf(key) + 1),
});
export const VALIDATOR_SETS = familyOf(validatorsKey(0n));
export const PENDING_EVIDENCE = familyOf(evidenceKey(0n, NO_TAIL));
export const COMMITTED_EVIDENCE = familyOf(committedEvidenceKey(0n, NO_TAIL));
/** The identity hash in a key of evidence. */
export const identityOfKey = (key: Uint8Array): Uint8Array => key.slice(9);
const BLOCK = letterOf(blockKey(0n));
export const isBlockKey = (key: Uint8Array): boolean => key[0] === BLOCK;

/** protobuf State: what is true after the last executed block. */
export const STATE_KEY = utf8Encode('state');
/** `storeRange` of the blocks stored. */
export const STORE_RANGE_KEY = utf8Encode('range');
/** Heights of the first and the last block stored; 0: none. */
export const storeRange = record({ base: i64, height: i64 });
export type StoreRange = Of<typeof storeRange>;
/** The genesis document of the first start, as its JSON text. */
export const GENESIS_KEY = utf8Encode('genesis');
