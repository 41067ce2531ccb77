// The bytes of block parts with their Merkle proofs, and of bit arrays (spec 3.1).

import { type BitArray, EMPTY_BYTES, type MerkleProof, type Part } from '../types.ts';
import { decodeWith, growing, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

const NO_PROOF: MerkleProof = { total: 0n, index: 0n, leafHash: EMPTY_BYTES, aunts: [] };
export const NO_PART: Part = { index: 0, bytes: EMPTY_BYTES, proof: NO_PROOF };
export const NO_BITS: BitArray = { bits: 0, elems: [] };

export function writeMerkleProof(writer: ProtoWriter, proof: MerkleProof): void {
  writer.int64(0x08, proof.total);
  writer.int64(0x10, proof.index);
  writer.bytes(0x1a, proof.leafHash);
  for (const aunt of proof.aunts) writer.chosenBytes(0x22, aunt);
}

function readMerkleProof(reader: ProtoReader, was: MerkleProof): MerkleProof {
  let { total, index, leafHash } = was;
  const aunts = growing(was.aunts);
  while (reader.next()) {
    if (reader.tag === 0x08) total = reader.int64();
    else if (reader.tag === 0x10) index = reader.int64();
    else if (reader.tag === 0x1a) leafHash = reader.bytes();
    else if (reader.tag === 0x22) aunts.push(reader.bytes());
    else reader.skip(4);
  }
  return { total, index, leafHash, aunts };
}

export function writePart(writer: ProtoWriter, part: Part): void {
  writer.int(0x08, part.index);
  writer.bytes(0x12, part.bytes);
  writer.message(0x1a, writeMerkleProof, part.proof);
}

export function readPart(reader: ProtoReader, was: Part): Part {
  let { index, bytes, proof } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) index = reader.uint32();
    else if (reader.tag === 0x12) bytes = reader.bytes();
    else if (reader.tag === 0x1a) proof = reader.message(readMerkleProof, proof);
    else reader.skip(3);
  }
  return { index, bytes, proof };
}

export function writeBitArray(writer: ProtoWriter, array: BitArray): void {
  writer.int(0x08, array.bits);
  writer.packed(0x12, array.elems);
}

/**
 * A bit array whose size and elements disagree is refused here: nobody above has a use for it (CometBFT
 * BitArray.ValidateBasic).
 */
export function readBitArray(reader: ProtoReader, was: BitArray): BitArray {
  let bits = BigInt(was.bits);
  const elems = growing(was.elems);
  while (reader.next()) {
    if (reader.tag === 0x08) bits = reader.int64();
    else if (reader.tag === 0x12 || reader.tag === 0x10) reader.uint64s(elems);
    else reader.skip(2);
  }
  if (bits < 0n || (bits + 63n) / 64n !== BigInt(elems.length)) {
    throw new Malformed(`a bit array of ${bits} bits with ${elems.length} elements`);
  }
  return { bits: Number(bits), elems };
}

export const encodeMerkleProof = (proof: MerkleProof): Uint8Array => encodeWith(writeMerkleProof, proof);
export const decodeMerkleProof = (bytes: Uint8Array): MerkleProof | MalformedBytes =>
  decodeWith('Proof', bytes, readMerkleProof, NO_PROOF);

export const encodePart = (part: Part): Uint8Array => encodeWith(writePart, part);
export const decodePart = (bytes: Uint8Array): Part | MalformedBytes =>
  decodeWith('Part', bytes, readPart, NO_PART);

export const encodeBitArray = (array: BitArray): Uint8Array => encodeWith(writeBitArray, array);
export const decodeBitArray = (bytes: Uint8Array): BitArray | MalformedBytes =>
  decodeWith('BitArray', bytes, readBitArray, NO_BITS);
