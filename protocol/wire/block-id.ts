// The bytes of block ids and part set headers (spec 3.1).

import { type BlockId, NIL_BLOCK_ID, NIL_PART_SET_HEADER, type PartSetHeader } from '../types.ts';
import { decodeWith, type MalformedBytes, type ProtoReader, sharing } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

export function writePartSetHeader(writer: ProtoWriter, header: PartSetHeader): void {
  writer.int(0x08, header.total);
  writer.bytes(0x12, header.hash);
}

export function readPartSetHeader(reader: ProtoReader, was: PartSetHeader): PartSetHeader {
  let { total, hash } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) total = reader.uint32();
    else if (reader.tag === 0x12) hash = reader.bytes();
    else reader.skip(2);
  }
  return total === 0 && hash.length === 0 ? NIL_PART_SET_HEADER : { total, hash };
}

export function writeBlockId(writer: ProtoWriter, id: BlockId): void {
  writer.bytes(0x0a, id.hash);
  writer.message(0x12, writePartSetHeader, id.parts);
}

export function readBlockId(reader: ProtoReader, was: BlockId): BlockId {
  let { hash, parts } = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) hash = reader.bytes();
    else if (reader.tag === 0x12) parts = reader.message(readPartSetHeader, parts);
    else reader.skip(2);
  }
  return hash.length === 0 && parts === NIL_PART_SET_HEADER ? NIL_BLOCK_ID : { hash, parts };
}

/** An embedded block id; every vote of a round brings the same one. */
export const readSharedBlockId = sharing(readBlockId, NIL_BLOCK_ID);

export const encodePartSetHeader = (header: PartSetHeader): Uint8Array =>
  encodeWith(writePartSetHeader, header);
export const decodePartSetHeader = (bytes: Uint8Array): PartSetHeader | MalformedBytes =>
  decodeWith('PartSetHeader', bytes, readPartSetHeader, NIL_PART_SET_HEADER);

export const encodeBlockId = (id: BlockId): Uint8Array => encodeWith(writeBlockId, id);
export const decodeBlockId = (bytes: Uint8Array): BlockId | MalformedBytes =>
  decodeWith('BlockID', bytes, readBlockId, NIL_BLOCK_ID);
