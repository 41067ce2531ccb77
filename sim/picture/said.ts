// What envelopes say, as rows of a table: each different message once, each different content of an envelope
// once.

import { utf8Decode } from '#platform';
import type { Payload } from '../../actors/turn.ts';
import { CHANNEL_GREETING } from '../../machines/peers/node-info.ts';
import { isNilBlockId } from '../../protocol/block-id.ts';
import { hexOf } from '../../protocol/bytes.ts';
import {
  CHANNEL_BLOCKSYNC,
  CHANNEL_EVIDENCE,
  CHANNEL_MEMPOOL,
  CHANNEL_STATE,
  CHANNEL_VOTE_SET_BITS,
  type ConsensusMessage,
} from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { type BlockId, PREVOTE } from '../../protocol/types.ts';
import {
  decodeBlocksyncMessage,
  decodeEvidenceMessage,
  decodeMempoolMessage,
} from '../../protocol/wire/index.ts';
import { consensusMessage } from '../oracles/ghost/messages.ts';
import { CHATTER, MESSAGE_KINDS, type MessageKind, type Picture } from './picture.ts';

const TX_SHOWN = 80;
const TXS_SHOWN = 5;

interface Said {
  readonly kind: MessageKind;
  readonly height?: bigint;
  readonly round?: number;
  readonly block?: BlockId;
  /** Hex address. */
  readonly signer?: string;
  readonly text: string;
}

/** Texts by number, each once. */
export class Texts {
  readonly list: string[] = [];
  private readonly numbers = new Map<string, number>();

  of(text: string): number {
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.list.push(text) - 1;
      this.numbers.set(text, number);
    }
    return number;
  }
}

/** Blocks by number: 0 is nil. */
export class Blocks {
  readonly list: { hash: string; height: number }[] = [{ hash: '', height: 0 }];
  private readonly numbers = new Map<string, number>([['', 0]]);

  of(hash: Uint8Array, height: bigint): number {
    const name = hexOf(hash);
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.list.push({ hash: name, height: Number(height) }) - 1;
      this.numbers.set(name, number);
    }
    return number;
  }
}

type Columns<T> = { -readonly [K in keyof T]: number[] };

export class SaidTable {
  readonly messages: Columns<Picture['messages']> = {
    kind: [],
    height: [],
    round: [],
    block: [],
    signer: [],
    bytes: [],
    text: [],
  };
  readonly parcels: number[][] = [];
  private readonly chatter: boolean[] = [];
  private readonly texts: Texts;
  private readonly blocks: Blocks;
  private readonly signerOf: (address: string) => number;
  private readonly proposerOf: (height: bigint, round: number) => string;
  private readonly byBuffer = new WeakMap<Uint8Array, number>();
  private readonly byRow = new Map<string, number>();
  private readonly byContent = new Map<string, number>();

  /**
   * `signerOf` tells a node from a hex address, -1: none; `proposerOf` says whose turn it is: a proposal does
   * not.
   */
  constructor(
    texts: Texts,
    blocks: Blocks,
    signerOf: (address: string) => number,
    proposerOf: (height: bigint, round: number) => string,
  ) {
    this.texts = texts;
    this.blocks = blocks;
    this.signerOf = signerOf;
    this.proposerOf = proposerOf;
  }

  parcel(payloads: readonly Payload[]): number {
    const numbers = payloads.map((payload) => this.message(payload));
    const key = numbers.join();
    let number = this.byContent.get(key);
    if (number === undefined) {
      number = this.parcels.push(numbers) - 1;
      this.byContent.set(key, number);
      this.chatter.push(numbers.every((each) => CHATTER.has(this.kindOf(each))));
    }
    return number;
  }

  private kindOf(message: number): MessageKind {
    return MESSAGE_KINDS[this.messages.kind[message] as number] as MessageKind;
  }

  isChatter(parcel: number): boolean {
    return this.chatter[parcel] === true;
  }

  private message(payload: Payload): number {
    // An empty buffer may stand on any channel.
    const known = payload.bytes.length > 0 ? this.byBuffer.get(payload.bytes) : undefined;
    if (known !== undefined) return known;
    const said = saidBy(payload);
    const { height = 0n, round = 0 } = said;
    const signer = said.kind === 'proposal' ? this.proposerOf(height, round) : said.signer;
    const row = {
      kind: MESSAGE_KINDS.indexOf(said.kind),
      height: said.height === undefined ? -1 : Number(said.height),
      round: said.round ?? -1,
      block: said.block ? this.blocks.of(said.block.hash, height) : -1,
      signer: signer === undefined ? -1 : this.signerOf(signer),
      bytes: payload.bytes.length,
      text: this.texts.of(said.text),
    };
    const key = Object.values(row).join();
    let number = this.byRow.get(key);
    if (number === undefined) {
      number = this.messages.kind.length;
      for (const name of Object.keys(row) as (keyof typeof row)[]) this.messages[name].push(row[name]);
      this.byRow.set(key, number);
    }
    this.byBuffer.set(payload.bytes, number);
    return number;
  }
}

