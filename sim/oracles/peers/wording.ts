// Whether what a node says has the bytes that CometBFT makes of it: what all nodes write and read alike is wrong for nobody but the others.

import type { Payload } from '../../../actors/turn.ts';
import { CHANNEL_GREETING, decodeNodeInfo } from '../../../machines/peers/node-info.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { decodeEvidenceMessage } from '../../../protocol/wire/index.ts';
import { evidenceListBytes } from '../canonical/block.ts';
import { blocksyncBytes, consensusBytes, nodeInfoBytes, txsBytes } from '../canonical/gossip.ts';
import { CHANNEL_BLOCKSYNC, CHANNEL_EVIDENCE, CHANNEL_MEMPOOL } from '../canonical/numbers.ts';
import { blocksyncMessage, consensusMessage, isOfConsensus, txsIn } from '../ghost/messages.ts';

/** A word that is written wrongly is always written wrongly: of each kind and length, which shows which fields it has, the first few tell. */
const READ_MAX = 8;
const LENGTHS = 256;
/** From here on lengths of as many bits are one. */
const LONG = 224;

const sizeOf = ({ length }: Uint8Array): number =>
  length < LONG ? length : LENGTHS - 1 - Math.clz32(length);

export class Wording {
  /** How many were read, by channel, first byte (the tag of its kind) and length. */
  private readonly counts = new Map<number, number>();

  /** What has other bytes than it should, by name; null: nothing. */
  oddIn(payloads: readonly Payload[]): string | null {
    for (let i = 0; i < payloads.length; i++) {
      const payload = payloads[i] as Payload;
      const { channel, bytes } = payload;
      const kind = (channel * LENGTHS + (bytes[0] ?? 0)) * LENGTHS + sizeOf(bytes);
      const count = this.counts.get(kind) ?? 0;
      if (count === READ_MAX) continue;
      this.counts.set(kind, count + 1);
      const again = written(payload);
      if (again && !equalBytes(again.bytes, bytes)) return again.name;
    }
    return null;
  }
}

interface Written {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Null: nothing of it can be read, which others see. */
function written(payload: Payload): Written | null {
  const { channel, bytes } = payload;
  if (isOfConsensus(channel)) {
    const message = consensusMessage(payload);
    return message && { name: message.type, bytes: consensusBytes(message) };
  }
  switch (channel) {
    case CHANNEL_BLOCKSYNC: {
      const message = blocksyncMessage(payload);
      return message && { name: message.type, bytes: blocksyncBytes(message) };
    }
    case CHANNEL_MEMPOOL: {
      const txs = txsIn(payload);
      return txs && { name: 'transactions', bytes: txsBytes(txs) };
    }
    case CHANNEL_EVIDENCE: {
      const message = decodeEvidenceMessage(bytes);
      return isRefusal(message) ? null : { name: 'evidence', bytes: evidenceListBytes(message.evidence) };
    }
    case CHANNEL_GREETING: {
      const info = decodeNodeInfo(bytes);
      const isQuestion = bytes.length === 0;
      return isQuestion || isRefusal(info) ? null : { name: 'greeting', bytes: nodeInfoBytes(info) };
    }
    default:
      return null;
  }
}
