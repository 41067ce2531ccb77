// Encoded messages of CometBFT's tests: ours have the same bytes, and the generated codecs lose nothing of
// them.

import { describe, expect } from 'vitest';
import { utf8Encode } from '#platform';
import { bytesOfHex, hexOf } from '../../protocol/bytes.ts';
import * as blocksync from '../../protocol/gen/blocksync.ts';
import * as consensus from '../../protocol/gen/consensus.ts';
import * as mempool from '../../protocol/gen/mempool.ts';
import * as p2p from '../../protocol/gen/p2p.ts';
import * as privval from '../../protocol/gen/privval.ts';
import * as statesync from '../../protocol/gen/statesync.ts';
import * as types from '../../protocol/gen/types.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { parseTime } from '../../protocol/time.ts';
import { type BlockId, EMPTY_BYTES } from '../../protocol/types.ts';
import {
  decodeBlocksyncMessage,
  decodeEvidenceList,
  decodeMempoolMessage,
  decodeOwnConsensusMessage,
  encodeBlocksyncMessage,
  encodeConsensusMessage,
  encodeEvidenceList,
  encodeMempoolMessage,
} from '../../protocol/wire/index.ts';
import { evidenceListBytes } from '../../sim/oracles/canonical/block.ts';
import { blocksyncBytes, consensusBytes, txsBytes } from '../../sim/oracles/canonical/gossip.ts';
import { goldenFolder, okay } from './folder.ts';

const { file } = goldenFolder('cometbft');
const hex = (text: string): Uint8Array => bytesOfHex(text) ?? expect.unreachable(`not hex: ${text}`);

interface Case {
  readonly message: string;
  readonly name: string;
  readonly hex: string;
  readonly fields: Readonly<Record<string, unknown>>;
}
interface Messages {
  readonly cases: readonly Case[];
}

const GENERATED: Record<
  string,
  { encode(message: never): { finish(): Uint8Array }; decode(bytes: Uint8Array): unknown }
> = {
  'tendermint.consensus.Message': consensus.Message,
  'tendermint.privval.Message': privval.Message,
  'tendermint.statesync.Message': statesync.Message,
  'tendermint.mempool.Message': mempool.Message,
  'tendermint.p2p.Message': p2p.Message,
  'tendermint.p2p.Packet': p2p.Packet,
  'tendermint.types.EvidenceList': types.EvidenceList,
  'tendermint.blocksync.Message': blocksync.Message,
};

describe('p2p_messages.json', () => {
  file<Messages>('p2p_messages.json', 'generated codecs give the bytes back', ({ cases }) => {
    for (const one of cases) {
      const codec = GENERATED[one.message] ?? expect.unreachable(`no codec for ${one.message}`);
      expect(hexOf(codec.encode(codec.decode(hex(one.hex)) as never).finish()), one.name).toBe(one.hex);
    }
  });

  file<Messages>('p2p_messages.json', 'our codecs give the bytes back', ({ cases }) => {
    for (const one of cases) {
      const bytes = hex(one.hex);
      if (one.message === 'tendermint.consensus.Message') {
        expect(hexOf(encodeConsensusMessage(okay(decodeOwnConsensusMessage(bytes)))), one.name).toBe(one.hex);
      } else if (one.message === 'tendermint.mempool.Message') {
        expect(hexOf(encodeMempoolMessage(okay(decodeMempoolMessage(bytes)))), one.name).toBe(one.hex);
      } else if (one.message === 'tendermint.types.EvidenceList') {
        expect(hexOf(encodeEvidenceList(okay(decodeEvidenceList(bytes)))), one.name).toBe(one.hex);
      } else if (one.message === 'tendermint.blocksync.Message') {
        const message = decodeBlocksyncMessage(bytes);
        // Two of them are there for their bytes alone: a block without a commit, a base above the height.
        if (isRefusal(message)) expect(message.refused, one.name).toMatch(/^malformed-/);
        else expect(hexOf(encodeBlocksyncMessage(message)), one.name).toBe(one.hex);
      }
    }
  });

  file<Messages>('p2p_messages.json', 'the words of the oracles have the same bytes', ({ cases }) => {
    for (const one of cases) {
      const bytes = hex(one.hex);
      if (one.message === 'tendermint.consensus.Message') {
        expect(hexOf(consensusBytes(okay(decodeOwnConsensusMessage(bytes)))), one.name).toBe(one.hex);
      } else if (one.message === 'tendermint.mempool.Message') {
        expect(hexOf(txsBytes(okay(decodeMempoolMessage(bytes)).txs)), one.name).toBe(one.hex);
      } else if (one.message === 'tendermint.types.EvidenceList') {
        expect(hexOf(evidenceListBytes(okay(decodeEvidenceList(bytes)))), one.name).toBe(one.hex);
      } else if (one.message === 'tendermint.blocksync.Message') {
        const message = decodeBlocksyncMessage(bytes);
        if (!isRefusal(message)) expect(hexOf(blocksyncBytes(message)), one.name).toBe(one.hex);
      }
    }
  });

  file<Messages>('p2p_messages.json', 'fields stand where they should', ({ cases }) => {
    const filler = utf8Encode('add_more_exclamation_marks_code-');
    const blockId: BlockId = { hash: filler, parts: { total: 1, hash: filler } };
    const timeNs = okay(parseTime('2018-08-30T12:00:00Z'));
    const address = utf8Encode('add_more_exclamation');
    const encoded = (name: string) =>
      cases.find((one) => one.message === 'tendermint.consensus.Message' && one.name === name)?.hex;
    const vote = {
      type: 2,
      height: 1n,
      round: 0,
      blockId,
      timeNs,
      validatorAddress: address,
      validatorIndex: 1,
      signature: EMPTY_BYTES,
      extension: utf8Encode('extension'),
      extensionSignature: EMPTY_BYTES,
    };
    expect(hexOf(encodeConsensusMessage({ type: 'vote', vote }))).toBe(encoded('Vote_with_ext'));
    const proposal = { type: 32, height: 1n, round: 1, polRound: 1, blockId, timeNs, signature: address };
    expect(hexOf(encodeConsensusMessage({ type: 'proposal', proposal }))).toBe(encoded('Proposal'));
    const one = { bits: 1, elems: [0n] };
    const at = { height: 1n, round: 1 };
    const bits = { type: 'vote-set-bits', ...at, voteType: 1, blockId, votes: one } as const;
    expect(hexOf(encodeConsensusMessage(bits))).toBe(encoded('VoteSetBits'));
    const valid = {
      type: 'new-valid-block',
      ...at,
      parts: blockId.parts,
      have: one,
      isCommit: false,
    } as const;
    expect(hexOf(encodeConsensusMessage(valid))).toBe(encoded('NewValidBlock'));
    const proof = { total: 1n, index: 1n, leafHash: filler, aunts: [] };
    const part = { index: 1, bytes: utf8Encode('test'), proof };
    expect(hexOf(encodeConsensusMessage({ type: 'block-part', ...at, part }))).toBe(encoded('BlockPart'));
  });
});