const UNREADABLE: Said = { kind: 'unreadable', text: 'bytes that do not decode' };

function saidBy(payload: Payload): Said {
  const { channel, bytes } = payload;
  if (channel === CHANNEL_MEMPOOL) return transactionsSaid(bytes);
  if (channel === CHANNEL_EVIDENCE) {
    const message = decodeEvidenceMessage(bytes);
    if (isRefusal(message)) return UNREADABLE;
    return { kind: 'evidence', text: `${message.evidence.length} of evidence` };
  }
  if (channel === CHANNEL_BLOCKSYNC) return blockSyncSaid(bytes);
  if (channel >= CHANNEL_STATE && channel <= CHANNEL_VOTE_SET_BITS) {
    const message = consensusMessage(payload);
    return message ? consensusSaid(message) : UNREADABLE;
  }
  if (channel === CHANNEL_GREETING) {
    return { kind: 'greeting', text: bytes.length === 0 ? 'who are you?' : 'who I am' };
  }
  return UNREADABLE;
}

function transactionsSaid(bytes: Uint8Array): Said {
  const message = decodeMempoolMessage(bytes);
  if (isRefusal(message)) return UNREADABLE;
  const { txs } = message;
  const shown = txs.slice(0, TXS_SHOWN).map(txText).join(' · ');
  const more = txs.length > TXS_SHOWN ? ` and ${txs.length - TXS_SHOWN} more` : '';
  return { kind: 'transactions', text: `${shown}${more}` };
}

/** As text where it is text, else hex. */
function txText(tx: Uint8Array): string {
  const cut = tx.subarray(0, TX_SHOWN);
  const isText = cut.every((byte) => byte >= 0x20 && byte < 0x7f);
  const shown = isText ? utf8Decode(cut) : `0x${hexOf(cut.subarray(0, TX_SHOWN / 2))}`;
  return tx.length > TX_SHOWN ? `${shown}...` : shown;
}

function blockSyncSaid(bytes: Uint8Array): Said {
  const message = decodeBlocksyncMessage(bytes);
  if (isRefusal(message)) return UNREADABLE;
  const kind = 'block sync';
  switch (message.type) {
    case 'block-response':
      return { kind, height: message.block.header.height, text: 'block-response: here is the block' };
    case 'status-request':
      return { kind, text: 'status-request: which blocks do you have?' };
    case 'status-response':
      return { kind, text: `status-response: I have blocks ${message.base} to ${message.height}` };
    case 'block-request':
      return { kind, height: message.height, text: 'block-request: give me the block' };
    case 'no-block-response':
      return { kind, height: message.height, text: 'no-block-response: I do not have it' };
  }
}

const voteWord = (type: number): string => (type === PREVOTE ? 'prevote' : 'precommit');

function consensusSaid(message: ConsensusMessage): Said {
  switch (message.type) {
    case 'vote': {
      const { vote } = message;
      const { height, round, blockId } = vote;
      const kind = voteWord(vote.type) as MessageKind;
      const text = isNilBlockId(blockId) ? `${kind} for nil` : kind;
      return { kind, height, round, block: blockId, signer: hexOf(vote.validatorAddress), text };
    }
    case 'proposal': {
      const { height, round, blockId, polRound } = message.proposal;
      const text = polRound < 0 ? 'proposal' : `proposal again, with the polka of round ${polRound}`;
      return { kind: 'proposal', height, round, block: blockId, text };
    }
    case 'block-part': {
      const { height, round, part } = message;
      const text = `part ${part.index + 1} of ${part.proof.total} of a block`;
      return { kind: 'part', height, round, text };
    }
    default:
      return gossipSaid(message);
  }
}

type Gossip = Exclude<ConsensusMessage, { type: 'vote' | 'proposal' | 'block-part' }>;

function gossipSaid(message: Gossip): Said {
  const kind = 'gossip';
  const { height } = message;
  switch (message.type) {
    case 'new-round-step':
      return { kind, height, round: message.round, text: `new-round-step: I am at step ${message.step}` };
    case 'new-valid-block': {
      const what = message.isCommit ? 'is committed' : 'has a polka';
      return { kind, height, round: message.round, text: `new-valid-block: a block ${what} here` };
    }
    case 'proposal-pol':
      return { kind, height, round: message.polRound, text: 'proposal-pol: the prevotes behind a proposal' };
    case 'has-vote': {
      const text = `has-vote: I have the ${voteWord(message.voteType)} of validator ${message.index}`;
      return { kind, height, round: message.round, text };
    }
    case 'vote-set-maj23': {
      const text = `vote-set-maj23: I see two thirds of ${voteWord(message.voteType)}s`;
      return { kind, height, round: message.round, block: message.blockId, text };
    }
    case 'vote-set-bits': {
      const text = `vote-set-bits: which ${voteWord(message.voteType)}s I have`;
      return { kind, height, round: message.round, block: message.blockId, text };
    }
  }
}
