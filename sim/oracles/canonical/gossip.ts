// What peers say to each other as bytes, as CometBFT has them, written a second time: nodes that have changed two fields, all of them alike,
// understand each other, and nobody else does (spec 3.2, 8.2).

import { utf8Encode } from '#platform';
import type { NodeInfo } from '../../../machines/peers/node-info.ts';
import type { BlocksyncMessage, ConsensusMessage } from '../../../protocol/messages.ts';
import type { BitArray, Part, Proposal } from '../../../protocol/types.ts';
import { writeBlock, writeTxs, writeVote } from './block.ts';
import { type Words, words, writeId, writeParts, writeTime } from './protobuf.ts';

type Kind = ConsensusMessage['type'];
type Of<K extends Kind> = Extract<ConsensusMessage, { type: K }>;

// --- consensus -------------------------------------------------------------------------------------------------------

const writeBits = (to: Words, { bits, elems }: BitArray): Words => to.int(1, bits).packed(2, elems);

function writeProposal(to: Words, proposal: Proposal): void {
  to.int(1, proposal.type)
    .int(2, proposal.height)
    .int(3, proposal.round)
    .int(4, proposal.polRound)
    .message(5, writeId, proposal.blockId)
    .message(6, writeTime, proposal.timeNs)
    .text(7, proposal.signature);
}

function writeProof(to: Words, { total, index, leafHash, aunts }: Part['proof']): void {
  to.int(1, total).int(2, index).text(3, leafHash);
  for (const each of aunts) to.item(4, each);
}

const writePart = (to: Words, { index, bytes, proof }: Part): Words =>
  to.int(1, index).text(2, bytes).message(3, writeProof, proof);

/** In `Message`. */
const FIELDS: Readonly<Record<Kind, number>> = {
  'new-round-step': 1,
  'new-valid-block': 2,
  proposal: 3,
  'proposal-pol': 4,
  'block-part': 5,
  vote: 6,
  'has-vote': 7,
  'vote-set-maj23': 8,
  'vote-set-bits': 9,
};

const WRITERS: { readonly [K in Kind]: (to: Words, message: Of<K>) => unknown } = {
  'new-round-step': (to, { height, round, step, secondsSinceStart, lastCommitRound }) =>
    to.int(1, height).int(2, round).int(3, step).int(4, secondsSinceStart).int(5, lastCommitRound),
  'new-valid-block': (to, { height, round, parts, have, isCommit }) => {
    to.int(1, height).int(2, round).message(3, writeParts, parts);
    if (have) to.message(4, writeBits, have);
    to.int(5, isCommit ? 1 : 0);
  },
  proposal: (to, { proposal }) => to.message(1, writeProposal, proposal),
  'proposal-pol': (to, { height, polRound, pol }) =>
    to.int(1, height).int(2, polRound).message(3, writeBits, pol),
  'block-part': (to, { height, round, part }) => to.int(1, height).int(2, round).message(3, writePart, part),
  vote: (to, { vote }) => to.message(1, writeVote, vote),
  'has-vote': (to, { height, round, voteType, index }) =>
    to.int(1, height).int(2, round).int(3, voteType).int(4, index),
  'vote-set-maj23': (to, { height, round, voteType, blockId }) =>
    to.int(1, height).int(2, round).int(3, voteType).message(4, writeId, blockId),
  'vote-set-bits': (to, { height, round, voteType, blockId, votes }) =>
    to
      .int(1, height)
      .int(2, round)
      .int(3, voteType)
      .message(4, writeId, blockId)
      .message(5, writeBits, votes),
};

export function consensusBytes(message: ConsensusMessage): Uint8Array {
  const write = WRITERS[message.type] as (to: Words, message: ConsensusMessage) => unknown;
  return words.message(FIELDS[message.type], write, message).take();
}

// --- mempool, block sync ---------------------------------------------------------------------------------------------

export const txsBytes = (txs: readonly Uint8Array[]): Uint8Array => words.message(1, writeTxs, txs).take();

const writeHeight = (to: Words, { height }: { readonly height: bigint }): Words => to.int(1, height);
const writeStatus = (
  to: Words,
  { height, base }: { readonly height: bigint; readonly base: bigint },
): Words => to.int(1, height).int(2, base);
const writeNothing = (): void => {};

/** A block alone: no chain of ours has extended commits. */
export function blocksyncBytes(message: BlocksyncMessage): Uint8Array {
  switch (message.type) {
    case 'block-request':
      return words.message(1, writeHeight, message).take();
    case 'no-block-response':
      return words.message(2, writeHeight, message).take();
    case 'block-response':
      return words.message(3, (to) => to.message(1, writeBlock, message.block), null).take();
    case 'status-request':
      return words.message(4, writeNothing, null).take();
    case 'status-response':
      return words.message(5, writeStatus, message).take();
  }
}

// --- greetings -------------------------------------------------------------------------------------------------------

const writeProtocols = (to: Words, { p2pProtocol, blockProtocol, appProtocol }: NodeInfo): Words =>
  to.int(1, p2pProtocol).int(2, blockProtocol).int(3, appProtocol);

const writeOther = (to: Words, { txIndex, rpcAddress }: NodeInfo): Words =>
  to.text(1, utf8Encode(txIndex)).text(2, utf8Encode(rpcAddress));

/** DefaultNodeInfo. */
export const nodeInfoBytes = (info: NodeInfo): Uint8Array =>
  words
    .message(1, writeProtocols, info)
    .text(2, utf8Encode(info.nodeId))
    .text(3, utf8Encode(info.listenAddress))
    .text(4, utf8Encode(info.network))
    .text(5, utf8Encode(info.version))
    .text(6, info.channels)
    .text(7, utf8Encode(info.moniker))
    .message(8, writeOther, info)
    .take();
