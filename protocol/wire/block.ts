// The bytes of blocks and block metas (spec 3.1, 4.5). What is decoded here has a shape; validate.ts says
// whether it is well formed.

import { BLOCK_TXS_MAX, type Block, type BlockMeta, NIL_BLOCK_ID } from '../types.ts';
import { readBlockId, writeBlockId } from './block-id.ts';
import { NO_COMMIT, readCommit, writeCommit } from './commit.ts';
import { readEvidenceList, writeEvidenceList } from './evidence.ts';
import { NO_HEADER, readHeader, writeHeader } from './header.ts';
import { decodeWith, growing, Malformed, type MalformedBytes, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

const NO_BLOCK: Block = { header: NO_HEADER, txs: [], evidence: [], lastCommit: null };
const NO_BLOCK_META: BlockMeta = { blockId: NIL_BLOCK_ID, blockSize: 0n, header: NO_HEADER, numTxs: 0n };

/** types.Data, and also mempool.Txs. */
export function writeTxs(writer: ProtoWriter, txs: readonly Uint8Array[]): void {
  for (const tx of txs) writer.chosenBytes(0x0a, tx);
}

export function readTxs(reader: ProtoReader, was: readonly Uint8Array[]): readonly Uint8Array[] {
  const txs = growing(was);
  while (reader.next()) {
    if (reader.tag === 0x0a) {
      if (txs.length === BLOCK_TXS_MAX) throw new Malformed(`more than ${BLOCK_TXS_MAX} transactions`);
      txs.push(reader.bytes());
    } else reader.skip(1);
  }
  return txs;
}

export function writeBlock(writer: ProtoWriter, block: Block): void {
  writer.message(0x0a, writeHeader, block.header);
  writer.message(0x12, writeTxs, block.txs);
  writer.message(0x1a, writeEvidenceList, block.evidence);
  if (block.lastCommit) writer.message(0x22, writeCommit, block.lastCommit);
}

export function readBlock(reader: ProtoReader, was: Block): Block {
  let { header, txs, evidence, lastCommit } = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) header = reader.message(readHeader, header);
    else if (reader.tag === 0x12) txs = reader.message(readTxs, txs);
    else if (reader.tag === 0x1a) evidence = reader.message(readEvidenceList, evidence);
    else if (reader.tag === 0x22) lastCommit = reader.message(readCommit, lastCommit ?? NO_COMMIT);
    else reader.skip(4);
  }
  return { header, txs, evidence, lastCommit };
}

export const readNewBlock = (reader: ProtoReader): Block => reader.message(readBlock, NO_BLOCK);

function writeBlockMeta(writer: ProtoWriter, meta: BlockMeta): void {
  writer.message(0x0a, writeBlockId, meta.blockId);
  writer.int64(0x10, meta.blockSize);
  writer.message(0x1a, writeHeader, meta.header);
  writer.int64(0x20, meta.numTxs);
}

function readBlockMeta(reader: ProtoReader, was: BlockMeta): BlockMeta {
  let { blockId, blockSize, header, numTxs } = was;
  while (reader.next()) {
    if (reader.tag === 0x0a) blockId = reader.message(readBlockId, blockId);
    else if (reader.tag === 0x10) blockSize = reader.int64();
    else if (reader.tag === 0x1a) header = reader.message(readHeader, header);
    else if (reader.tag === 0x20) numTxs = reader.int64();
    else reader.skip(4);
  }
  return { blockId, blockSize, header, numTxs };
}

/** Bytes that part sets, block sizes and stores are made of. */
export const encodeBlock = (block: Block): Uint8Array => encodeWith(writeBlock, block);
export const decodeBlock = (bytes: Uint8Array): Block | MalformedBytes =>
  decodeWith('Block', bytes, readBlock, NO_BLOCK);

export const encodeBlockMeta = (meta: BlockMeta): Uint8Array => encodeWith(writeBlockMeta, meta);
export const decodeBlockMeta = (bytes: Uint8Array): BlockMeta | MalformedBytes =>
  decodeWith('BlockMeta', bytes, readBlockMeta, NO_BLOCK_META);
