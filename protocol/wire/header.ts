// The bytes of block headers and their versions (spec 3.1).

import { type ConsensusVersion, EMPTY_BYTES, type Header, NIL_BLOCK_ID, ZERO_TIME_NS } from '../types.ts';
import { readBlockId, writeBlockId } from './block-id.ts';
import { decodeWith, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

export const NO_VERSION: ConsensusVersion = { block: 0n, app: 0n };

export const NO_HEADER: Header = {
  version: NO_VERSION,
  chainId: '',
  height: 0n,
  timeNs: ZERO_TIME_NS,
  lastBlockId: NIL_BLOCK_ID,
  lastCommitHash: EMPTY_BYTES,
  dataHash: EMPTY_BYTES,
  validatorsHash: EMPTY_BYTES,
  nextValidatorsHash: EMPTY_BYTES,
  consensusHash: EMPTY_BYTES,
  appHash: EMPTY_BYTES,
  lastResultsHash: EMPTY_BYTES,
  evidenceHash: EMPTY_BYTES,
  proposerAddress: EMPTY_BYTES,
};

export function writeVersion(writer: ProtoWriter, version: ConsensusVersion): void {
  writer.int64(0x08, version.block);
  writer.int64(0x10, version.app);
}

export function readVersion(reader: ProtoReader, was: ConsensusVersion): ConsensusVersion {
  let { block, app } = was;
  while (reader.next()) {
    if (reader.tag === 0x08) block = reader.uint64();
    else if (reader.tag === 0x10) app = reader.uint64();
    else reader.skip(2);
  }
  return { block, app };
}

export function writeHeader(writer: ProtoWriter, header: Header): void {
  writer.message(0x0a, writeVersion, header.version);
  writer.text(0x12, header.chainId);
  writer.int64(0x18, header.height);
  writer.time(0x22, header.timeNs);
  writer.message(0x2a, writeBlockId, header.lastBlockId);
  writer.bytes(0x32, header.lastCommitHash);
  writer.bytes(0x3a, header.dataHash);
  writer.bytes(0x42, header.validatorsHash);
  writer.bytes(0x4a, header.nextValidatorsHash);
  writer.bytes(0x52, header.consensusHash);
  writer.bytes(0x5a, header.appHash);
  writer.bytes(0x62, header.lastResultsHash);
  writer.bytes(0x6a, header.evidenceHash);
  writer.bytes(0x72, header.proposerAddress);
}

/** It grows in place when it comes again (see `growing`). */
export function readHeader(reader: ProtoReader, was: Header): Header {
  const header: { -readonly [Field in keyof Header]: Header[Field] } = was === NO_HEADER ? { ...was } : was;
  while (reader.next()) {
    if (reader.tag === 0x0a) header.version = reader.message(readVersion, header.version);
    else if (reader.tag === 0x12) header.chainId = reader.text();
    else if (reader.tag === 0x18) header.height = reader.int64();
    else if (reader.tag === 0x22) header.timeNs = reader.time();
    else if (reader.tag === 0x2a) header.lastBlockId = reader.message(readBlockId, header.lastBlockId);
    else if (reader.tag === 0x32) header.lastCommitHash = reader.bytes();
    else if (reader.tag === 0x3a) header.dataHash = reader.bytes();
    else if (reader.tag === 0x42) header.validatorsHash = reader.bytes();
    else if (reader.tag === 0x4a) header.nextValidatorsHash = reader.bytes();
    else if (reader.tag === 0x52) header.consensusHash = reader.bytes();
    else if (reader.tag === 0x5a) header.appHash = reader.bytes();
    else if (reader.tag === 0x62) header.lastResultsHash = reader.bytes();
    else if (reader.tag === 0x6a) header.evidenceHash = reader.bytes();
    else if (reader.tag === 0x72) header.proposerAddress = reader.bytes();
    else reader.skip(14);
  }
  return header;
}

export const encodeHeader = (header: Header): Uint8Array => encodeWith(writeHeader, header);
export const decodeHeader = (bytes: Uint8Array): Header | MalformedBytes =>
  decodeWith('Header', bytes, readHeader, NO_HEADER);
