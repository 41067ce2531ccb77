// What peers say on the mempool, evidence and block sync channels, as bytes (spec 3.2), form-checked as it
// is decoded.

import type { BlocksyncMessage, EvidenceMessage, MempoolMessage } from '../messages.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { Block, ExtendedCommit } from '../types.ts';
import { validateBlock, validateEvidence, validateExtendedCommit } from '../validate.ts';
import { readNewBlock, readTxs, writeBlock, writeTxs } from './block.ts';
import { NO_EXTENDED_COMMIT, readExtendedCommit, writeExtendedCommit } from './commit.ts';
import { decodeEvidenceList, encodeEvidenceList } from './evidence.ts';
import { decodeWith, Malformed, type ProtoReader } from './reader.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

const malformed = (because: string): Refusal<'malformed-message'> => refuse('malformed-message', because);

function writeMempoolMessage(writer: ProtoWriter, message: MempoolMessage): void {
  writer.message(0x0a, writeTxs, message.txs);
}

function readMempoolMessage(reader: ProtoReader): MempoolMessage {
  let txs: readonly Uint8Array[] | null = null;
  while (reader.next()) {
    if (reader.tag === 0x0a) txs = reader.message(readTxs, []);
    else reader.skip(1);
  }
  if (!txs) throw new Malformed('a message of no known kind');
  return { type: 'txs', txs };
}

export const encodeMempoolMessage = (message: MempoolMessage): Uint8Array =>
  encodeWith(writeMempoolMessage, message);

/** Sizes are for the pool to judge; here only: some transactions, none of them empty. */
export function decodeMempoolMessage(bytes: Uint8Array): MempoolMessage | Refusal {
  const message = decodeWith('mempool.Message', bytes, readMempoolMessage, null);
  if ('refused' in message) return message;
  if (message.txs.length === 0) return malformed('a mempool message must carry transactions');
  return message.txs.some((tx) => tx.length === 0) ? malformed('a transaction must not be empty') : message;
}

export const encodeEvidenceMessage = (message: EvidenceMessage): Uint8Array =>
  encodeEvidenceList(message.evidence);

export function decodeEvidenceMessage(bytes: Uint8Array): EvidenceMessage | Refusal {
  const evidence = decodeEvidenceList(bytes);
  if ('refused' in evidence) return evidence;
  for (const one of evidence) {
    const refusal = validateEvidence(one);
    if (refusal) return refusal;
  }
  return { type: 'evidence-list', evidence };
}

interface Heights {
  readonly height: bigint;
  readonly base: bigint;
}

function writeHeights(writer: ProtoWriter, heights: Heights): void {
  writer.int64(0x08, heights.height);
  writer.int64(0x10, heights.base);
}

/** Also for messages with a height alone (`fields` 1) or with nothing at all (0). */
const readHeights =
  (fields: number) =>
  (reader: ProtoReader): Heights => {
    let [height, base] = [0n, 0n];
    while (reader.next()) {
      if (fields >= 1 && reader.tag === 0x08) height = reader.int64();
      else if (fields >= 2 && reader.tag === 0x10) base = reader.int64();
      else reader.skip(fields);
    }
    return { height, base };
  };

function writeBlockResponse(
  writer: ProtoWriter,
  response: { readonly block: Block; readonly extendedCommit: ExtendedCommit | null },
): void {
  writer.message(0x0a, writeBlock, response.block);
  if (response.extendedCommit) writer.message(0x12, writeExtendedCommit, response.extendedCommit);
}

function readBlockResponse(reader: ProtoReader): BlocksyncMessage {
  let block: Block | null = null;
  let extendedCommit: ExtendedCommit | null = null;
  while (reader.next()) {
    if (reader.tag === 0x0a) block = readNewBlock(reader);
    else if (reader.tag === 0x12) {
      extendedCommit = reader.message(readExtendedCommit, extendedCommit ?? NO_EXTENDED_COMMIT);
    } else reader.skip(2);
  }
  if (!block) throw new Malformed('a block response needs a block');
  return { type: 'block-response', block, extendedCommit };
}

function writeBlocksyncMessage(writer: ProtoWriter, message: BlocksyncMessage): void {
  switch (message.type) {
    case 'block-request':
      writer.message(0x0a, writeHeights, { height: message.height, base: 0n });
      break;
    case 'no-block-response':
      writer.message(0x12, writeHeights, { height: message.height, base: 0n });
      break;
    case 'block-response':
      writer.message(0x1a, writeBlockResponse, message);
      break;
    case 'status-request':
      writer.message(0x22, () => {}, null);
      break;
    case 'status-response':
      writer.message(0x2a, writeHeights, message);
      break;
  }
}

function readBlocksyncMessage(reader: ProtoReader): BlocksyncMessage {
  let message: BlocksyncMessage | null = null;
  while (reader.next()) {
    if (reader.tag === 0x0a) {
      message = { type: 'block-request', height: reader.message(readHeights(1), null).height };
    } else if (reader.tag === 0x12) {
      message = { type: 'no-block-response', height: reader.message(readHeights(1), null).height };
    } else if (reader.tag === 0x1a) message = reader.message(readBlockResponse, null);
    else if (reader.tag === 0x22) {
      reader.message(readHeights(0), null);
      message = { type: 'status-request' };
    } else if (reader.tag === 0x2a) {
      message = { type: 'status-response', ...reader.message(readHeights(2), null) };
    } else reader.skip(5);
  }
  if (!message) throw new Malformed('a message of no known kind');
  return message;
}

export const encodeBlocksyncMessage = (message: BlocksyncMessage): Uint8Array =>
  encodeWith(writeBlocksyncMessage, message);

/** CometBFT blocksync ValidateMsg. The block in a response is checked whole, hashes included. */
export function decodeBlocksyncMessage(bytes: Uint8Array): BlocksyncMessage | Refusal {
  const message = decodeWith('blocksync.Message', bytes, readBlocksyncMessage, null);
  if ('refused' in message) return message;
  if ('height' in message && message.height < 0n)
    return malformed(`height must not be negative: ${message.height}`);
  if (message.type === 'status-response') {
    if (message.base < 0n) return malformed(`base must not be negative: ${message.base}`);
    if (message.base > message.height)
      return malformed(`base ${message.base} is above height ${message.height}`);
  }
  if (message.type === 'block-response') {
    const { block, extendedCommit } = message;
    if (extendedCommit && extendedCommit.height !== block.header.height) {
      return malformed('the extended commit must be of the height of the block');
    }
    const refusal = validateBlock(block) ?? (extendedCommit && validateExtendedCommit(extendedCommit));
    if (refusal) return refusal;
  }
  return message;
}
